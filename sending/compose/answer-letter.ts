/**
 * Replies and forwards: the parts that come from the message they refer to, their recipients, and the header fields that
 * refer to it (RFC 5322 §3.6.4).
 */
import { formatAddress, type MailAddress, readableAddresses } from '@agent-mailbox/mime-structure/addresses';
import { destinations, firstValue, type HeaderField } from '@agent-mailbox/mime-structure/header-fields';
import { messageIds } from '@agent-mailbox/mime-structure/read-structure';
import type { MailboxView } from '#core/mailboxes/mailbox-queries.ts';
import { hashOfBytes, hashOfContent } from '#core/platform/client-id.ts';
import type { Database } from '#db/database.ts';
import { deliveryAddress, isOneOf } from '#domain/mail/mailbox-address.ts';
import { REFERENCES_MAX } from '#domain/sending/outbound.ts';
import { readBlob } from '#mailstore/blobs/blob-store.ts';
import { readContent } from '#mailstore/messages/message-content.ts';
import type { StoredMessageContent } from '#mailstore/messages/read-messages.ts';
import type { EditableMessage } from '#mime/editable-message.ts';
import type { Answered } from '#sending/outbox/own-mail.ts';

/** A message to be sent, by its parts. */
export interface Letter extends Omit<EditableMessage, 'messageId'> {
  /** The alias that it is written as; absent: the address of the mailbox. */
  readonly from?: string;
  /** The message it answers or forwards. */
  readonly answers?: Answered;
  /** People in the answered message who do not get this one. */
  readonly omitted?: readonly MailAddress[];
}

export type Author = Pick<MailboxView, 'name' | 'localPart' | 'address'>;

/** The mailbox as author. A generated local part is no name. @param alias that it writes as */
export const authorOf = ({ name, localPart, address }: Author, alias?: string): MailAddress => ({
  name: name === localPart ? '' : name,
  address: alias ?? address,
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
  { from, to, cc, bcc, replyTo, subject, text, html, attachments, headers, inReplyTo, references, answers }: Letter,
  { labels, sendAt, onlyFor }: LetterTerms,
): Buffer =>
  hashOfContent({
    from: from?.toLowerCase(),
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

interface AnswerRecipients {
  readonly to: readonly MailAddress[];
  readonly cc: readonly MailAddress[];
  /** People in the message who do not get the reply. */
  readonly omitted: readonly MailAddress[];
}

/**
 * Reply-To, else From; a reply to an own message is addressed to its recipients. With `all`, everybody else in To and
 * Cc gets a copy.
 *
 * @param own addresses of the replying mailbox, aliases included
 */
export function answerRecipients(
  fields: readonly HeaderField[],
  own: readonly string[],
  all: boolean,
): AnswerRecipients {
  const list = (name: string) =>
    readableAddresses((name === 'to' || name === 'cc' ? destinations(fields, name) : firstValue(fields, name)) ?? '');
  const isOwn = ({ address }: MailAddress) => isOneOf(own, address);
  const from = list('from');
  const replyTo = list('reply-to');
  const answersItself = from.some(isOwn) && replyTo.length === 0;
  const to = answersItself ? list('to') : replyTo.length > 0 ? replyTo : from;
  const taken = new Set(to.map(({ address }) => address.toLowerCase()));
  const others = [...list('to'), ...list('cc')].filter((each) => {
    const key = each.address.toLowerCase();
    if (taken.has(key) || isOwn(each)) return false;
    taken.add(key);
    return true;
  });
  return all ? { to, cc: others, omitted: [] } : { to, cc: [], omitted: others };
}

/** The alias that a message came to: its answer is written as that one. Undefined: the mailbox's address. */
export function answeringAlias(
  { deliveredTo, origin }: Pick<StoredMessageContent, 'deliveredTo' | 'origin'>,
  [, ...aliases]: readonly string[],
): string | undefined {
  const to = (deliveredTo ?? '').toLowerCase();
  if (origin !== 'smtp' && origin !== 'local') return undefined;
  return aliases.find((alias) => alias === to) ?? aliases.find((alias) => alias === deliveryAddress(to));
}

/** In-Reply-To and References of an answer. */
export function answerReferences(fields: readonly HeaderField[]): {
  readonly inReplyTo: string | undefined;
  readonly references: readonly string[];
} {
  const inReplyTo = messageIds(firstValue(fields, 'message-id'))[0];
  const before = messageIds(firstValue(fields, 'references'));
  const earlier = before.length > 0 ? before : messageIds(firstValue(fields, 'in-reply-to')).slice(0, 1);
  const references = [...earlier, ...(inReplyTo === undefined ? [] : [inReplyTo])];
  return { inReplyTo, references: [...new Set(references)].slice(-REFERENCES_MAX) };
}

/** `Re: …` or `Fwd: …`, not twice. */
export const prefixedSubject = (prefix: 'Re' | 'Fwd', subject: string): string =>
  new RegExp(`^\\s*${prefix === 'Re' ? 're' : '(?:fwd?|fw)'}\\s*:`, 'i').test(subject)
    ? subject
    : `${prefix}: ${subject}`;

/** The message that is answered or forwarded. */
export interface Original {
  readonly message: StoredMessageContent;
  readonly fields: readonly HeaderField[];
}

/** What the writer gives. */
export interface OwnParts extends Omit<Letter, 'subject' | 'inReplyTo' | 'references' | 'answers' | 'omitted'> {
  /** Undefined: that of the original, with its prefix. */
  readonly subject: string | undefined;
}

/**
 * To the author of the original and the recipients that the writer adds.
 *
 * @param own addresses of the replying mailbox, aliases included
 * @param all also to everybody in To and Cc
 */
export function replyLetter(
  { message, fields }: Original,
  own: readonly string[],
  all: boolean,
  given: OwnParts,
): Letter {
  const answer = answerRecipients(fields, own, all);
  const added = new Set([...given.to, ...given.cc, ...given.bcc].map(({ address }) => address.toLowerCase()));
  const isNotAdded = ({ address }: { readonly address: string }) => !added.has(address.toLowerCase());
  const from = given.from ?? answeringAlias(message, own);
  return {
    ...given,
    ...(from === undefined ? {} : { from }),
    to: [...answer.to, ...given.to],
    cc: [...answer.cc.filter(isNotAdded), ...given.cc],
    omitted: answer.omitted.filter(isNotAdded),
    subject: given.subject ?? prefixedSubject('Re', message.subject),
    ...answerReferences(fields),
    answers: { messageId: message.id, as: 'answered' },
  };
}

/** The text of the original below the writer's own, and the whole original attached, byte for byte. */
export async function forwardLetter(db: Database, { message, fields }: Original, given: OwnParts): Promise<Letter> {
  const original = await readBlob(db, message.blob, 0, message.size);
  const { text } = await readContent(db, message);
  const quoted =
    `---------- Forwarded message ----------\nFrom: ${message.from.map(formatAddress).join(', ')}\n` +
    `Date: ${(message.sentAt ?? message.receivedAt).toUTCString()}\nSubject: ${message.subject}\n` +
    `To: ${message.to.map(formatAddress).join(', ')}\n\n${text}`;
  return {
    ...given,
    subject: given.subject ?? prefixedSubject('Fwd', message.subject),
    text: given.text === undefined ? quoted : `${given.text}\n\n${quoted}`,
    attachments: [
      ...given.attachments,
      { filename: 'forwarded.eml', contentType: 'message/rfc822', content: original, contentId: undefined },
    ],
    inReplyTo: undefined,
    references: answerReferences(fields).references,
    answers: { messageId: message.id, as: 'forwarded' },
  };
}
