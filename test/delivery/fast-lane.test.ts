/** How the workflow of a delivery deals with a first attempt that a fast lane makes, has made or has left behind. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { after, afterEach, before, test } from 'node:test';
import { recordEvents } from '#core/events/record-event.ts';
import { startDispatcher } from '#core/webhooks/dispatcher/dispatcher.ts';
import { leasedUnder, leaseOldest } from '#db/queries/deliveries/claim-deliveries.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import {
  type DeliveryState,
  type DeliveryWorld,
  deliveryWorld,
  waitsForRetry,
  withoutLeases,
} from '#test/support/delivery-world.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { testWorkflowBundle } from '#test/support/services.ts';
import { temporalConnection } from '#test/support/temporal-connection.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { startWorker } from '#worker/start.ts';

/** No retry comes within a test. */
const LONG_LADDER_MS = '600000,600000,600000,600000';

let world: DeliveryWorld;
let receiver: Receiver;
before(async () => {
  [world, receiver] = await Promise.all([
    deliveryWorld({ WEBHOOK_FAST_LANE: 'on', WEBHOOK_RETRY_DELAYS_MS: LONG_LADDER_MS }),
    startReceiver(),
  ]);
});
after(async () => {
  await world?.close();
  await receiver?.close();
});
afterEach(() => receiver.answer(200));

const handleOf = (workflowId: string | null) => world.temporal.client.workflow.getHandle(workflowId ?? '');
const isSuccess = ({ status }: DeliveryState) => status === 'success';
const isCarried = ({ fanOutId }: DeliveryState) => fanOutId !== null;

async function oneEndpoint() {
  const organization = await world.organization();
  const endpoint = await world.endpoint(organization, { url: receiver.url });
  return { organization, endpoint };
}

/** Resolves when the activity of a delivery's fan-out has begun. */
const attemptingBegun = (fanOutId: string | null) =>
  waitUntil('its activity to run', async () => {
    const { raw } = (await handleOf(fanOutId)
      .describe()
      .catch(() => undefined)) ?? { raw: undefined };
    return raw?.pendingActivities?.some(({ lastStartedTime }) => Boolean(lastStartedTime));
  });

/** Resolves when the fan-out, which may not have begun, has ended. */
const ended = (fanOutId: string | null) =>
  waitUntil('the end of its fan-out', async () => {
    const description = await handleOf(fanOutId)
      .describe()
      .catch(() => undefined);
    return description?.status.name === 'COMPLETED';
  });

/** A delivery of a lane that no process has, whose first attempt is reserved. */
async function leasedBy(lane: string) {
  const { organization, endpoint } = await oneEndpoint();
  await world.services.db.transaction(async (sql) => {
    await recordEvents(withoutLeases(sql), [
      { type: 'email_received', organization, mailbox: null, actor: SYSTEM_ACTOR, data: {} },
    ]);
    await sql.query(
      `update deliveries set lease = $2, reservation = gen_random_uuid(), attempt_count = 1 where endpoint_id = $1`,
      [endpoint.id, lane],
    );
  });
  world.services.deliveriesDue.wake();
  return endpoint;
}

test('an acknowledged first attempt leaves its workflow nothing to do', async () => {
  const { organization, endpoint } = await oneEndpoint();
  await world.happen({ organization });
  const { id, fanOutId, attemptCount, workflowId } = await world.delivery(
    endpoint.id,
    (delivery) => isSuccess(delivery) && isCarried(delivery),
  );
  assert.deepEqual([attemptCount, workflowId], [1, fanOutId]);
  await ended(fanOutId);
  assert.equal(receiver.of(id).length, 1);
  assert.equal((await world.attempts(id)).length, 1);
});

test('a workflow waits for an attempt in flight, and hands a failed one on with its due time', async () => {
  const held: ServerResponse[] = [];
  receiver.answer((response) => void held.push(response));
  const { organization, endpoint } = await oneEndpoint();
  await world.happen({ organization });
  const carried = await world.delivery(endpoint.id, isCarried);
  await attemptingBegun(carried.fanOutId);
  await waitUntil('the request', () => held.length === 1);
  assert.equal((await handleOf(carried.fanOutId).describe()).status.name, 'RUNNING');
  held[0]?.writeHead(500).end();
  const failed = await world.delivery(endpoint.id, waitsForRetry);
  assert.equal(failed.workflowId, `delivery/${endpoint.id}/${carried.fanOutId}`);
  assert.equal(failed.attemptCount, 1);
  await handleOf(carried.fanOutId).result();
  const { waiting } = await handleOf(failed.workflowId).query<{ waiting: { id: string; dueAtMs: number }[] }>('state');
  assert.deepEqual(waiting, [{ id: failed.id, dueAtMs: failed.nextAttemptAt?.getTime() }]);
  assert.equal(receiver.of(failed.id).length, 1);
});

test('a workflow sends nothing while another lane lives, and attempts when that lane is dead', async () => {
  const lane = randomUUID();
  // Alive for as long as the test wants.
  await world.sql(`insert into delivery_lanes values ($1, now() + interval '1 hour', now() + interval '1 hour')`, [
    lane,
  ]);
  const endpoint = await leasedBy(lane);
  const { id, fanOutId } = await world.delivery(endpoint.id, isCarried);
  await attemptingBegun(fanOutId);
  assert.equal(receiver.of(id).length, 0);
  await world.sql(`update delivery_lanes set seen_at = now() - interval '1 minute' where id = $1`, [lane]);
  const done = await world.delivery(endpoint.id, isSuccess);
  assert.equal(done.attemptCount, 2, 'the dead lane may have sent the first one');
  assert.equal(receiver.of(id).length, 1);
  assert.deepEqual(
    (await world.attempts(id)).map(({ number }) => number),
    [2],
  );
});

test('what a lane forgot though it lives is attempted by the workflow, or by the lane when it looks', async () => {
  const [own] = await world.sql(`select id from delivery_lanes where seen_at between now() - interval '3 s' and now()`);
  assert.ok(own);
  const endpoint = await leasedBy(String(own['id']));
  const done = await world.delivery(endpoint.id, isSuccess);
  assert.ok(done.attemptCount === 1 || done.attemptCount === 2);
  assert.equal(receiver.of(done.id).length, 1);
});

test('a claim whose answer was lost finds again what it took, and no more', async () => {
  const { organization, endpoint } = await oneEndpoint();
  const [lane, reservation] = [randomUUID(), randomUUID()];
  const { db } = world.services;
  const nowMs = Date.now();
  await db
    .transaction(async (sql) => {
      await recordEvents(withoutLeases(sql), [
        { type: 'email_received', organization, mailbox: null, actor: SYSTEM_ACTOR, data: {} },
      ]);
      const bounds = { room: 10, nowMs, everything: false };
      const [leased, ...others] = await leaseOldest(sql, { lane, reservation, fanOutId: null }, bounds);
      assert.equal(others.length, 0);
      assert.deepEqual([leased?.leased, leased?.number, leased?.endpointId], [true, 1, endpoint.id]);
      assert.equal(
        (await leaseOldest(sql, { lane, reservation: randomUUID(), fanOutId: null }, bounds)).length,
        0,
        'it is taken',
      );
      assert.deepEqual(await leasedUnder(sql, lane, reservation, nowMs), [leased]);
      assert.deepEqual(await leasedUnder(sql, lane, randomUUID(), nowMs), []);
      await sql.query(`update webhook_endpoints set active = false where id = $1`, [endpoint.id]);
      assert.deepEqual(await leasedUnder(sql, lane, reservation, nowMs), [], 'it was set inactive meanwhile');
      throw new Error('roll back');
    })
    .catch((error: Error) => assert.equal(error.message, 'roll back'));
});

test('two workers and two dispatchers send each delivery once', async () => {
  const connection = await temporalConnection();
  const worker = await startWorker(world.services, connection, { bundle: testWorkflowBundle() });
  const dispatcher = startDispatcher(world.services, worker.temporal);
  try {
    const { organization, endpoint } = await oneEndpoint();
    const events = 200;
    for (let i = 0; i < events; i++) await world.happen({ organization });
    const rows = await waitUntil('all to be delivered and carried', async () => {
      const all = await world.deliveries(endpoint.id);
      return all.every((delivery) => isSuccess(delivery) && isCarried(delivery)) && all;
    });
    assert.equal(rows.length, events);
    for (const { id } of rows) assert.equal(receiver.of(id).length, 1);
  } finally {
    await dispatcher.close();
    await worker.close();
    await connection.close();
  }
});

test('a worker that ends leaves no lane behind', async () => {
  const lanes = async () =>
    (await world.sql('select id from delivery_lanes where ended_at is null order by id')).map(({ id }) => String(id));
  const before = await lanes();
  const connection = await temporalConnection();
  const worker = await startWorker(world.services, connection, { bundle: testWorkflowBundle() });
  try {
    await waitUntil('its lane', async () => (await lanes()).length > before.length);
  } finally {
    await worker.close();
    await connection.close();
  }
  assert.deepEqual(await lanes(), before);
});
