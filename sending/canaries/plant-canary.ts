/**
 * A planted message in a mailbox. It says something that nobody needs, such as the key of a vault that does not exist.
 * Whoever sends that on has searched the mailbox for others: the mailbox is stopped (`canary-sent.ts`).
 */
import { randomInt } from 'node:crypto';
import { getMailbox } from '#core/mailboxes/mailbox-queries.ts';
import { recordAudit } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import { newId } from '#core/platform/new-id.ts';
import { CatalogueError } from '#domain/errors.ts';
import { CANARY_CHARACTERS, CANARY_GROUP_CHARACTERS } from '#domain/sending/carried-mail.ts';
import { deliverBatch } from '#mailstore/delivery/write-delivery.ts';
import { readMessage } from '#mime/read-message.ts';
import { composeMessage } from '#sending/compose/compose-message.ts';
import { afterCommit } from '#sending/local-delivery/release-message.ts';
import { directoryOf } from '#sending/outbox/local-addresses.ts';
import { newMessage, type SendingServices } from '#sending/outbox/outbound-message.ts';

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
  const recipient = await directoryOf(services).find(address, 'fresh');
  if (recipient === undefined) throw closed();
  const token = newToken();
  const nowMs = services.now();
  const from = `vault@${services.settings.MAIL_DOMAIN}`;
  const bytes = await composeMessage({
    from: { name: 'Vault', address: from },
    to: [{ name: '', address }],
    cc: [],
    bcc: [],
    replyTo: [],
    subject: 'Recovery key of the shared vault',
    text: textOf(token),
    html: undefined,
    attachments: [],
    headers: {},
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
  const { filed, owed } = await db.transaction(async (sql) => {
    const delivered = await deliverBatch(sql, [
      {
        message,
        deliveries: [
          { recipient, deliveredTo: address, folderId: recipient.inboxId, labels: [], deliveryHash: undefined },
        ],
        event: () => null,
      },
    ]);
    const isFiled = delivered.outcomes[0]?.kind === 'delivered';
    if (isFiled) {
      await sql.query(
        `insert into mailbox_canary (mailbox_id, token) values ($1, $2)
         on conflict (mailbox_id) do update set token = excluded.token, planted_at = now()`,
        [mailboxId, token],
      );
      await recordAudit(sql, caller, audit('mailbox.canary_planted'));
    }
    return { filed: isFiled, owed: delivered.owed };
  });
  if (!filed) throw closed();
  afterCommit(services, { folderIds: [recipient.inboxId], owed });
}

const closed = (): CatalogueError =>
  new CatalogueError('conflict', 'The mailbox takes no mail.', {
    fix: 'If it is suspended, resume it; if it is pending, verify its domain; if it is full, delete mail.',
  });
