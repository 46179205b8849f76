/** The recipients of a reply, and the header fields that refer to the answered message (RFC 5322 §3.6.4). */

import { type MailAddress, readableAddresses } from '@agent-mailbox/mime-structure/addresses';
import { destinations, firstValue, type HeaderField } from '@agent-mailbox/mime-structure/header-fields';
import { messageIds } from '@agent-mailbox/mime-structure/message-ids';
import { deliveryAddress } from '#domain/mail/mailbox-address.ts';
import { REFERENCES_MAX } from '#domain/sending/outbound.ts';

export interface AnswerRecipients {
  readonly to: readonly MailAddress[];
  readonly cc: readonly MailAddress[];
  /** People in the message who do not get the reply. */
  readonly omitted: readonly MailAddress[];
}

/**
 * Reply-To, else From; a reply to an own message is addressed to its recipients. With `all`, everybody else in To and
 * Cc gets a copy.
 *
 * @param own address of the replying mailbox
 */
export function answerRecipients(fields: readonly HeaderField[], own: string, all: boolean): AnswerRecipients {
  const list = (name: string) =>
    readableAddresses((name === 'to' || name === 'cc' ? destinations(fields, name) : firstValue(fields, name)) ?? '');
  const isOwn = ({ address }: MailAddress) => deliveryAddress(address) === own.toLowerCase();
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
