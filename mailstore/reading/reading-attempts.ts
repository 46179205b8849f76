/**
 * A mark in the database before a message is read, removed afterwards. A remaining mark says that this message crashed
 * the process: it is not read a second time, however often its sender tries again.
 */
import { batcher, inOrder } from '#core/platform/batching/batcher.ts';
import type { Sql } from '#db/database.ts';
import { READING_ATTEMPT_LOST_AFTER_MS } from '#domain/mail/mail-limits.ts';

const MARKS_AT_ONCE = 100;

export interface ReadingAttempts {
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
