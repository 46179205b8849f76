import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attemptRecorder } from '#activities/make-attempt.ts';
import type { AttemptRecord } from '#db/queries/deliveries/attempts.ts';
import { probeWrites } from '#db/queries/platform/probe-writes.ts';
import { deliveryWorld, rowsOf } from '#test/support/delivery-world.ts';
import { startReceiver } from '#test/support/receiver.ts';
import { createTestDatabase, openTestServices, testLog } from '#test/support/services.ts';
import { tcpProxy } from '#test/support/tcp-proxy.ts';
import { waitUntil } from '#test/support/wait-until.ts';

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

test('a result that the database refuses in every form is reported at once, not written for ever', async () => {
  let writes = 0;
  const recorder = attemptRecorder({
    sql: {
      async query() {
        writes++;
        throw new Error('invalid byte sequence');
      },
    },
    probe: async () => {},
    draining: new AbortController().signal,
    log: testLog(),
  });
  await assert.rejects(recorder.record(resultOf('dlv_x')), /invalid byte/);
  assert.equal(writes, 3, 'as it is, without what text cannot hold, and bare');
});

test('while many results wait to be written nothing further is sent, until they are written', async () => {
  const written = Promise.withResolvers<void>();
  const recorder = attemptRecorder({
    sql: {
      async query() {
        await written.promise;
        return [];
      },
    },
    probe: async () => {},
    draining: new AbortController().signal,
    log: testLog(),
  });
  assert.equal(await recorder.ready(() => true), true);
  const records: Promise<void>[] = [];
  /** Whether the next attempt may be sent at once. */
  const isReady = async (): Promise<boolean> => {
    let ready = false;
    void recorder
      .ready(() => records.length > 0 || ready)
      .then(() => {
        ready = true;
      });
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    return ready;
  };
  while (await isReady()) {
    assert.ok(records.length < 1_000, 'a crash would send all of these twice');
    records.push(recorder.record(resultOf(`dlv_${records.length}`)));
  }
  const waiting = recorder.ready(() => true);
  assert.ok(records.length > 1, 'one slow write does not stop the sending');
  written.resolve();
  await Promise.all(records);
  assert.equal(await waiting, true);
});

test('a row that PostgreSQL refuses does not block its batch, and is stored in a form that it accepts', async () => {
  const services = await openTestServices();
  try {
    const rows = rowsOf(services);
    const organization = await rows.organization();
    const endpoint = await rows.endpoint(organization, { url: 'https://hooks.example/' });
    for (let i = 0; i < 5; i++) await rows.happen({ organization });
    const deliveries = await rows.deliveries(endpoint.id);
    const recorder = attemptRecorder({
      sql: services.db,
      probe: () => probeWrites(services.db),
      draining: new AbortController().signal,
      log: testLog(),
    });
    const bad: Partial<AttemptRecord>[] = [
      {},
      { lastError: 'no\0good', status: 'failed', error: 'http_status', responseHeaders: { server: 'half \ud800' } },
      {},
      { responseHeaders: { server: 'nul \0' }, remoteAddress: '\0', responseBody: Buffer.from([0, 255, 1]) },
      {},
    ];
    await Promise.all(deliveries.map(({ id }, i) => recorder.record({ ...resultOf(id), ...bad[i] })));
    const after = await rows.deliveries(endpoint.id);
    assert.deepEqual(
      after.map(({ status, lastError }) => [status, lastError]),
      [
        ['success', null],
        ['failed', 'nogood'],
        ['success', null],
        ['success', null],
        ['success', null],
      ],
    );
    const attempts = await services.db.query(
      `select response_headers as headers, remote_address as address, response_code as code from delivery_attempts
        where delivery_id = any($1) order by delivery_id`,
      [deliveries.map(({ id }) => id)],
    );
    assert.equal(attempts.length, 5);
    assert.deepEqual(attempts[1]?.['headers'], { server: 'half \ufffd' });
    assert.deepEqual(attempts[3], { headers: null, address: null, code: 200 });
  } finally {
    await services.close();
  }
});

/** A result without anything special. */
const resultOf = (deliveryId: string): AttemptRecord => ({
  deliveryId,
  number: 1,
  trigger: 'automatic',
  startedAt: new Date(),
  durationMs: 1,
  responseCode: 200,
  error: null,
  responseHeaders: null,
  responseBody: null,
  remoteAddress: null,
  status: 'success',
  reason: null,
  lastError: null,
  nextAttemptAt: null,
  workflowId: null,
});
