/** What reading a message or a page of them costs does not grow with the mailbox, whatever plan PostgreSQL has kept. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { ContentQuery } from '@agent-mailbox/mail-store';
import type { Sql } from '#db/database.ts';
import { fetchRows } from '#mailstore/folders/fetch-rows.ts';
import { findMessage, listMessages } from '#mailstore/messages/read-messages.ts';
import { searchContent } from '#mailstore/search/search-content.ts';
import { openStoreWorld, type StoreMailbox, type StoreWorld } from '#test/support/store-world.ts';

const MESSAGES = 1_000;
/** Rows of one message, with some to spare. */
const ROWS_MAX = 8;
/** A page of 50 examines some more, because they may be left out. */
const ROWS_OF_PAGE_MAX = 900;
const TABLES = ['placement', 'placement_state', 'message', 'message_text'];
/** For so many calls PostgreSQL plans for the values of each, at most. */
const PLANNED_AFTER_CALLS = 8;

let world: StoreWorld;
let mailbox: StoreMailbox;
/** Of the INBOX, by UID. */
let messageIds: readonly string[] = [];
before(async () => {
  world = await openStoreWorld();
  mailbox = await world.newMailbox();
  // Statistics would make PostgreSQL plan again.
  for (const table of TABLES) await world.sql(`alter table ${table} set (autovacuum_enabled = off)`);
});
after(() => world?.close());

async function rowsRead(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ read: number }>(
    `select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as read
       from pg_stat_xact_user_tables where relname = any($1::text[])`,
    [TABLES],
  );
  return row?.read ?? Number.NaN;
}

type Read = (sql: Sql, uids: Uint32Array) => Promise<unknown>;

const fetches =
  (want: { readonly envelope?: boolean }): Read =>
  (sql, uids) =>
    Array.fromAsync(
      fetchRows(sql, mailbox.id, Number(mailbox.inbox.id), uids, {
        envelope: false,
        bodyStructure: false,
        parts: false,
        preview: false,
        sortKeys: false,
        ...want,
      }),
    );

const searches =
  (query: ContentQuery): Read =>
  (sql, uids) =>
    searchContent(
      { query: sql.query, copyRows: world.services.db.copyRows },
      mailbox.id,
      Number(mailbox.inbox.id),
      uids,
      query,
    );

const reads: Readonly<Record<string, Read>> = {
  'FETCH INTERNALDATE': fetches({}),
  'FETCH ENVELOPE': fetches({ envelope: true }),
  'SEARCH SENTSINCE': searches({ kind: 'sent-date', from: 0, before: null }),
  'SEARCH THREADID': searches({ kind: 'thread-id', id: 'thr_none' }),
  'SEARCH LARGER': searches({ kind: 'larger', bytes: 10 }),
  'SEARCH TEXT': searches({ kind: 'text', text: 'hello' }),
  'SEARCH SUBJECT': searches({ kind: 'envelope', field: 'subject', text: 'mail' }),
  'GET message': async (sql, [uid]) => findMessage(sql, mailbox.id, messageIds[(uid ?? 0) - 1] ?? 'msg_none'),
  'GET messages': (sql) => listMessages(sql, mailbox.id, {}, { limit: 50, after: null }),
};

async function readOften(sql: Sql): Promise<void> {
  for (const read of Object.values(reads))
    for (let n = 0; n < PLANNED_AFTER_CALLS; n++) await read(sql, Uint32Array.of(1));
}

async function assertFewRows(sql: Sql): Promise<void> {
  const rowsOf: Record<string, number> = {};
  for (const [name, read] of Object.entries(reads)) {
    const earlier = await rowsRead(sql);
    await read(sql, Uint32Array.of(MESSAGES / 2));
    rowsOf[name] = (await rowsRead(sql)) - earlier;
  }
  for (const [name, rows] of Object.entries(rowsOf)) {
    const most = name === 'GET messages' ? ROWS_OF_PAGE_MAX : ROWS_MAX;
    assert.ok(rows > 0 && rows <= most, `${name} read ${rows} rows: ${JSON.stringify(rowsOf)}`);
  }
}

test(`a message, or a page, of a mailbox that got ${MESSAGES} since the statement was planned is found by keys`, async () => {
  // One connection, which keeps its plans.
  await world.services.db.transaction(async (sql) => {
    await readOften(sql);
    for (let n = 0; n < MESSAGES; n++)
      await world.deliver(
        mailbox,
        `From: a@b.example\r\nTo: x@agents.test\r\nDate: Sun, 22 Nov 2026 10:00:00 +0000\r\n` +
          `Message-ID: <${randomUUID()}@b.example>\r\nSubject: mail ${n}\r\n\r\nHello\r\n`,
      );
    const placed = await sql.query<{ id: string }>(
      `select message_id as id from placement where folder_id = $1 order by uid`,
      [mailbox.inbox.id],
    );
    messageIds = placed.map(({ id }) => id);
    await assertFewRows(sql);
    // As after an invalidation, which much DDL anywhere on the server causes: no plan is kept, and no statistics are there.
    await sql.query('discard plans');
    await assertFewRows(sql);
    // Statistics that are true make other plans look good, to a connection that has planned nothing yet.
    await world.sql(`vacuum analyze ${TABLES.join(', ')}`);
    await world.services.db.transaction(async (other) => {
      await readOften(other);
      await assertFewRows(other);
    });
  });
});
