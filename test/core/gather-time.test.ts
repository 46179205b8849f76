import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gatherTime } from '#core/webhooks/dispatcher/claim-loop.ts';

test('little is gathered while the engine accepts workflows quickly', () => {
  const gather = gatherTime();
  assert.equal(gather.ms, 20);
  for (let i = 0; i < 100; i++) gather.startTook(3);
  assert.equal(gather.ms, 20);
});

test('the longer the engine takes to accept a workflow, the more is gathered, up to a bound', () => {
  const gather = gatherTime();
  for (let i = 0; i < 100; i++) gather.startTook(12);
  assert.ok(gather.ms > 45 && gather.ms <= 48, `${gather.ms} ms`);
  for (let i = 0; i < 100; i++) gather.startTook(60_000);
  assert.equal(gather.ms, 80);
});

test('one slow start does not make the following events wait for long', () => {
  const gather = gatherTime();
  gather.startTook(30_000);
  for (let i = 0; i < 60; i++) gather.startTook(3);
  assert.equal(gather.ms, 20);
});
