/** A process with keys or settings of another installation ends before it does anything. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { connectTemporal } from '#core/platform/engine/temporal-client.ts';
import { isNamespaceMissing } from '#core/platform/engine/temporal-setup.ts';
import { newId } from '#core/platform/new-id.ts';
import { openServices, type Services } from '#core/platform/process/services.ts';
import { readSettings } from '#core/platform/settings/settings.ts';
import { webhookSecretPlace } from '#core/webhooks/signing/webhook-signature.ts';
import { migrate, preparingAlone } from '#db/migrate.ts';
import { startPart } from '#test/support/part-process.ts';
import { runAdmin } from '#test/support/run-admin.ts';
import { createTestDatabase, type TestDatabase, testLog, testSettings, testVariables } from '#test/support/services.ts';
import { freePorts, runStart } from '#test/support/started-service.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'own-installation-'));
const PARTS = ['api', 'worker', 'mail'] as const;
/** Lines that a part logs once it serves. */
const SERVES = /"msg":"(?:the API listens|the mail host listens|running)"/;
let database: TestDatabase;
let environment: Record<string, string>;
let services: Services;

before(async () => {
  database = await createTestDatabase();
  environment = testVariables({ DATABASE_URL: database.url, DATA_DIR: folder, LOG_LEVEL: 'info' });
  services = await openServices(readSettings(environment), testLog());
  assert.equal((await runMigrate()).code, 0);
});
after(async () => {
  await services?.close();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

async function runMigrate(more: Record<string, string> = {}, ...args: string[]) {
  const run = await runAdmin(['migrate', ...args], { environment: { ...environment, ...more } });
  return { code: run.code, output: run.stdout + run.stderr };
}

/** Runs each part with these settings; each must end by itself without having served. */
async function eachRefuses(more: Record<string, string>, reason: RegExp): Promise<void> {
  const parts = PARTS.map((part) => startPart(part, { ...environment, ...more }));
  const codes = await Promise.all(
    parts.map(async (part) => {
      const served = waitUntil(
        'it to end or to serve',
        () => part.process.exitCode !== null || SERVES.test(part.output()),
        60_000,
      );
      await served.catch(() => {});
      return part.stop();
    }),
  );
  for (const [index, part] of parts.entries()) {
    assert.equal(codes[index], 1, part.output());
    assert.match(part.output(), reason);
    assert.doesNotMatch(part.output(), SERVES, PARTS[index]);
  }
}

/** npm start on the database of the installation, with a Temporal of its own. */
const allWith = async (more: Record<string, string>) => {
  const { LOG_LEVEL: _, ...rest } = environment;
  const started = runStart({ ...rest, ...(await freePorts()), DATA_DIR: path.join(folder, newId('event')), ...more });
  let over = false;
  void started.ended.then(() => {
    over = true;
  });
  await waitUntil('npm start to end or to run', () => over || /Ctrl-C stops/.test(started.output()), 60_000).catch(
    () => {},
  );
  started.process.kill('SIGTERM');
  return { code: await started.ended, output: started.output() };
};

async function hasNamespace(namespace: string): Promise<boolean> {
  const temporal = connectTemporal(testSettings());
  try {
    await temporal.client.workflowService.describeNamespace({ namespace });
    return true;
  } catch (error) {
    if (isNamespaceMissing(error)) return false;
    throw error;
  } finally {
    await temporal.close();
  }
}

const fresh = (): string => randomBytes(32).toString('base64');

test('SECRETS_KEYS of another installation: each process ends before it serves, also if the id of the key is the same', async () => {
  const [row] = await services.db.query<{ id: string }>('select id from organizations');
  const endpoint = newId('webhookEndpoint');
  await services.db.query(
    `insert into webhook_endpoints (id, organization_id, url, event_types, secret_prefix, secret_sealed)
     values ($1, $2, 'https://x.example', '{email_received}', 'whsec_x', $3)`,
    [endpoint, row?.id, services.secrets.seal('whsec_x', webhookSecretPlace(endpoint))],
  );
  const [otherId, sameId] = [{ SECRETS_KEYS: `other:${fresh()}` }, { SECRETS_KEYS: `test:${fresh()}` }];
  const reason = /SECRETS_KEYS has the keys of another installation/;
  for (const keys of [otherId, sameId]) await eachRefuses(keys, reason);
  const migrated = await runMigrate(otherId);
  assert.equal(migrated.code, 1);
  assert.match(migrated.output, reason);
  const all = await allWith(sameId);
  assert.equal(all.code, 1, all.output);
  assert.match(all.output, reason);
  assert.doesNotMatch(all.output, /API, worker, mail/);
});

test('a misspelled TEMPORAL_NAMESPACE is refused by every process and by migrate, and is not created', async () => {
  const namespace = `typing-error-${randomBytes(4).toString('hex')}`;
  await eachRefuses(
    { TEMPORAL_NAMESPACE: namespace },
    new RegExp(`TEMPORAL_NAMESPACE is "${namespace}", but this database was set up with "default": workflows`),
  );
  const migrated = await runMigrate({ TEMPORAL_NAMESPACE: namespace });
  assert.equal(migrated.code, 1);
  assert.match(migrated.output, /start this command once with `-- --accept-changed-settings`/);
  const all = await allWith({ TEMPORAL_NAMESPACE: namespace });
  assert.equal(all.code, 1);
  assert.match(all.output, /TEMPORAL_NAMESPACE is "typing-error/);
  assert.equal(await hasNamespace(namespace), false);
});

test('a change of TEMPORAL_NAMESPACE that was confirmed is what processes compare with', async () => {
  const namespace = `moved-${randomBytes(4).toString('hex')}`;
  const moved = await runMigrate({ TEMPORAL_NAMESPACE: namespace }, '--accept-changed-settings');
  assert.equal(moved.code, 0, moved.output);
  assert.equal(await hasNamespace(namespace), true);
  await eachRefuses(
    {},
    new RegExp(`TEMPORAL_NAMESPACE is "default", but this database was set up with "${namespace}"`),
  );
  assert.equal((await runMigrate({}, '--accept-changed-settings')).code, 0);
});

test('another task queue, pepper or domain is refused; a domain changes with the next migrate', async () => {
  await eachRefuses({ TEMPORAL_TASK_QUEUE: 'elsewhere' }, /TEMPORAL_TASK_QUEUE is "elsewhere", but/);
  await eachRefuses({ CREDENTIAL_PEPPER: fresh() }, /CREDENTIAL_PEPPER is not the one that this database/);
  assert.equal((await runMigrate({ CREDENTIAL_PEPPER: fresh() })).code, 1);
  await eachRefuses({ MAIL_DOMAIN: 'agent.test' }, /MAIL_DOMAIN is "agent\.test", but this database was set up with/);
  assert.equal((await runMigrate({ MAIL_DOMAIN: 'agent.test' })).code, 0);
  await eachRefuses({}, /MAIL_DOMAIN is "agents\.test", but this database was set up with "agent\.test"/);
  assert.equal((await runMigrate()).code, 0);
});

test('a worker creates no namespace that the database does not know', async () => {
  const other = await createTestDatabase();
  const namespace = `unknown-${randomBytes(4).toString('hex')}`;
  try {
    const worker = startPart('worker', { ...environment, DATABASE_URL: other.url, TEMPORAL_NAMESPACE: namespace });
    await waitUntil('its end', () => worker.process.exitCode !== null || SERVES.test(worker.output()), 60_000);
    assert.equal(await worker.stop(), 1, worker.output());
    assert.match(worker.output(), /the server has no namespace "unknown-.*`npm run migrate`, which creates it/);
    assert.equal(await hasNamespace(namespace), false);
  } finally {
    await other.drop();
  }
});

test('a process that starts while the first migrate has not written the settings waits for them', async () => {
  await services.db.query('delete from installation_setting');
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const preparing = preparingAlone(database.url, async () => {
    begun.resolve();
    await goOn.promise;
    await migrate(services.db);
  });
  await begun.promise;
  const mail = startPart('mail', environment);
  await waitUntil('it to wait', () => mail.output().includes('waiting for the database'), 60_000);
  assert.doesNotMatch(mail.output(), SERVES);
  goOn.resolve();
  await preparing;
  await waitUntil('it to run', () => SERVES.test(mail.output()), 60_000);
  assert.equal(await mail.stop(), 0);
  assert.equal((await runMigrate()).code, 0);
});
