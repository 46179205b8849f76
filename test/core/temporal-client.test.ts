import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectTemporal } from '#core/platform/engine/temporal-client.ts';
import { testSettings } from '#test/support/services.ts';
import { tcpProxy } from '#test/support/tcp-proxy.ts';
import { waitUntil } from '#test/support/wait-until.ts';

test('a connection that is closed while calls are tried again ends them, and no error is left without a catcher', async () => {
  const uncaught: unknown[] = [];
  const onUncaught = (error: unknown): void => {
    uncaught.push(error);
  };
  process.on('uncaughtException', onUncaught);
  const nobody = await tcpProxy({ host: '127.0.0.1', port: 9 });
  nobody.cut();
  try {
    const temporal = connectTemporal(testSettings({ TEMPORAL_ADDRESS: `127.0.0.1:${nobody.port}` }));
    const calls = Array.from({ length: 10 }, () =>
      temporal.client.withDeadline(Date.now() + 60_000, () => temporal.client.workflowService.getSystemInfo({})),
    );
    const ended = Promise.allSettled(calls);
    // By the second connection the calls have failed once.
    await waitUntil('calls to be tried again', () => nobody.refused >= 2);
    await temporal.close();
    for (const { status } of await ended) assert.equal(status, 'rejected');
    assert.deepEqual(uncaught, []);
  } finally {
    process.off('uncaughtException', onUncaught);
    await nobody.close();
  }
});
