import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { insertSession } from '#core/accounts/sessions.ts';
import { verifyPassword } from '#core/accounts/sign-in.ts';
import { connectTemporal } from '#core/platform/engine/temporal-client.ts';
import { openServices, type Services } from '#core/platform/process/services.ts';
import { hashCredential } from '#core/platform/secrets/credentials.ts';
import { readSettings } from '#core/platform/settings/settings.ts';
import { migrate, pendingMigrations } from '#db/migrate.ts';
import { migrations } from '#db/migrations/index.ts';
import { SEARCH_ATTRIBUTES } from '#domain/webhooks/delivery-status.ts';
import { createTestDatabase, type TestDatabase, testLog, testVariables } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
let database: TestDatabase;
let environment: Record<string, string>;
let services: Services;

before(async () => {
  database = await createTestDatabase();
  environment = { ...testVariables({ DATABASE_URL: database.url, LOG_LEVEL: 'info' }) };
  services = await openServices(readSettings(environment), testLog());
});
after(async () => {
  await services?.close();
  await database?.drop();
});
beforeEach(() => services.db.pool.query('drop schema public cascade; create schema public'));

interface Run {
  readonly code: number | null;
  readonly output: string;
}

function runMigrate(more: Record<string, string> = {}): Promise<Run> {
  const child = spawn(process.execPath, ['dev/start.mjs', 'operations/admin.ts', 'migrate'], {
    cwd: root,
    env: { ...process.env, NODE_TEST_CONTEXT: '', ...environment, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
}

const shown = ({ output }: Run) => ({
  email: /sign-in {3}(\S+)/.exec(output)?.[1],
  password: /password {2}(\S+)/.exec(output)?.[1],
  apiKey: /API key {3}(\S+)/.exec(output)?.[1],
});

async function hold({ password = '', apiKey = '' }: { password?: string | undefined; apiKey?: string | undefined }) {
  const [user] = await services.db.query<{ password_hash: string }>('select password_hash from users');
  const keys = await services.db.query('select from api_keys where key_hash = $1', [
    hashCredential(apiKey, services.pepper),
  ]);
  return [await verifyPassword(password, user?.password_hash ?? ''), keys.length === 1];
}

async function signIn(): Promise<void> {
  const [user] = await services.db.query<{ id: string; name: string; email: string }>(
    'select id, name, email from users',
  );
  assert.ok(user);
  await services.db.entityTransaction((em) =>
    insertSession(services, em, user, { ipAddress: '127.0.0.1', requestId: 'test' }),
  );
}

test('credentials whose output was lost are shown again until somebody has signed in, then never', async () => {
  const lost = await runMigrate();
  assert.equal(lost.code, 0, lost.output);
  const again = await runMigrate();
  assert.equal(again.code, 0, again.output);
  assert.equal(shown(again).email, 'owner@agents.test');
  assert.deepEqual(await hold(shown(again)), [true, true]);
  assert.deepEqual(await hold(shown(lost)), [false, false]);
  assert.match(again.output, /Credentials shown by an earlier run are no longer valid/);

  await signIn();
  const signedIn = await runMigrate();
  assert.equal(signedIn.code, 0);
  assert.deepEqual(shown(signedIn), { email: undefined, password: undefined, apiKey: undefined });
  assert.deepEqual(await hold(shown(again)), [true, true]);
  // Also after session and audit entry were deleted.
  await services.db.pool.query('delete from sessions; delete from audit_entries');
  assert.deepEqual(shown(await runMigrate()).password, undefined);
  assert.deepEqual(await hold(shown(again)), [true, true]);
});

test('a first API key that was used already stays valid', async () => {
  const first = await runMigrate();
  await services.db.query('update api_keys set last_used_at = now()');
  const again = await runMigrate();
  assert.match(again.output, /used already and cannot be shown again/);
  assert.deepEqual(await hold({ ...shown(again), apiKey: shown(first).apiKey }), [true, true]);
});

test('OWNER_PASSWORD is valid until somebody has signed in', async () => {
  await runMigrate();
  const given = await runMigrate({ OWNER_PASSWORD: 'a password of my own' });
  assert.match(given.output, /password {2}\(OWNER_PASSWORD\)/);
  assert.doesNotMatch(given.output, /a password of my own/);
  assert.deepEqual(await hold({ password: 'a password of my own', apiKey: shown(given).apiKey }), [true, true]);
  await signIn();
  await runMigrate({ OWNER_PASSWORD: 'another password' });
  assert.deepEqual(await hold({ password: 'a password of my own', apiKey: shown(given).apiKey }), [true, true]);
});

test('migrations at the same time wait for each other, and every migration runs once', async () => {
  const runs = await Promise.all([runMigrate(), runMigrate(), runMigrate()]);
  assert.deepEqual(
    runs.map(({ code }) => code),
    [0, 0, 0],
    runs.map(({ output }) => output).join('\n'),
  );
  assert.equal(runs.filter(({ output }) => output.includes('Another migration is running')).length, 2);
  assert.equal(runs.filter(({ output }) => output.includes('The first organization was created')).length, 1);
  const rows = await services.db.query<{ name: string }>('select name from migrations order by id');
  assert.deepEqual(
    rows.map(({ name }) => name),
    migrations.map(({ name }) => name),
  );
  const holding = await Promise.all(runs.map((run) => hold(shown(run))));
  assert.deepEqual(
    holding.filter(([password]) => password),
    [[true, true]],
  );
});

test('a migration that is killed lets the next one go on', async () => {
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  await holder.query(`select pg_advisory_lock(hashtext('agent-mailbox'), hashtext('migrate'))`);
  let output = '';
  const waiting = runMigrate().then((run) => {
    output = run.output;
    return run;
  });
  await waitUntil('the lock to be asked for', async () => {
    const rows = await services.db.query(
      `select from pg_stat_activity where application_name = 'agent-mailbox migrate' and datname = current_database()`,
    );
    return rows.length > 0;
  });
  assert.deepEqual(
    await pendingMigrations(services.db),
    migrations.map(({ name }) => name),
  );
  await holder.end();
  assert.equal((await waiting).code, 0, output);
  assert.deepEqual(await pendingMigrations(services.db), []);
});

test('a database of a development version from before the first release is refused in one sentence, and left as it is', async () => {
  assert.equal((await runMigrate()).code, 0);
  const made = migrations[0]?.name ?? '';
  for (const [name, existing] of [
    ['Migration20261121000001_organizations_and_webhooks', made],
    ['Migration20261122000024_unreleased', 'Migration20261121000001_organizations_and_webhooks'],
  ] as const) {
    await services.db.query('update migrations set name = $1 where name = $2', [name, existing]);
    const before = await services.db.query('select * from migrations order by id');
    const run = await runMigrate();
    assert.equal(run.code, 1);
    assert.match(
      run.output,
      new RegExp(`^migrate: This database was made by a development version .* has ${name}, `, 'm'),
    );
    assert.match(run.output, /docs\/upgrading\.md/);
    assert.doesNotMatch(run.output, /^ {4}at /m);
    assert.deepEqual(await services.db.query('select * from migrations order by id'), before);
  }
});

test('migrations of a later version are left alone: an older version can run again', async () => {
  assert.equal((await runMigrate()).code, 0);
  await services.db.query(`insert into migrations (name) values ('Migration20991231000001_later')`);
  const run = await runMigrate();
  assert.equal(run.code, 0, run.output);
});

test('a namespace that is missing is made, with its search attributes', async () => {
  await migrate(services.db);
  const namespace = `made-${randomBytes(4).toString('hex')}`;
  const run = await runMigrate({ TEMPORAL_NAMESPACE: namespace });
  assert.equal(run.code, 0, run.output);
  const temporal = connectTemporal(readSettings({ ...environment, TEMPORAL_NAMESPACE: namespace }));
  try {
    const { namespaceInfo } = await temporal.client.workflowService.describeNamespace({ namespace });
    assert.equal(namespaceInfo?.name, namespace);
    const { customAttributes } = await temporal.client.connection.operatorService.listSearchAttributes({ namespace });
    assert.deepEqual(
      Object.keys(SEARCH_ATTRIBUTES).filter((name) => customAttributes[name] === undefined),
      [],
    );
  } finally {
    await temporal.close();
  }
  // Nothing is left to do.
  assert.doesNotMatch((await runMigrate({ TEMPORAL_NAMESPACE: namespace })).output, /made namespace/);
});
