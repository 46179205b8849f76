/** Bytes in any charset of mail to text (WHATWG encodings and UTF-7). Never throws: what is unknown is read as it most likely is. */

import { decodeUtf7 } from './utf7.ts';

type Decoder = InstanceType<typeof TextDecoder>;
const decoders = new Map<string, Decoder | null>();
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });
const DECODERS_MAX = 100;

function decoderOf(charset: string): Decoder | null {
  const label = charset.trim().toLowerCase();
  let decoder = decoders.get(label);
  if (decoder === undefined) {
    try {
      decoder = new TextDecoder(label);
    } catch {
      decoder = null;
    }
    if (decoders.size < DECODERS_MAX) decoders.set(label, decoder);
  }
  return decoder;
}

/** UTF-8 where the bytes are valid UTF-8, else Windows-1252: right for nearly all undeclared 8-bit mail. */
export function decodeUndeclared(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return decoderOf('windows-1252')?.decode(bytes) ?? '';
  }
}

/** @param charset label as declared; unknown ones, `us-ascii` and none are read as undeclared */
export function decodeCharset(bytes: Uint8Array, charset: string | undefined): string {
  if (charset === undefined || charset === '' || /^(us-)?ascii$/i.test(charset)) return decodeUndeclared(bytes);
  if (/^\s*(?:unicode-1-1-)?utf-7\s*$/i.test(charset)) return decodeUtf7(bytes, decodeUndeclared);
  const decoder = decoderOf(byteOrder(bytes, charset));
  return decoder === null ? decodeUndeclared(bytes) : decoder.decode(bytes);
}

/** RFC 2781 §4.3: of `utf-16` the mark at its beginning gives the byte order, without one it is big endian. */
function byteOrder(bytes: Uint8Array, charset: string): string {
  if (!/^\s*utf-16\s*$/i.test(charset)) return charset;
  return bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-16be';
}

/** Text of a header value held as one character per byte. */
export const decodeRawHeader = (latin1: string): string =>
  /^[\x00-\x7f]*$/.test(latin1) ? latin1 : decodeUndeclared(Buffer.from(latin1, 'latin1'));

/** Text that PostgreSQL stores in text and jsonb: no NUL, no lone surrogate. */
export const storableText = (text: string): string =>
  (text.includes('\0') ? text.replaceAll('\0', '') : text).toWellFormed();
