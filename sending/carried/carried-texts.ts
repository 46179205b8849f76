/**
 * Every text of an outgoing message that could carry other mail: header, each part whatever its kind, what a reader sees of
 * HTML and its source, files that are text or have text between other bytes or packed, and the addresses it goes to. What is
 * read one after the other is one text, so that nothing is hidden in its pieces.
 */
import { decodeWords } from '@agent-mailbox/mime-structure/encoded-words';
import { leaves, partText } from '@agent-mailbox/mime-structure/parts';
import { decodeTransfer } from '@agent-mailbox/mime-structure/transfer-encoding';
import { CARRIED_FILE_MAX_BYTES, CARRIED_TEXT_MAX_CHARACTERS } from '#domain/sending/carried-mail.ts';
import { plainTextOf, textsIn, type UnpackingLimits } from '#mime/carried/packed-bytes.ts';
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

/** @param recipients of the envelope */
export function outgoingTexts(
  bytes: Buffer,
  read: Pick<ReadMessage, 'parts' | 'subject'>,
  recipients: readonly string[],
): OutgoingTexts {
  const texts: OutgoingText[] = [];
  const written: string[] = [read.subject];
  const seen: string[] = [];
  let left = CARRIED_TEXT_MAX_CHARACTERS;
  let cut = false;
  const add = (text: string, isRead: boolean): void => {
    if (text.trim() === '') return;
    cut ||= text.length > left;
    texts.push({ text: text.slice(0, left), isRead });
    left -= Math.min(left, text.length);
  };
  const budget: UnpackingLimits = { left: UNPACKED_MAX_BYTES, cut: false };
  const headers: string[] = [];
  for (const { part } of leaves(read.parts)) {
    if (part.type === 'text' || part.type === 'multipart') {
      cut ||= part.end - part.body > CARRIED_TEXT_MAX_CHARACTERS * 4;
      const text = partText(bytes, part, CARRIED_TEXT_MAX_CHARACTERS * 4);
      if (part.subtype === 'html') {
        seen.push(htmlContent(text).text);
        add(text, false);
      } else written.push(text);
    } else {
      const file = textOfFile(bytes.subarray(part.body, part.end), part.encoding, budget);
      if (file !== undefined) written.push(file);
    }
    if (part.header > 0) headers.push(headerText(bytes, part.header, part.body));
  }
  const all = written.join('\n');
  texts.unshift(...whole(all));
  if (seen.length > 0) add([read.subject, ...seen].join('\n'), true);
  headers.push(headerText(bytes, 0, read.parts.body), recipients.map(localPart).join('\n'));
  add(headers.join('\n'), false);
  return { texts, cut: cut || budget.cut };

  function whole(text: string): OutgoingText[] {
    cut ||= text.length > left;
    const taken = text.slice(0, Math.max(0, left));
    left -= taken.length;
    return taken.trim() === '' ? [] : [{ text: taken, isRead: true }];
  }
}

const UNPACKED_MAX_BYTES = 8_388_608;
const localPart = (address: string): string => address.slice(0, Math.max(0, address.lastIndexOf('@')));

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

/** Undefined: it has no text, or is a large file. */
function textOfFile(body: Buffer, encoding: string, budget: UnpackingLimits): string | undefined {
  if (body.length > CARRIED_FILE_MAX_BYTES * 2) return undefined;
  const content = Buffer.from(decodeTransfer(body, encoding));
  if (content.length > CARRIED_FILE_MAX_BYTES) return undefined;
  const text = textsIn(content, budget);
  return text.trim() === '' ? plainTextOf(content) : text;
}
