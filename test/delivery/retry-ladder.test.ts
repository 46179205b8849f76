import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { startEndpointDelivery } from '#core/webhooks/dispatcher/start-deliveries.ts';
import type { EndpointDeliveryState } from '#domain/webhooks/delivery-workflows.ts';
import { type DeliveryWorld, deliveryWorld } from '#test/support/delivery-world.ts';
import { type Receiver, startReceiver, verified } from '#test/support/receiver.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: DeliveryWorld;
let receiver: Receiver;
before(async () => {
  [world, receiver] = await Promise.all([deliveryWorld(), startReceiver()]);
});
after(async () => {
  await world?.close();
  await receiver?.close();
});
afterEach(() => receiver.answer(200));

const isFinal = ({ status }: { status: string }) => status === 'success' || status === 'exhausted';

async function deliver() {
  const organization = await world.organization();
  const endpoint = await world.endpoint(organization, { url: receiver.url });
  await world.happen({ organization });
  return endpoint;
}

test('a delivery that fails twice succeeds at the third attempt, under the same webhook-id and newly signed', async () => {
  receiver.answer(500, 503, 200);
  const endpoint = await deliver();
  const delivery = await world.delivery(endpoint.id, isFinal);
  assert.equal(delivery.status, 'success');
  assert.equal(delivery.attemptCount, 3);
  const requests = receiver.of(delivery.id);
  assert.equal(requests.length, 3);
  for (const request of requests) verified(request, endpoint.secret);
  assert.equal(new Set(requests.map(({ body }) => body)).size, 1);
  assert.deepEqual(
    (await world.attempts(delivery.id)).map(({ number, error, responseCode }) => ({ number, error, responseCode })),
    [
      { number: 1, error: 'http_status', responseCode: 500 },
      { number: 2, error: 'http_status', responseCode: 503 },
      { number: 3, error: null, responseCode: 200 },
    ],
  );
});

test('retries never come before their delay', async () => {
  receiver.answer(500);
  const endpoint = await deliver();
  const delivery = await world.delivery(endpoint.id, isFinal);
  const times = receiver.of(delivery.id).map(({ atMs }) => atMs);
  const waits = times.slice(1).map((at, i) => at - (times[i] ?? 0));
  for (const [i, ladderMs] of [40, 60, 80, 100].entries())
    assert.ok((waits[i] ?? 0) >= ladderMs, `wait ${i + 1} was ${waits[i]} ms`);
});

test('a workflow that starts too early waits until the time in the row', async () => {
  receiver.answer(500);
  const endpoint = await deliver();
  const { id, eventId } = await world.delivery(endpoint.id, isFinal);
  const requests = receiver.of(id).length;
  const workflowId = `delivery/${endpoint.id}/early`;
  const [row] = await world.sql(
    `update deliveries set status = 'failed', reason = null, completed_at = null, attempt_count = 1, workflow_id = $2,
            next_attempt_at = date_trunc('second', now()) + interval '1 hour' where id = $1
     returning organization_id, (extract(epoch from next_attempt_at) * 1000)::float8 as due`,
    [id, workflowId],
  );
  const organizationId = String(row?.['organization_id']);
  const delivery = {
    id,
    eventId,
    organizationId,
    mailboxId: null,
    endpointId: endpoint.id,
    eventType: 'email_received',
  };
  const start = {
    workflowId,
    endpointId: endpoint.id,
    deliveries: [{ ...delivery, dueAtMs: Date.now() }],
    ladderMs: [40],
  };
  const handle = await startEndpointDelivery(world.temporal, start);
  try {
    await waitUntil('the workflow to wait for the time in the row', async () => {
      const { waiting } = await handle.query<EndpointDeliveryState>('state');
      return waiting[0]?.dueAtMs === row?.['due'];
    });
    assert.equal(receiver.of(id).length, requests);
  } finally {
    await handle.terminate();
  }
});

test('five failed attempts exhaust a delivery, and no sixth follows', async () => {
  receiver.answer(500);
  const endpoint = await deliver();
  const delivery = await world.delivery(endpoint.id, isFinal);
  assert.equal(delivery.status, 'exhausted');
  assert.equal(delivery.reason, 'attempts_exhausted');
  assert.equal(delivery.attemptCount, 5);
  assert.equal(delivery.nextAttemptAt, null);
  assert.equal(receiver.of(delivery.id).length, 5);
  assert.ok(delivery.workflowId);
  await world.temporal.client.workflow.getHandle(delivery.workflowId).result();
  assert.equal(receiver.of(delivery.id).length, 5);
});

test('a redirect is a failure and is not followed', async () => {
  receiver.answer((res) => res.writeHead(302, { location: receiver.url }).end(), 200);
  const endpoint = await deliver();
  const delivery = await world.delivery(endpoint.id, isFinal);
  assert.equal(delivery.attemptCount, 2);
  const [first] = await world.attempts(delivery.id);
  assert.equal(first?.responseCode, 302);
});

test('a broken connection is a failure that is tried again', async () => {
  receiver.answer((res) => res.destroy(), 200);
  const endpoint = await deliver();
  const delivery = await world.delivery(endpoint.id, isFinal);
  assert.equal(delivery.status, 'success');
  assert.equal((await world.attempts(delivery.id))[0]?.error, 'reset');
});

const standingOf = async (endpointId: string) => {
  const [row] = await world.sql('select active, disabled_reason from webhook_endpoints where id = $1', [endpointId]);
  return row;
};

test('410 Gone is retried like any other failure; only a whole ladder of it sets the endpoint inactive', async () => {
  receiver.answer(410);
  const endpoint = await deliver();
  const delivery = await world.delivery(endpoint.id, isFinal);
  assert.equal(delivery.reason, 'attempts_exhausted');
  assert.deepEqual(
    (await world.attempts(delivery.id)).map(({ responseCode }) => responseCode),
    [410, 410, 410, 410, 410],
  );
  await waitUntil('the endpoint to be inactive', async () => (await standingOf(endpoint.id))?.['active'] === false);
  assert.deepEqual(await standingOf(endpoint.id), { active: false, disabled_reason: 'gone' });
});

test('a delivery that was answered 410 is acknowledged by a later 2xx', async () => {
  receiver.answer(410, 410, 204);
  const endpoint = await deliver();
  const delivery = await world.delivery(endpoint.id, isFinal);
  assert.deepEqual([delivery.status, delivery.attemptCount], ['success', 3]);
  assert.deepEqual(await standingOf(endpoint.id), { active: true, disabled_reason: null });
});

test('a ladder with anything but 410 in it, or of another address, leaves the endpoint active', async () => {
  receiver.answer(410, 500, 410);
  const mixed = await deliver();
  await world.delivery(mixed.id, isFinal);
  let answers = 0;
  receiver.answer((response) => {
    response.writeHead(410).end();
    // The owner enters another address in the middle of the ladder; it answers no better.
    if (++answers === 2) void world.sql(`update webhook_endpoints set url_changed_at = now() where id = $1`, [moved]);
  });
  const { id: moved } = await deliver();
  await world.delivery(moved, isFinal);
  // What decides is done with the result, before the activity ends.
  const { workflowId } = await world.delivery(moved, isFinal);
  await world.temporal.client.workflow.getHandle(workflowId ?? '').result();
  for (const id of [mixed.id, moved]) assert.deepEqual(await standingOf(id), { active: true, disabled_reason: null });
});

test('a workflow exists for an endpoint only while it has something to wait for, and is found by the webhook-id', async () => {
  receiver.answer(500, 200);
  const endpoint = await deliver();
  const delivery = await world.delivery(endpoint.id, isFinal);
  assert.equal(delivery.workflowId, `delivery/${endpoint.id}/${delivery.fanOutId}`);
  const handle = world.temporal.client.workflow.getHandle(delivery.workflowId ?? '');
  await handle.result();
  const { type, searchAttributes } = await handle.describe();
  assert.equal(type, 'endpointDelivery');
  assert.deepEqual(searchAttributes['DeliveryIds'], [delivery.id]);
  assert.deepEqual(searchAttributes['EndpointId'], [endpoint.id]);
  const fanOut = await world.temporal.client.workflow.getHandle(delivery.fanOutId ?? '').describe();
  assert.deepEqual(fanOut.searchAttributes['EventIds'], [delivery.eventId]);
  assert.deepEqual(fanOut.searchAttributes['EventType'], ['email_received']);
});
