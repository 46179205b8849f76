import assert from 'node:assert/strict';
import { test } from 'node:test';
import { circuit } from '#core/platform/batching/circuit.ts';
import { createLogger } from '#core/platform/log/logger.ts';
import { outageLog } from '#core/platform/log/outage-log.ts';

const away = new Error('away');

/** A circuit after an outage. The call `slow` began before the outage and is still running. */
async function afterAnOutage(slowGoesOn: () => boolean) {
  const lines: string[] = [];
  const log = createLogger('info', { write: (line: string) => void lines.push(String(JSON.parse(line).msg)) });
  const calls = circuit({ isFault: (error) => error === away, outage: outageLog(log, 'Engine') });
  const late = Promise.withResolvers<string>();
  let lateCalls = 0;
  const slow = calls.run(() => (++lateCalls === 1 ? late.promise : Promise.resolve('repeated')), slowGoesOn);
  let failed = false;
  const quick = calls.run(async () => {
    if (failed) return 'well';
    failed = true;
    throw away;
  });
  assert.equal(await quick, 'well');
  assert.deepEqual(lines, ['Engine is away', 'Engine is back']);
  late.reject(away);
  return { calls, slow, lines };
}

test('a call that began before the dependency came back opens nothing when it fails after that: it is repeated', async () => {
  const { calls, slow, lines } = await afterAnOutage(() => true);
  assert.equal(await slow, 'repeated');
  assert.equal(calls.isOpen, false);
  assert.deepEqual(lines, ['Engine is away', 'Engine is back']);
});

test('the same of a caller that does not go on: the call fails, and no outage is reported', async () => {
  const { calls, slow, lines } = await afterAnOutage(() => false);
  await assert.rejects(slow, away);
  assert.equal(calls.isOpen, false);
  assert.deepEqual(lines, ['Engine is away', 'Engine is back']);
});
