/** A mail from the service itself into a mailbox, asked for by a person: the first thing an agent can read. */

import { getMailbox } from '#core/mailboxes/mailbox-queries.ts';
import { recordAudit } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import { countUse } from '#db/queries/platform/count-use.ts';
import { CatalogueError } from '#domain/errors.ts';
import { TEST_MAILS_PER_HOUR } from '#domain/mail/mail-limits.ts';
import { composeSystemMail, putSystemMail, requireDelivered } from '#sending/local-delivery/system-mail.ts';
import type { SendingServices } from '#sending/outbox/outbound-message.ts';

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
  const mail = await composeSystemMail(services, {
    from: { name: 'Agent Mailbox test', localPart: 'no-reply' },
    to: address,
    subject: 'Test mail: this mailbox works',
    text: textFor(person, address),
    headers: { 'Auto-Submitted': 'auto-generated' },
  });
  const outcome = await putSystemMail(services, { ...mail, hasEvent: true }, (sql) =>
    recordAudit(sql, caller, { organizationId, action: 'mailbox.test_mail_sent', targetId: mailboxId }),
  );
  return requireDelivered(outcome).messageId;
}
