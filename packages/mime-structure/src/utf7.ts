/** UTF-7 (RFC 2152), which old clients still send and no platform decodes any more. */

/** `+` begins UTF-16 in base64, `-` or any other character ends it; `+-` is a plus sign. */
const RUN = /\+([A-Za-z0-9+/]*)-?/g;

/**
 * Damaged runs give U+FFFD; a plus sign that begins none stays.
 *
 * @param decodeDirect reads what stands outside the runs: ASCII, and in damaged text other bytes
 */
export function decodeUtf7(bytes: Uint8Array, decodeDirect: (bytes: Uint8Array) => string): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  let out = '';
  let at = 0;
  for (const { index, 0: all, 1: encoded = '' } of text.matchAll(RUN)) {
    out += decodeDirect(bytes.subarray(at, index));
    out += encoded === '' ? '+' : runText(encoded);
    at = index + all.length;
  }
  return out + decodeDirect(bytes.subarray(at));
}

function runText(encoded: string): string {
  const units = Buffer.from(encoded, 'base64');
  let text = '';
  for (let i = 0; i + 1 < units.length; i += 2) text += String.fromCharCode(units.readUInt16BE(i));
  return text === '' ? '\ufffd' : text.toWellFormed();
}
