import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { destinationPolicy } from '#core/webhooks/requests/destination-guard.ts';
import { createWebhookSender, type WebhookSender } from '#core/webhooks/requests/webhook-sender.ts';
import { deliveryWorld } from '#test/support/delivery-world.ts';
import { startReceiver } from '#test/support/receiver.ts';
import { testSettings, testTls } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';

test('no request begins while the worker shuts down, also not after a wait for a place at the origin', async () => {
  const settings = testSettings();
  const real = createWebhookSender({
    policy: destinationPolicy(settings),
    extraCa: [readFileSync(testTls().caFile, 'utf8')],
  });
  const gate = Promise.withResolvers<void>();
  let waiting = 0;
  const sender: WebhookSender = {
    ...real,
    // A place that becomes free in the moment of the shutdown.
    async enter() {
      waiting++;
      await gate.promise;
      return () => {};
    },
  };
  const world = await deliveryWorld({}, { sender });
  const receiver = await startReceiver();
  try {
    const organization = await world.organization();
    const endpoint = await world.endpoint(organization, { url: receiver.url });
    for (let i = 0; i < 3; i++) await world.happen({ organization });
    await waitUntil('all to wait for a place', () => waiting === 3);
    const closed = world.worker.close();
    gate.resolve();
    await closed;
    assert.equal(receiver.requests.length, 0);
    assert.deepEqual(
      (await world.deliveries(endpoint.id)).map(({ status, attemptCount }) => [status, attemptCount]),
      Array.from({ length: 3 }, () => ['pending', 0]),
    );
  } finally {
    await world.close();
    await receiver.close();
  }
});
