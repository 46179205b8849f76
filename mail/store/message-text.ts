/**
 * Fills `message_text`, the searchable words of messages, behind the writes.
 *
 * What was just delivered is still in memory and is taken from there, up to a bound. What other processes stored (mail
 * submitted by REST), and what was missed (a crash, a burst), is found by sweeps over the newest ids: those of the last
 * minutes every few seconds, those of a day every minute. Search does not depend on it: a message without row is searched in its bytes.
 */
import { readBlob } from '../../core/blob-store.ts';
import type { Logger } from '../../core/logger.ts';
import type { Database } from '../../db/database.ts';
import { firstIdAt } from '../../domain/ids.ts';
import { SEARCH_TEXT_MAX_BYTES, SEARCH_WORDS_MAX_BYTES } from '../../domain/mail-limits.ts';
import { storableText } from '../mime/charset.ts';
import { decodeWords } from '../mime/encoded-words.ts';
import { firstValue, headerFields } from '../mime/header-fields.ts';
import type { PartNode } from '../mime/index-message.ts';
import { messageText } from '../mime/text.ts';
import { foldedHeader, foldText } from './folded-text.ts';

export interface TextSource {
  readonly messageId: string;
  readonly mailboxId: string;
  readonly bytes: Buffer;
  readonly parts: PartNode;
}

export interface MessageTextFiller {
  /** Never waits, never throws. */
  add(source: TextSource): void;
  close(): Promise<void>;
}

/** Header fields whose words count as the message's own. */
const WORD_FIELDS = ['subject', 'from', 'to', 'cc'];
const BATCH = 50;
/** What waits in memory; beyond it the sweep takes over. */
const WAITING_MAX_BYTES = 32 * 1_048_576;
/** The work yields to deliveries: it starts this long after the first of them. */
const PAUSE_MS = 250;
const SWEEP_INTERVAL_MS = 5_000;
const SWEEP_BACK_MS = 120_000;
/** Every so many sweeps one goes back a day. */
const FULL_SWEEP_EVERY = 12;
const FULL_SWEEP_BACK_MS = 86_400_000;
/** Younger messages may still wait in the memory of whoever stored them. */
const SETTLED_AFTER_MS = 2_000;

export function messageTextFiller(db: Database, log: Logger): MessageTextFiller {
  let waiting: TextSource[] = [];
  let waitingBytes = 0;
  /** How far back the next sweep goes; 0: none is due. At start: whatever an earlier process left. */
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

async function fillBatch(db: Database, batch: readonly TextSource[]): Promise<void> {
  const rows: { id: string; header: string; body: string; cut: boolean; words: string }[] = [];
  for (const { messageId, bytes, parts } of batch) {
    const { text } = messageText(bytes, parts, SEARCH_TEXT_MAX_BYTES);
    const folded = foldText(text);
    const body = cutToBytes(folded, SEARCH_TEXT_MAX_BYTES);
    const fields = headerFields(bytes, parts.header, parts.body);
    const heads = WORD_FIELDS.map((name) => decodeWords(firstValue(fields, name) ?? ''));
    // to_tsvector reads a backslash before anything as an escape, and refuses words above 2 KB with a notice each.
    const words = cutToBytes(storableText([...heads, text].join('\n')), SEARCH_WORDS_MAX_BYTES).replaceAll('\\', ' ');
    const cut = bytes.length > SEARCH_TEXT_MAX_BYTES || body.length < folded.length;
    rows.push({ id: messageId, header: foldedHeader(bytes, parts), body, cut, words });
    // Text of a large message takes milliseconds: let deliveries in between.
    await new Promise((resolve) => setImmediate(resolve));
  }
  await db.query(FILL_TEXTS, [
    rows.map(({ id }) => id),
    rows.map(({ body }) => body),
    rows.map(({ cut }) => cut),
    rows.map(({ words }) => words),
    rows.map(({ header }) => header),
  ]);
  await db.query(TOUCH_MAILBOXES, [[...new Set(batch.map(({ mailboxId }) => mailboxId))].sort()]);
}

function cutToBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}

async function sweep(db: Database, backMs: number, isClosed: () => boolean): Promise<void> {
  const now = Date.now();
  let after = firstIdAt('message', now - backMs);
  const before = firstIdAt('message', now - SETTLED_AFTER_MS);
  while (!isClosed()) {
    const rows = await db.query<{ id: string; mailbox_id: string; blob: Buffer; size: number; parts: PartNode }>(
      `select m.id, m.mailbox_id, m.blob, m.size, m.parts from message m
        where m.id > $1 and m.id < $2 and not exists (select from message_text t where t.message_id = m.id)
        order by m.id limit ${BATCH}`,
      [after, before],
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
    for (const row of rows) {
      const bytes = await readBlob(db, row.blob, 0, row.size);
      await fillBatch(db, [{ messageId: row.id, mailboxId: row.mailbox_id, bytes, parts: row.parts }]);
    }
  }
}

/** The message may have been purged meanwhile. */
const FILL_TEXTS = `
  insert into message_text (message_id, body, cut, words, header)
  select t.id, t.body, t.cut, to_tsvector('simple', t.words), t.header
    from unnest($1::text[], $2::text[], $3::bool[], $4::text[], $5::text[]) as t (id, body, cut, words, header)
   where exists (select from message m where m.id = t.id)
  on conflict do nothing`;

/** A management row that every delivery updated would be a hot spot; a minute's precision is enough for people. */
const TOUCH_MAILBOXES = `
  update mailboxes set last_activity_at = now()
   where id in (select id from mailboxes where id = any($1::text[])
                  and (last_activity_at is null or last_activity_at < now() - interval '1 minute')
                order by id for no key update skip locked)`;
