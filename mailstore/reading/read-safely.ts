/**
 * Reads a message that is to be stored, whatever is in it. What is small and has no HTML is read at once; everything
 * else in a thread with limits on time and memory, after a mark in the database that is removed afterwards. A remaining mark
 * says that this message crashed the process: it is not read a second time, however often its sender tries again.
 */

import { indexMessage } from '@agent-mailbox/mime-structure/index-message';
import { leaves } from '@agent-mailbox/mime-structure/parts';
import { readStructure } from '@agent-mailbox/mime-structure/read-structure';
import { batcher, inOrder } from '#core/platform/batching/batcher.ts';
import type { Database, Sql } from '#db/database.ts';
import { READ_INLINE_MAX_BYTES, READING_ATTEMPT_LOST_AFTER_MS } from '#domain/mail/mail-limits.ts';
import { blobKey } from '#mailstore/blobs/blob-store.ts';
import { type ReadMessage, readUnreadable, withContent, withoutContent } from '#mime/read-message.ts';
import { type ReadingThreads, readingThreads } from './reading-threads.ts';

const MARKS_AT_ONCE = 100;

interface ReadingAttempts {
  /** @returns whether the content may be read */
  begin(content: Buffer): Promise<boolean>;
  /** The attempt was made and the process is still there. */
  end(content: Buffer): Promise<void>;
}

export function readingAttempts(sql: Sql): ReadingAttempts {
  const { add: begin } = batcher<Buffer, boolean>({
    policy: inOrder(MARKS_AT_ONCE),
    concurrency: 2,
    async carryOut(contents) {
      const rows = await sql.query<{ content: Buffer }>(BEGIN, [contents, READING_ATTEMPT_LOST_AFTER_MS / 1_000]);
      const lost = new Set(rows.map(({ content }) => content.toString('hex')));
      return contents.map((content) => !lost.has(content.toString('hex')));
    },
  });
  const { add: end } = batcher<Buffer, true>({
    policy: inOrder(MARKS_AT_ONCE),
    concurrency: 2,
    async carryOut(contents) {
      await sql.query(END, [contents]);
      return contents.map(() => true);
    },
  });
  return { begin, end: async (content) => void (await end(content)) };
}

/** In one order, so that two processes cannot wait for each other. */
const BEGIN = `
  with given as (select distinct content from unnest($1::bytea[]) as content order by content), marked as (
    insert into reading_attempt (content) select content from given on conflict do nothing)
  select content from reading_attempt
   where content in (select content from given) and started_at < now() - make_interval(secs => $2)`;

const END = `
  delete from reading_attempt where content in (
    select content from reading_attempt where content = any($1::bytea[]) order by content for update)`;

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
