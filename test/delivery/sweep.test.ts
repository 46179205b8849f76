import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { createLogger } from '#core/platform/log/logger.ts';
import { newId } from '#core/platform/new-id.ts';
import { startDispatcher } from '#core/webhooks/dispatcher/dispatcher.ts';
import { overdueWorkflows } from '#db/queries/deliveries/delivery-workflows.ts';
import type { EndpointDeliveryState } from '#domain/webhooks/delivery-workflows.ts';
import { type DeliveryWorld, deliveryWorld, rowsOf, waitsForRetry } from '#test/support/delivery-world.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { openTestServices } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: DeliveryWorld;
let receiver: Receiver;
before(async () => {
  [world, receiver] = await Promise.all([
    deliveryWorld({ WEBHOOK_RETRY_DELAYS_MS: '3600000,3600000,3600000,3600000' }),
    startReceiver(),
  ]);
});
after(async () => {
  await world?.close();
  await receiver?.close();
});
afterEach(() => receiver.answer(200));

test('a workflow the engine forgot is started again with all its deliveries, due or not', async () => {
  receiver.answer(500);
  const organization = await world.organization();
  const endpoint = await world.endpoint(organization, { url: receiver.url });
  await world.services.db.transaction(async () => {
    await world.happen({ organization });
    await world.happen({ organization });
  });
  const failed = await waitUntil('both to wait', async () => {
    const rows = await world.deliveries(endpoint.id);
    return rows.length === 2 && rows.every(waitsForRetry) && rows;
  });
  const workflowId = `delivery/${endpoint.id}/both`;
  // One workflow or two, as they were claimed together or not.
  for (const workflowId of new Set(failed.map((delivery) => delivery.workflowId))) {
    const handle = world.temporal.client.workflow.getHandle(workflowId ?? '');
    await waitUntil('its workflow to be there', () => handle.describe().catch(() => undefined));
    await handle.terminate();
  }
  const [first, second] = failed;
  await world.sql('update deliveries set workflow_id = $2 where endpoint_id = $1', [endpoint.id, workflowId]);
  await world.sql(`update deliveries set next_attempt_at = now() - interval '3 minutes' where id = $1`, [first?.id]);
  // A dispatcher looks for what is overdue when it starts.
  const other = startDispatcher(world.services, world.temporal);
  try {
    await waitUntil(
      'the one that was due to be attempted',
      async () => (await world.attempts(first?.id ?? '')).length === 2,
    );
    const state = await world.temporal.client.workflow.getHandle(workflowId).query<EndpointDeliveryState>('state');
    const waiting = state.waiting.map(({ id }) => id);
    assert.ok(waiting.includes(second?.id ?? ''), 'the other one is processed too');
    assert.equal((await world.attempts(second?.id ?? '')).length, 1);
  } finally {
    await other.close();
    await world.temporal.client.workflow.getHandle(workflowId).terminate();
  }
});

test('the sweep reaches every overdue workflow, however many wait normally', async () => {
  const services = await openTestServices();
  try {
    const rows = rowsOf(services);
    const organization = await rows.organization();
    const endpoint = await rows.endpoint(organization, { url: receiver.url });
    for (let i = 0; i < 7; i++) await rows.happen({ organization });
    await services.db.query(`update deliveries set fan_out_id = 'fan-out/' || id, workflow_id = 'fan-out/' || id`);
    const found: string[] = [];
    for (let after = ''; ; ) {
      const page = await overdueWorkflows(services.db, new Date(Date.now() + 1_000), after, 3);
      found.push(...page.map(({ workflowId }) => workflowId));
      if (page.length < 3) break;
      after = page.at(-1)?.workflowId ?? '';
    }
    const expected = (await rows.deliveries(endpoint.id)).map(({ workflowId }) => workflowId);
    assert.deepEqual(found, expected);
  } finally {
    await services.close();
  }
});

test('the log says what the sweep started again, and nothing of what it did not', async () => {
  const services = await openTestServices();
  const lines: string[] = [];
  const log = createLogger('info', { write: (line) => lines.push(line) });
  try {
    const { id: organizationId } = await rowsOf(services).organization();
    await services.db.query(
      `insert into member_notices (id, organization_id, kind, target_id, recipient, subject, body, created_at, due_at)
       values ($1, $2, 'webhook_failing', 'whe_x', 'nobody@agents.test', 'S', 'B', now(), now() - interval '1 hour')`,
      [newId('notice'), organizationId],
    );
    const dispatcher = startDispatcher({ ...services, log }, world.temporal);
    await waitUntil('the notice to be started', () => lines.some((line) => line.includes('notices again')));
    await dispatcher.close();
    assert.deepEqual(
      lines.filter((line) => line.includes('recoveries')),
      [],
    );
  } finally {
    await services.close();
  }
});
