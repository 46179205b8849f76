/**
 * Fills `message_text`, the searchable words of messages, in the background.
 *
 * Messages just delivered are still in memory and are used from there, up to a limit. Messages of other processes (mail
 * submitted by REST), and missed ones (a crash, a burst), are found by sweeps over the newest ids: those of the last
 * minutes every few seconds, those of a day every minute. Search does not depend on it: a message without row is
 * searched in its bytes. What an earlier version stored is the work of `upgrade-stored-mail.ts`.
 *
 * Makes the searchable texts and words of messages (`message_text`) from their bytes, and stores them.
 */

import { type SearchText, searchText } from '@agent-mailbox/mail-store/search-text';
import { storableText } from '@agent-mailbox/mime-structure/charset';
import { decodeWords } from '@agent-mailbox/mime-structure/encoded-words';
import { firstValue, headerFields } from '@agent-mailbox/mime-structure/header-fields';
import type { PartNode } from '@agent-mailbox/mime-structure/index-message';
import type { Logger } from '#core/platform/log/logger.ts';
import type { Database, Sql } from '#db/database.ts';
import { firstIdAt } from '#domain/ids.ts';
import { SEARCH_TEXT_MAX_BYTES, SEARCH_WORDS_MAX_BYTES } from '#domain/mail/mail-limits.ts';
import { readBlob } from '#mailstore/blobs/blob-store.ts';

export interface NewText extends TextSource {
  readonly mailboxId: string;
}

export interface MessageTextFiller {
  /** Never waits, never throws. */
  add(source: NewText): void;
  close(): Promise<void>;
}

const BATCH = 50;
/** Maximum messages that wait in memory; the sweep finds the others. */
const WAITING_MAX_BYTES = 32 * 1_048_576;
/** The work yields to deliveries: it starts this long after the first of them. */
const PAUSE_MS = 250;
const SWEEP_INTERVAL_MS = 5_000;
const SWEEP_BACK_MS = 120_000;
/** One in this many sweeps covers a whole day. */
const FULL_SWEEP_EVERY = 12;
const FULL_SWEEP_BACK_MS = 86_400_000;
/** Younger messages may still wait in the memory of the process that stored them. */
const SETTLED_AFTER_MS = 2_000;

export function messageTextFiller(db: Database, log: Logger): MessageTextFiller {
  let waiting: NewText[] = [];
  let waitingBytes = 0;
  /** How far back the next sweep goes; 0: no sweep is due. The first one finds what an earlier process left. */
  let sweepBackMs = FULL_SWEEP_BACK_MS;
  let sweeps = 0;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let closed = false;

  function schedule(delayMs: number): void {
    if (closed || timer !== undefined || running !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      running = fill()
        .catch((error: Error) =>
          log.debug({ error: error.message }, 'filling the search text failed; the next sweep repeats it'),
        )
        .finally(() => {
          running = undefined;
          if (waiting.length > 0) schedule(PAUSE_MS);
        });
    }, delayMs);
    timer.unref();
  }

  async function fill(): Promise<void> {
    while (waiting.length > 0 && !closed) {
      const batch = waiting.splice(0, BATCH);
      waitingBytes -= batch.reduce((sum, { bytes }) => sum + bytes.length, 0);
      try {
        await fillBatch(db, batch);
      } catch (error) {
        sweepBackMs = FULL_SWEEP_BACK_MS;
        throw error;
      }
    }
    if (sweepBackMs > 0 && !closed) {
      const backMs = sweepBackMs;
      sweepBackMs = 0;
      await sweep(db, backMs, () => closed);
    }
  }

  const interval = setInterval(() => {
    sweeps++;
    sweepBackMs = Math.max(sweepBackMs, sweeps % FULL_SWEEP_EVERY === 0 ? FULL_SWEEP_BACK_MS : SWEEP_BACK_MS);
    schedule(0);
  }, SWEEP_INTERVAL_MS);
  interval.unref();
  schedule(PAUSE_MS);

  return {
    add(source) {
      if (waitingBytes + source.bytes.length > WAITING_MAX_BYTES) {
        sweepBackMs = FULL_SWEEP_BACK_MS;
        return;
      }
      waiting.push(source);
      waitingBytes += source.bytes.length;
      schedule(PAUSE_MS);
    },
    async close() {
      closed = true;
      clearInterval(interval);
      clearTimeout(timer);
      waiting = [];
      await running;
    },
  };
}

async function fillBatch(db: Database, batch: readonly NewText[]): Promise<void> {
  await storeSearchTexts(db, batch);
  await db.query(TOUCH_MAILBOXES, [[...new Set(batch.map(({ mailboxId }) => mailboxId))].sort()]);
}

interface TextRow {
  readonly id: string;
  readonly mailbox_id: string;
  readonly blob: Buffer;
  readonly size: number;
  readonly parts: PartNode;
  /** Null: its text could not be read. */
  readonly body: string | null;
}

async function sweep(db: Database, backMs: number, isClosed: () => boolean): Promise<void> {
  const now = Date.now();
  let after = firstIdAt('message', now - backMs);
  const before = firstIdAt('message', now - SETTLED_AFTER_MS);
  while (!isClosed()) {
    const rows = await db.query<TextRow>(
      `select m.id, m.mailbox_id, m.blob, m.size, m.parts, c.body
         from message m left join message_content c on c.message_id = m.id
        where m.text_status <> 'due' and m.id > $1 and m.id < $2 and not exists (select from message_text t where t.message_id = m.id)
        order by m.id limit ${BATCH}`,
      [after, before],
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
    for (const row of rows) {
      const bytes = await readBlob(db, row.blob, 0, row.size);
      await fillBatch(db, [
        { messageId: row.id, mailboxId: row.mailbox_id, bytes, parts: row.parts, text: row.body ?? '' },
      ]);
    }
  }
}

/** A management row that every delivery updated would be a hot spot; a minute's precision is enough for people. */
const TOUCH_MAILBOXES = `
  update mailboxes set last_activity_at = now()
   where id in (select id from mailboxes where id = any($1::text[])
                  and (last_activity_at is null or last_activity_at < now() - interval '1 minute')
                order by id for no key update skip locked)`;

export interface TextSource {
  readonly messageId: string;
  readonly bytes: Buffer;
  readonly parts: PartNode;
  /** As stored in `message_content`. */
  readonly text: string;
}

/** Header fields whose words count as the message's own. */
const WORD_FIELDS = ['subject', 'from', 'to', 'cc'];

/**
 * A message that was purged meanwhile is skipped.
 *
 * @param options.again existing texts of the current version are replaced too
 */
export async function storeSearchTexts(
  sql: Sql,
  sources: readonly TextSource[],
  { again = false }: { again?: boolean } = {},
): Promise<void> {
  const rows: (SearchText & { id: string; words: string })[] = [];
  for (const { messageId, bytes, parts, text } of sources) {
    const fields = headerFields(bytes, parts.header, parts.body);
    const heads = WORD_FIELDS.map((name) => decodeWords(firstValue(fields, name) ?? ''));
    // to_tsvector reads a backslash before anything as an escape, and refuses words above 2 KB with a notice each.
    const words = cutToBytes(storableText([...heads, text].join('\n')), SEARCH_WORDS_MAX_BYTES).replaceAll('\\', ' ');
    rows.push({ id: messageId, words, ...searchText(bytes, parts, SEARCH_TEXT_MAX_BYTES, fields) });
    // Text of a large message takes milliseconds: let deliveries in between.
    await new Promise((resolve) => setImmediate(resolve));
  }
  await sql.query(STORE, [
    rows.map(({ id }) => id),
    rows.map(({ body }) => body),
    rows.map(({ cut }) => cut),
    rows.map(({ words }) => words),
    rows.map(({ header }) => header),
    rows.map(({ envelope }) => envelope),
    rows.map(({ partHeaders }) => partHeaders),
    again,
  ]);
}

function cutToBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}

const STORE = `
  insert into message_text as stored (message_id, body, cut, words, header, envelope, part_headers)
  select t.id, t.body, t.cut, to_tsvector('simple', t.words), t.header, t.envelope, t.part_headers
    from unnest($1::text[], $2::text[], $3::bool[], $4::text[], $5::text[], $6::text[], $7::text[])
      as t (id, body, cut, words, header, envelope, part_headers)
   where exists (select from message m where m.id = t.id)
  on conflict (message_id) do update
     set body = excluded.body, cut = excluded.cut, words = excluded.words, header = excluded.header,
         envelope = excluded.envelope, part_headers = excluded.part_headers, fill_again = false
   where stored.fill_again or $8`;
