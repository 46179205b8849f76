/** Checks RCPT: which addresses accept mail, and the answers for the others (RFC 5321 §3.6, RFC 3463). */
import type { SMTPServerSession } from 'smtp-server';
import type { Sql } from '#db/database.ts';
import { SMTP_UNKNOWN_RECIPIENTS_MAX } from '#domain/mail/mail-limits.ts';
import type { MailboxStatus } from '#domain/organizations/mailboxes.ts';
import type { Recipient, RecipientDirectory } from '#mailstore/delivery/recipients.ts';
import { listAsker } from '#sending/lists/sender-lists.ts';
import type { BlockedEvents } from './blocked-events.ts';
import { SmtpReply } from './smtp-reply.ts';

export interface AcceptedRecipient {
  readonly recipient: Recipient;
  /** As the client wrote it, plus-tag included. */
  readonly address: string;
}

/** Recipients of one SMTP transaction by mailbox id: two plus-tags of one mailbox are one delivery. */
export type AcceptedRecipients = Map<string, AcceptedRecipient>;

export interface RecipientGate {
  /** @throws {SmtpReply} */
  admit(address: string, session: SMTPServerSession, accepted: AcceptedRecipients): Promise<AcceptedRecipient>;
}

export function recipientGate(directory: RecipientDirectory, blocked: BlockedEvents, sql: Sql): RecipientGate {
  const askLists = listAsker(sql);
  /** Per connection: a client that tries many unknown addresses is searching for valid ones. */
  const unknown = new WeakMap<SMTPServerSession, number>();

  async function refuseUnknown(address: string, session: SMTPServerSession): Promise<never> {
    const count = (unknown.get(session) ?? 0) + 1;
    unknown.set(session, count);
    if (count >= SMTP_UNKNOWN_RECIPIENTS_MAX) throw new SmtpReply(421, '4.7.0', 'Too many unknown recipients');
    const served = await directory.servesDomain(address.slice(address.lastIndexOf('@') + 1));
    throw served
      ? new SmtpReply(550, '5.1.1', 'No such mailbox here')
      : new SmtpReply(550, '5.7.1', 'Relaying denied: this domain is not served here');
  }

  /** The envelope's sender: it is all that is known before DATA. Bounces, which have none, are on no list. */
  async function refuseBlocked(recipient: Recipient, address: string, session: SMTPServerSession): Promise<void> {
    const envelopeFrom = session.envelope.mailFrom === false ? '' : session.envelope.mailFrom.address;
    const verdicts = await askLists({
      organizationId: recipient.organization.id,
      mailboxId: recipient.mailbox.id,
      direction: 'inbound',
      addresses: envelopeFrom === '' ? [] : [envelopeFrom],
    });
    const verdict = verdicts.get(envelopeFrom.toLowerCase());
    if (verdict?.action !== 'block') return;
    blocked.add({ recipient, envelopeFrom, to: address, subject: '', reason: 'blocked_sender', rule: verdict.value });
    throw new SmtpReply(550, '5.7.1', 'The recipient does not accept mail from this sender');
  }

  return {
    async admit(address, session, accepted) {
      let recipient = await directory.find(address);
      if (recipient === undefined) return refuseUnknown(address, session);
      if (recipient.status !== 'active') recipient = (await directory.find(address, 'fresh')) ?? recipient;
      refuseByStatus(recipient.status);
      // Queried each time: an entry applies from its commit on, in every process.
      await refuseBlocked(recipient, address, session);
      const declared = declaredSize(session);
      if (recipient.bytesUsed + declared > recipient.quotaBytes) {
        // The cached value may be old: mail may have been deleted since.
        recipient = (await directory.find(address, 'fresh')) ?? recipient;
        if (recipient.bytesUsed + declared > recipient.quotaBytes) {
          const envelopeFrom = session.envelope.mailFrom === false ? '' : session.envelope.mailFrom.address;
          blocked.add({ recipient, envelopeFrom, to: address, subject: '', reason: 'quota_exceeded' });
          throw new SmtpReply(552, '5.2.2', 'The mailbox is full');
        }
      }
      requireAlone(recipient, accepted);
      const found = { recipient, address };
      const before = accepted.get(recipient.mailbox.id);
      // What comes by an address without a list comes in any case.
      if (before === undefined || (before.recipient.alias?.hasList === true && recipient.alias?.hasList !== true))
        accepted.set(recipient.mailbox.id, found);
      return found;
    },
  };
}

/**
 * The answer to DATA is one for all recipients, and an alias with a list of senders may refuse the message then.
 *
 * @throws {SmtpReply} for the client to send to it in a transaction of its own (RFC 5321 §4.5.3.1.10)
 */
function requireAlone({ alias }: Recipient, accepted: AcceptedRecipients): void {
  const others = [...accepted.values()].filter((each) => each.recipient.alias?.id !== alias?.id || alias === null);
  if (others.length === 0) return;
  if (alias?.refusesOthers === true || others.some((each) => each.recipient.alias?.refusesOthers === true))
    throw mustBeAlone();
}

export const mustBeAlone = (): SmtpReply =>
  new SmtpReply(452, '4.5.3', 'An address with a list of senders must be the only recipient');

/** Whether a recipient of a transaction must be its only one. */
export const needsToBeAlone = (accepted: AcceptedRecipients): boolean =>
  [...accepted.values()].some(({ recipient }) => recipient.alias?.refusesOthers === true);

/** @throws {SmtpReply} unless a mailbox of this status accepts mail */
export function refuseByStatus(status: MailboxStatus): void {
  switch (status) {
    case 'active':
      return;
    case 'pending':
      throw new SmtpReply(450, '4.2.1', 'The mailbox does not accept mail now');
    case 'suspended':
      throw new SmtpReply(550, '5.2.1', 'The mailbox is suspended');
    case 'expired':
    case 'deleting':
      throw new SmtpReply(550, '5.1.1', 'No such mailbox here');
  }
}

/** SIZE of MAIL (RFC 1870), at least one byte: nothing fits into a full mailbox. */
export function declaredSize({ envelope: { mailFrom } }: SMTPServerSession): number {
  const size = mailFrom === false || mailFrom.args === false ? undefined : mailFrom.args['SIZE'];
  return Math.max(1, typeof size === 'string' ? Number(size) : 0);
}
