import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { originGate } from '../../core/origin-gate.ts';

const ORIGIN = 'https://many.test';
const PLACES = 64;

test('requests beyond the places of an origin wait their turn, those of another origin do not', async () => {
  const gate = originGate();
  const leaves = await Promise.all(Array.from({ length: PLACES }, () => gate.enter(ORIGIN)));
  const order: string[] = [];
  const first = gate.enter(ORIGIN).finally(() => order.push('first'));
  const second = gate.enter(ORIGIN).finally(() => order.push('second'));
  (await gate.enter('https://other.test'))();
  await setImmediate();
  assert.deepEqual(order, []);
  leaves[0]?.();
  leaves[0]?.();
  (await first)();
  (await second)();
  assert.deepEqual(order, ['first', 'second']);
  for (const leave of leaves) leave();
});

test('requests that hang give their places to the next after a second', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const gate = originGate();
  const hanging = await Promise.all(Array.from({ length: PLACES }, () => gate.enter(ORIGIN)));
  const next = Promise.all(Array.from({ length: PLACES }, () => gate.enter(ORIGIN)));
  context.mock.timers.tick(1_000);
  const young = await next;
  // What hung and ends at last must not free a place twice.
  for (const leave of hanging) leave();
  let entered = false;
  const one = gate.enter(ORIGIN).then((leave) => {
    entered = true;
    return leave;
  });
  await setImmediate();
  assert.equal(entered, false);
  for (const leave of young) leave();
  (await one)();
});
