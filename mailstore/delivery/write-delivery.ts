/**
 * The write transaction of deliveries, for a batch of messages to any number of mailboxes, with the event of each received
 * message (`email_received`).
 *
 * Locks are taken in one order by every writer, so nothing deadlocks: redelivery keys, folders ascending, counters
 * ascending, blobs ascending. The folder's lock gives UID and MODSEQ, hence commit order = UID order = MODSEQ order.
 * Quota is checked under the counter's lock, message by message: one that does not fit leaves the batch, the others
 * stay.
 *
 * Writes are gathered into transactions (`core/platform/batching/batcher.ts`): a row lock is held until the commit is on
 * disk, so one transaction per message would limit a busy mailbox at the disk's sync rate. Rule: one writer per mailbox at a
 * time in this process; while transactions run, further writes wait and are combined in the next one, up to 64 messages or
 * 4 MiB, of any mailboxes without a writer. Several writers run side by side, which keeps the disk busy. A write over several
 * mailboxes is carried out alone, once all of them are free.
 */
import { formatAddress } from '@agent-mailbox/mime-structure/addresses';
import { type NewEvent, recordEvents } from '#core/events/record-event.ts';
import { type Batcher, batcher, oneWriterPerKey } from '#core/platform/batching/batcher.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Sql } from '#db/database.ts';
import { RECEIVES_AS } from '#db/queries/mailboxes/status-now.ts';
import { WRITE_BATCH_MAX_BYTES, WRITE_BATCH_MAX_MESSAGES } from '#domain/mail/mail-limits.ts';
import type { MessageSignal } from '#domain/mail/message-signals.ts';
import { EVENT_EXTRACTS_LIMIT_BYTES } from '#domain/webhooks/delivery-limits.ts';
import type { Actor } from '#domain/webhooks/event-types.ts';
import type { CounterRow, FolderRow } from '#mailstore/folders/lock-folders.ts';
import { surelyCode } from '#mime/one-time-code.ts';
import type { MessageContent } from '#mime/read-message.ts';
import {
  type Delivered,
  type DeliveryOutcome,
  type DeliveryWrite,
  type IncomingMessage,
  insertMessages,
  type LocalDelivery,
  type PlacedMessage,
} from './insert-messages.ts';
import { assignThreads, knownThreads, type ThreadSeeker } from './threads.ts';

export function receivedEvent(
  message: IncomingMessage,
  { recipient, labels, deliveredTo }: LocalDelivery,
  messageId: string,
  threadId: string,
): NewEvent {
  const { read, auth } = message;
  const [author] = read.from;
  return {
    type: 'email_received',
    organization: recipient.organization,
    mailbox: recipient.mailbox,
    actor: externalActor(author?.name ?? '', author?.address ?? '', message.envelopeFrom),
    occurredAt: message.receivedAt,
    extracts: eventExtracts(read.content),
    data: {
      messageId,
      threadId,
      from: author === undefined ? message.envelopeFrom : formatAddress(author),
      to: read.to.map(formatAddress),
      cc: read.cc.map(formatAddress),
      deliveredTo,
      subject: read.subject,
      preview: read.preview,
      receivedAt: message.receivedAt.toISOString(),
      sizeBytes: message.bytes.length,
      attachments: read.attachments.map(({ id, filename, contentType, sizeBytes }) => ({
        id,
        filename,
        contentType,
        sizeBytes,
      })),
      labels: [...labels],
      signals: read.examined.signals.map(signalOf),
      authentication: {
        spf: auth?.spf.result ?? 'none',
        dkim: auth?.dkim.result ?? 'none',
        dmarc: auth?.dmarc.result ?? 'none',
      },
    },
  };
}

const signalOf = ({ kind, place, count, details }: MessageSignal) => ({ kind, place, count, details: [...details] });

/** A sender outside: the author the message names, and the address its envelope names. */
export const externalActor = (name: string, email: string, envelopeFrom: string): Actor => ({
  type: 'external',
  id: null,
  name: name || null,
  email: email || null,
  address: envelopeFrom || email || null,
});

/**
 * Codes and links of a message for its event, in the form of `GET …/extracts`. The most likely links come first; those
 * that would make the event longer by more than 16 KiB are left out.
 */
function eventExtracts({ codes, links }: Pick<MessageContent, 'codes' | 'links'>): object {
  const fitting: object[] = [];
  const extracts = { otp: surelyCode(codes), otpCandidates: codes, links: fitting };
  let room = EVENT_EXTRACTS_LIMIT_BYTES - Buffer.byteLength(JSON.stringify(extracts));
  for (const link of links) {
    const bytes = Buffer.byteLength(JSON.stringify(link)) + 1;
    if (bytes > room) continue;
    room -= bytes;
    fitting.push(link);
  }
  return extracts;
}

interface Pending {
  readonly write: DeliveryWrite;
  readonly delivery: LocalDelivery;
  readonly mailboxId: string;
  messageId: string;
  threadId: string | null;
  duplicate: boolean;
}

interface DeliveryCounterRow extends CounterRow {
  /** Of the mailbox. */
  readonly status: string;
}

interface BatchResult {
  /** In the order of the writes. */
  readonly outcomes: readonly DeliveryOutcome[];
  /** Webhook deliveries recorded; if above 0, wake the dispatcher after the commit. */
  readonly owed: number;
}

/**
 * Call it inside a transaction. Statements given just before it share the round trip of its locks, unless there are
 * redelivery keys.
 */
export async function deliverBatch(sql: Sql, writes: readonly DeliveryWrite[]): Promise<BatchResult> {
  const pending = writes.map((write) =>
    write.deliveries.map((delivery): Pending => {
      const mailboxId = delivery.recipient.mailbox.id;
      return {
        write,
        delivery,
        mailboxId,
        messageId: delivery.messageId ?? newId('message'),
        threadId: null,
        duplicate: false,
      };
    }),
  );
  refuseTwins(pending.flat());
  const keyed = pending.flat().filter(({ delivery }) => delivery.deliveryHash !== undefined);
  if (keyed.length > 0) await markRedeliveries(sql, keyed);
  const fresh = pending.flat().filter(({ duplicate }) => !duplicate);
  // Sent together, and executed in this order: threads are looked for under the locks.
  const [, folders, counters, known] = await Promise.all([
    fresh.length === 0 ? undefined : planOnce(sql),
    lockFolders(sql, fresh),
    lockCounters(sql, fresh),
    knownThreads(sql, seekersOf(fresh)),
  ]);

  const refused: Pending[] = [];
  const accepted: Pending[] = [];
  const refusals = pending.map((group): DeliveryOutcome | undefined => {
    const outcome = outcomeOf(group, folders, counters);
    const news = group.filter(({ duplicate }) => !duplicate);
    if (outcome !== undefined) refused.push(...news);
    else {
      accepted.push(...news);
      for (const { write, mailboxId } of news) {
        const counter = counters.get(mailboxId);
        if (counter !== undefined) counter.bytes_used += write.message.bytes.length;
      }
    }
    return outcome;
  });
  await forgetRefused(sql, refused);
  const owed = await file(sql, accepted, folders, counters, known);
  const outcomes = pending.map((group, i) => refusals[i] ?? deliveredOutcome(group));
  return { outcomes, owed };
}

/**
 * The same message twice in one batch: the second would count as delivered even if the first is refused. Thrown, so
 * that the batch is repeated one by one.
 */
function refuseTwins(pending: readonly Pending[]): void {
  if (pending.length === 1) return;
  const keys = pending.flatMap(({ mailboxId, delivery: { deliveryHash } }) =>
    deliveryHash === undefined ? [] : [`${mailboxId} ${deliveryHash}`],
  );
  if (new Set(keys).size < keys.length) throw new Error('a batch contains the same delivery twice');
}

function outcomeOf(
  group: readonly Pending[],
  folders: ReadonlyMap<number, FolderRow>,
  counters: ReadonlyMap<string, DeliveryCounterRow>,
): DeliveryOutcome | undefined {
  for (const { write, delivery, mailboxId, duplicate } of group) {
    if (duplicate) continue;
    const counter = counters.get(mailboxId);
    if (counter?.status !== 'active' || !folders.has(delivery.folderId)) return { kind: 'mailbox-closed', mailboxId };
    if (counter.bytes_used + write.message.bytes.length > counter.quota_bytes) return { kind: 'over-quota', mailboxId };
  }
  return undefined;
}

const deliveredOutcome = (group: readonly Pending[]): DeliveryOutcome => ({
  kind: 'delivered',
  deliveries: group.map(
    ({ mailboxId, messageId, threadId, duplicate }): Delivered => ({ mailboxId, messageId, threadId, duplicate }),
  ),
});

/** Claims the redelivery keys; a message whose key exists was delivered before, and gets the id of that message. */
async function markRedeliveries(sql: Sql, keyed: readonly Pending[]): Promise<void> {
  const claimed = await sql.query<{ message_id: string }>(
    `insert into delivery_seen (mailbox_id, delivery_hash, message_id)
     select mailbox_id, decode(hash, 'hex'), message_id
       from unnest($1::text[], $2::text[], $3::text[]) as key (mailbox_id, hash, message_id)
      order by 1, 2
     on conflict do nothing returning message_id`,
    [...keysOf(keyed), keyed.map(({ messageId }) => messageId)],
  );
  if (claimed.length === keyed.length) return;
  const ours = new Set(claimed.map(({ message_id }) => message_id));
  const taken = keyed.filter(({ messageId }) => !ours.has(messageId));
  const before = await sql.query<{ key: string; message_id: string }>(
    `select seen.mailbox_id || encode(seen.delivery_hash, 'hex') as key, seen.message_id
       from unnest($1::text[], $2::text[]) as key (mailbox_id, hash)
       join delivery_seen seen on seen.mailbox_id = key.mailbox_id and seen.delivery_hash = decode(key.hash, 'hex')`,
    keysOf(taken),
  );
  const ids = new Map(before.map(({ key, message_id }) => [key, message_id]));
  for (const each of taken) {
    each.messageId = ids.get(`${each.mailboxId}${each.delivery.deliveryHash}`) ?? each.messageId;
    each.duplicate = true;
  }
}

/** A refused message may be delivered later, when there is room. */
async function forgetRefused(sql: Sql, refused: readonly Pending[]): Promise<void> {
  const keyed = refused.filter(({ delivery }) => delivery.deliveryHash !== undefined);
  if (keyed.length === 0) return;
  await sql.query(
    `delete from delivery_seen seen using unnest($1::text[], $2::text[]) as key (mailbox_id, hash)
      where seen.mailbox_id = key.mailbox_id and seen.delivery_hash = decode(key.hash, 'hex')`,
    keysOf(keyed),
  );
}

const keysOf = (list: readonly Pending[]): [string[], (string | undefined)[]] => [
  list.map(({ mailboxId }) => mailboxId),
  list.map(({ delivery }) => delivery.deliveryHash),
];

/**
 * From here to the end of the transaction, statements use the plan that was made once: for lists, PostgreSQL would plan
 * most of them again each time, which takes longer than to run them. Those that are planned here first use indexes
 * whatever the lengths are, also while the tables are small.
 */
const planOnce = (sql: Sql) =>
  sql.query(
    `select set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true),
            set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`,
  );

async function lockFolders(sql: Sql, pending: readonly Pending[]): Promise<Map<number, FolderRow>> {
  if (pending.length === 0) return new Map();
  const rows = await sql.query<FolderRow>(
    `select id, uid_next, modseq from folder where id = any($1::bigint[]) and deleted_at is null
      order by id for no key update`,
    [[...new Set(pending.map(({ delivery }) => delivery.folderId))]],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

async function lockCounters(sql: Sql, pending: readonly Pending[]): Promise<Map<string, DeliveryCounterRow>> {
  if (pending.length === 0) return new Map();
  const rows = await sql.query<DeliveryCounterRow>(
    `select mailbox_id, bytes_used, quota_bytes, change_seq,
            (select ${RECEIVES_AS} from mailboxes x join organizations o on o.id = x.organization_id
              where x.id = mailbox_id) as status
       from mailbox_counter where mailbox_id = any($1::text[]) order by mailbox_id for no key update`,
    [[...new Set(pending.map(({ mailboxId }) => mailboxId))]],
  );
  return new Map(rows.map((row) => [row.mailbox_id, row]));
}

const seekersOf = (list: readonly Pending[]): ThreadSeeker[] =>
  list.map(({ write, mailboxId }) => ({ mailboxId, refs: write.message.refs }));

async function file(
  sql: Sql,
  accepted: readonly Pending[],
  folders: ReadonlyMap<number, FolderRow>,
  counters: ReadonlyMap<string, DeliveryCounterRow>,
  known: ReadonlyMap<string, string>,
): Promise<number> {
  if (accepted.length === 0) return 0;
  const threads = assignThreads(seekersOf(accepted), known);
  const placed = accepted.map(({ write: { message }, delivery, mailboxId, messageId }, i): PlacedMessage => {
    const { folderId, deliveredTo, labels } = delivery;
    const folder = folders.get(folderId);
    if (folder === undefined) throw new Error('a folder was found and no longer exists');
    return {
      message,
      mailboxId,
      folderId,
      messageId,
      threadId: threads.threadIds[i] ?? newId('thread'),
      uid: folder.uid_next++,
      flags: delivery.flags ?? 0,
      keywords: labels,
      internalDate: message.receivedAt,
      envelopeFrom: message.envelopeFrom,
      deliveredTo,
    };
  });
  const inserted = insertMessages(sql, placed, folders, counters, threads);
  const events = accepted.flatMap((each, i) => {
    each.threadId = placed[i]?.threadId ?? null;
    const event = each.write.event(each.delivery, each.messageId, each.threadId ?? '');
    return event === null ? [] : [event];
  });
  const [, owed] = await Promise.all([inserted, recordEvents(sql, events)]);
  return owed;
}

/**
 * Transactions at once: one computes while the other waits for the disk. A third one would make batches smaller: of 7
 * messages instead of 10, each costs PostgreSQL about a quarter more CPU.
 */
const WRITERS = 2;

export interface BatchItem {
  readonly mailboxIds: readonly string[];
  readonly bytes: number;
}

/** @param carryOut one transaction; returns outcomes in the order of the items */
export const writeBatcher = <Item extends BatchItem, Outcome>(
  carryOut: (items: readonly Item[]) => Promise<readonly Outcome[]>,
): Batcher<Item, Outcome> =>
  batcher({
    carryOut,
    concurrency: WRITERS,
    policy: oneWriterPerKey(({ mailboxIds, bytes }) => ({ keys: mailboxIds, bytes }), {
      items: WRITE_BATCH_MAX_MESSAGES,
      bytes: WRITE_BATCH_MAX_BYTES,
    }),
  });
