/** Messages that a client files: APPEND and REPLACE. They get ENVELOPE, structure and thread like deliveries. */

import { type AppendMessage, type MailAccount, StoreRefused } from '@agent-mailbox/mail-store';
import { semaphore } from '#core/platform/batching/semaphore.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Database, Sql } from '#db/database.ts';
import { MESSAGE_MAX_BYTES, MESSAGE_MEMORY_MAX_BYTES, WRITE_BATCH_MAX_BYTES } from '#domain/mail/mail-limits.ts';
import { SENT_COPY_WINDOW_MINUTES } from '#domain/sending/outbound.ts';
import { blobKey, storeBlob } from '#mailstore/blobs/blob-store.ts';
import type { LockedFolders } from '#mailstore/folders/lock-folders.ts';
import { changeKeywords, spellKeywords } from '#mailstore/folders/store-flags.ts';
import { readSafely } from '#mailstore/reading/read-safely.ts';
import { insertMessages, isStoredAhead, type NewMessage, type PlacedMessage } from './insert-messages.ts';
import { listedHeader } from './recipients.ts';
import { findThreads, threadRefs } from './threads.ts';

/**
 * How many messages above 256 KiB may be in memory at the same time: 4 of 30 MiB, several copies each, stay below 1
 * GiB.
 */
const SLOTS = 4;

export const largeMessageSlots = semaphore(SLOTS);

/** An append with all that can be done before any lock. */
export interface PreparedAppend {
  readonly message: NewMessage;
  readonly messageId: string;
  readonly append: AppendMessage;
  /** Default: it was not received as mail. */
  readonly envelope?: { readonly from: string | null; readonly to: string | null };
}

/**
 * Reads and indexes messages. Large ones are stored here, so that no lock waits for their bytes, which are then let go;
 * and so are all when there are so many that they would not go into one statement.
 *
 * @throws {StoreRefused} too-big
 */
export async function prepareAppends(
  db: Database,
  account: MailAccount,
  messages: readonly AppendMessage[],
  receivedAt: Date,
  origin: 'append' | 'draft' = 'append',
): Promise<PreparedAppend[]> {
  const prepared: PreparedAppend[] = [];
  let keptBytes = 0;
  for (const append of messages) {
    const mayKeep = keptBytes + append.content.size <= WRITE_BATCH_MAX_BYTES;
    const each = await prepareAppend(db, account, append, { receivedAt, origin }, mayKeep);
    keptBytes += each.message.bytes.length;
    prepared.push(each);
  }
  return prepared;
}

async function prepareAppend(
  db: Database,
  account: MailAccount,
  append: AppendMessage,
  facts: Pick<NewMessage, 'receivedAt' | 'origin'>,
  mayKeep: boolean,
): Promise<PreparedAppend> {
  const { size } = append.content;
  if (size > MESSAGE_MAX_BYTES) throw new StoreRefused('too-big', `A message has at most ${MESSAGE_MAX_BYTES} bytes`);
  const release = size > MESSAGE_MEMORY_MAX_BYTES ? await largeMessageSlots.take() : undefined;
  try {
    const given = await append.content.bytes();
    const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
    const read = await readSafely(db, bytes, { source: account.mailboxId });
    const message: NewMessage = {
      bytes,
      size: bytes.length,
      blobKey: blobKey(bytes),
      read,
      refs: threadRefs(read, correspondentOf(read, account.address)),
      listed: listedHeader(bytes, read.parts),
      ...facts,
      auth: null,
    };
    const messageId = newId('message');
    if (mayKeep && !isStoredAhead(message)) return { message, messageId, append };
    await storeBlob(db, message.blobKey, bytes);
    return { message: { ...message, bytes: Buffer.alloc(0) }, messageId, append };
  } finally {
    release?.();
  }
}

/** The correspondent: the first recipient of mail that the mailbox wrote, otherwise the sender. */
function correspondentOf({ from, to }: NewMessage['read'], own: string): string {
  const sender = from[0]?.address ?? '';
  return sender.toLowerCase() === own.toLowerCase() ? (to[0]?.address ?? sender) : sender;
}

/**
 * Files prepared messages. Call it under the folder's lock.
 *
 * @param freedBytes bytes that the same transaction will remove
 * @returns their UIDs, in order
 * @throws {StoreRefused} over-quota, limit
 */
export async function appendMessages(
  sql: Sql,
  locked: LockedFolders,
  folderId: number,
  prepared: readonly PreparedAppend[],
  freedBytes = 0,
): Promise<number[]> {
  const folder = locked.folder(folderId);
  const { counter } = locked;
  const mailboxId = counter.mailbox_id;
  counter.bytes_used += prepared.reduce((sum, { message }) => sum + message.size, 0);
  if (counter.bytes_used - freedBytes > counter.quota_bytes)
    throw new StoreRefused('over-quota', 'The mailbox would exceed its quota');
  const spelled = await spellKeywords(
    sql,
    mailboxId,
    prepared.flatMap(({ append }) => append.keywords),
  );
  const spellings = new Map(spelled.map((keyword) => [keyword.toLowerCase(), keyword]));
  const threads = await findThreads(
    sql,
    prepared.map(({ message }) => ({ mailboxId, refs: message.refs })),
  );
  const placed = prepared.map(({ message, messageId, append, envelope }, i): PlacedMessage => {
    const keywords = [...new Set(append.keywords.map((each) => spellings.get(each.toLowerCase()) ?? each))];
    return {
      message,
      mailboxId,
      folderId,
      messageId,
      threadId: threads.threadIds[i] ?? newId('thread'),
      uid: folder.uid_next++,
      flags: append.flags,
      keywords: changeKeywords([], 'add', keywords),
      internalDate: append.internalDate ?? message.receivedAt,
      internalOffsetMinutes: append.internalOffsetMinutes ?? 0,
      envelopeFrom: envelope?.from ?? null,
      deliveredTo: envelope?.to ?? null,
    };
  });
  await insertMessages(sql, placed, locked.folders, new Map([[mailboxId, counter]]), threads);
  return placed.map(({ uid }) => uid);
}

/** The newest messages of Sent are searched: those filed within the window are among them. */
const LOOKED_AT_MAX = 500;

/**
 * Submission files a copy in Sent, and most mail clients append one of their own afterwards. That one is recognized by
 * its Message-ID. Call it under the folder's lock.
 *
 * @returns UID of the existing copy; undefined if the message must be appended
 */
export async function filedCopy(
  sql: Sql,
  folderId: number,
  prepared: readonly PreparedAppend[],
): Promise<number | undefined> {
  const [only, ...more] = prepared;
  const messageId = only?.message.read.messageId;
  if (messageId === undefined || more.length > 0) return undefined;
  const [row] = await sql.query<{ uid: number }>(FIND_COPY, [folderId, messageId, SENT_COPY_WINDOW_MINUTES]);
  return row?.uid;
}

const FIND_COPY = `
  select newest.uid
    from folder f cross join lateral (
      select uid, message_id, save_date from placement where folder_id = f.id order by uid desc limit ${LOOKED_AT_MAX}
    ) as newest
    join message m on m.id = newest.message_id
   where f.id = $1 and f.special_use = '\\Sent' and m.message_id_header = $2
     and newest.save_date > now() - make_interval(mins => $3)
     and exists (select from outbound_message o where o.id = m.id)
   order by newest.uid desc
   limit 1`;
