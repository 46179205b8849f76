/** Deliveries of one endpoint that are carried by several workflows, and all of them retried on time. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, afterEach, before, test } from 'node:test';
import { startDispatcher } from '#core/webhooks/dispatcher/dispatcher.ts';
import { newDispatcherState } from '#core/webhooks/dispatcher/dispatcher-state.ts';
import { slowLanes } from '#core/webhooks/dispatcher/slow-lanes.ts';
import { startEndpointDelivery } from '#core/webhooks/dispatcher/start-deliveries.ts';
import { TROUBLED_GATHER_SPREAD_MS } from '#domain/delivery-limits.ts';
import { type EndpointDeliveryState, endpointDeliveryId } from '#domain/delivery-workflows.ts';
import { type DeliveryWorld, deliveryWorld, waitsForRetry } from '#test/support/delivery-world.ts';
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
const waitsInWorkflow = (id: string, workflowId: string | null) =>
  waitUntil(`${workflowId} to carry ${id}`, async () => {
    const handle = world.temporal.client.workflow.getHandle(workflowId ?? '');
    const state = await handle.query<EndpointDeliveryState>('state').catch(() => undefined);
    return state?.waiting.some((waiting) => waiting.id === id);
  });

test('an attempt in flight when its endpoint becomes slow is retried, though later ones are set aside', async () => {
  await world.dispatcher.close();
  const organization = await world.organization();
  const endpoint = await world.endpoint(organization, { url: receiver.url });
  const held = heldAnswers();
  await world.happen({ organization });
  await waitUntil('the first request', () => held.length === 1);
  await world.sql(`update webhook_endpoints set troubled_until = now() + interval '1 hour' where id = $1`, [
    endpoint.id,
  ]);
  await world.happen({ organization });
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
    const [first, second] = await world.deliveries(endpoint.id);
    assert.equal(first?.fanOutId, second?.fanOutId, 'one claim took both');
    held[0]?.writeHead(500).end();
    const failed = await world.delivery(endpoint.id, waitsForRetry);
    assert.equal(failed.id, first?.id);
    await waitsInWorkflow(failed.id, failed.workflowId);
  } finally {
    held[1]?.writeHead(200).end();
    await dispatcher.close();
  }
});

test('a workflow that the sweep has started before gets what the fan-out hands over', async () => {
  const dispatcher = startDispatcher(world.services, world.temporal);
  try {
    const organization = await world.organization();
    const endpoint = await world.endpoint(organization, { url: receiver.url });
    const held = heldAnswers();
    await world.services.db.transaction(async () => {
      await world.happen({ organization });
      await world.happen({ organization });
    });
    const both = await waitUntil('one fan-out to carry both', async () => {
      const rows = await world.deliveries(endpoint.id);
      return held.length === 2 && rows.every(({ fanOutId }) => fanOutId !== null) && rows;
    });
    // One workflow or two, as they were claimed together or not.
    for (const { eventId, fanOutId } of both) {
      const workflowId = endpointDeliveryId(endpoint.id, fanOutId ?? '');
      const other = { id: 'dlv_of_the_sweep', eventId, organizationId: organization.id, mailboxId: null };
      const due = { ...other, endpointId: endpoint.id, eventType: 'email_received', dueAtMs: Date.now() + 3_600_000 };
      await startEndpointDelivery(world.temporal, workflowId, endpoint.id, [due], LONG_LADDER_MS);
      await waitsInWorkflow(due.id, workflowId);
    }
    for (const response of held) response.writeHead(500).end();
    for (const { id, fanOutId } of both) {
      await waitsInWorkflow(id, endpointDeliveryId(endpoint.id, fanOutId ?? ''));
      assert.equal(receiver.of(id).length, 1, 'the wait begins again, nothing is sent early');
    }
  } finally {
    await dispatcher.close();
  }
});

test('workflows of many slow endpoints do not start at the same moment', async () => {
  const startedAtMs: number[] = [];
  const lanes = slowLanes({
    state: newDispatcherState(),
    starts: { areStuck: false, run: (start) => start() },
    count: (_claimed, run) => run(),
    now: () => 0,
    stamp: () => Promise.resolve(true),
    startLane: () => Promise.resolve(startedAtMs.push(performance.now())),
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
  await lanes.run('fan-out/1', claimed);
  assert.equal(startedAtMs.length, claimed.length);
  const spreadMs = Math.max(...startedAtMs) - Math.min(...startedAtMs);
  assert.ok(spreadMs > TROUBLED_GATHER_SPREAD_MS / 4, `all started within ${Math.round(spreadMs)} ms`);
});
