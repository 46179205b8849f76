/** Bytes in any charset of mail to text (WHATWG encodings and UTF-7). Never throws: what is unknown is read as it most likely is. */

import { detectCharset } from './detect-charset.ts';
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

/** Switches of ISO-2022-JP to Japanese, which no other text has (RFC 1468). */
const JAPANESE_SWITCHES = ['\x1b$B', '\x1b$@'].map((text) => Buffer.from(text));
const ESCAPE = 0x1b;

/** ISO-2022-JP by its switches, UTF-8 where the bytes are valid UTF-8, else what {@link detectCharset} makes of them. */
export function decodeUndeclared(bytes: Uint8Array): string {
  if (bytes.includes(ESCAPE)) {
    const searched = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (JAPANESE_SWITCHES.some((each) => searched.includes(each))) return decoderOf('iso-2022-jp')?.decode(bytes) ?? '';
  }
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return decoderOf(detectCharset(bytes))?.decode(bytes) ?? '';
  }
}

/** @param charset label as declared; unknown ones, `us-ascii` and none are read as undeclared */
export function decodeCharset(bytes: Uint8Array, charset: string | undefined): string {
  if (charset === undefined || charset === '' || /^(us-)?ascii$/i.test(charset)) return decodeUndeclared(bytes);
  if (/^\s*(?:unicode-1-1-)?utf-7\s*$/i.test(charset)) return decodeUtf7(bytes, decodeUndeclared);
  const decoder = decoderOf(markedCharset(bytes) ?? charset);
  return decoder === null ? decodeUndeclared(bytes) : decoder.decode(bytes);
}

/** A byte order mark goes before any label (Encoding Standard §6, "decode"); `utf-16` without one is little endian. */
function markedCharset(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 'utf-8' : undefined;
}

/** Line breaks of any kind, and the other control characters; NUL is left to {@link storableText}. */
const LINE_BREAKS_AND_CONTROLS = /[\x01-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]+/g;

/**
 * Text that is one line by nature, such as a subject or a name: a sender that writes a line break into it would forge
 * the next line wherever it is shown among others.
 */
export const onOneLine = (text: string): string => text.replace(LINE_BREAKS_AND_CONTROLS, ' ');

/** Text of a header value stored as one character per byte, on one line. */
export const decodeRawHeader = (latin1: string): string =>
  onOneLine(/^[\x00-\x7f]*$/.test(latin1) ? latin1 : decodeUndeclared(Buffer.from(latin1, 'latin1')));

/** Text that PostgreSQL stores in text and jsonb: no NUL, no lone surrogate. */
export const storableText = (text: string): string =>
  (text.includes('\0') ? text.replaceAll('\0', '') : text).toWellFormed();
