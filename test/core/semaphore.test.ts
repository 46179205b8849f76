import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { semaphore, semaphoreByKey } from '#core/platform/batching/semaphore.ts';

test('places are given in order of arrival, and freeing one twice frees one', async () => {
  const places = semaphore(1);
  const first = await places.take();
  const order: string[] = [];
  const second = places.take().finally(() => order.push('second'));
  const third = places.take().finally(() => order.push('third'));
  await setImmediate();
  assert.deepEqual(order, []);
  first();
  first();
  await second;
  await setImmediate();
  assert.deepEqual(order, ['second']);
  (await second)();
  (await third)();
  assert.deepEqual(order, ['second', 'third']);
  assert.equal(places.isIdle, true);
});

test('who has waited long enough gets none, and the place is given to the next', async () => {
  const places = semaphore(1);
  const first = await places.take();
  assert.equal(await places.takeWithin({ withinMs: 1 }), undefined);
  const next = places.take();
  first();
  (await next)();
  assert.equal(places.isIdle, true);
});

test('after an abort nobody gets a place, and the places in use are still freed', async () => {
  const places = semaphore(1);
  const closing = new AbortController();
  const first = await places.take();
  const waiting = places.takeWithin({ until: closing.signal });
  closing.abort();
  assert.equal(await waiting, undefined);
  first();
  assert.equal(places.isIdle, true);
  assert.equal(await places.takeWithin({ until: closing.signal }), undefined);
});

test('keys have places of their own', async () => {
  const places = semaphoreByKey(1);
  const first = await places.take('a');
  (await places.take('b'))();
  assert.equal(await places.takeWithin('a', { withinMs: 1 }), undefined);
  first();
  (await places.take('a'))();
});
