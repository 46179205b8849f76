/**
 * Reads a message that is to be stored, whatever is in it. What is small and has no HTML is read at once; everything
 * else in a thread with limits on time and memory, after a mark that keeps a message from being tried twice.
 */
import { indexMessage } from '@agent-mailbox/mime-structure/index-message';
import { leaves } from '@agent-mailbox/mime-structure/parts';
import { readStructure } from '@agent-mailbox/mime-structure/read-structure';
import type { Database } from '#db/database.ts';
import { READ_INLINE_MAX_BYTES } from '#domain/mail/mail-limits.ts';
import { blobKey } from '#mailstore/blobs/blob-store.ts';
import { type ReadMessage, withContent, withoutContent } from '#mime/read-message.ts';
import { readUnreadable } from '#mime/unreadable-message.ts';
import { type ReadingAttempts, readingAttempts } from './reading-attempts.ts';
import { type ReadingThreads, readingThreads } from './reading-threads.ts';

let threads: ReadingThreads | undefined;
const attemptsOf = new WeakMap<Database, ReadingAttempts>();

export interface MessageOrigin {
  /** The address of the client or the mailbox it came from: sources take turns, so that none delays the others. */
  readonly source: string;
  /** What stays the same when the sender tries again; default: the message. */
  readonly content?: Uint8Array;
  /** SHA-256 of `content`, if the caller knows it. */
  readonly contentKey?: Buffer;
}

/**
 * Call it outside of transactions.
 *
 * @param bytes the message as it will be stored
 * @throws what the database throws, and {ReadingBusy}; the message is then not marked and not read
 */
export async function readSafely(
  db: Database,
  bytes: Buffer,
  { source, content = bytes, contentKey }: MessageOrigin,
): Promise<ReadMessage> {
  if (bytes.length <= READ_INLINE_MAX_BYTES) {
    const parts = indexMessage(bytes);
    let plain = true;
    for (const { part } of leaves(parts)) plain &&= part.subtype !== 'html' && part.type !== 'multipart';
    if (plain) return withContent(bytes, readStructure(bytes, parts));
  }
  const attempts = attemptsOf.get(db) ?? readingAttempts(db);
  attemptsOf.set(db, attempts);
  const key = contentKey ?? blobKey(content);
  if (!(await attempts.begin(key))) return withoutContent(readUnreadable(bytes));
  threads ??= readingThreads();
  const read = await threads.read(bytes, source).catch(async (error: unknown) => {
    await attempts.end(key);
    throw error;
  });
  // The mark stays, so content that took too long is not tried again either.
  if (read !== undefined && read.content.status !== 'failed') await attempts.end(key);
  return read ?? withoutContent(readUnreadable(bytes));
}
