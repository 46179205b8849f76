/**
 * A member's decision about held mail. What is released is delivered as any mail is, in the transaction of the decision:
 * message, UID, event and webhooks, with the time of its arrival.
 */
import { recordAudit } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Sql } from '#db/database.ts';
import { holdsStay, onHold } from '#db/queries/mailboxes/legal-hold.ts';
import { CatalogueError } from '#domain/errors.ts';
import type { HeldDecision, HeldState } from '#domain/mail/screening.ts';
import { blobKey, storeBlob } from '#mailstore/blobs/blob-store.ts';
import { type DeliveryWrite, type IncomingMessage, isStoredAhead } from '#mailstore/delivery/insert-messages.ts';
import { listedHeader, type Recipient } from '#mailstore/delivery/recipients.ts';
import { threadRefs } from '#mailstore/delivery/threads.ts';
import { deliverBatch, receivedEvent } from '#mailstore/delivery/write-delivery.ts';
import { readSafely } from '#mailstore/reading/read-safely.ts';
import { afterCommit } from '#sending/local-delivery/release-message.ts';
import { directoryOf } from '#sending/outbox/local-addresses.ts';
import type { SendingServices } from '#sending/outbox/outbound-message.ts';
import { findHeldMail, type HeldMail, type HeldMailContent } from './find-held-mail.ts';

const STATE_OF: Readonly<Record<HeldDecision, Exclude<HeldState, 'held'>>> = {
  release: 'released',
  release_and_trust: 'released',
  block: 'blocked',
  report_spam: 'spam',
};

/** @throws {CatalogueError} not_found; conflict, if it was decided, or the mailbox takes no mail or is full */
export async function decideHeldMail(
  services: SendingServices,
  organizationId: string,
  id: string,
  decision: HeldDecision,
  caller: Caller,
): Promise<HeldMail> {
  const held = await findHeldMail(services.db, organizationId, id);
  if (held === undefined) throw new CatalogueError('not_found');
  if (held.state !== 'held' || held.bytes === null) throw decided();
  const state = STATE_OF[decision];
  const released = state === 'released' ? await prepare(services, held, held.bytes) : undefined;
  const { owed, decidedAt } = await services.db.transaction(async (sql) => {
    const at = new Date(services.now());
    await holdsStay(sql);
    const rows = await sql.query(DECIDE, [id, state, at]);
    if (rows.length === 0) throw decided();
    const deliveries = released === undefined ? 0 : await deliver(sql, held, released, at);
    if (decision === 'release_and_trust') await addToList(sql, organizationId, held, 'allow', at);
    if (decision === 'block') await addToList(sql, organizationId, held, 'block', at);
    await recordAudit(sql, caller, {
      organizationId,
      action: 'held_mail.decided',
      targetId: id,
      details: { decision, mailboxId: held.mailboxId, sender: held.author || held.envelopeFrom },
    });
    return { owed: deliveries, decidedAt: at };
  });
  if (released !== undefined) afterCommit(services, { folderIds: [folderOf(held, released.recipient)], owed });
  return { ...held, state, decidedAt };
}

const decided = (): CatalogueError =>
  new CatalogueError('conflict', 'This message was decided before.', { fix: 'List held mail again.' });

/** On legal hold, mail that nobody gets is kept; what is released is kept as a message. */
const DECIDE = `
  update held_arrival set state = $2, decided_at = $3,
         bytes = case when $2 <> 'released' and ${onHold('held_arrival.mailbox_id')} then bytes end
   where id = $1 and state = 'held' returning id`;

interface Released {
  readonly message: IncomingMessage;
  readonly recipient: Recipient;
}

const folderOf = ({ toJunk }: HeldMailContent, { junkId, inboxId }: Recipient): number => (toJunk ? junkId : inboxId);

async function prepare(services: SendingServices, held: HeldMailContent, bytes: Buffer): Promise<Released> {
  const directory = directoryOf(services);
  // An alias may file its mail in a folder of its own, and may be gone since.
  const byAlias = held.deliveredTo === '' ? undefined : await directory.find(held.deliveredTo, 'fresh');
  const recipient =
    byAlias?.mailbox.id === held.mailboxId ? byAlias : await directory.find(held.mailboxAddress, 'fresh');
  if (recipient?.mailbox.id !== held.mailboxId || recipient.status !== 'active') throw closed();
  const read = await readSafely(services.db, bytes, { source: held.mailboxId });
  const message: IncomingMessage = {
    bytes,
    size: bytes.length,
    blobKey: blobKey(bytes),
    read,
    refs: threadRefs(read, read.from[0]?.address ?? held.envelopeFrom),
    listed: listedHeader(bytes, read.parts),
    origin: held.actor === null ? 'smtp' : 'local',
    receivedAt: held.receivedAt,
    envelopeFrom: held.envelopeFrom,
    auth: held.auth,
  };
  if (isStoredAhead(message)) await storeBlob(services.db, message.blobKey, bytes);
  return { message, recipient };
}

const closed = (): CatalogueError =>
  new CatalogueError('conflict', 'The mailbox takes no mail.', {
    fix: 'If it is suspended, resume it; if it is pending, verify its domain.',
  });

/** @returns webhook deliveries to dispatch */
async function deliver(
  sql: Sql,
  held: HeldMailContent,
  { message, recipient }: Released,
  releasedAt: Date,
): Promise<number> {
  const write: DeliveryWrite = {
    message,
    deliveries: [
      {
        recipient,
        deliveredTo: held.deliveredTo,
        folderId: folderOf(held, recipient),
        labels: held.labels,
        deliveryHash: held.deliveryHash ?? undefined,
        messageId: held.id,
      },
    ],
    event: (delivery, messageId, threadId) => {
      const event = receivedEvent(message, delivery, messageId, threadId);
      return held.actor === null ? event : { ...event, actor: held.actor };
    },
  };
  const {
    outcomes: [outcome],
    owed,
  } = await deliverBatch(sql, [write]);
  if (outcome?.kind === 'over-quota')
    throw new CatalogueError('conflict', 'The mailbox is full.', { fix: 'Delete mail that is no longer needed.' });
  if (outcome?.kind !== 'delivered') throw closed();
  const threadId = outcome.deliveries[0]?.threadId ?? null;
  if (threadId !== null && held.author !== '')
    await sql.query(RELEASE_THREAD, [held.mailboxId, threadId, held.author, held.proven, releasedAt]);
  return owed;
}

const RELEASE_THREAD = `
  insert into released_thread (mailbox_id, thread_id, author, proven, released_at) values ($1, $2, $3, $4, $5)
  on conflict (mailbox_id, author, thread_id) do update set released_at = excluded.released_at`;

/** For the mailbox; an entry of the opposite kind is replaced: the newest decision of a person counts. */
async function addToList(
  sql: Sql,
  organizationId: string,
  { author, envelopeFrom, mailboxId }: HeldMailContent,
  action: 'allow' | 'block',
  at: Date,
): Promise<void> {
  const addresses = new Set(
    [author, action === 'block' ? envelopeFrom.toLowerCase() : ''].filter((each) => each !== ''),
  );
  for (const value of addresses) {
    await sql.query(
      `insert into sender_list (id, organization_id, mailbox_id, direction, action, value, created_at)
       values ($1, $2, $3, 'inbound', $4, $5, $6) on conflict (organization_id, mailbox_id, direction, value) do update set action = excluded.action`,
      [newId('listEntry', at.getTime()), organizationId, mailboxId, action, value, at],
    );
  }
}
