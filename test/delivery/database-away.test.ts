import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attemptRecorder } from '../../activities/attempt-recorder.ts';
import { deliveryWorld } from '../support/delivery-world.ts';
import { startReceiver } from '../support/receiver.ts';
import { createTestDatabase } from '../support/services.ts';
import { tcpProxy } from '../support/tcp-proxy.ts';
import { waitUntil } from '../support/wait-until.ts';

test('answers that come while the database is away are recorded when it is back, and nothing is sent twice', async () => {
  const database = await createTestDatabase();
  const address = new URL(database.url);
  const proxy = await tcpProxy({ host: address.hostname, port: Number(address.port) });
  address.port = String(proxy.port);
  const world = await deliveryWorld({
    DATABASE_URL: address.href,
    WEBHOOK_RETRY_DELAYS_MS: '3600000,3600000,3600000,3600000',
  });
  const receiver = await startReceiver();
  try {
    const organization = await world.organization();
    const endpoint = await world.endpoint(organization, { url: receiver.url });
    const other = await world.endpoint(organization, { url: receiver.url.replace('/hook', '/fails') });
    receiver.answer((response, { path }) => {
      if (receiver.requests.length === 6) proxy.cut();
      const wait = setInterval(() => {
        if (receiver.requests.length < 6) return;
        clearInterval(wait);
        response.writeHead(path === '/fails' ? 500 : 200).end();
      }, 5);
    });
    for (let i = 0; i < 3; i++) await world.happen({ organization });
    await waitUntil('all to be sent', () => receiver.requests.length === 6);
    await waitUntil('the database to have been away for a while', () => proxy.refused >= 8);
    proxy.restore();
    const rows = await waitUntil('all to be recorded', async () => {
      const all = [...(await world.deliveries(endpoint.id)), ...(await world.deliveries(other.id))];
      return all.every(({ status }) => status !== 'pending') && all;
    });
    assert.deepEqual(
      rows.map(({ status, attemptCount }) => `${status} ${attemptCount}`),
      ['success 1', 'success 1', 'success 1', 'failed 1', 'failed 1', 'failed 1'],
    );
    assert.equal(receiver.requests.length, 6);
  } finally {
    await world.close();
    await receiver.close();
    await proxy.close();
    await database.drop();
  }
});

test('a result that the database refuses is reported at once, not written for ever', async () => {
  let writes = 0;
  const recorder = attemptRecorder({
    async query() {
      writes++;
      throw new Error('invalid byte sequence');
    },
  });
  const record = {
    deliveryId: 'dlv_x',
    number: 1,
    trigger: 'automatic' as const,
    startedAt: new Date(),
    durationMs: 1,
    responseCode: 200,
    error: null,
    responseHeaders: null,
    responseBody: null,
    remoteAddress: null,
    status: 'success' as const,
    reason: null,
    lastError: null,
    nextAttemptAt: null,
    workflowId: null,
  };
  await assert.rejects(recorder.record(record), /invalid byte/);
  assert.equal(writes, 1);
});
