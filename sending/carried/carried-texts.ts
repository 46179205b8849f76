/**
 * Every text of an outgoing message that could carry other mail: header, each part whatever its kind, what a reader sees of
 * HTML and its source, and files that are text.
 */
import { decodeWords } from '@agent-mailbox/mime-structure/encoded-words';
import { leaves, partText } from '@agent-mailbox/mime-structure/parts';
import { decodeTransfer } from '@agent-mailbox/mime-structure/transfer-encoding';
import { CARRIED_FILE_MAX_BYTES, CARRIED_TEXT_MAX_CHARACTERS } from '#domain/sending/carried-mail.ts';
import { htmlContent } from '#mime/html-content.ts';
import type { ReadMessage } from '#mime/read-message.ts';

export interface OutgoingText {
  readonly text: string;
  /** A person reads it so: short passages are looked for too. */
  readonly isRead: boolean;
}

export interface OutgoingTexts {
  readonly texts: readonly OutgoingText[];
  /** There is more text than is compared. */
  readonly cut: boolean;
}

/** Of a header, what fits into one of the longest that other hosts accept. */
const HEADER_MAX_BYTES = 65_536;

export function outgoingTexts(bytes: Buffer, read: Pick<ReadMessage, 'parts' | 'subject'>): OutgoingTexts {
  const texts: OutgoingText[] = [];
  let left = CARRIED_TEXT_MAX_CHARACTERS;
  let cut = false;
  const add = (text: string, isRead: boolean): void => {
    if (text.trim() === '') return;
    cut ||= text.length > left;
    texts.push({ text: text.slice(0, left), isRead });
    left -= Math.min(left, text.length);
  };
  add(read.subject, true);
  for (const { part } of leaves(read.parts)) {
    if (part.type === 'text' || part.type === 'multipart') {
      cut ||= part.end - part.body > CARRIED_TEXT_MAX_CHARACTERS * 4;
      const text = partText(bytes, part, CARRIED_TEXT_MAX_CHARACTERS * 4);
      if (part.subtype === 'html') add(htmlContent(text).text, true);
      add(text, part.subtype !== 'html');
    } else {
      const file = textOfFile(bytes.subarray(part.body, part.end), part.encoding);
      if (file !== undefined) add(file, true);
    }
    if (part.header > 0) add(headerText(bytes, part.header, part.body), false);
  }
  add(headerText(bytes, 0, read.parts.body), false);
  return { texts, cut };
}

/** With the text of files, as far as there is room for it. */
export function withDocuments({ texts, cut }: OutgoingTexts, documents: readonly string[]): OutgoingTexts {
  let left = CARRIED_TEXT_MAX_CHARACTERS - texts.reduce((sum, { text }) => sum + text.length, 0);
  const added: OutgoingText[] = [];
  for (const text of documents) {
    if (text.trim() === '') continue;
    cut ||= text.length > left;
    added.push({ text: text.slice(0, left), isRead: true });
    left -= Math.min(left, text.length);
  }
  return { texts: [...texts, ...added], cut };
}

/** Values of all fields, of which agents set many as they like. */
const headerText = (bytes: Buffer, from: number, to: number): string =>
  decodeWords(bytes.toString('utf8', from, Math.min(to, from + HEADER_MAX_BYTES)).replaceAll(/\r?\n[ \t]+/g, ' '));

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/** Undefined: it is no text, or a large file. */
function textOfFile(body: Buffer, encoding: string): string | undefined {
  if (body.length > CARRIED_FILE_MAX_BYTES * 2) return undefined;
  const content = decodeTransfer(body, encoding);
  if (content.length > CARRIED_FILE_MAX_BYTES || content.includes(0)) return undefined;
  try {
    return UTF_8.decode(content);
  } catch {
    return undefined;
  }
}
