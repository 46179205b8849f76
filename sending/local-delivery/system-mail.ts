/** Mail that the service itself writes into the INBOX of a mailbox here: test mails, canaries, notices to members. */
import { newId } from '#core/platform/new-id.ts';
import type { Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import type { DeliveryOutcome } from '#mailstore/delivery/insert-messages.ts';
import type { Recipient } from '#mailstore/delivery/recipients.ts';
import { deliverBatch, receivedEvent } from '#mailstore/delivery/write-delivery.ts';
import { readMessage } from '#mime/read-message.ts';
import { composeMessage } from '#sending/compose/compose-message.ts';
import { afterCommit } from '#sending/local-delivery/release-message.ts';
import { directoryOf } from '#sending/outbox/local-addresses.ts';
import { newMessage, type SendingServices } from '#sending/outbox/outbound-message.ts';

/** A mail of the service, before it is composed. */
export interface SystemLetter {
  readonly from: { readonly name: string; readonly localPart: string };
  /** Address of a mailbox here. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface SystemMail {
  readonly recipient: Recipient;
  readonly deliveredTo: string;
  /** Local part in From, at MAIL_DOMAIN. */
  readonly fromLocalPart: string;
  readonly bytes: Buffer;
  /** Whether `email_received` is recorded. */
  readonly hasEvent: boolean;
}

/** @throws {CatalogueError} conflict: the mailbox accepts no mail */
export async function composeSystemMail(
  services: SendingServices,
  { from, to, subject, text, headers = {} }: SystemLetter,
): Promise<Pick<SystemMail, 'recipient' | 'deliveredTo' | 'fromLocalPart' | 'bytes'>> {
  const recipient = await directoryOf(services).find(to, 'fresh');
  if (recipient === undefined) throw takesNoMail();
  const { MAIL_DOMAIN } = services.settings;
  const nowMs = services.now();
  const bytes = await composeMessage({
    from: { name: from.name, address: `${from.localPart}@${MAIL_DOMAIN}` },
    to: [{ name: '', address: to }],
    cc: [],
    bcc: [],
    replyTo: [],
    subject,
    text,
    html: undefined,
    attachments: [],
    headers: { ...headers },
    inReplyTo: undefined,
    references: [],
    date: new Date(nowMs),
    messageId: `<${newId('message', nowMs)}@${MAIL_DOMAIN}>`,
  });
  return { recipient, deliveredTo: to, fromLocalPart: from.localPart, bytes };
}

/**
 * Puts a mail into INBOX.
 *
 * @param inSameCommit called if it is delivered
 */
export async function putSystemMail(
  services: SendingServices,
  { recipient, deliveredTo, fromLocalPart, bytes, hasEvent }: SystemMail,
  inSameCommit: (sql: Sql) => Promise<void>,
): Promise<DeliveryOutcome> {
  const message = newMessage({ bytes, read: readMessage(bytes) }, 'system', {
    correspondent: `${fromLocalPart}@${services.settings.MAIL_DOMAIN}`,
    envelopeFrom: '',
    at: new Date(services.now()),
    auth: null,
  });
  const { outcome, owed } = await services.db.transaction(async (sql) => {
    const { outcomes, owed } = await deliverBatch(sql, [
      {
        message,
        deliveries: [{ recipient, deliveredTo, folderId: recipient.inboxId, labels: [], deliveryHash: undefined }],
        event: (delivery, messageId, threadId) =>
          hasEvent ? { ...receivedEvent(message, delivery, messageId, threadId), actor: SYSTEM_ACTOR } : null,
      },
    ]);
    const [outcome] = outcomes;
    if (outcome === undefined) throw new Error('a delivery without an outcome');
    if (outcome.kind === 'delivered') await inSameCommit(sql);
    return { outcome, owed };
  });
  if (outcome.kind === 'delivered') afterCommit(services, { folderIds: [recipient.inboxId], owed });
  return outcome;
}

export const takesNoMail = (): CatalogueError =>
  new CatalogueError('conflict', 'The mailbox takes no mail.', {
    fix: 'If it is suspended, resume it; if it is pending, verify its domain.',
  });

/** The ids of the message that was delivered. @throws {CatalogueError} conflict: the mailbox is full, or takes no mail */
export function requireDelivered(outcome: DeliveryOutcome): { readonly messageId: string } {
  if (outcome.kind === 'over-quota')
    throw new CatalogueError('conflict', 'The mailbox is full.', { fix: 'Delete mail that is no longer needed.' });
  const [filed] = outcome.kind === 'delivered' ? outcome.deliveries : [];
  if (filed === undefined) throw takesNoMail();
  return filed;
}
