/** What becomes of statements that were sent in one message when one of them fails, is stopped, or loses its connection. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { type Database, openDatabase, type Sql } from '#db/database.ts';
import { openUnitOfWork } from '#db/unit-of-work.ts';
import { type PgBouncer, startPgBouncer } from '#test/support/pgbouncer.ts';
import { needs } from '#test/support/programs.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/services.ts';
import { testPort } from '#test/support/test-port.ts';
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
function failing(): never {
  throw new Error('no text');
}
const SLEEP = `select pg_sleep(600)`;
const HAZARDS: readonly Hazard[] = [
  { name: 'one that fails', middle: 'select 1 / $1::int', values: [0], code: /^22012$/ },
  { name: 'one whose value cannot be sent', middle: 'select $1::text', values: [{ toJSON: failing }], code: /no text/ },
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

/** Ends the backend that has run the test's statements, and waits until it is gone. */
async function endBackend(pid: number): Promise<void> {
  await observer.query('select pg_terminate_backend($1::int)', [pid]);
  await waitUntil('the end of the backend', async () => {
    const rows = await observer.query('select from pg_stat_activity where pid = $1', [pid]);
    return rows.length === 0;
  });
}

const VALUES = ['after', 'before'];
const OWN_PID = 'select pg_backend_pid() as pid';

async function withOneConnection(work: (db: Database) => Promise<void>, url = server.url): Promise<void> {
  const db = await openDatabase({ url, poolMax: 1 });
  try {
    await work(db);
    assert.equal(db.pool.totalCount - db.pool.idleCount, 0, 'a connection was not given back');
  } finally {
    await db.close();
    await observer.query('delete from noted');
  }
}

const ofTransactions = WAYS.filter((way) => way !== 'together');

for (const way of ofTransactions) {
  test(`${way}: a connection that is lost between a message and the commit undoes the message`, () =>
    withOneConnection(async (db) => {
      const run1 = run(db, way, async (sql) => {
        for (const each of await together(sql, 'select 1 / $1::int', [1])) assert.equal(each.status, 'fulfilled');
        const [row] = await sql.query<{ pid: number }>(OWN_PID);
        await endBackend(row?.pid ?? 0);
      });
      await assert.rejects(run1);
      assert.deepEqual(await noted(), []);
      await run(db, way, (sql) => together(sql, 'select 1 / $1::int', [1]));
      assert.deepEqual(await noted(), VALUES);
    }));

  test(`${way}: an error of the caller rolls back what was sent, and what still waits to be sent`, () =>
    withOneConnection(async (db) => {
      const failed = run(db, way, async (sql) => {
        await together(sql, 'select 1 / $1::int', [1]);
        void sql.query(INSERT, ['waiting']).catch(() => {});
        throw new Error('changed its mind');
      });
      await assert.rejects(failed, /changed its mind/);
      assert.deepEqual(await noted(), []);
      await run(db, way, (sql) => together(sql, 'select 1 / $1::int', [1]));
      assert.deepEqual(await noted(), VALUES);
    }));
}

for (const way of WAYS) {
  test(`${way}: the first message on a connection that the server closed while it was idle is sent on another`, () =>
    withOneConnection(async (db) => {
      const [row] = await db.query<{ pid: number }>(OWN_PID);
      await run(db, way, (sql) => together(sql, 'select 1 / $1::int', [1]));
      await observer.query('delete from noted');
      await endBackend(row?.pid ?? 0);
      await waitUntil('the pool to notice', () => db.pool.totalCount === 0);
      await run(db, way, (sql) => together(sql, 'select 1 / $1::int', [1]));
      assert.deepEqual(await noted(), VALUES);
    }));

  test(`${way}: a pool that cannot connect sends nothing, and connects later`, async () => {
    const address = new URL(server.url);
    const to = { host: address.hostname, port: Number(address.port) };
    address.port = String(await testPort());
    const sockets = new Set<net.Socket>();
    const forwarder = net.createServer((client) => {
      const upstream = net.connect(to);
      client.pipe(upstream).pipe(client);
      for (const socket of [client, upstream]) {
        sockets.add(socket);
        socket.on('error', () => {});
      }
    });
    const listen = () => new Promise<void>((resolve) => forwarder.listen(Number(address.port), '127.0.0.1', resolve));
    const stop = async () => {
      const closed = once(forwarder, 'close');
      forwarder.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    };
    await listen();
    try {
      await withOneConnection(async (db) => {
        await stop();
        await waitUntil('the pool to notice', () => db.pool.totalCount === 0);
        const refused = run(db, way, (sql) => together(sql, 'select 1 / $1::int', [1]));
        await assert.rejects(refused, /ECONNREFUSED/);
        await listen();
        await run(db, way, (sql) => together(sql, 'select 1 / $1::int', [1]));
        assert.deepEqual(await noted(), VALUES);
      }, address.href);
    } finally {
      await stop();
    }
  });
}
