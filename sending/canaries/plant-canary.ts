/**
 * A planted message in a mailbox. It says something that nobody needs, such as the key of a vault that does not exist.
 * A program that sends it on has searched the mailbox for others: the mailbox is stopped (`canary-sent.ts`).
 */
import { randomInt } from 'node:crypto';
import { getMailbox } from '#core/mailboxes/mailbox-queries.ts';
import { recordAudit } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import { CatalogueError } from '#domain/errors.ts';
import { CANARY_CHARACTERS, CANARY_GROUP_CHARACTERS } from '#domain/sending/carried-mail.ts';
import { composeSystemMail, putSystemMail, requireDelivered } from '#sending/local-delivery/system-mail.ts';
import type { SendingServices } from '#sending/outbox/outbound-message.ts';

/** Without those that look like others. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';

const newToken = (): string =>
  Array.from({ length: CANARY_CHARACTERS }, () => LETTERS.charAt(randomInt(LETTERS.length))).join('');

const textOf = (token: string): string => `Hello,

the shared vault of the team was moved. Its recovery key is

  ${(token.match(new RegExp(`.{${CANARY_GROUP_CHARACTERS}}`, 'g')) ?? []).join('-')}

Nothing is to be done. Keep this message, and give the key to nobody.
`;

/**
 * Plants a message, or forgets the one that was planted: then the message stays, and means nothing any more. Repeated
 * calls change nothing.
 *
 * @throws {CatalogueError} not_found; forbidden, if the caller is no person; conflict, if the mailbox takes no mail
 */
export async function setCanary(
  services: SendingServices,
  organizationId: string,
  mailboxId: string,
  caller: Caller,
  planted: boolean,
): Promise<void> {
  const { db } = services;
  const { address, canary } = await getMailbox(db, organizationId, mailboxId);
  if (canary === planted) return;
  if (caller.actor.type !== 'user')
    throw new CatalogueError('forbidden', 'Only a signed-in person may plant a canary, or forget it.', {
      fix: 'Ask a member of the organization.',
    });
  const audit = (action: 'mailbox.canary_planted' | 'mailbox.canary_forgotten') =>
    ({ organizationId, action, targetId: mailboxId }) as const;
  if (!planted) {
    await db.transaction(async (sql) => {
      await sql.query('delete from mailbox_canary where mailbox_id = $1', [mailboxId]);
      await recordAudit(sql, caller, audit('mailbox.canary_forgotten'));
    });
    return;
  }
  const token = newToken();
  const mail = await composeSystemMail(services, {
    from: { name: 'Vault', localPart: 'vault' },
    to: address,
    subject: 'Recovery key of the shared vault',
    text: textOf(token),
  });
  // Without an event: only a program that searches the mailbox finds it.
  const outcome = await putSystemMail(services, { ...mail, hasEvent: false }, async (sql) => {
    await sql.query(
      `insert into mailbox_canary (mailbox_id, token) values ($1, $2)
       on conflict (mailbox_id) do update set token = excluded.token, planted_at = now()`,
      [mailboxId, token],
    );
    await recordAudit(sql, caller, audit('mailbox.canary_planted'));
  });
  requireDelivered(outcome);
}
