/** NUL in stored mail, which is allowed only in a literal8 (RFC 9051 §4.3.1, RFC 3516 §4.2). */

const NUL_SHOWN_AS = 0x80;

/**
 * Bytes for an ordinary literal. The byte 80, which is not ASCII, replaces each NUL, so that sizes and offsets stay the
 * same; BINARY[] sends the unchanged bytes.
 */
export function withoutNul(bytes: Uint8Array): Uint8Array {
  let at = bytes.indexOf(0);
  if (at < 0) return bytes;
  const shown = Uint8Array.from(bytes);
  for (; at >= 0; at = shown.indexOf(0, at + 1)) shown[at] = NUL_SHOWN_AS;
  return shown;
}
