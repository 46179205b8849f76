/**
 * The texts of a message that IMAP SEARCH compares (RFC 9051 §6.4.4), decoded and folded, so that a substring of one is
 * a plain substring of the other:
 *
 *     HEADER   `header`       fields of the message, one a line: `name: value`
 *     FROM …   `envelope`     From, To, Cc, Bcc, Subject as the envelope structure has them
 *     BODY     `body`         text of every part, attached ones and HTML too, and messages inside: their fields and text
 *              `partHeaders`  the MIME header fields of the parts, which stand in the body
 *     TEXT     `header`, `body` and `partHeaders`
 */
import { parseAddresses, type RawAddress } from '@agent-mailbox/mime-structure/addresses';
import { decodeRawHeader, storableText } from '@agent-mailbox/mime-structure/charset';
import { decodeWords } from '@agent-mailbox/mime-structure/encoded-words';
import { destinations, firstValue, type HeaderField, headerFields } from '@agent-mailbox/mime-structure/header-fields';
import type { PartNode } from '@agent-mailbox/mime-structure/index-message';
import { partText } from '@agent-mailbox/mime-structure/parts';
import type { ContentQuery, EnvelopeField } from './interface.ts';
import { markupText } from './markup-text.ts';

export interface SearchText {
  /** A line break before each field, then `name: value`. */
  readonly header: string;
  /** A line break before each entry, then `from:Name <local@host>`. */
  readonly envelope: string;
  readonly partHeaders: string;
  readonly body: string;
  /** There is more in the bytes than in `body` and `partHeaders`. */
  readonly cut: boolean;
}

/** The queries that compare texts. */
export type TextQuery = Extract<ContentQuery, { kind: 'body' | 'text' | 'header' | 'envelope' }>;

/** Lower-cased and in NFC. */
export const foldText = (text: string): string => storableText(text).normalize('NFC').toLowerCase();

/** Prefix of a line of `envelope`, including its line break. */
const envelopeLineStart = (field: EnvelopeField): string => `\n${field}:`;

/** Prefix of a line of `header`, including its line break. */
const headerLineStart = (field: string): string => `\n${field.toLowerCase()}:`;

/**
 * Never throws; takes time in proportion to the size of the message.
 *
 * @param maxBytes of each part, encoded, and of `body` and `partHeaders` each, that are looked at. Default: all
 * @param fields those of the message, where they are known already
 */
export function searchText(
  bytes: Uint8Array,
  root: PartNode,
  maxBytes = Number.POSITIVE_INFINITY,
  fields: readonly HeaderField[] = headerFields(bytes, root.header, root.body),
): SearchText {
  const found: Found = { body: new BoundedText(maxBytes), partHeaders: new BoundedText(maxBytes), cut: false };
  gather(bytes, root, maxBytes, found);
  return {
    header: foldText(lines(fields)),
    envelope: envelopeSearchText(fields),
    partHeaders: foldText(found.partHeaders.text),
    body: foldText(found.body.text),
    cut: found.cut || found.body.cut || found.partHeaders.cut,
  };
}

interface Found {
  readonly body: BoundedText;
  readonly partHeaders: BoundedText;
  cut: boolean;
}

class BoundedText {
  text = '';
  cut = false;
  #leftBytes: number;

  constructor(maxBytes: number) {
    this.#leftBytes = maxBytes;
  }

  add(text: string): void {
    if (text === '') return;
    if (this.#leftBytes <= 0) {
      this.cut = true;
      return;
    }
    const line = `${this.text === '' ? '' : '\n'}${text}`;
    const bytes = Buffer.byteLength(line);
    if (bytes <= this.#leftBytes) this.text += line;
    else {
      this.cut = true;
      // A character takes three bytes at most for each of its units, so this stays within the bound.
      this.text += line.slice(0, Math.max(0, Math.floor(this.#leftBytes / 3)));
    }
    this.#leftBytes -= bytes;
  }
}

function gather(bytes: Uint8Array, part: PartNode, maxBytes: number, found: Found): void {
  if (part.parts === undefined) {
    if (!hasText(part)) return;
    if (part.end - part.body > maxBytes) found.cut = true;
    if (found.body.cut) return;
    const text = partText(bytes, part, maxBytes);
    found.body.add(part.type === 'text' && MARKUP.test(part.subtype) ? markupText(text) : text);
    return;
  }
  for (const child of part.parts) {
    const fields = headerFields(bytes, child.header, child.body);
    if (part.type === 'multipart') {
      found.partHeaders.add(lines(fields).slice(1));
      // RFC 2231 splits and encodes names of files; here one is as people know it.
      if (child.filename !== undefined) found.partHeaders.add(child.filename);
    } else found.body.add(lines(fields).slice(1));
    gather(bytes, child, maxBytes, found);
  }
}

const MARKUP = /^(?:html|xhtml|x-html|enriched|xml)$/;

/** Reports of message/* are text; so is a multipart or message that could not be parsed. */
const hasText = ({ type }: PartNode): boolean => type === 'text' || type === 'message' || type === 'multipart';

const oneLine = (text: string): string => text.replace(/[\r\n]+/g, ' ');

function lines(fields: readonly HeaderField[]): string {
  let text = '';
  for (const { name, value } of fields) text += `\n${name}: ${oneLine(decodeWords(value))}`;
  return text;
}

/** `envelope` of `searchText` alone. Takes time in proportion to the header. */
export const envelopeSearchText = (fields: readonly HeaderField[]): string => foldText(envelopeLines(fields));

function envelopeLines(fields: readonly HeaderField[]): string {
  const lists: readonly (readonly [EnvelopeField, string | undefined])[] = [
    ['from', firstValue(fields, 'from')],
    ['to', destinations(fields, 'to')],
    ['cc', destinations(fields, 'cc')],
    ['bcc', destinations(fields, 'bcc')],
  ];
  let text = `${envelopeLineStart('subject')}${oneLine(decodeWords(firstValue(fields, 'subject') ?? ''))}`;
  for (const [field, value] of lists)
    for (const entry of parseAddresses(value ?? '')) {
      const shown = addressLine(entry);
      if (shown !== '') text += `${envelopeLineStart(field)}${oneLine(shown)}`;
    }
  return text;
}

function addressLine(entry: RawAddress): string {
  switch (entry.kind) {
    case 'group-start':
      return `${decodeWords(entry.name)}:`;
    case 'group-end':
      return '';
    case 'address': {
      const at = entry.host === '' ? '' : `@${decodeRawHeader(entry.host)}`;
      return `${decodeWords(entry.name ?? '')} <${decodeRawHeader(entry.local)}${at}>`.trimStart();
    }
  }
}

/** The prefix of lines of `header` or `envelope` that may contain the needle. */
export const lineStart = (query: Extract<TextQuery, { field: string }>): string =>
  query.kind === 'envelope' ? envelopeLineStart(query.field) : headerLineStart(query.field);

/** Whether the texts of one message match. @param needle folded */
export function textMatches(text: SearchText, query: TextQuery, needle = foldText(query.text)): boolean {
  if (needle === '' && query.kind !== 'header') return true;
  switch (query.kind) {
    case 'body':
      return [text.body, text.partHeaders].some((each) => each.includes(needle));
    case 'text':
      return [text.header, text.partHeaders, text.body].some((each) => each.includes(needle));
    case 'envelope':
    case 'header': {
      const start = lineStart(query);
      const lines = query.kind === 'envelope' ? text.envelope : text.header;
      return lines.split(/(?=\n)/).some((line) => line.startsWith(start) && line.slice(start.length).includes(needle));
    }
  }
}
