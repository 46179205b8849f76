/** What becomes of statements that were sent in one message when one of them fails, is stopped, or loses its connection. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Database, openDatabase, type Sql } from '#db/database.ts';
import { openUnitOfWork } from '#db/unit-of-work.ts';
import { type PgBouncer, startPgBouncer } from '#test/support/pgbouncer.ts';
import { needs } from '#test/support/programs.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let server: TestDatabase;
/** Sees and stops what the connection of a test does. */
let observer: Database;
before(async () => {
  server = await createTestDatabase();
  observer = await openDatabase({ url: server.url, poolMax: 2 });
  await observer.query('create table noted (value text primary key)');
});
after(async () => {
  await observer?.close();
  await server?.drop();
});

const INSERT = 'insert into noted (value) values ($1)';
const noted = async (): Promise<string[]> =>
  (await observer.query<{ value: string }>('select value from noted order by value')).map(({ value }) => value);

type Way = 'transaction' | 'together' | 'unit of work';
const WAYS: readonly Way[] = ['transaction', 'together', 'unit of work'];

async function run<Result>(db: Database, way: Way, work: (sql: Sql) => Promise<Result>): Promise<Result> {
  if (way !== 'unit of work') return db[way](work);
  const unit = openUnitOfWork(db, async () => {});
  try {
    const result = await unit.db.transaction(work);
    await unit.commit();
    return result;
  } catch (error) {
    await unit.rollback();
    throw error;
  }
}

const together = (sql: Sql, middle: string, values: readonly unknown[] = []) =>
  Promise.allSettled([sql.query(INSERT, ['before']), sql.query(middle, values), sql.query(INSERT, ['after'])]);

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : String(error));

interface Hazard {
  readonly name: string;
  readonly middle: string;
  readonly values?: readonly unknown[];
  /** While the statement in the middle runs. */
  readonly stop?: (pid: number) => Promise<unknown>;
  readonly code: RegExp;
}
const SLEEP = `select pg_sleep(600)`;
const HAZARDS: readonly Hazard[] = [
  { name: 'one that fails', middle: 'select 1 / $1::int', values: [0], code: /^22012$/ },
  { name: 'one that cannot be parsed', middle: 'selec', code: /^42601$/ },
  {
    name: 'one that is canceled',
    middle: SLEEP,
    stop: (pid) => observer.query('select pg_cancel_backend($1::int)', [pid]),
    code: /^57014$/,
  },
  { name: 'one that takes longer than statement_timeout', middle: SLEEP, code: /^57014$/ },
  {
    name: 'the end of the connection',
    middle: SLEEP,
    stop: (pid) => observer.query('select pg_terminate_backend($1::int)', [pid]),
    code: /^57P01$|terminated|ECONNRESET|08/,
  },
];

async function sleeping(): Promise<number | undefined> {
  const [row] = await observer.query<{ pid: number }>(
    `select pid from pg_stat_activity
      where datname = current_database() and state = 'active' and query like '%pg_sleep(600)' and pid <> pg_backend_pid()`,
  );
  return row?.pid;
}

async function check(url: string, way: Way, hazard: Hazard): Promise<void> {
  const { middle, values, stop, code } = hazard;
  const db = await openDatabase({ url, poolMax: 1 });
  try {
    if (middle === SLEEP && stop === undefined) await db.query(`set statement_timeout = '200ms'`);
    let settled: PromiseSettledResult<unknown>[] = [];
    const done = run(db, way, async (sql) => {
      settled = await together(sql, middle, values);
      const failed = settled.find((each) => each.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    });
    const outcome = done.then(
      () => 'committed',
      (error: unknown) => String(codeOf(error)),
    );
    if (stop !== undefined) {
      await waitUntil('the statement to run', async () => (await sleeping()) !== undefined);
      await stop((await sleeping()) ?? 0);
    }
    assert.match(await outcome, code);
    // None of them counts, not even one that ran.
    for (const each of settled) assert.equal(each.status, 'rejected');
    assert.deepEqual(await noted(), []);
    // The only place of the pool is free, and what was sent with the failed one can be prepared again.
    await db.query('set statement_timeout = 0');
    await run(db, way, async (sql) => {
      for (const each of await together(sql, 'select 1 / $1::int', [1])) assert.equal(each.status, 'fulfilled');
    });
    assert.deepEqual(await noted(), ['after', 'before']);
    assert.equal(db.pool.totalCount - db.pool.idleCount, 0);
  } finally {
    await db.close();
    await observer.query('delete from noted');
  }
}

for (const hazard of HAZARDS)
  test(`${hazard.name} in the middle of a message undoes all of it, and leaves the pool usable`, async (t) => {
    for (const way of WAYS) await t.test(way, () => check(server.url, way, hazard));
  });

test('the same through PgBouncer in session mode', needs('pgbouncer'), async (t) => {
  const pooler: PgBouncer = await startPgBouncer(server.url, { mode: 'session' });
  try {
    for (const hazard of HAZARDS)
      for (const way of WAYS) await t.test(`${hazard.name}, ${way}`, () => check(pooler.url, way, hazard));
  } finally {
    await pooler.stop();
  }
});
