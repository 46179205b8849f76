/**
 * While the engine is unreachable or slow, waiting deliveries are put into few workflows, and the log has few lines.
 */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { NativeConnection } from '@temporalio/worker';
import { type NewEvent, recordEvents } from '#core/events/record-event.ts';
import { connectTemporal, type TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { createLogger } from '#core/platform/log/logger.ts';
import { openServices, type Services } from '#core/platform/process/services.ts';
import { startDispatcher } from '#core/webhooks/dispatcher/dispatcher.ts';
import { ENDPOINT_DELIVERY } from '#domain/webhooks/delivery-workflows.ts';
import { type EnvelopeOrganization, SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { rowsOf } from '#test/support/delivery-world.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import {
  createTestDatabase,
  type TestDatabase,
  testFastLane,
  testSettings,
  testTemporalAddress,
} from '#test/support/services.ts';
import { type TcpProxy, tcpProxy } from '#test/support/tcp-proxy.ts';
import { temporalConnection } from '#test/support/temporal-connection.ts';
import { startTestWorker } from '#test/support/test-worker.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import type { RunningWorker } from '#worker/start.ts';

const ENDPOINTS = 5;
const PORTIONS = 40;
const EVENTS_EACH = 10;
const DELIVERIES = ENDPOINTS * PORTIONS * EVENTS_EACH;
/**
 * In addition to one for 500 deliveries: claims of dispatcher and lane made before the fault was noticed, and while the
 * engine starts again.
 */
const FAN_OUTS_BESIDE = 12;
const FAN_OUTS_UNNOTICED = 8;

const lines: string[] = [];
let database: TestDatabase;
let services: Services;
let proxy: TcpProxy;
let temporal: TemporalClient;
let connection: NativeConnection;
let worker: RunningWorker;
let receiver: Receiver;
before(async () => {
  database = await createTestDatabase();
  const [host = '', port = ''] = testTemporalAddress().split(':');
  proxy = await tcpProxy({ host, port: Number(port) });
  const log = createLogger('info', { write: (line: string) => void lines.push(line) });
  services = await openServices(testSettings({ DATABASE_URL: database.url }), log);
  connection = await temporalConnection();
  // Of the dispatcher and the lane, by way of the proxy.
  temporal = connectTemporal({ ...services.settings, TEMPORAL_ADDRESS: `127.0.0.1:${proxy.port}` });
  worker = await startTestWorker(services, connection, { laneTemporal: temporal });
  receiver = await startReceiver();
  // Lines of the start are none of an outage.
  await waitUntil('the worker to have started', () => lines.some((line) => line.includes('made what Temporal lacked')));
});
after(async () => {
  proxy?.restore();
  await worker?.close();
  await connection?.close();
  await temporal?.close();
  await services?.close();
  await proxy?.close();
  await receiver?.close();
  await database?.drop();
});

async function organizationWithEndpoints(): Promise<EnvelopeOrganization> {
  const rows = rowsOf(services);
  const organization = await rows.organization();
  for (let i = 0; i < ENDPOINTS; i++) await rows.endpoint(organization, { url: receiver.url });
  return organization;
}

/** Events that come one after another, each portion with its notification. */
async function happen(organization: EnvelopeOrganization): Promise<void> {
  const event: NewEvent = { type: 'email_received', organization, mailbox: null, actor: SYSTEM_ACTOR, data: {} };
  for (let portion = 0; portion < PORTIONS; portion++) {
    await recordEvents(
      services.db,
      Array.from({ length: EVENTS_EACH }, () => event),
    );
    services.deliveriesDue.wake();
    await delay(25); // the pace of the load, nothing is waited for
  }
}

const count = async (organization: EnvelopeOrganization, what: string): Promise<number> => {
  const [row] = await services.db.query<{ count: number }>(
    `select count(${what})::int as count from deliveries where organization_id = $1`,
    [organization.id],
  );
  return row?.count ?? 0;
};

/** Runs of workflows that the engine has taken, of one type or of all. */
async function startedSince(time: Date, type?: string): Promise<number> {
  const ours = `TaskQueue = '${services.settings.TEMPORAL_TASK_QUEUE}' and StartTime >= '${time.toISOString()}'`;
  const { count: runs } = await temporal.client.workflow.count(
    type === undefined ? ours : `${ours} and WorkflowType = '${type}'`,
  );
  return runs;
}

for (const fault of ['cut', 'freeze'] as const)
  test(`an engine that is ${fault === 'cut' ? 'away' : 'paused'}: n waiting deliveries need about n/500 workflows, the log few lines`, async (t) => {
    const organization = await organizationWithEndpoints();
    const dispatcher = startDispatcher(services, temporal);
    lines.length = 0;
    const said = () => lines.map((line) => String(JSON.parse(line).msg));
    const beganAt = new Date();
    try {
      proxy[fault]();
      await happen(organization);
      assert.equal(await count(organization, '*'), DELIVERIES);
      const claimed = await count(organization, 'distinct fan_out_id');
      assert.ok(claimed <= FAN_OUTS_UNNOTICED, `${claimed} fan-outs while no start succeeds`);
      // The client itself repeats a call for some seconds: only after that is it an outage.
      await waitUntil('the outage to show', () => said().includes('Temporal is away'), 60_000);
      const delivered = async () =>
        (await count(organization, `case when status = 'success' then 1 end`)) === DELIVERIES;
      // Not all of them: this process is receiver, too, and what waits behind a request of 400 ms is left to a workflow.
      const delivering = async () =>
        (await count(organization, `case when status = 'success' then 1 end`)) >= ENDPOINTS * EVENTS_EACH;
      if (testFastLane()) await waitUntil('first attempts to go on without the engine', delivering, 120_000);
      proxy.restore();
      await waitUntil('all to be delivered', delivered, 120_000);
      await waitUntil(
        'all to be carried',
        async () => (await count(organization, 'fan_out_id')) === DELIVERIES,
        120_000,
      );
      const fanOuts = await count(organization, 'distinct fan_out_id');
      assert.ok(fanOuts <= DELIVERIES / 500 + FAN_OUTS_BESIDE, `${fanOuts} fan-outs for ${DELIVERIES} deliveries`);
      assert.equal(receiver.requests.length, DELIVERIES, 'each is sent once');
      // As the engine counts them, with those that were started again. Deliveries that a busy machine does not send
      // within the ten seconds of a fan-out continue in one workflow per endpoint.
      const [runs, ofEndpoints] = [await startedSince(beganAt), await startedSince(beganAt, ENDPOINT_DELIVERY)];
      const started = `${runs} workflows, ${ofEndpoints} of them of endpoints, for ${DELIVERIES} deliveries`;
      t.diagnostic(started);
      assert.ok(runs - ofEndpoints <= DELIVERIES / 500 + FAN_OUTS_BESIDE, started);
      assert.ok(ofEndpoints <= (runs - ofEndpoints) * ENDPOINTS, started);
      await waitUntil('the outage to be over', () => said().includes('Temporal is back'), 60_000);
      assert.ok(said().length <= 4, said().join('; '));
      assert.deepEqual(
        said().filter((text) => text.startsWith('Temporal')),
        ['Temporal is away', 'Temporal is back'],
      );
    } finally {
      proxy.restore();
      await dispatcher.close();
      receiver.requests.length = 0;
    }
  });
