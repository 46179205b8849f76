/** Content-Transfer-Encoding (RFC 2045 §6): bytes of a part as they were before sending. */

export type TransferEncoding = '7bit' | '8bit' | 'binary' | 'quoted-printable' | 'base64' | string;

/** Whether the bytes are the content itself. Unknown encodings are treated so (the content is then opaque). */
export const isIdentity = (encoding: TransferEncoding): boolean =>
  encoding !== 'base64' && encoding !== 'quoted-printable';

export function decodeTransfer(bytes: Uint8Array, encoding: TransferEncoding): Uint8Array {
  if (encoding === 'base64') return decodeBase64(bytes);
  if (encoding === 'quoted-printable') return decodeQuotedPrintable(bytes);
  return bytes;
}

const BASE64_VALUE = new Int8Array(256).fill(-1);
for (const [value, character] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries())
  BASE64_VALUE[character.charCodeAt(0)] = value;
const PAD = 0x3d;

/** Characters outside the alphabet are ignored; padding in the middle ends one run and the next begins. */
function decodeBase64(bytes: Uint8Array): Uint8Array {
  const out = Buffer.allocUnsafe(Math.ceil((bytes.length * 3) / 4) + 3);
  let length = 0;
  let bits = 0;
  let kept = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    const value = BASE64_VALUE[byte] ?? -1;
    if (value < 0) {
      if (byte === PAD) kept = bits = 0;
      continue;
    }
    kept = ((kept << 6) | value) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out[length++] = (kept >> bits) & 0xff;
    }
  }
  return out.subarray(0, length);
}

const hexValue = (byte: number | undefined): number => {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const upper = byte & ~0x20;
  return upper >= 0x41 && upper <= 0x46 ? upper - 0x37 : -1;
};

function decodeQuotedPrintable(bytes: Uint8Array): Uint8Array {
  const out = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  let lineStart = 0; // in `out`: spaces before a line break are not content
  let lastSolid = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === 0x3d) {
      const high = hexValue(bytes[i + 1]);
      const low = hexValue(bytes[i + 2]);
      if (high >= 0 && low >= 0) {
        out[length++] = high * 16 + low;
        lastSolid = length;
        i += 2;
        continue;
      }
      let end = i + 1;
      while (bytes[end] === 0x20 || bytes[end] === 0x09) end++;
      if (bytes[end] === 0x0d && bytes[end + 1] === 0x0a) end++;
      if (bytes[end] === 0x0a || end >= bytes.length) {
        i = end; // soft line break
        lineStart = lastSolid = length;
        continue;
      }
    } else if (byte === 0x0a || (byte === 0x0d && bytes[i + 1] === 0x0a)) {
      length = Math.max(lineStart, lastSolid);
      out[length++] = byte;
      if (byte === 0x0d) {
        out[length++] = 0x0a;
        i++;
      }
      lineStart = lastSolid = length;
      continue;
    }
    out[length++] = byte;
    if (byte !== 0x20 && byte !== 0x09) lastSolid = length;
  }
  return out.subarray(0, length);
}

/** Size of the decoded content in bytes, without decoding. */
export function decodedSize(bytes: Uint8Array, encoding: TransferEncoding): number {
  if (encoding === 'quoted-printable') return decodeQuotedPrintable(bytes).length;
  if (encoding !== 'base64') return bytes.length;
  let total = 0;
  let run = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if ((BASE64_VALUE[byte] ?? -1) >= 0) run++;
    else if (byte === PAD) {
      total += (run * 3) >> 2;
      run = 0;
    }
  }
  return total + ((run * 3) >> 2);
}
