import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type OriginGate, originGate } from '#core/webhooks/requests/connection-pools.ts';

/** Waits for a place. */
async function entered(gate: OriginGate, origin: string): Promise<() => void> {
  const leave = await gate.enter(origin);
  assert.ok(leave !== undefined);
  return leave;
}

const ORIGIN = 'https://many.test';
const PLACES = 64;

test('requests beyond the places of an origin wait their turn, those of another origin do not', async () => {
  const gate = originGate();
  const leaves = await Promise.all(Array.from({ length: PLACES }, () => entered(gate, ORIGIN)));
  const order: string[] = [];
  const first = entered(gate, ORIGIN).finally(() => order.push('first'));
  const second = entered(gate, ORIGIN).finally(() => order.push('second'));
  (await entered(gate, 'https://other.test'))();
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
  const hanging = await Promise.all(Array.from({ length: PLACES }, () => entered(gate, ORIGIN)));
  const next = Promise.all(Array.from({ length: PLACES }, () => entered(gate, ORIGIN)));
  context.mock.timers.tick(1_000);
  const young = await next;
  // What hung and ends at last must not free a place twice.
  for (const leave of hanging) leave();
  let isIn = false;
  const one = entered(gate, ORIGIN).then((leave) => {
    isIn = true;
    return leave;
  });
  await setImmediate();
  assert.equal(isIn, false);
  for (const leave of young) leave();
  (await one)();
});

test('a closed gate gives no places, and waiting callers get none', async () => {
  const gate = originGate();
  const leaves = await Promise.all(Array.from({ length: PLACES }, () => entered(gate, ORIGIN)));
  const waiting = [gate.enter(ORIGIN), gate.enter(ORIGIN)];
  gate.close();
  assert.deepEqual(await Promise.all(waiting), [undefined, undefined]);
  for (const leave of leaves) leave();
  assert.equal(await gate.enter(ORIGIN), undefined);
  assert.equal(await gate.enter('https://other.test'), undefined);
});
