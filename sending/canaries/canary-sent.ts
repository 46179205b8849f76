/**
 * An outgoing message says what a planted message says: somebody searched the mailbox for others. The sending mailbox is
 * stopped, its owners and admins get a notice, and the message is refused. A person ends the stop.
 */
import { updateMailbox } from '#core/mailboxes/update-mailbox.ts';
import { recordAudit } from '#core/organizations/audit.ts';
import { writeNotices } from '#core/organizations/member-notices.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { Sql } from '#db/database.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { rest } from '#mailstore/carried/carried-mail.ts';
import { readingsOf } from '#mime/carried/readings.ts';
import type { OutgoingTexts } from '#sending/carried/carried-texts.ts';
import type { Sender, SendingServices } from '#sending/outbox/outbound-message.ts';

const NOT_OF_TOKEN = /[^a-z0-9]+/g;
const RESTS_AFTER_CHARACTERS = 65_536;

/** The mailbox whose planted message is in these texts, as they may be decoded, whatever stands between its characters. */
export async function canaryIn(
  sql: Sql,
  organizationId: string,
  { texts }: OutgoingTexts,
): Promise<string | undefined> {
  const canaries = await sql.query<{ mailboxId: string; token: string }>(CANARIES, [organizationId]);
  if (canaries.length === 0) return undefined;
  for (const { text } of texts)
    for (const { text: reading } of readingsOf(text, { cut: false })) {
      const joined = reading.toLowerCase().replace(NOT_OF_TOKEN, '');
      const found = canaries.find(({ token }) => joined.includes(token));
      if (found !== undefined) return found.mailboxId;
      if (reading.length > RESTS_AFTER_CHARACTERS) await rest();
    }
  return undefined;
}

const CANARIES = `
  select c.mailbox_id as "mailboxId", c.token from mailbox_canary c join mailboxes x on x.id = c.mailbox_id
   where x.organization_id = $1`;

const CALLER: Caller = { actor: SYSTEM_ACTOR, ipAddress: null, requestId: null };

/** @param plantedIn the mailbox of the planted message */
export async function stopForCanary(
  services: SendingServices,
  { organization, mailbox }: Pick<Sender, 'organization' | 'mailbox'>,
  message: { readonly recipients: readonly string[]; readonly plantedIn: string },
): Promise<void> {
  await updateMailbox(services, organization.id, mailbox.id, CALLER, { sendingMode: 'stopped' });
  await services.db.transaction(async (sql) => {
    await recordAudit(sql, CALLER, {
      organizationId: organization.id,
      action: 'mailbox.canary_sent',
      targetId: mailbox.id,
      details: { recipients: message.recipients, plantedIn: message.plantedIn },
    });
    // The sweep of notices sends them: this process may have no connection to the engine.
    await writeNotices(
      sql,
      {
        organizationId: organization.id,
        kind: 'canary_sent',
        targetId: mailbox.id,
        subject: `Sending stopped: ${mailbox.address} was about to send a canary`,
        text: noticeText(mailbox.address, message.recipients),
      },
      services.now(),
    );
  });
}

const RECIPIENTS_NAMED_MAX = 10;

const noticeText = (
  address: string,
  recipients: readonly string[],
): string => `The mailbox ${address} tried to send what a planted message (a canary) says, to:

  ${recipients.slice(0, RECIPIENTS_NAMED_MAX).join('\n  ')}

Nobody needs that text. A program that sends it was probably commanded to search the mailbox for others. The message was refused, and nothing leaves the mailbox until a person ends the stop:

  1. Read the last mail that the agent got, and what it sent before.
  2. Block the sender that told it so.
  3. Set "Sending" of the mailbox to normal again (PATCH /api/mailboxes/:id with {"sendingMode": "normal"}).

You get this mail as an owner or admin of the organization.
`;
