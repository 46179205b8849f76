/**
 * What of a message a valid DKIM signature covers. Text that it does not cover may be of anybody: a person who has one signed
 * message can send it again with other words. So a signature says something about an author only if
 *
 * - it covers the whole body: `l=` signs only a beginning of it (RFC 6376 §8.2);
 * - it covers Subject, which is shown beside the author and which every large sender signs;
 * - the header consists of fields: at another line some readers begin the body;
 * - it covers the fields by which the body is read, or the body itself shows that they are those of its author. Large
 *   senders sign only some of them, or none (docs/adr/0038).
 *
 * Other fields that are missing, such as To and Reply-To, are only reported: large senders do not sign them.
 *
 * The transfer encoding that a body itself shows: words are hardly ever base64 of other words, and a text that happens to
 * have an escape of quoted-printable in it has other equals signs too, or escapes that no encoder writes.
 */
import { decodeCharset, decodeUndeclared } from '@agent-mailbox/mime-structure/charset';
import { firstValue, type HeaderField, nextLine, SINGLE_FIELDS } from '@agent-mailbox/mime-structure/header-fields';
import { indexMessage, type PartNode } from '@agent-mailbox/mime-structure/index-message';
import { parameter, parseParameterized } from '@agent-mailbox/mime-structure/parameters';
import { isText } from '@agent-mailbox/mime-structure/parts';
import { decodeTransfer, isIdentity } from '@agent-mailbox/mime-structure/transfer-encoding';
import { SEARCH_TEXT_MAX_BYTES } from '#domain/mail/mail-limits.ts';

interface SignatureCoverage {
  /** Names of `SINGLE_FIELDS`, and `body`. */
  readonly unsigned: readonly string[];
  /** Why the signature says nothing about the author; undefined: it does. */
  readonly problem: string | undefined;
}

/**
 * The coverage by each signature of a message.
 *
 * @param received the message as it was verified
 * @param fields those of its header, with their offsets
 * @returns for the names of the header fields that a signature hashed, one for each of them, and the bytes of the body
 *   behind those that it hashed
 */
export function coverageOf(
  received: Uint8Array,
  fields: readonly HeaderField[],
): (signed: readonly string[], underSized: number) => SignatureCoverage {
  const count = (names: readonly string[], name: string) => names.filter((each) => each === name).length;
  const present = fields.map(({ name }) => name);
  let read: MessageReading | undefined;
  return (signed, underSized) => {
    const unsigned = SINGLE_FIELDS.filter((name) => count(present, name) > count(signed, name));
    // What is absent and not signed may have been removed.
    const isOpen = (name: string) => unsigned.includes(name) || !signed.includes(name);
    const problem = () => {
      if (underSized > 0) return `${underSized} bytes of the body are not signed`;
      if (unsigned.includes('subject')) return 'Subject is not signed';
      // Read once: the body may be large, and the signatures many.
      read ??= readMessage(received, fields);
      if (read.hasOtherLines) return 'the header has lines that are no fields';
      if (isOpen('content-transfer-encoding') && !read.showsEncoding) return 'Content-Transfer-Encoding is not signed';
      if (isOpen('content-type') && !read.showsType) return 'Content-Type is not signed';
      if (unsigned.includes('content-disposition') && !read.showsDisposition(!isOpen('content-type')))
        return 'Content-Disposition is not signed';
      return undefined;
    };
    return { unsigned: underSized > 0 ? [...unsigned, 'body'] : unsigned, problem: problem() };
  };
}

/** Whether the signed body itself shows what the fields say. */
interface MessageReading {
  readonly hasOtherLines: boolean;
  readonly showsEncoding: boolean;
  readonly showsType: boolean;
  readonly showsDisposition: (isTypeSigned: boolean) => boolean;
}

function readMessage(received: Uint8Array, fields: readonly HeaderField[]): MessageReading {
  const bytes = Buffer.from(received.buffer, received.byteOffset, received.byteLength);
  // The tree by which the message is shown: the whole, its parts, and whether these have parts.
  const root = indexMessage(bytes, 2);
  // Of a text no more is shown.
  const body = bytes.subarray(root.body, Math.min(root.end, root.body + SEARCH_TEXT_MAX_BYTES));
  const type = firstValue(fields, 'content-type');
  return {
    hasOtherLines: hasOtherLines(bytes, fields, root.body),
    showsEncoding: showsEncoding(root, body, firstValue(fields, 'content-transfer-encoding') ?? '7bit'),
    showsType: showsType(root, body, type ?? 'text/plain'),
    showsDisposition: (isTypeSigned) =>
      showsDisposition(root, firstValue(fields, 'content-disposition') ?? '', isTypeSigned ? (type ?? '') : undefined),
  };
}

/** A line of the header that is neither a field nor part of one; the first may be that of a mailbox file. */
function hasOtherLines(bytes: Buffer, fields: readonly HeaderField[], body: number): boolean {
  let at = /^>?From /.test(bytes.toString('latin1', 0, 6)) ? nextLine(bytes, 0, body) : 0;
  for (const { start, end } of fields) {
    if (start !== at) return true;
    at = end;
  }
  return /[^\r\n]/.test(bytes.toString('latin1', at, body));
}

function showsEncoding(root: PartNode, body: Buffer, value: string): boolean {
  if (!/^(?:7bit|8bit|binary|quoted-printable|base64)$/i.test(value)) return false;
  if (root.type === 'multipart' || root.type === 'message') return isIdentity(root.encoding);
  const raw = body.toString('latin1');
  const charset = root.params?.find(([name]) => name === 'charset')?.[1];
  const isReadable = (content: Uint8Array) => root.type !== 'text' || isText(content, charset);
  const shown = encodingShownBy(raw, body.length < root.end - root.body, isReadable);
  if (isIdentity(root.encoding)) return shown === undefined;
  // A body that reads the same in both ways needs to show nothing.
  return shown === root.encoding || raw.trim() === '' || (root.encoding === 'quoted-printable' && !raw.includes('='));
}

/** Parameters that all readers read alike: each once, none in pieces or encoded, no comments. */
const PLAIN_PARAMETERS = String.raw`((?:\s*;\s*[\w-]+=(?:"[^"\\]*"|(?:(?![";,()\\])[!-~])+))*)\s*;?$`;
const PLAIN_TYPE = new RegExp(String.raw`^[\w.+-]+/[\w.+-]+${PLAIN_PARAMETERS}`);
const PLAIN_DISPOSITION = new RegExp(String.raw`^(?:inline|attachment)${PLAIN_PARAMETERS}`, 'i');

function isPlain(form: RegExp, value: string): boolean {
  const [, parameters] = form.exec(value) ?? [];
  if (parameters === undefined) return false;
  const names = [...parameters.replace(/"[^"]*"/g, '').matchAll(/;\s*([\w-]+)=/g)].map(([, name]) =>
    name?.toLowerCase(),
  );
  return new Set(names).size === names.length;
}

/** How far into a body its first delimiter may be. */
const PREAMBLE_MAX_CHARACTERS = 512;
/** As mail programs write it, e.g. `This is a multi-part message in MIME format.` */
const USUAL_PREAMBLE = /^(?:\s*|\s*this is an? [a-z0-9/(). -]{0,120}\.?\s*)$/i;
/** How HTML begins, and a text hardly ever: with a tag, a comment or a declaration (MIME Sniffing Standard §7.1). */
const HTML_OPENING =
  /^(?:\ufeff|\xef\xbb\xbf)?\s*<(?:!doctype\s|!--|\?xml\s|(?:html|head|body|base|meta|link|title|style|div|p|span|table|tbody|tr|td|br|hr|a|b|i|u|em|strong|font|center|img|h[1-6]|ul|ol|pre|blockquote|section|article|main|header|small)[\s/>])/i;
/** Between two words, where `delsp` would delete the space (RFC 3676 §4.2). */
const SPACE_BETWEEN_WORDS = /[\p{L}\p{N}] \r?\n[\p{L}\p{N}]/u;

/**
 * A multipart begins with its delimiter and has the parts of its subtype, HTML begins with a tag, plain text with
 * neither, and a text says the same without a charset. Anything else is a file, and needs a signature.
 */
function showsType(root: PartNode, body: Buffer, value: string): boolean {
  const { parameters } = parseParameterized(value);
  const given = (name: string) => parameters.find((each) => each.name === name)?.raw;
  if (!isPlain(PLAIN_TYPE, value) || given('name') !== undefined) return false;
  const opening = body.toString('latin1', 0, PREAMBLE_MAX_CHARACTERS);
  const delimiter = /(?:^|\n)--(.*?)[ \t]*\r?\n/.exec(opening);
  const isDelimited = delimiter !== null && USUAL_PREAMBLE.test(opening.slice(0, delimiter.index));
  if (root.type === 'multipart')
    return isDelimited && delimiter[1] === given('boundary') && hasPartsOf(root, given('start'));
  if (root.type !== 'text' || (root.subtype !== 'plain' && root.subtype !== 'html')) return false;
  if (isDelimited && /^content-[a-z-]{2,40}:/i.test(opening.slice(delimiter.index + delimiter[0].length))) return false;
  const content = decodeTransfer(body, root.encoding);
  const text = decodeUndeclared(content);
  return (
    HTML_OPENING.test(text.slice(0, PREAMBLE_MAX_CHARACTERS)) === (root.subtype === 'html') &&
    decodeCharset(content, given('charset')) === text &&
    (given('delsp') === undefined || !SPACE_BETWEEN_WORDS.test(text))
  );
}

const REPORTS = /^message\/(?:global-)?(?:delivery-status|disposition-notification)$|^message\/feedback-report$/;
const SIGNATURES = /^application\/(?:pgp|(?:x-)?pkcs7)-signature$/;

/** Another subtype shows other parts of the same body, or shows them as something else. */
function hasPartsOf({ subtype, parts = [] }: PartNode, start: string | undefined): boolean {
  const [first, second] = parts;
  const types = parts.map((part) => `${part.type}/${part.subtype}`);
  const isRich = (part: PartNode) => part.type === 'multipart' || (part.type === 'text' && part.subtype === 'html');
  const isPlainText = (part: PartNode) => part.type === 'text' && part.subtype === 'plain';
  if (start !== undefined && start !== first?.id) return false;
  // All parts are shown.
  if (subtype === 'mixed') return true;
  if (subtype === 'alternative')
    return (
      parts.every((part) => part.disposition?.value !== 'attachment' && part.filename === undefined) &&
      parts.filter(isPlainText).length <= 1 &&
      parts.filter(isRich).length <= 1 &&
      (!parts.some(isPlainText) || types[0] === 'text/plain')
    );
  if (subtype === 'related') return parts.slice(1).every((part) => !isRich(part) && !isPlainText(part));
  if (subtype === 'report') return second !== undefined && REPORTS.test(types[1] ?? '');
  return subtype === 'signed' && parts.length === 2 && SIGNATURES.test(types[1] ?? '');
}

/**
 * It makes no file of a text, and gives a file no name but the signed one.
 *
 * @param signedType Content-Type, if it is signed
 */
function showsDisposition(root: PartNode, value: string, signedType: string | undefined): boolean {
  if (!isPlain(PLAIN_DISPOSITION, value)) return false;
  const filename = parameter(parseParameterized(value), 'filename');
  if (filename === undefined && /^inline/i.test(value)) return true;
  if (signedType === undefined || root.type === 'multipart') return false;
  const name = parameter(parseParameterized(signedType), 'name');
  const isFile = name !== undefined || root.type !== 'text';
  return isFile && (filename === undefined || filename === name);
}

/**
 * @param raw the body, one character per byte
 * @param isCut whether it is only a beginning
 * @param isReadable whether decoded bytes are such content as the body is said to be
 * @returns undefined: none, it is read as it stands
 */
function encodingShownBy(
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
