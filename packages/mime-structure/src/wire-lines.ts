/** Lines as line protocols send them: each ends with CRLF, the last one too (RFC 1939 §3, RFC 5321 §2.3.8). */

const LF = 0x0a;
const CR = 0x0d;

/** Bytes by which a message grows when bare line feeds become CRLF and an unfinished last line is ended. */
export function wireGrowth(bytes: Uint8Array): number {
  if (bytes.length === 0) return 0;
  let growth = bytes.at(-1) === LF ? 0 : 2;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) if (bytes[at - 1] !== CR) growth++;
  return growth;
}
