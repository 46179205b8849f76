/** Deliveries of one endpoint that are carried by several workflows, and all of them retried on time. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, afterEach, before, test } from 'node:test';
import { recordEvents } from '#core/events/record-event.ts';
import { newDispatcherState, slowEndpointDeliveries } from '#core/webhooks/dispatcher/claim-loop.ts';
import { startDispatcher } from '#core/webhooks/dispatcher/dispatcher.ts';
import { startEndpointDelivery } from '#core/webhooks/dispatcher/start-deliveries.ts';
import { resendDelivery } from '#core/webhooks/resend-delivery.ts';
import { settleUnattempted } from '#db/queries/deliveries/attempts.ts';
import { TROUBLED_GATHER_SPREAD_MS } from '#domain/webhooks/delivery-limits.ts';
import {
  type EndpointDeliveryState,
  endpointDeliveryId,
  isSlowEndpointDelivery,
  slowEndpointDeliveryId,
} from '#domain/webhooks/delivery-workflows.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { type DeliveryWorld, deliveryWorld, waitsForRetry, withoutLeases } from '#test/support/delivery-world.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { waitUntil } from '#test/support/wait-until.ts';

/** No retry comes within a test. */
const LONG_LADDER_MS = [600_000, 600_000, 600_000, 600_000];

let world: DeliveryWorld;
let receiver: Receiver;
before(async () => {
  [world, receiver] = await Promise.all([
    deliveryWorld({ WEBHOOK_FAST_LANE: 'on', WEBHOOK_RETRY_DELAYS_MS: LONG_LADDER_MS.join(',') }),
    startReceiver(),
  ]);
  await world.dispatcher.close(); // each test starts its own
});
after(async () => {
  await world?.close();
  await receiver?.close();
});
afterEach(() => receiver.answer(200));

/** Answers nothing until the test does. */
function heldAnswers(): ServerResponse[] {
  const held: ServerResponse[] = [];
  receiver.answer((response) => void held.push(response));
  return held;
}

/** Resolves when the workflow of a delivery waits to send it again. */
const waitsInWorkflow = (own: DeliveryWorld, id: string, workflowId: string | null) =>
  waitUntil(`${workflowId} to carry ${id}`, async () => {
    const handle = own.temporal.client.workflow.getHandle(workflowId ?? '');
    const state = await handle.query<EndpointDeliveryState>('state').catch(() => undefined);
    return state?.waiting.some((waiting) => waiting.id === id);
  });

test('an attempt in flight when its endpoint becomes slow is retried, though later ones are set aside', async () => {
  const organization = await world.organization();
  const endpoint = await world.endpoint(organization, { url: receiver.url });
  const held = heldAnswers();
  await world.happenElsewhere({ organization });
  await waitUntil('the first request', () => held.length === 1);
  await world.sql(`update webhook_endpoints set troubled_until = now() + interval '1 hour' where id = $1`, [
    endpoint.id,
  ]);
  await world.happenElsewhere({ organization });
  await waitUntil('the lane to pass the second on', async () => {
    const [row] = await world.sql(
      `select count(*)::int as count from deliveries where endpoint_id = $1 and lease is not null`,
      [endpoint.id],
    );
    return row?.['count'] === 2;
  });
  const dispatcher = startDispatcher(world.services, world.temporal);
  try {
    await waitUntil('the second request', () => held.length === 2);
    const [, second] = await world.deliveries(endpoint.id);
    held[0]?.writeHead(500).end();
    const failed = await world.delivery(endpoint.id, waitsForRetry);
    assert.notEqual(failed.workflowId, second?.workflowId);
    await waitsInWorkflow(world, failed.id, failed.workflowId);
  } finally {
    held[1]?.writeHead(200).end();
    await dispatcher.close();
  }
});

test('a retry workflow that the sweep has started before makes what the fan-out hands over', async () => {
  const own = await deliveryWorld({ WEBHOOK_FAST_LANE: 'on', WEBHOOK_RETRY_DELAYS_MS: '1000,600000,600000,600000' });
  try {
    const organization = await own.organization();
    const endpoint = await own.endpoint(organization, { url: receiver.url });
    const held = heldAnswers();
    await own.happen({ organization });
    const { id, eventId, fanOutId } = await own.delivery(endpoint.id, (delivery) => delivery.fanOutId !== null);
    await waitUntil('the request', () => held.length === 1);
    const workflowId = endpointDeliveryId(endpoint.id, fanOutId ?? '');
    const later = { id: 'dlv_of_the_sweep', eventId, organizationId: organization.id, mailboxId: null };
    const due = { ...later, endpointId: endpoint.id, eventType: 'email_received', dueAtMs: Date.now() + 3_600_000 };
    await startEndpointDelivery(own.temporal, {
      workflowId,
      endpointId: endpoint.id,
      deliveries: [due],
      ladderMs: LONG_LADDER_MS,
    });
    await waitsInWorkflow(own, due.id, workflowId);
    receiver.answer(200);
    held[0]?.writeHead(500).end();
    // The workflow waits for an hour if it is not woken.
    await own.delivery(endpoint.id, ({ status }) => status === 'success');
    assert.equal(receiver.of(id).length, 2);
    await own.temporal.client.workflow.getHandle(workflowId).terminate();
  } finally {
    await own.close();
  }
});

/** A delivery whose row names a workflow, though no dispatcher has claimed it. */
async function heldBy(workflowIdOf: (endpointId: string) => string) {
  const organization = await world.organization();
  const endpoint = await world.endpoint(organization, { url: receiver.url });
  await world.services.db.transaction(async (sql) => {
    await recordEvents(withoutLeases(sql), [
      { type: 'email_received', organization, mailbox: null, actor: SYSTEM_ACTOR, data: {} },
    ]);
    await sql.query(
      `update deliveries set lease = gen_random_uuid(), fan_out_id = 'fan-out/x', workflow_id = $2
        where endpoint_id = $1`,
      [endpoint.id, workflowIdOf(endpoint.id)],
    );
  });
  return { organization, endpoint, workflowId: workflowIdOf(endpoint.id) };
}

/** An organization with an endpoint that is known to be slow, and one delivery that has been set aside. */
async function setAside() {
  const organization = await world.organization();
  const endpoint = await world.endpoint(organization, { url: receiver.url });
  await world.sql(`update webhook_endpoints set troubled_until = now() + interval '1 hour' where id = $1`, [
    endpoint.id,
  ]);
  await world.happen({ organization });
  const { id, workflowId } = await world.delivery(endpoint.id, (delivery) =>
    isSlowEndpointDelivery(delivery.workflowId ?? '', endpoint.id),
  );
  return { organization, endpoint, id, workflowId };
}

test('a sweep while deliveries of a slow endpoint gather starts the workflow that they gather for', async () => {
  const held = heldAnswers();
  const dispatcher = startDispatcher(world.services, world.temporal);
  // A dispatcher looks for what is due when it starts.
  let other: ReturnType<typeof startDispatcher> | undefined;
  try {
    const { organization, endpoint, id, workflowId } = await setAside();
    await world.sql(`update sweeps set next_at = now()`);
    other = startDispatcher(world.services, world.temporal);
    await waitUntil('the request', () => held.length === 1);
    await world.happen({ organization });
    // Usually it joins the workflow that the sweep has started.
    await waitUntil('the second to be set aside too', async () => {
      const [, second] = await world.deliveries(endpoint.id);
      return isSlowEndpointDelivery(second?.workflowId ?? '', endpoint.id);
    });
    assert.equal((await world.deliveries(endpoint.id))[0]?.workflowId, workflowId);
    receiver.answer(200);
    for (const response of held) response.writeHead(200).end();
    await waitUntil('both to be acknowledged', async () => {
      const rows = await world.deliveries(endpoint.id);
      return rows.length === 2 && rows.every(({ status, attemptCount }) => status === 'success' && attemptCount === 1);
    });
    assert.equal(receiver.of(id).length, 1);
  } finally {
    await Promise.all([dispatcher.close(), other?.close()]);
  }
});

test('a workflow leaves deliveries alone that another one has taken over', async () => {
  const { organization, endpoint } = await heldBy(() => 'delivery/y');
  const [row] = await world.deliveries(endpoint.id);
  const named = { prefix: '', suffix: 'delivery/x' };
  const ids = [row?.id ?? ''];
  assert.deepEqual(await settleUnattempted(world.services.db, ids, 'delivery/x', named), []);
  assert.equal((await world.deliveries(endpoint.id))[0]?.workflowId, 'delivery/y');
  const mine = await settleUnattempted(world.services.db, ids, 'delivery/y', { prefix: '', suffix: 'delivery/y' });
  assert.deepEqual(
    mine.map(({ organizationId }) => organizationId),
    [organization.id],
  );
});

test('a process that starts adds what a running workflow lacks', async () => {
  // Its dispatcher died when a sweep had started the workflow, and before it could add the rest.
  const { organization, endpoint, workflowId } = await heldBy((id) => slowEndpointDeliveryId(id, 'fan-out/x'));
  const other = { id: 'dlv_other', eventId: 'evt_x', organizationId: organization.id, mailboxId: null };
  const due = { ...other, endpointId: endpoint.id, eventType: 'email_received', dueAtMs: Date.now() + 3_600_000 };
  await startEndpointDelivery(world.temporal, {
    workflowId,
    endpointId: endpoint.id,
    deliveries: [due],
    ladderMs: LONG_LADDER_MS,
  });
  await waitsInWorkflow(world, due.id, workflowId);
  await world.sql(`update sweeps set next_at = now()`);
  const dispatcher = startDispatcher(world.services, world.temporal);
  try {
    const { id } = await world.delivery(endpoint.id, ({ status }) => status === 'success');
    assert.equal(receiver.of(id).length, 1);
  } finally {
    await dispatcher.close();
    await world.temporal.client.workflow.getHandle(workflowId).terminate();
  }
});

test('a resend of what is set aside adds no request', async () => {
  const dispatcher = startDispatcher(world.services, world.temporal);
  try {
    const { organization, endpoint, id, workflowId } = await setAside();
    const caller = { actor: SYSTEM_ACTOR, ipAddress: null, requestId: null };
    const of = { ...organization, plan: 'unlimited' as const };
    await resendDelivery(world.services, world.temporal, of, endpoint.id, id, caller);
    const done = await world.delivery(endpoint.id, ({ status }) => status === 'success');
    assert.deepEqual([done.workflowId, done.attemptCount], [workflowId, 1]);
    assert.equal(receiver.of(id).length, 1);
  } finally {
    await dispatcher.close();
  }
});

test('workflows of many slow endpoints do not start at the same moment', async () => {
  const startedAtMs: number[] = [];
  const slowEndpoints = slowEndpointDeliveries({
    state: newDispatcherState(),
    starts: { areStuck: false, run: (start) => start() },
    count: (_claimed, run) => run(),
    now: () => 0,
    stamp: (assigned) => Promise.resolve(new Set(assigned.map(({ id }) => id))),
    startEndpoint: () => Promise.resolve(startedAtMs.push(performance.now())),
  });
  const claimed = Array.from({ length: 30 }, (_, n) => ({
    id: `dlv_${n}`,
    endpointId: `whe_${n}`,
    eventId: 'evt_1',
    organizationId: 'org_1',
    mailboxId: null,
    eventType: 'email_received',
    plan: 'team' as const,
    troubled: true,
    inLane: false,
  }));
  await slowEndpoints.run('fan-out/1', claimed);
  assert.equal(startedAtMs.length, claimed.length);
  const spreadMs = Math.max(...startedAtMs) - Math.min(...startedAtMs);
  assert.ok(spreadMs > TROUBLED_GATHER_SPREAD_MS / 4, `all started within ${Math.round(spreadMs)} ms`);
});
