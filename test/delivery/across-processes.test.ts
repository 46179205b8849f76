/** What must hold when the parts of the service run as processes of their own, and come and go. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { recordEvents } from '#core/events/record-event.ts';
import { openDeliveriesDue } from '#core/platform/process/deliveries-due.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { type DeliveryWorld, deliveryWorld, waitsForRetry } from '#test/support/delivery-world.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { testLog } from '#test/support/services.ts';
import { temporalConnection } from '#test/support/temporal-connection.ts';
import { startTestWorker } from '#test/support/test-worker.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const FIRST_WAIT_MS = 3_000;
let world: DeliveryWorld;
let receiver: Receiver;
before(async () => {
  [world, receiver] = await Promise.all([
    deliveryWorld({ WEBHOOK_RETRY_DELAYS_MS: `${FIRST_WAIT_MS},100,100,100` }),
    startReceiver(),
  ]);
});
after(async () => {
  await world?.close();
  await receiver?.close();
});
afterEach(() => receiver.answer(200));

test('a wake-up of a process without a dispatcher reaches the dispatchers of others by NOTIFY', async () => {
  const { db, settings } = world.services;
  const url = settings.DATABASE_URL ?? '';
  const [listening, notifying] = [openDeliveriesDue(db, url, testLog()), openDeliveriesDue(db, url, testLog())];
  let wakeUps = 0;
  listening.onWake(() => wakeUps++);
  try {
    await waitUntil('it to listen', () => wakeUps === 1);
    notifying.wake();
    await waitUntil('the wake-up to arrive', () => wakeUps === 2);
    for (let i = 0; i < 100; i++) notifying.wake();
    await waitUntil('the wake-ups to arrive', () => wakeUps > 2);
    await waitUntil('LISTEN to end', async () => {
      await world.sql(`select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'agent-mailbox listen' and datname = current_database()`);
      return true;
    });
    const before = wakeUps;
    await waitUntil('it to listen again', () => wakeUps > before);
    assert.ok(wakeUps < 20, 'many wake-ups become few notifications');
  } finally {
    await notifying.close();
    await listening.close();
  }
});

test('an event recorded without any wake-up is dispatched all the same', async () => {
  const organization = await world.organization();
  const endpoint = await world.endpoint(organization, { url: receiver.url });
  await recordEvents(world.services.db, [
    { type: 'email_received', organization, mailbox: null, actor: SYSTEM_ACTOR, data: {} },
  ]);
  // Before the claims that leave no organization out, every 30 s.
  await world.delivery(endpoint.id, ({ status }) => status === 'success', 25_000);
});

test('a Retry-After lengthens the wait beyond the ladder', async () => {
  receiver.answer((response) => response.writeHead(429, { 'retry-after': '600' }).end(), 200);
  const organization = await world.organization();
  const endpoint = await world.endpoint(organization, { url: receiver.url });
  const askedAtMs = Date.now();
  await world.happen({ organization });
  const { nextAttemptAt, lastError } = await world.delivery(endpoint.id, ({ status }) => status === 'failed');
  const waitMs = (nextAttemptAt?.getTime() ?? 0) - askedAtMs;
  const answeredWithinMs = Date.now() - askedAtMs;
  assert.ok(waitMs >= 600_000 && waitMs < 620_000 + answeredWithinMs, `${waitMs} ms`);
  assert.equal(lastError, 'answered 429');
});

test('a Retry-After never shortens a wait', async () => {
  receiver.answer((response) => response.writeHead(503, { 'retry-after': '1' }).end(), 200);
  const organization = await world.organization();
  const endpoint = await world.endpoint(organization, { url: receiver.url });
  await world.happen({ organization });
  const { id } = await world.delivery(endpoint.id, ({ status }) => status === 'success');
  const [first, second] = receiver.of(id);
  assert.ok((second?.atMs ?? 0) - (first?.atMs ?? 0) >= FIRST_WAIT_MS);
});

test('the retention Schedule is made once and runs on the workers of its installation', async () => {
  const { client, taskQueue } = world.temporal;
  const description = await waitUntil('the Schedule to be there', () =>
    client.schedule
      .getHandle(`${taskQueue}/delete-history`)
      .describe()
      .catch(() => undefined),
  );
  assert.equal(description.spec.intervals?.[0]?.every, 6 * 3_600_000);
  assert.equal(description.action.workflowType, 'deleteHistory');
  assert.equal(description.action.taskQueue, taskQueue);
  assert.ok(description.action.workflowId.startsWith(taskQueue), 'installations that share a namespace do not collide');
  await client.schedule.getHandle(`${taskQueue}/delete-history`).trigger();
  await waitUntil('it to have run', async () => {
    const { info } = await client.schedule.getHandle(`${taskQueue}/delete-history`).describe();
    const run = info.recentActions[0]?.action.workflow.workflowId;
    if (run === undefined) return false;
    await client.workflow.getHandle(run).result();
    return true;
  });
});

/** The last one: it ends the world's worker. */
test('a wait for a retry continues without a worker, and another worker makes the attempt', async () => {
  receiver.answer(500, 200);
  const organization = await world.organization();
  const endpoint = await world.endpoint(organization, { url: receiver.url });
  await world.happen({ organization });
  const { id, workflowId } = await world.delivery(endpoint.id, waitsForRetry);
  await waitUntil('its workflow to wait', async () => {
    const history = await world.temporal.client.workflow
      .getHandle(workflowId ?? '')
      .fetchHistory()
      .catch(() => undefined);
    return history?.events?.some((event) => event.timerStartedEventAttributes);
  });
  await world.worker.close();
  const connection = await temporalConnection();
  const worker = await startTestWorker(world.services, connection);
  try {
    await world.delivery(endpoint.id, ({ status }) => status === 'success');
    const [first, second, ...more] = receiver.of(id);
    assert.equal(more.length, 0);
    assert.ok((second?.atMs ?? 0) - (first?.atMs ?? 0) >= FIRST_WAIT_MS);
  } finally {
    await worker.close();
    await connection.close();
  }
});
