/** Encoded words in header values (RFC 2047). */
import { decodeCharset, decodeRawHeader, onOneLine } from './charset.ts';

/** Each word of these begins in a state of its own; joined, the switches between them would be read as damage. */
const STATEFUL = /^(?:iso-2022-|utf-7$|unicode-1-1-utf-7$|hz-)/;
const WORD = /=\?([^?\s]{1,60})\?([BbQq])\?([^?]*)\?=/g;

/**
 * A header value as text on one line: encoded words decoded, neighbouring ones joined (also where a character was cut
 * between them), undeclared 8-bit read as UTF-8 or Windows-1252. A line break within an encoded word becomes a space.
 *
 * @param raw value with one character per byte
 */
export function decodeWords(raw: string): string {
  if (!raw.includes('=?')) return decodeRawHeader(raw);
  let out = '';
  let at = 0;
  let pending: { charset: string; bytes: Buffer[] } | undefined;
  const flush = () => {
    if (pending !== undefined) out += onOneLine(decodeCharset(Buffer.concat(pending.bytes), pending.charset));
    pending = undefined;
  };
  for (const match of raw.matchAll(WORD)) {
    const [all, charsetAndLanguage = '', kind = '', encoded = ''] = match;
    const between = raw.slice(at, match.index);
    const charset = (charsetAndLanguage.split('*')[0] ?? '').toLowerCase();
    const bytes = kind.toLowerCase() === 'b' ? Buffer.from(encoded, 'base64') : decodeQ(encoded);
    if (pending !== undefined && /^[ \t]*$/.test(between) && pending.charset === charset && !STATEFUL.test(charset))
      pending.bytes.push(bytes);
    else {
      const adjacent = pending !== undefined && /^[ \t]*$/.test(between);
      flush();
      if (!adjacent) out += decodeRawHeader(between);
      pending = { charset, bytes: [bytes] };
    }
    at = match.index + all.length;
  }
  flush();
  return out + decodeRawHeader(raw.slice(at));
}

const decodeQ = (encoded: string): Buffer =>
  Buffer.from(
    encoded
      .replaceAll('_', ' ')
      .replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
