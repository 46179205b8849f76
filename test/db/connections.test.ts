import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { openServices, type Services } from '#core/platform/process/services.ts';
import { connect, newConnection } from '#db/connections.ts';
import type { Sql } from '#db/database.ts';
import { openSteadyPlans } from '#db/database.ts';
import { preparingAlone } from '#db/migrate.ts';
import { startPgBouncer } from '#test/support/pgbouncer.ts';
import { needs } from '#test/support/programs.ts';
import { createTestDatabase, type TestDatabase, testLog, testSettings } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';

/** What a server, a database or a role may have been set to, and what our sessions have. */
const SETTINGS = {
  jit: ['on', 'off'],
  max_parallel_workers_per_gather: ['4', '0'],
  TimeZone: ['Europe/Berlin', 'UTC'],
  DateStyle: ['German, DMY', 'ISO, MDY'],
  IntervalStyle: ['sql_standard', 'postgres'],
  standard_conforming_strings: ['off', 'on'],
  default_transaction_isolation: ['serializable', 'read committed'],
  row_security: ['on', 'off'],
  lc_messages: ['POSIX', 'C'],
} as const;
const OURS = Object.fromEntries(Object.entries(SETTINGS).map(([name, [, ours]]) => [name, ours]));

let database: TestDatabase;
let services: Services;
before(async () => {
  database = await createTestDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const name = new URL(database.url).pathname.slice(1);
  for (const [setting, [theirs]] of Object.entries(SETTINGS))
    await client.query(
      `alter database ${name} set ${setting} = ${client.escapeLiteral(theirs).replaceAll(', ', "', '")}`,
    );
  await client.end();
  services = await openServices(testSettings({ DATABASE_URL: database.url }), testLog());
});
after(async () => {
  await services?.close();
  await database?.drop();
});

async function settingsOf(sql: Sql): Promise<Record<string, string>> {
  const rows = await sql.query<{ name: string; setting: string }>(
    `select name, current_setting(name) as setting from unnest($1::text[]) as name`,
    [Object.keys(SETTINGS)],
  );
  return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
}

test('a session of a stranger has the settings of the database', async () => {
  const stranger = new pg.Client({ connectionString: database.url });
  await stranger.connect();
  const { rows } = await stranger.query<{ jit: string; zone: string }>(
    `select current_setting('jit') as jit, current_setting('TimeZone') as zone`,
  );
  await stranger.end();
  assert.deepEqual(rows, [{ jit: 'on', zone: 'Europe/Berlin' }]);
});

test('sessions of the service do not depend on settings of the database', async () => {
  const { db } = services;
  const steady = openSteadyPlans(database.url, 1);
  const single = newConnection(database.url, 'test');
  await connect(single);
  try {
    const singleSql: Sql = {
      query: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
        (await single.query<Row>(text, [...values])).rows,
    };
    for (const [kind, found] of [
      ['a statement of the pool', await settingsOf(db)],
      ['a transaction', await db.transaction((sql) => settingsOf(sql))],
      ['statements together', await db.together((sql) => settingsOf(sql))],
      ['steady plans', await settingsOf(steady)],
      ['a single connection', await settingsOf(singleSql)],
    ] as const)
      assert.deepEqual(found, OURS, kind);
    const ofEntities = await db.entityTransaction((em) =>
      em.execute<{ jit: string }[]>(`select current_setting('jit') as jit`),
    );
    assert.deepEqual(ofEntities, [{ jit: 'off' }], 'entities');
    const outside = await db.em().execute<{ jit: string }[]>(`select current_setting('jit') as jit`);
    assert.deepEqual(outside, [{ jit: 'off' }], 'entities outside a transaction');
  } finally {
    await single.end();
    await steady.close();
  }
});

test('a connection that replaces a lost one begins with the same settings', async () => {
  const steady = openSteadyPlans(database.url, 1);
  try {
    assert.deepEqual(await settingsOf(steady), OURS);
    await services.db.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'agent-mailbox deliveries' and datname = current_database()`,
    );
    assert.deepEqual(await waitUntil('a new connection', () => settingsOf(steady).catch(() => undefined)), OURS);
  } finally {
    await steady.close();
  }
});

test('the service works through PgBouncer in session mode', needs('pgbouncer'), async () => {
  const pooler = await startPgBouncer(database.url, { mode: 'session' });
  const through = await openServices(testSettings({ DATABASE_URL: pooler.url }), testLog());
  const steady = openSteadyPlans(pooler.url, 2);
  try {
    assert.deepEqual(await settingsOf(through.db), OURS);
    assert.deepEqual(await settingsOf(steady), OURS);
    const [plans] = await steady.query<{ mode: string }>(`select current_setting('plan_cache_mode') as mode`);
    assert.equal(plans?.mode, 'force_generic_plan');
    const woken = Promise.withResolvers<void>();
    through.deliveriesDue.onWake(woken.resolve);
    await woken.promise; // the connection that listens is there
    assert.equal(await preparingAlone(pooler.url, async () => 'alone'), 'alone');
  } finally {
    await steady.close();
    await through.close();
    await pooler.stop();
  }
});
