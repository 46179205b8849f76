/** A mail from the service itself into a mailbox, asked for by a person: the first thing an agent can read. */

import { getMailbox } from '#core/mailboxes/mailbox-queries.ts';
import { recordAudit } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import { newId } from '#core/platform/new-id.ts';
import { countUse } from '#db/queries/platform/count-use.ts';
import { CatalogueError } from '#domain/errors.ts';
import { TEST_MAILS_PER_HOUR } from '#domain/mail/mail-limits.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { deliverBatch, receivedEvent } from '#mailstore/delivery/write-delivery.ts';
import { readMessage } from '#mime/read-message.ts';
import { composeMessage } from '#sending/compose/compose-message.ts';
import { afterCommit } from '#sending/local-delivery/release-message.ts';
import { directoryOf } from '#sending/outbox/local-addresses.ts';
import { newMessage, type SendingServices } from '#sending/outbox/outbound-message.ts';

const HOUR_MS = 3_600_000;

const textFor = (name: string, address: string): string => `Hello,

this is a test mail. ${name} asked for it on the dashboard, and the service itself wrote it: nobody else knows of it.

It shows that ${address} receives mail. An agent that is connected to the mailbox sees it at once, and the event
email_received is sent to the webhooks of the organization.

Nobody reads answers to this address.
`;

/**
 * Puts a test mail into the INBOX of a mailbox, with its event.
 *
 * @param person name of the person who requested it
 * @returns id of the message
 * @throws {CatalogueError} not_found; conflict, if the mailbox accepts no mail; rate_limited
 */
export async function sendTestMail(
  services: SendingServices,
  organizationId: string,
  mailboxId: string,
  caller: Caller,
  person: string,
): Promise<string> {
  const { address } = await getMailbox(services.db, organizationId, mailboxId);
  const nowMs = services.now();
  const { used, resetsInMs } = await countUse(services.db, `test-mail:${mailboxId}`, HOUR_MS, nowMs);
  if (used > TEST_MAILS_PER_HOUR)
    throw new CatalogueError('rate_limited', `A mailbox gets at most ${TEST_MAILS_PER_HOUR} test mails an hour.`, {
      retryAfterSeconds: Math.max(1, Math.ceil(resetsInMs / 1_000)),
    });
  const recipient = await directoryOf(services).find(address, 'fresh');
  if (recipient === undefined) throw closed();
  const from = `no-reply@${services.settings.MAIL_DOMAIN}`;
  const bytes = await composeMessage({
    from: { name: 'Agent Mailbox test', address: from },
    to: [{ name: '', address }],
    cc: [],
    bcc: [],
    replyTo: [],
    subject: 'Test mail: this mailbox works',
    text: textFor(person, address),
    html: undefined,
    attachments: [],
    headers: { 'Auto-Submitted': 'auto-generated' },
    inReplyTo: undefined,
    references: [],
    date: new Date(nowMs),
    messageId: `<${newId('message', nowMs)}@${services.settings.MAIL_DOMAIN}>`,
  });
  const message = newMessage({ bytes, read: readMessage(bytes) }, 'system', {
    correspondent: from,
    envelopeFrom: '',
    at: new Date(nowMs),
    auth: null,
  });
  const { outcomes, owed } = await services.db.transaction(async (sql) => {
    const delivered = await deliverBatch(sql, [
      {
        message,
        deliveries: [
          { recipient, deliveredTo: address, folderId: recipient.inboxId, labels: [], deliveryHash: undefined },
        ],
        event: (delivery, messageId, threadId) => ({
          ...receivedEvent(message, delivery, messageId, threadId),
          actor: SYSTEM_ACTOR,
        }),
      },
    ]);
    if (delivered.outcomes[0]?.kind === 'delivered')
      await recordAudit(sql, caller, { organizationId, action: 'mailbox.test_mail_sent', targetId: mailboxId });
    return delivered;
  });
  const [outcome] = outcomes;
  if (outcome?.kind === 'over-quota')
    throw new CatalogueError('conflict', 'The mailbox is full.', { fix: 'Delete mail that is no longer needed.' });
  const [filed] = outcome?.kind === 'delivered' ? outcome.deliveries : [];
  if (filed === undefined) throw closed();
  afterCommit(services, { folderIds: [recipient.inboxId], owed });
  return filed.messageId;
}

const closed = (): CatalogueError =>
  new CatalogueError('conflict', 'The mailbox takes no mail.', {
    fix: 'If it is suspended, resume it; if it is pending, verify its domain.',
  });
