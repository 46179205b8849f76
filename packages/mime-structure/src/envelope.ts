/**
 * ENVELOPE and BODYSTRUCTURE (RFC 9051 §7.5.2) as they are sent by IMAP, and the values that they are made of: written, and
 * found again in what was written here. Header text is raw, encoded words untouched.
 */
import { parseAddresses, type RawAddress } from './addresses.ts';
import { destinations, firstValue, type HeaderField, headerFields } from './header-fields.ts';
import type { PartNode, StoredParameter } from './index-message.ts';

/**
 * Sender and Reply-To copy From where they are missing or empty.
 *
 * @returns one character per byte, so that it can stand inside a larger wire text (message/rfc822 in BODYSTRUCTURE)
 */
export function envelopeText(fields: readonly HeaderField[]): string {
  const list = (name: string) => addressList(firstValue(fields, name));
  const from = list('from');
  const sender = list('sender');
  const replyTo = list('reply-to');
  return `(${[
    imapNString(firstValue(fields, 'date')),
    imapNString(firstValue(fields, 'subject')),
    from,
    sender === 'NIL' ? from : sender,
    replyTo === 'NIL' ? from : replyTo,
    addressList(destinations(fields, 'to')),
    addressList(destinations(fields, 'cc')),
    addressList(destinations(fields, 'bcc')),
    imapNString(firstValue(fields, 'in-reply-to')),
    imapNString(firstValue(fields, 'message-id')),
  ].join(' ')})`;
}

function addressList(value: string | undefined): string {
  const list = value === undefined ? [] : parseAddresses(value);
  return list.length === 0 ? 'NIL' : `(${list.map(addressText).join('')})`;
}

/** A group starts with a NIL host and its name in the place of the mailbox, and ends with all four NIL. */
function addressText(entry: RawAddress): string {
  switch (entry.kind) {
    case 'group-start':
      return `(NIL NIL ${imapString(entry.name)} NIL)`;
    case 'group-end':
      return '(NIL NIL NIL NIL)';
    case 'address':
      return `(${imapNString(entry.name)} ${imapNString(entry.route)} ${imapString(entry.local)} ${imapString(entry.host)})`;
  }
}

/** With extension data, made from the offset tree. @returns one character per byte */
export function bodyStructureText(bytes: Uint8Array, part: PartNode): string {
  if (part.type === 'multipart' && part.parts !== undefined)
    return `(${part.parts.map((child) => bodyStructureText(bytes, child)).join('')} ${imapString(part.subtype)} ${parameterList(part.params)} ${disposition(part)} ${languages(part)} ${imapNString(part.location)})`;
  // A leaf that only looks composite must not promise the grammar of a composite.
  const [type, subtype] = part.opaque ? ['application', 'octet-stream'] : [part.type, part.subtype];
  const fields = [
    imapString(type),
    imapString(subtype),
    parameterList(part.params, type === 'text' && part.params === undefined),
    imapNString(part.id),
    imapNString(part.description),
    imapString(part.encoding),
    String(part.end - part.body),
  ];
  const [inner] = part.parts ?? [];
  if (inner !== undefined) {
    const envelope = envelopeText(headerFields(bytes, inner.header, inner.body));
    fields.push(envelope, bodyStructureText(bytes, inner), String(part.lines));
  } else if (type === 'text') fields.push(String(part.lines));
  fields.push(imapNString(part.md5), disposition(part), languages(part), imapNString(part.location));
  return `(${fields.join(' ')})`;
}

/** RFC 2045 §5.2: text without a charset is US-ASCII. */
function parameterList(params: readonly StoredParameter[] | undefined, defaultCharset = false): string {
  if (params === undefined || params.length === 0) return defaultCharset ? '("charset" "us-ascii")' : 'NIL';
  return `(${params.map(parameterText).join(' ')})`;
}

/** Joined extended parameters go out as one `name*` in UTF-8, unless plain ASCII says the same. */
function parameterText([name, text, extended]: StoredParameter): string {
  if (extended === undefined || /^[ -~]*$/.test(text)) return `${imapString(asBytes(name))} ${imapString(text)}`;
  const encoded = encodeURIComponent(text).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `${imapString(`${asBytes(name)}*`)} ${imapString(`utf-8''${encoded}`)}`;
}

const asBytes = (text: string): string => Buffer.from(text).toString('latin1');

const disposition = (part: PartNode): string =>
  part.disposition === undefined
    ? 'NIL'
    : `(${imapString(part.disposition.value)} ${parameterList(part.disposition.params)})`;

function languages(part: PartNode): string {
  const [first, ...more] = part.language ?? [];
  if (first === undefined) return 'NIL';
  return more.length === 0 ? imapString(first) : `(${[first, ...more].map(imapString).join(' ')})`;
}

/** Quoted strings above this go as literals: some clients keep small buffers for them. */
const QUOTED_MAX = 1_024;
const NOT_QUOTABLE = /[\x00-\x1f\x7f-\uffff]/;

/**
 * A string (RFC 9051 §4.3): quoted where that is allowed, else a literal.
 *
 * @param latin1 one character per byte; NUL, which IMAP has no place for outside literal8, is left out
 */
export function imapString(latin1: string): string {
  if (!NOT_QUOTABLE.test(latin1) && latin1.length <= QUOTED_MAX) return `"${latin1.replace(/[\\"]/g, '\\$&')}"`;
  const text = latin1.replaceAll('\0', '');
  return `{${text.length}}\r\n${text}`;
}

/** NIL for what is absent. */
export const imapNString = (latin1: string | null | undefined): string =>
  latin1 === null || latin1 === undefined ? 'NIL' : imapString(latin1);

export const OPEN = 0x28;
const CLOSE = 0x29;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;
const SPACE = 0x20;

/** Offsets of the fields of the list that starts at `start`, and behind its end. */
export function fieldsOf(bytes: Buffer, start: number): { fields: [number, number][]; end: number } {
  const fields: [number, number][] = [];
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== CLOSE) {
    if (bytes[at] === SPACE) {
      at++;
      continue;
    }
    const end = valueEnd(bytes, at);
    fields.push([at, end]);
    at = end;
  }
  return { fields, end: at + 1 };
}

function valueEnd(bytes: Buffer, start: number): number {
  const first = bytes[start];
  if (first === OPEN) {
    let depth = 0;
    let at = start;
    do {
      const byte = bytes[at];
      if (byte === OPEN) {
        depth++;
        at++;
      } else if (byte === CLOSE) {
        depth--;
        at++;
      } else at = byte === QUOTE || byte === BRACE ? valueEnd(bytes, at) : at + 1;
    } while (depth > 0 && at < bytes.length);
    return at;
  }
  if (first === QUOTE) {
    let at = start + 1;
    while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
    return at + 1;
  }
  if (first === BRACE) {
    const close = bytes.indexOf('}', start);
    return close + 3 + Number(bytes.toString('latin1', start + 1, close));
  }
  let at = start;
  while (at < bytes.length && bytes[at] !== SPACE && bytes[at] !== CLOSE && bytes[at] !== OPEN) at++;
  return at;
}

/** The text of a quoted string or literal, one character per byte; undefined: NIL, or a list. */
export function stringAt(bytes: Buffer, [from, to]: readonly [number, number]): string | undefined {
  if (bytes[from] === QUOTE) return bytes.toString('latin1', from + 1, to - 1).replace(/\\(["\\])/g, '$1');
  if (bytes[from] !== BRACE) return undefined;
  return bytes.toString('latin1', bytes.indexOf('\n', from) + 1, to);
}
