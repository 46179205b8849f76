import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { recordEvents } from '#core/events/record-event.ts';
import { connectTemporal } from '#core/platform/engine/temporal-client.ts';
import { newId } from '#core/platform/new-id.ts';
import { openServices, type Services } from '#core/platform/process/services.ts';
import { readSettings } from '#core/platform/settings/settings.ts';
import { type Dispatcher, startDispatcher } from '#core/webhooks/dispatcher/dispatcher.ts';
import { startRecovery } from '#core/webhooks/endpoints/recover-deliveries.ts';
import { findRecovery } from '#db/queries/webhooks/recoveries.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { RECOVERY_CONCURRENCY } from '#domain/webhooks/recovery.ts';
import { rowsOf } from '#test/support/delivery-world.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { createTestDatabase, testLog, testVariables } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';

/** A worker process of its own, as `npm run start:worker` starts it. */
function spawnWorker(environment: Readonly<Record<string, string>>): ChildProcess {
  const file = fileURLToPath(new URL('../../worker/main.ts', import.meta.url));
  return spawn(process.execPath, [file], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

const EVENTS = 1_000;
/** Ten requests in flight to one endpoint, and results that wait for their commit. */
const UNWRITTEN_AT_A_KILL = 34;

interface Scene {
  readonly services: Services;
  readonly receiver: Receiver;
  readonly organization: { readonly id: string; readonly name: string; readonly slug: string };
  readonly endpointId: string;
  /** Starts a dispatcher in this process. */
  dispatch(): void;
  spawnWorker(): ChildProcess;
}

/** Runs `play` with everything it needs, and stops all of it. */
async function scene(
  play: (scene: Scene) => Promise<void>,
  settings: Readonly<Record<string, string>> = {},
): Promise<void> {
  const database = await createTestDatabase();
  const dataFolder = mkdtempSync(path.join(tmpdir(), 'crash-test-'));
  const variables = testVariables({ DATABASE_URL: database.url, DATA_DIR: dataFolder, ...settings });
  const services = await openServices(readSettings(variables), testLog());
  const temporal = connectTemporal(services.settings);
  const receiver = await startReceiver();
  const workers: ChildProcess[] = [];
  let dispatcher: Dispatcher | undefined;
  try {
    const rows = rowsOf(services);
    const organization = await rows.organization();
    const { id: endpointId } = await rows.endpoint(organization, { url: receiver.url });
    await play({
      services,
      receiver,
      organization,
      endpointId,
      dispatch() {
        dispatcher = startDispatcher(services, temporal);
      },
      spawnWorker() {
        const worker = spawnWorker(variables);
        workers.push(worker);
        return worker;
      },
    });
  } finally {
    await Promise.all(workers.map(kill));
    await dispatcher?.close();
    await temporal.close();
    await receiver.close();
    await services.close();
    await database.drop();
    rmSync(dataFolder, { recursive: true });
  }
}

async function recordMany(services: Services, organization: { id: string; name: string; slug: string }): Promise<void> {
  for (let i = 0; i < EVENTS; i += 50)
    await recordEvents(
      services.db,
      Array.from({ length: 50 }, (_, n) => ({
        type: 'email_received' as const,
        organization,
        mailbox: null,
        actor: SYSTEM_ACTOR,
        data: { n: i + n },
      })),
    );
}

/** Every delivery ended, each was sent at least once and at most five times. @returns how many were sent twice */
async function assertAllDelivered(services: Services, receiver: Receiver, endpointId: string): Promise<number> {
  const rows = rowsOf(services);
  await waitUntil(
    'every delivery to end',
    async () => {
      const [open] = await rows.sql(
        `select count(*)::int as n from deliveries where endpoint_id = $1 and status in ('pending', 'failed')`,
        [endpointId],
      );
      return open?.['n'] === 0;
    },
    90_000,
  );
  const counts = new Map<string, number>();
  for (const { headers } of receiver.requests) {
    const id = String(headers['webhook-id']);
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  const deliveries = await rows.deliveries(endpointId);
  assert.equal(deliveries.length, EVENTS);
  for (const { id, status, attemptCount } of deliveries) {
    assert.equal(status, 'success');
    assert.ok((counts.get(id) ?? 0) >= 1, 'none is lost');
    assert.ok(attemptCount <= 5);
  }
  return [...counts.values()].filter((count) => count > 1).length;
}

test('SIGKILL of the worker in the middle of 1,000 deliveries loses none', () =>
  scene(async ({ services, receiver, organization, endpointId, dispatch, spawnWorker }) => {
    await recordMany(services, organization);
    const worker = spawnWorker();
    dispatch();
    await waitUntil('the worker to be in the middle of it', () => receiver.requests.length > EVENTS / 4, 60_000);
    await kill(worker);
    assert.ok(receiver.requests.length < EVENTS, 'the worker was killed before it was done');
    spawnWorker();
    const twice = await assertAllDelivered(services, receiver, endpointId);
    assert.ok(twice <= EVENTS / 10, `${twice} deliveries were sent twice`);
  }));

test('SIGKILL of a worker to whose lane another process leases what it records loses none', () =>
  scene(
    async ({ services, receiver, organization, endpointId, dispatch, spawnWorker }) => {
      receiver.answer((res) => setTimeout(() => res.writeHead(200).end(), 5));
      const events = Array.from({ length: 10 }, () => ({
        type: 'email_received' as const,
        organization,
        mailbox: null,
        actor: SYSTEM_ACTOR,
        data: {},
      }));
      const worker = spawnWorker();
      dispatch();
      await waitUntil(
        'the process to know the lane of the worker',
        () =>
          services.db
            .transaction(async (sql) => {
              throw new Error(`${await recordEvents(sql, events)} wait`);
            })
            .catch(({ message }: Error) => message === '0 wait'),
        30_000,
      );
      let leased = 0;
      for (let recorded = 0; recorded < EVENTS; recorded += events.length) {
        if ((await services.db.transaction((sql) => recordEvents(sql, events))) === 0) leased += events.length;
        services.deliveriesDue.wake();
      }
      assert.ok(leased > 0);
      await waitUntil('the worker to be in the middle of it', () => receiver.requests.length > EVENTS / 4, 60_000);
      await kill(worker);
      assert.ok(receiver.requests.length < EVENTS, 'the worker was killed before it was done');
      spawnWorker();
      const twice = await assertAllDelivered(services, receiver, endpointId);
      assert.ok(twice <= UNWRITTEN_AT_A_KILL, `${twice} deliveries were sent twice`);
    },
    { WEBHOOK_FAST_LANE: 'on' },
  ));

test('SIGKILL of the whole service between commit and dispatch, or between claim and start, loses none', () =>
  scene(async ({ services, receiver, organization, endpointId, dispatch, spawnWorker }) => {
    await recordMany(services, organization);
    // What a process leaves behind that dies after claiming: rows stamped with a workflow the engine never heard of.
    const fanOutId = newId('event').replace('evt_', 'fan-out/');
    await services.db.query(
      `update deliveries set fan_out_id = $1, workflow_id = $1
        where id in (select id from deliveries order by id limit 300)`,
      [fanOutId],
    );
    spawnWorker();
    dispatch();
    assert.equal(await assertAllDelivered(services, receiver, endpointId), 0, 'none is sent twice');
  }));

test('SIGKILL of the worker in the middle of a recovery loses none and counts each once', () =>
  scene(async ({ services, receiver, organization, endpointId, spawnWorker }) => {
    const rows = 200;
    receiver.answer((res) => setTimeout(() => res.writeHead(200).end(), 20));
    for (let i = 0; i < rows; i += 50)
      await recordEvents(
        services.db,
        Array.from({ length: 50 }, () => ({
          type: 'email_received' as const,
          organization,
          mailbox: null,
          actor: SYSTEM_ACTOR,
          data: {},
        })),
      );
    await services.db.query(
      `update deliveries set status = 'exhausted', reason = 'attempts_exhausted', attempt_count = 5, completed_at = now(),
              fan_out_id = 'fan-out/test' where endpoint_id = $1`,
      [endpointId],
    );
    const temporal = connectTemporal(services.settings);
    try {
      const caller = { actor: SYSTEM_ACTOR, ipAddress: null, requestId: null };
      const range = { since: new Date(Date.now() - 3_600_000), until: new Date(Date.now() + 1) };
      const worker = spawnWorker();
      const { id } = await startRecovery(
        services,
        temporal,
        { ...organization, plan: 'unlimited' },
        endpointId,
        caller,
        range,
      );
      await waitUntil('the worker to be in the middle of it', () => receiver.requests.length > rows / 4, 60_000);
      await kill(worker);
      assert.ok(receiver.requests.length < rows, 'the worker was killed before it was done');
      spawnWorker();
      const row = await waitUntil(
        'the recovery to end',
        async () => {
          const found = await findRecovery(services.db, { organizationId: organization.id, endpointId }, id);
          return found?.finishedAt !== null && found;
        },
        90_000,
      );
      assert.deepEqual([row.state, row.total, row.succeeded, row.failed], ['completed', rows, rows, 0]);
      const sent = new Set(receiver.requests.map(({ headers }) => headers['webhook-id']));
      assert.equal(sent.size, rows);
      assert.ok(receiver.requests.length <= rows + RECOVERY_CONCURRENCY, 'only requests in flight are sent twice');
    } finally {
      await temporal.close();
    }
  }));

test('SIGTERM lets attempts in flight end: nothing is sent twice and nothing is lost', () =>
  scene(async ({ services, receiver, organization, endpointId, dispatch, spawnWorker }) => {
    receiver.answer((res) => setTimeout(() => res.writeHead(200).end(), 20));
    await recordMany(services, organization);
    const first = spawnWorker();
    dispatch();
    await waitUntil('the worker to be in the middle of it', () => receiver.requests.length > EVENTS / 10, 60_000);
    spawnWorker();
    first.kill('SIGTERM');
    const [code] = await once(first, 'exit');
    assert.equal(code, 0);
    assert.equal(await assertAllDelivered(services, receiver, endpointId), 0);
  }));

test('two workers and two dispatchers side by side deliver nothing twice', () =>
  scene(async ({ services, receiver, organization, endpointId, dispatch, spawnWorker }) => {
    const temporal = connectTemporal(services.settings);
    spawnWorker();
    spawnWorker();
    dispatch();
    const other = startDispatcher(services, temporal);
    try {
      await recordMany(services, organization);
      services.deliveriesDue.wake();
      assert.equal(await assertAllDelivered(services, receiver, endpointId), 0);
    } finally {
      await other.close();
      await temporal.close();
    }
  }));
