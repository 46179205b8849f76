/** The retry ladder of real length, on a server whose clock skips what nobody has to see pass. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { createActivities } from '#activities/index.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { destinationPolicy } from '#core/webhooks/requests/destination-guard.ts';
import { createWebhookSender, type WebhookSender } from '#core/webhooks/requests/webhook-sender.ts';
import { claimDeliveries } from '#db/queries/deliveries/claim-deliveries.ts';
import { SEARCH_ATTRIBUTES } from '#domain/webhooks/delivery-status.ts';
import { EVENT_FAN_OUT, type FanOutInput } from '#domain/webhooks/delivery-workflows.ts';
import { RETRY_DELAYS_MS } from '#domain/webhooks/retry-ladder.ts';
import { rowsOf, waitsForRetry } from '#test/support/delivery-world.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { openTestServices, testTls, testWorkflowBundle } from '#test/support/services.ts';
import { useTemporalRuntime } from '#test/support/temporal-connection.ts';
import { startTimeSkippingServer } from '#test/support/time-skipping-server.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let services: Services;
let receiver: Receiver;
let sender: WebhookSender;
let environment: TestWorkflowEnvironment;
let worker: Worker;
let running: Promise<void>;
/** How far the server's clock is ahead of ours. The activities use the server's clock. */
let aheadMs = 0;
/** The server's time at each attempt, and ours. */
const attemptedAtMs: number[] = [];
const reallyAtMs: number[] = [];

before(async () => {
  services = await openTestServices();
  useTemporalRuntime();
  receiver = await startReceiver();
  sender = createWebhookSender({
    policy: destinationPolicy(services.settings),
    extraCa: [readFileSync(testTls().caFile, 'utf8')],
  });
  environment = await startTimeSkippingServer();
  // Keyword and KeywordList; this server cannot list its attributes, so they are registered without checking.
  await environment.connection.operatorService.addSearchAttributes({
    searchAttributes: Object.fromEntries(
      Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) => [name, type === 'Keyword' ? 2 : 7]),
    ),
  });
  const activities = createActivities({
    services: { ...services, now: () => Date.now() + aheadMs },
    sender,
    draining: new AbortController().signal,
    onEndpointGone: () => {},
    onDisabled: () => {},
    startNotices: async () => {},
  });
  worker = await Worker.create({
    connection: environment.nativeConnection,
    namespace: environment.namespace ?? 'default',
    taskQueue: 'real-ladder',
    workflowBundle: testWorkflowBundle(),
    activities: {
      async attemptDeliveries(input: Parameters<typeof activities.attemptDeliveries>[0]) {
        const serverMs = await environment.currentTimeMs();
        aheadMs = serverMs - Date.now();
        attemptedAtMs.push(serverMs);
        reallyAtMs.push(performance.now());
        return activities.attemptDeliveries(input);
      },
    },
  });
  running = worker.run();
});
after(async () => {
  worker?.shutdown();
  await running;
  await environment?.teardown();
  await sender?.close();
  await receiver?.close();
  await services?.close();
});

test('five failures take 30 s, 2 min, 10 min and 30 min, never less and at most 5 % more, and then exhaust', async () => {
  receiver.answer(500);
  const rows = rowsOf(services);
  const organization = await rows.organization();
  const endpoint = await rows.endpoint(organization, { url: receiver.url });
  await rows.happen({ organization });
  const fanOutId = newId('event').replace('evt_', 'fan-out/');
  const [claimed] = await claimDeliveries(services.db, fanOutId, { room: 10, nowMs: Date.now(), everything: false });
  assert.ok(claimed);

  const input: FanOutInput = { deliveryIds: [claimed.id], ladderMs: RETRY_DELAYS_MS };
  const { client } = environment;
  await client.workflow.execute(EVENT_FAN_OUT, {
    workflowId: fanOutId,
    taskQueue: 'real-ladder',
    args: [input],
    workflowExecutionTimeout: '1 day',
  });
  const { workflowId } = await rows.delivery(endpoint.id, waitsForRetry);
  await waitUntil('the retries to begin', () =>
    client.workflow
      .getHandle(workflowId ?? '')
      .describe()
      .catch(() => undefined),
  );
  await client.workflow.getHandle(workflowId ?? '').result();

  const delivery = await rows.delivery(endpoint.id, ({ status }) => status === 'exhausted');
  assert.equal(delivery.reason, 'attempts_exhausted');
  assert.equal(delivery.attemptCount, 5);
  assert.equal(receiver.of(delivery.id).length, 5);
  const waits = attemptedAtMs.slice(1).map((at, i) => at - (attemptedAtMs[i] ?? 0));
  assert.equal(waits.length, 4);
  const slackMs = 1_500; // of the server's clock of whole seconds
  for (const [i, ladderMs] of RETRY_DELAYS_MS.entries()) {
    const wait = waits[i] ?? 0;
    // The attempts themselves take real time, which nothing skips.
    const reallyMs = (reallyAtMs[i + 1] ?? 0) - (reallyAtMs[i] ?? 0);
    assert.ok(wait >= ladderMs && wait <= ladderMs * 1.05 + slackMs + reallyMs, `wait ${i + 1} took ${wait} ms`);
  }
});
