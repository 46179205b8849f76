import type { MailAddress } from '@agent-mailbox/mime-structure/addresses';
import type { MailboxView } from '#core/mailboxes/mailbox-view.ts';
import { hashOfBytes, hashOfContent } from '#core/platform/client-id.ts';
import type { EditableMessage } from '#mime/editable-message.ts';
import type { Answered } from '#sending/outbox/own-mail.ts';

/** A message to be sent, by its parts. */
export interface Letter extends Omit<EditableMessage, 'messageId'> {
  /** The message it answers or forwards. */
  readonly answers?: Answered;
  /** People in the answered message who do not get this one. */
  readonly omitted?: readonly MailAddress[];
}

export type Author = Pick<MailboxView, 'name' | 'localPart' | 'address'>;

/** The mailbox as author. A generated local part is no name. */
export const authorOf = ({ name, localPart, address }: Author): MailAddress => ({
  name: name === localPart ? '' : name,
  address,
});

/** What a letter is sent or saved with. */
export interface LetterTerms {
  readonly labels: readonly string[];
  readonly sendAt: Date | null;
  /** The credential that alone may repeat it; null: any of the mailbox. */
  readonly onlyFor: string | null;
}

/** Hash of what makes the mail: the order of recipients, labels and header fields, and line ends, make no other one. */
export const hashOfLetter = (
  { to, cc, bcc, replyTo, subject, text, html, attachments, headers, inReplyTo, references, answers }: Letter,
  { labels, sendAt, onlyFor }: LetterTerms,
): Buffer =>
  hashOfContent({
    to: comparable(to),
    cc: comparable(cc),
    bcc: comparable(bcc),
    replyTo: comparable(replyTo),
    subject,
    text: withLf(text ?? (html === undefined ? '' : undefined)),
    html: withLf(html),
    attachments: attachments.map(({ content, ...attachment }) => ({
      ...attachment,
      content: hashOfBytes(content).toString('hex'),
    })),
    headers: Object.entries(headers)
      .map(([name, value]) => `${name.toLowerCase()}: ${value}`)
      .toSorted(),
    inReplyTo,
    references,
    answers,
    labels: [...new Set(labels)].toSorted(),
    sendAt,
    onlyFor,
  });

const comparable = (addresses: readonly MailAddress[]): string[] =>
  addresses.map(({ name, address }) => JSON.stringify([address.toLowerCase(), name])).toSorted();

const withLf = (text: string | undefined): string | undefined => text?.replaceAll('\r\n', '\n');
