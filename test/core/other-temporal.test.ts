/** Processes of one installation with different Temporals: found by the id of the namespace, not by the address. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { connectTemporal } from '#core/platform/engine/temporal-client.ts';
import { openServices, type Services } from '#core/platform/process/services.ts';
import { readSettings } from '#core/platform/settings/settings.ts';
import { temporalProgram } from '#dev/launcher/temporal-program.ts';
import { startTemporalServer, type TemporalServer } from '#dev/launcher/temporal-server.ts';
import { DELETE_HISTORY } from '#domain/webhooks/delivery-workflows.ts';
import { startPart } from '#test/support/part-process.ts';
import { runAdmin } from '#test/support/run-admin.ts';
import { createTestDatabase, type TestDatabase, testLog, testVariables } from '#test/support/services.ts';
import { testPort } from '#test/support/test-port.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'other-temporal-'));
let database: TestDatabase;
let environment: Record<string, string>;
let services: Services;
let first: TemporalServer;
let second: TemporalServer;

before(async () => {
  database = await createTestDatabase();
  const program = await temporalProgram({ configured: process.env['TEMPORAL_CLI'], onProgress() {} });
  const start = async (name: string) =>
    startTemporalServer({
      program,
      folder: path.join(folder, name),
      port: await testPort(),
      ui: false,
      namespace: 'default',
    });
  first = await start('first');
  second = await start('second');
  environment = testVariables({
    DATABASE_URL: database.url,
    DATA_DIR: folder,
    LOG_LEVEL: 'info',
    TEMPORAL_ADDRESS: first.address,
    METRICS_PORT: String(await testPort()),
  });
  services = await openServices(readSettings(environment), testLog());
  const made = await runMigrate();
  assert.equal(made.code, 0, made.output);
});
after(async () => {
  await services?.close();
  await first?.stop();
  await second?.stop();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

async function runMigrate(more: Record<string, string> = {}, ...args: string[]) {
  const run = await runAdmin(['migrate', ...args], { environment: { ...environment, ...more } });
  return { code: run.code, output: run.stdout + run.stderr };
}

const elsewhere = () => ({ TEMPORAL_ADDRESS: second.address });
const words = () =>
  new RegExp(`TEMPORAL_ADDRESS is "${second.address}", which is another Temporal than the one at "${first.address}"`);

test('a worker and migrate with another Temporal end with the reason', async () => {
  const worker = startPart('worker', { ...environment, ...elsewhere() });
  await waitUntil(
    'it to end or to run',
    () => worker.process.exitCode !== null || /"msg":"running"/.test(worker.output()),
    60_000,
  );
  assert.equal(await worker.stop(), 1, worker.output());
  assert.match(worker.output(), words());
  const migrated = await runMigrate(elsewhere());
  assert.equal(migrated.code, 1, migrated.output);
  assert.match(migrated.output, words());
  assert.match(migrated.output, /once with `-- --accept-changed-settings`/);
});

test('api and mail with another Temporal are not ready, with the reason, and start no workflow there', async () => {
  for (const part of ['api', 'mail'] as const) {
    const wrong = startPart(part, { ...environment, ...elsewhere() });
    try {
      const found = await waitUntil(
        `${part} to find it`,
        async () => {
          const readiness = await wrong.readiness();
          return readiness?.checks['temporal'] === 'other_server' && readiness;
        },
        60_000,
      );
      assert.equal(found.status, 'not_ready');
      assert.match(JSON.stringify(found).replaceAll('\\"', '"'), words());
    } finally {
      await wrong.stop();
    }
  }
  const client = connectTemporal({ ...services.settings, TEMPORAL_ADDRESS: second.address }, services.db);
  try {
    const options = { workflowId: 'never', taskQueue: client.taskQueue };
    await assert.rejects(client.client.workflow.start(DELETE_HISTORY, options), words());
    await assert.rejects(client.client.workflow.signalWithStart(DELETE_HISTORY, { ...options, signal: 'x' }), words());
    await assert.rejects(client.client.workflow.getHandle('never').describe(), /not found/i);
  } finally {
    await client.close();
  }
});

test('another address of the same Temporal is accepted', async () => {
  const alias = { TEMPORAL_ADDRESS: first.address.replace('127.0.0.1', 'localhost') };
  const worker = startPart('worker', { ...environment, ...alias });
  try {
    await waitUntil('it to be ready', async () => (await worker.readiness())?.status === 'ready', 60_000);
  } finally {
    assert.equal(await worker.stop(), 0, worker.output());
  }
});

test('a confirmed move is what processes compare with', async () => {
  const moved = await runMigrate(elsewhere(), '--accept-changed-settings');
  assert.equal(moved.code, 0, moved.output);
  const old = await runMigrate();
  assert.equal(old.code, 1, old.output);
  assert.match(old.output, /which is another Temporal than the one at/);
});
