/** An engine that has lost its state is away: its namespace, its search attributes are missing until they are made. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { Connection } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';
import { engineStarts, isEngineFault, noticeOutage } from '#core/platform/engine/engine-starts.ts';
import { workflowFollower } from '#core/platform/engine/follow-workflow.ts';
import { connectTemporal, type TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { completeTemporal } from '#core/platform/engine/temporal-setup.ts';
import { createLogger } from '#core/platform/log/logger.ts';
import { testSettings, testTemporalAddress } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const STARTS = 20;
const namespace = `lost-state-${randomUUID()}`;
const lines: string[] = [];
const log = createLogger('info', { write: (line: string) => void lines.push(line) });
const said = () => lines.map((line) => String(JSON.parse(line).msg));

let temporal: TemporalClient;
let connection: Connection;
before(async () => {
  temporal = connectTemporal(testSettings({ TEMPORAL_ADDRESS: testTemporalAddress(), TEMPORAL_NAMESPACE: namespace }));
  connection = await Connection.connect({ address: testTemporalAddress() });
});
after(async () => {
  await temporal?.close();
  await connection?.close();
});

const start = (workflowId: string, attribute?: string) =>
  temporal.client.workflow.start('anything', {
    workflowId,
    taskQueue: 'nobody-works-here',
    ...(attribute === undefined
      ? {}
      : {
          typedSearchAttributes: new TypedSearchAttributes([
            { key: defineSearchAttributeKey(attribute, SearchAttributeType.KEYWORD), value: 'x' },
          ]),
        }),
  });

const errorOf = (call: () => Promise<unknown>): Promise<unknown> =>
  call().then(
    () => undefined,
    (error: unknown) => error,
  );

test('a missing namespace is an outage: starts wait for its end, and the log has one line for it and one for the end', async () => {
  const starts = engineStarts(log);
  const follower = workflowFollower(temporal, log);
  const running = Array.from({ length: STARTS }, (_, i) => starts.run(() => start(`lost-${i}`)));
  const followed = Array.from({ length: STARTS }, (_, i) =>
    follower.follow(temporal.client.workflow.getHandle(`followed-${i}`), 120_000),
  );
  await waitUntil('the outage to show', () => said().length > 0);
  assert.equal(starts.areStuck, true);
  for (let i = 0; i < STARTS; i++) assert.ok(noticeOutage(log, await errorOf(() => start('lost'))));
  assert.deepEqual(said(), ['Temporal is away']);
  await completeTemporal(connection, namespace).catch(() => {}); // search attributes have to wait for the namespace
  await Promise.all(running);
  // Of those that were followed the new state knows nothing.
  assert.deepEqual(new Set(await Promise.all(followed)), new Set(['lost']));
  await starts.close();
  follower.close();
  assert.ok(said().length <= 2, said().join('; '));
});

test('a missing search attribute is an outage; an invalid request and an unknown workflow are not', async () => {
  const missing = await errorOf(() => start('attribute', 'NobodyMadeThis'));
  assert.ok(isEngineFault(missing), String(missing));
  const wrong = await errorOf(() => start(''));
  assert.ok(wrong instanceof Error);
  assert.equal(isEngineFault(wrong), false, String(wrong));
  const unknown = await errorOf(() => temporal.client.workflow.getHandle('nobody').signal('anything'));
  assert.ok(unknown instanceof Error);
  assert.equal(isEngineFault(unknown), false, String(unknown));
});

test('a start that the engine refuses ends with its answer after a few tries, and keeps no other start', async () => {
  const starts = engineStarts(log);
  const refused = errorOf(() => starts.run(() => start('')));
  assert.ok(await starts.run(() => start('well')));
  assert.equal(starts.areStuck, false);
  assert.ok((await refused) instanceof Error);
  await starts.close();
});
