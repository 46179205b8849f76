/** Each warning, on a real server that has the setting. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { connectionsAtMost } from '#core/platform/process/database-connections.ts';
import { openServices, type Services } from '#core/platform/process/services.ts';
import { checkDatabase } from '#core/process/check-database.ts';
import { requirePostgres } from '#core/process/dependencies.ts';
import { openReadiness } from '#core/process/readiness.ts';
import type { DistributionServer } from '#dev/launcher/postgres-binaries.ts';
import { configuredServer, distributionServer, migratedDatabase } from '#test/support/distribution-server.ts';
import { startPgBouncer } from '#test/support/pgbouncer.ts';
import { needs, programFile } from '#test/support/programs.ts';
import { testLog, testSettings } from '#test/support/services.ts';

/** As installed: no setting was changed. */
let server: DistributionServer;
/** Owner of its databases, as an operator makes one. */
const ROLE = 'service';
let databases = 0;
before(async () => {
  server = await configuredServer();
  await server.run([`create role ${ROLE} login password 'password'`]);
});
after(() => server?.stop());

interface Place {
  /** Name of the database. */
  readonly name: string;
  readonly url: string;
}

/** A migrated database of the role. @param further of `create database` */
async function placeOn(on: DistributionServer, further = ''): Promise<Place> {
  const name = `checked_${++databases}`;
  await on.run([`create database ${name} owner ${ROLE} ${further}`]);
  const url = new URL(on.url(name));
  url.username = ROLE;
  return { name, url: url.href };
}

const open = (url: string, poolMax = 2, process?: 'api' | 'worker'): Promise<Services> =>
  openServices(testSettings({ DATABASE_URL: url, DATABASE_POOL_MAX: String(poolMax) }), testLog(), process);

async function statesAt(url: string): Promise<string[]> {
  const services = await open(url);
  try {
    return (await checkDatabase(services.db)).map(({ state }) => state);
  } finally {
    await services.close();
  }
}

test('a server as installed, with a role and a database as an operator makes them, has no warning', async () => {
  const { url } = await placeOn(server);
  assert.deepEqual(await statesAt(url), []);
});

for (const [setting, value, state] of [
  ['synchronous_commit', 'off', 'synchronous_commit_off'],
  ['temp_file_limit', '10MB', 'temp_file_limit_small'],
  ['statement_timeout', '10s', 'statement_timeout_short'],
  ['lock_timeout', '500ms', 'lock_timeout_short'],
  ['idle_in_transaction_session_timeout', '1s', 'idle_in_transaction_session_timeout_short'],
  ['idle_session_timeout', '20s', 'idle_session_timeout_short'],
  ['session_replication_role', 'replica', 'triggers_off'],
] as const)
  test(`${setting} = ${value} has a warning, and none when it is reset`, async () => {
    const { name, url } = await placeOn(server);
    await server.run([`alter database ${name} set ${setting} = '${value}'`]);
    assert.deepEqual(await statesAt(url), [state]);
    await server.run([`alter database ${name} reset ${setting}`]);
    assert.deepEqual(await statesAt(url), []);
  });

test('a longer timeout has no warning', async () => {
  const { name, url } = await placeOn(server);
  await server.run([`alter database ${name} set statement_timeout = '10min'`]);
  assert.deepEqual(await statesAt(url), []);
});

test('settings of the server that endanger or slow down everything have a warning each', async () => {
  const careless = await configuredServer({
    settings: {
      fsync: 'off',
      full_page_writes: 'off',
      autovacuum: 'off',
      track_counts: 'off',
      shared_buffers: '16MB',
    },
  });
  try {
    await careless.run([`create role ${ROLE} login password 'password'`]);
    const { url } = await placeOn(careless);
    assert.deepEqual(await statesAt(url), [
      'fsync_off',
      'full_page_writes_off',
      'autovacuum_off',
      'track_counts_off',
      'shared_buffers_small',
    ]);
  } finally {
    await careless.stop();
  }
});

test('processes that may open more connections than the server accepts have a warning with both numbers', async () => {
  const small = await configuredServer({ settings: { max_connections: '40' } });
  const opened: Services[] = [];
  try {
    await small.run([`create role ${ROLE} login password 'password'`]);
    const { url } = await placeOn(small);
    const start = async (process: 'api' | 'worker', poolMax: number) => {
      const services = await open(url, poolMax, process);
      opened.push(services);
      await services.db.query('select 1');
      return services;
    };
    const few = await start('api', 5);
    assert.deepEqual(await checkDatabase(few.db), []);
    await start('worker', 20);
    // The second copy of a process counts as well.
    await start('api', 5);
    const [problem] = await checkDatabase(few.db);
    assert.equal(problem?.state, 'connections_few');
    const needed = 2 * connectionsAtMost('api', 5) + connectionsAtMost('worker', 20);
    // Three are kept for superusers.
    assert.match(problem.message, new RegExp(`may open ${needed} connections, but max_connections leaves them 37:`));
  } finally {
    for (const services of opened) await services.close();
    await small.stop();
  }
});

test('a limit of the role or of the database counts as one of the server does', async () => {
  const { name, url } = await placeOn(server);
  const services = await open(url, 5, 'api');
  try {
    await server.run([`alter role ${ROLE} connection limit 6`]);
    const [ofRole] = await checkDatabase(services.db);
    assert.match(ofRole?.message ?? '', /the connection limit of the role leaves them 6:/);
    await server.run([`alter role ${ROLE} connection limit -1`, `alter database ${name} connection limit 7`]);
    const [ofDatabase] = await checkDatabase(services.db);
    assert.match(ofDatabase?.message ?? '', /the connection limit of the database leaves them 7:/);
    await server.run([`alter database ${name} connection limit -1`]);
    assert.deepEqual(await checkDatabase(services.db), []);
  } finally {
    await services.close();
  }
});

test('a collation that knows ASCII alone has a warning', async () => {
  const { url } = await placeOn(server, `locale 'C' template template0`);
  assert.deepEqual(await statesAt(url), ['collation_ascii']);
});

test('a collation that has changed with the system has a warning until it is refreshed', async () => {
  const { name, url } = await placeOn(
    server,
    `locale_provider icu icu_locale 'en' locale 'C.UTF-8' template template0`,
  );
  assert.deepEqual(await statesAt(url), []);
  await server.run([`update pg_database set datcollversion = '1.2' where datname = '${name}'`]);
  assert.deepEqual(await statesAt(url), ['collation_changed']);
  await server.run([`alter database ${name} refresh collation version`]);
  assert.deepEqual(await statesAt(url), []);
});

test('a policy that would hide rows has a warning, and statements fail instead of missing rows', async () => {
  const name = 'row_security';
  const adminUrl = await migratedDatabase(server, name);
  const url = new URL(adminUrl);
  url.username = ROLE;
  await server.run(
    [
      `grant all on all tables in schema public to ${ROLE}`,
      'alter table events enable row level security',
      'create policy none on events using (false)',
    ],
    name,
  );
  const services = await open(url.href);
  try {
    assert.deepEqual(
      (await checkDatabase(services.db)).map(({ state }) => state),
      ['row_security'],
    );
    await assert.rejects(services.db.query('select count(*) from events'), /row-level security/);
  } finally {
    await services.close();
  }
});

test('a database with another encoding than UTF8 is refused at the start, with what to do', async () => {
  for (const encoding of ['SQL_ASCII', 'LATIN1']) {
    const { url } = await placeOn(server, `encoding '${encoding}' locale 'C' template template0`);
    await assert.rejects(
      requirePostgres(url),
      new RegExp(`encoding ${encoding}, but UTF8 is needed.*create database`, 's'),
    );
  }
  const { url } = await placeOn(server);
  await requirePostgres(url);
});

test(
  'translated messages have a warning where the role may not choose the language',
  needs('PostgreSQL of the distribution', 'localedef'),
  async () => {
    const locales = mkdtempSync(path.join(tmpdir(), 'locales-'));
    try {
      const german = path.join(locales, 'de_DE.UTF-8');
      execFileSync(programFile('localedef'), ['-i', 'de_DE', '-f', 'UTF-8', german], { stdio: 'ignore' });
      execFileSync('chmod', ['-R', 'a+rX', locales]);
      const translated = await distributionServer({
        environment: { LOCPATH: locales },
        initdb: ['--encoding', 'UTF8', '--locale', 'de_DE.UTF-8'],
      });
      try {
        await translated.run([`create role ${ROLE} login password 'password'`]);
        const { url } = await placeOn(translated);
        assert.deepEqual(await statesAt(url), ['lc_messages_translated']);
        // A superuser may, and a role that was allowed to.
        assert.deepEqual(await statesAt(translated.url('postgres')), []);
        await translated.run([`grant set on parameter lc_messages to ${ROLE}`]);
        assert.deepEqual(await statesAt(url), []);
        const services = await open(url);
        await assert.rejects(services.db.query('select * from nowhere'), /relation "nowhere" does not exist/);
        await services.close();
      } finally {
        await translated.stop();
      }
    } finally {
      rmSync(locales, { recursive: true, force: true });
    }
  },
);

test('a pooler in transaction mode has a warning', needs('pgbouncer'), async () => {
  const { url } = await placeOn(server);
  const pooler = await startPgBouncer(url, { mode: 'transaction' });
  const [one, other] = [await open(pooler.url), await open(pooler.url)];
  try {
    // Different texts: each is prepared by its client, and PgBouncer before 1.21 mixes them up.
    await other.db.query(`select 'other'`);
    // Its session began on the one server connection, which another client has now.
    await one.db.transaction(async (sql) => {
      await sql.query(`select 'one'`);
      const problems = await checkDatabase(other.db);
      assert.ok(
        problems.some(({ state }) => state === 'session_lost'),
        JSON.stringify(problems),
      );
    });
  } finally {
    await one.close();
    await other.close();
    await pooler.stop();
  }
});

test('/readyz lists each setting that harms as a warning, and the process stays ready', async () => {
  const name = 'readiness';
  await migratedDatabase(server, name);
  await server.run([
    `alter database ${name} set synchronous_commit = off`,
    `alter database ${name} set statement_timeout = '5s'`,
  ]);
  const services = await open(server.url(name), 5);
  const monitor = openReadiness(services, 'mail');
  try {
    const { checks, problems } = await monitor.current();
    assert.equal(checks.databaseSettings, 'harmful');
    assert.deepEqual(
      problems.filter(({ check }) => check === 'databaseSettings').map(({ state, blocking }) => [state, blocking]),
      [
        ['synchronous_commit_off', false],
        ['statement_timeout_short', false],
      ],
    );
  } finally {
    await monitor.close();
    await services.close();
  }
});
