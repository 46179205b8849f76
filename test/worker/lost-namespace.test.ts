/** A worker without its namespace ends with a reason; running workers create again what Temporal lost. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { connectTemporal, namespaceIdOf, type TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { requireTemporal } from '#core/platform/engine/temporal-setup.ts';
import { openServices } from '#core/platform/process/services.ts';
import { agreedTemporal, storeAgreedSettings, storeAgreedTemporal } from '#core/platform/settings/agreed-settings.ts';
import { readSettings } from '#core/platform/settings/settings.ts';
import { openDatabase } from '#db/database.ts';
import { temporalProgram } from '#dev/launcher/temporal-program.ts';
import { startTemporalServer } from '#dev/launcher/temporal-server.ts';
import { SEARCH_ATTRIBUTES } from '#domain/webhooks/delivery-status.ts';
import { DELETE_HISTORY } from '#domain/webhooks/delivery-workflows.ts';
import { startPart } from '#test/support/part-process.ts';
import {
  createTestDatabase,
  type TestDatabase,
  testLog,
  testSettings,
  testTemporalAddress,
  testVariables,
} from '#test/support/services.ts';
import { testPort } from '#test/support/test-port.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { historyScheduleId, keepTemporalSetup } from '#worker/keep-temporal-setup.ts';
import { watchWorker } from '#worker/watch-worker.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'lost-namespace-'));
const namespace = `lost-${randomBytes(4).toString('hex')}`;
let database: TestDatabase;
let temporal: TemporalClient;
let environment: Record<string, string>;

before(async () => {
  database = await createTestDatabase();
  environment = testVariables({
    DATABASE_URL: database.url,
    TEMPORAL_NAMESPACE: namespace,
    METRICS_PORT: String(await testPort()),
    DATA_DIR: folder,
    LOG_LEVEL: 'info',
  });
  temporal = connectTemporal(
    testSettings({ TEMPORAL_NAMESPACE: namespace, TEMPORAL_TASK_QUEUE: environment['TEMPORAL_TASK_QUEUE'] ?? '' }),
  );
  const services = await openServices(readSettings(environment), testLog());
  await storeAgreedSettings(services.db, services.settings);
  await services.close();
  await requireTemporal({ address: testTemporalAddress() }, namespace, { mayCreateNamespace: true });
});
after(async () => {
  await temporal?.close();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

const attributes = async () =>
  Object.keys((await temporal.client.connection.operatorService.listSearchAttributes({ namespace })).customAttributes);

test('Schedules and search attributes that are missing are made again while the worker runs', async () => {
  const kept = keepTemporalSetup({ log: testLog() }, temporal, { lookEveryMs: 100 });
  const schedule = temporal.client.schedule.getHandle(historyScheduleId(temporal.taskQueue));
  const isThere = () =>
    schedule.describe().then(
      () => true,
      () => false,
    );
  try {
    await waitUntil('the Schedule', isThere, 60_000);
    await schedule.delete();
    await temporal.client.connection.operatorService.removeSearchAttributes({
      namespace,
      searchAttributes: ['DeliveryIds', 'MessageId'],
    });
    await waitUntil('the Schedule again', isThere, 60_000);
    await waitUntil(
      'the search attributes again',
      async () => {
        const found = await attributes();
        return Object.keys(SEARCH_ATTRIBUTES).every((name) => found.includes(name));
      },
      60_000,
    );
  } finally {
    await kept.close();
    await schedule.delete().catch(() => {});
  }
});

test('a worker that stops polling is given up after its time, with states and reason; one that recovers is not', async () => {
  const running = { runState: 'RUNNING', workflowPollerState: 'POLLING', activityPollerState: 'POLLING' };
  let states = running;
  let looks = 0;
  let nowMs = 0;
  // The SDK's own status, whose other fields are not looked at.
  const getStatus = () => {
    looks++;
    return states as ReturnType<Parameters<typeof watchWorker>[0]['getStatus']>;
  };
  const watch = watchWorker(
    { getStatus },
    () => 'Namespace lost is not found',
    1_500,
    () => nowMs,
  );
  const givenUp: Error[] = [];
  watch.givenUp.catch((error: Error) => givenUp.push(error));
  assert.equal(watch.isRunning(), true);
  /** Lets it look in these states, and once more when this time has passed. */
  const lookedFor = async (now: typeof states, ms: number) => {
    states = now;
    for (const passed of [0, ms]) {
      nowMs += passed;
      const before = looks;
      await waitUntil('a look at it', () => looks > before);
    }
  };
  const stopped = { ...running, workflowPollerState: 'FAILED' };
  await lookedFor(stopped, 1_400);
  assert.equal(watch.isRunning(), false);
  await lookedFor(running, 5_000);
  await lookedFor(stopped, 1_400);
  await lookedFor(running, 5_000);
  assert.equal(givenUp.length, 0);
  await lookedFor({ ...running, activityPollerState: 'SHUTDOWN' }, 1_500);
  await waitUntil('the end', () => givenUp.length > 0);
  assert.match(
    String(givenUp[0]?.message),
    /no tasks for 1\.5 s .*activity poller SHUTDOWN\): Namespace lost is not found/,
  );
  watch.close();
});

const WAITING = `
  insert into outbound_message (id, organization_id, mailbox_id, blob, size, content_hash, message_id_header, thread_id,
    from_address, to_addresses, cc_addresses, subject, preview, labels, via, actor, filed, state, submitted_at, due_at, send_at)
  values ('out_1', 'org_1', 'mbx_1', '', 1, '', '', 'thr_1', '{}', '[]', '[]', '', '', '{}', 'api', '{}', false, 'scheduled', now(),
    now(), now() + interval '1 day')`;

test('no worker stays alive without taking tasks after Temporal has lost its state', async () => {
  const engineFolder = path.join(folder, 'engine');
  const program = await temporalProgram({ configured: process.env['TEMPORAL_CLI'], onProgress() {} });
  const port = await testPort();
  // Another namespace than the worker's: nobody but our processes makes that.
  const startEngine = () => startTemporalServer({ program, folder: engineFolder, port, namespace: 'default' });
  let engine = await startEngine();
  const settings = { ...environment, TEMPORAL_ADDRESS: engine.address };
  const client = connectTemporal(readSettings(settings));
  let ending = false;
  let worker = startPart('worker', settings);
  const reasons: (string | undefined)[] = [];
  // As Kubernetes would: a process that has ended is started again.
  const supervised = (async () => {
    while (!ending) {
      const code = await worker.ended;
      if (ending) return;
      assert.notEqual(code, 0);
      reasons.push(worker.lines().find(({ level }) => level === 60)?.reason ?? worker.output());
      worker = startPart('worker', settings);
    }
  })();
  const isReady = async () => (await worker.readiness())?.status === 'ready';
  const db = await openDatabase({ url: database.url, poolMax: 1 });
  const namespaceIdNow = () => namespaceIdOf(client.client.connection, client.namespace);
  let run = 0;
  const runsWorkflow = () =>
    client.client
      .withDeadline(Date.now() + 10_000, () =>
        client.client.workflow.execute(DELETE_HISTORY, {
          workflowId: `look-${run++}`,
          taskQueue: client.taskQueue,
          workflowTaskTimeout: '5 seconds',
        }),
      )
      .then(
        () => true,
        () => false,
      );
  try {
    await waitUntil('the worker to be ready', isReady, 60_000);
    assert.ok(await waitUntil('a workflow', runsWorkflow, 60_000));
    // As `migrate` does.
    const namespaceId = await namespaceIdNow();
    assert.ok(namespaceId !== undefined);
    await storeAgreedTemporal(db, { namespaceId, address: engine.address });
    // A message whose time to be sent is known to Temporal alone.
    await db.transaction(async (sql) => {
      await sql.query(`set local session_replication_role = replica`);
      await sql.query(WAITING);
    });
    for (let drop = 0; drop < 2; drop++) {
      await db.query(`update outbound_message set due_at = now() + interval '1 day'`);
      await engine.stop();
      await waitUntil('the worker not to be ready', async () => !(await isReady()), 30_000);
      for (const name of readdirSync(engineFolder))
        if (name.startsWith('temporal.db')) rmSync(path.join(engineFolder, name));
      engine = await startEngine();
      await waitUntil('a workflow in the namespace made anew', runsWorkflow, 90_000);
      await waitUntil('the worker to be ready again', isReady, 60_000);
      // Workflows can run as soon as the namespace is there; the Schedule follows with the same or the next look.
      const schedule = client.client.schedule.getHandle(historyScheduleId(client.taskQueue));
      const isThere = () =>
        schedule.describe().then(
          () => true,
          () => false,
        );
      await waitUntil('the Schedule made anew', isThere, 30_000);
      await waitUntil('the message to be started again by the next sweep', async () => {
        const [row] = await db.query<{ due: boolean }>('select due_at <= now() as due from outbound_message');
        return row?.due;
      });
      assert.equal((await agreedTemporal(db))?.namespaceId, await namespaceIdNow());
    }
    for (const reason of reasons) assert.match(reason ?? '', /\S/);
  } catch (error) {
    throw new Error(`worker:\n${worker.output()}\nends: ${reasons.join('\n')}`, { cause: error });
  } finally {
    ending = true;
    await worker.stop();
    await supervised;
    await db.close();
    await client.close();
    await engine.stop();
  }
});
