/**
 * Which transfer encoding a body itself shows. Words are hardly ever base64 of other words, and a text that happens to
 * have an escape of quoted-printable in it has other equals signs too, or escapes that no encoder writes.
 */
import { decodeTransfer } from '@agent-mailbox/mime-structure/transfer-encoding';

/**
 * @param raw the body, one character per byte
 * @param isCut whether it is only a beginning
 * @param isReadable whether decoded bytes are such content as the body is said to be
 * @returns undefined: none, it is read as it stands
 */
export function encodingShownBy(
  raw: string,
  isCut: boolean,
  isReadable: (content: Uint8Array) => boolean,
): 'base64' | 'quoted-printable' | undefined {
  const lines = raw.trimEnd().split(/\r?\n/);
  if (isCut) lines.pop();
  if (isBase64(lines, isCut)) return isReadable(decode(lines, 'base64')) ? 'base64' : undefined;
  if (!lines.every((line) => line.length <= LINE_MAX_CHARACTERS && QUOTED_PRINTABLE.test(line))) return undefined;
  if (!lines.some((line) => !line.startsWith('>') && OWN_ESCAPE.test(line))) return undefined;
  const content = decode(lines, 'quoted-printable');
  return isReadable(content) && !REARRANGING.test(Buffer.from(content).toString()) ? 'quoted-printable' : undefined;
}

const decode = (lines: readonly string[], encoding: 'base64' | 'quoted-printable') =>
  decodeTransfer(Buffer.from(lines.join('\r\n'), 'latin1'), encoding);

const BASE64_LINE = /^[A-Za-z0-9+/]+$/;
const BASE64_LAST_LINE = /^[A-Za-z0-9+/]+={0,2}$/;
const WORD = /^[A-Z]?[a-z]+$/;

/** Lines of one length, the last at most as long; no single word. */
function isBase64(lines: readonly string[], isCut: boolean): boolean {
  const [first = ''] = lines;
  if (lines.length === 1 && WORD.test(first)) return false;
  return lines.every((line, index) =>
    index < lines.length - 1 || isCut
      ? line.length === first.length && line.length % 4 === 0 && BASE64_LINE.test(line)
      : line.length <= first.length && line.length % 4 === 0 && BASE64_LAST_LINE.test(line),
  );
}

/** RFC 2045 §6.7 wants at most 76. */
const LINE_MAX_CHARACTERS = 80;
/**
 * A line in which each equals sign begins an escape that encoders write: of itself, of a byte above 126, of a tab, of a
 * space at the end, of a punctuation mark or the F of `From` at the beginning; or a soft line break. Line breaks as
 * escapes are none of these: in a quotation they would end its line, and what follows would be the author's.
 */
const QUOTED_PRINTABLE =
  /^(?:=(?:2[1-9A-F]|3[A-F]|40|5[B-F]|60|7[B-E]|46(?=rom )))?(?:[\t -<>-~]|=(?:3D|7F|[89A-F][0-9A-F]|09|20(?==?$)))*=?$/;
/** Nobody writes this in words of one's own. What is quoted may be of anybody. */
const OWN_ESCAPE = /^=[0-9A-F]{2}|=(?:3D|[89A-F][0-9A-F])|=(?:20|09)=?$|^.{60,}=$/;
/** Characters that begin a line or turn the direction of others. */
const REARRANGING = /[\u0085\u2028-\u202e\u2066-\u2069]/;
