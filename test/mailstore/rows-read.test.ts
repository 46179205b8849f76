/** What a change in one folder costs does not grow with the other mail: statements find their rows by keys. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Database, Sql } from '#db/database.ts';
import { createMailFoldersOfAll } from '#db/queries/mailboxes/mail-folders.ts';
import { readFolderChanges } from '#mailstore/changes/read-changes.ts';
import { openStoreWorld, type StoreMailbox, type StoreWorld } from '#test/support/store-world.ts';

const MAILBOXES = 1_000;
const MESSAGES = 500;
/** Far less than all, and more than the rows of one message with its locks. */
const ROWS_MAX = 60;
/** For so many calls PostgreSQL plans for the values of each, at most. */
const PLANNED_AFTER_CALLS = 8;

let world: StoreWorld;
let mailbox: StoreMailbox;
before(async () => {
  world = await openStoreWorld();
  mailbox = await world.newMailbox();
  // PostgreSQL plans for tables that are nearly empty, and keeps these plans while the tables grow.
  await world.sql('analyze');
  for (let n = 0; n < PLANNED_AFTER_CALLS; n++) {
    await world.deliver(mailbox, letter(`early ${n}`));
    await world.newMailbox();
    await changesSince(0);
  }
  await world.sql(
    `insert into mailboxes (id, organization_id, local_part, domain, address, name, status, sync_status, token_hash)
     select id || n, organization_id, local_part || n, domain, n || address, name, status, sync_status, sha256(n::text::bytea)
       from mailboxes, generate_series(1, $2::int) as n where id = $1`,
    [mailbox.id, MAILBOXES],
  );
  const added = await world.sql<{ id: string }>(
    `select id from mailboxes where id not in (select mailbox_id from mailbox_counter)`,
  );
  await world.services.db.transaction((sql) =>
    createMailFoldersOfAll(
      sql,
      added.map(({ id }) => ({ mailboxId: id, quotaBytes: 1_000_000 })),
    ),
  );
});
after(() => world?.close());

/** Rows of these tables that a connection has read lately. */
async function rowsRead(sql: Sql, tables: readonly string[]): Promise<number> {
  const [row] = await sql.query<{ read: number }>(
    `select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as read
       from pg_stat_xact_user_tables where relname = any($1::text[])`,
    [tables],
  );
  return row?.read ?? Number.NaN;
}

/** @returns how many rows of the tables the transactions of `work` have read */
async function rowsReadBy(tables: readonly string[], work: () => Promise<unknown>): Promise<number> {
  const { db } = world.services;
  const { transaction } = db;
  let read = 0;
  const counted: Database['transaction'] = (inside) =>
    transaction(async (sql) => {
      const earlier = await rowsRead(sql, tables);
      const result = await inside(sql);
      read += (await rowsRead(sql, tables)) - earlier;
      return result;
    });
  Object.assign(db, { transaction: counted });
  try {
    await work();
  } finally {
    Object.assign(db, { transaction });
  }
  return read;
}

const changesSince = (modseq: number) =>
  world.services.db.transaction(async (sql) => {
    // Not a plan that this connection has kept since the folder was small.
    await sql.query(`set local plan_cache_mode = force_custom_plan`);
    const earlier = await rowsRead(sql, ['placement_state']);
    const changes = await readFolderChanges(sql, mailbox.id, Number(mailbox.inbox.id), modseq);
    assert.ok(typeof changes === 'object');
    return { changed: changes.changed.length, read: (await rowsRead(sql, ['placement_state'])) - earlier };
  });

const letter = (subject: string) =>
  `From: a@b.example\r\nTo: x@agents.test\r\nMessage-ID: <${randomUUID()}@b.example>\r\nSubject: ${subject}\r\n\r\nHello\r\n`;

test(`storing a mail among ${MAILBOXES} mailboxes reads the rows of its own`, async () => {
  const tables = ['folder', 'mailbox_counter'];
  for (let n = 0; n < 3; n++) {
    const read = await rowsReadBy(tables, () => world.deliver(mailbox, letter(`mail ${n}`)));
    assert.ok(read > 0 && read <= ROWS_MAX, `${read} rows`);
  }
});

test(`reporting what is new in a folder of ${MESSAGES} messages reads what is new`, async () => {
  for (let n = 0; n < MESSAGES; n++) await world.deliver(mailbox, letter(`more ${n}`));
  const [folder] = await world.sql<{ modseq: number }>(`select modseq from folder where id = $1`, [mailbox.inbox.id]);
  for (let n = 0; n < 3; n++) {
    const { changed, read } = await changesSince(Number(folder?.modseq) - 2);
    assert.deepEqual([changed, read], [2, 2]);
  }
});
