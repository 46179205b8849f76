import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batcher, inOrder } from '#core/platform/batching/batcher.ts';
import { waitUntil } from '#test/support/wait-until.ts';

function recorded(fails: (items: readonly number[]) => boolean = () => false, concurrency = 1) {
  const groups: number[][] = [];
  const { add: submit, idle } = batcher<number, number>({
    async carryOut(items) {
      groups.push([...items]);
      await new Promise((resolve) => setImmediate(resolve));
      if (fails(items)) throw new Error(`refused ${items.join()}`);
      return items.map((item) => item * 10);
    },
    policy: inOrder(3),
    concurrency,
  });
  return { groups, submit, idle };
}

test('a single item is executed at once', async () => {
  const { groups, submit } = recorded();
  assert.equal(await submit(1), 10);
  assert.equal(await submit(2), 20);
  assert.deepEqual(groups, [[1], [2]]);
});

test('items that arrive while a group runs are executed together, in order, up to the maximum', async () => {
  const { groups, submit } = recorded();
  const outcomes = await Promise.all([1, 2, 3, 4, 5, 6].map(submit));
  assert.deepEqual(outcomes, [10, 20, 30, 40, 50, 60]);
  assert.deepEqual(groups, [[1], [2, 3, 4], [5, 6]]);
});

test('a failing item does not make others fail', async () => {
  const { groups, submit } = recorded((items) => items.includes(3));
  const outcomes = await Promise.allSettled([1, 2, 3, 4].map(submit));
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(groups, [[1], [2, 3, 4], [2], [3], [4]]);
});

test('the maximum number of groups runs concurrently', async () => {
  const { groups, submit } = recorded(undefined, 2);
  await Promise.all([1, 2, 3, 4, 5].map(submit));
  assert.deepEqual(groups, [[1], [2], [3, 4, 5]]);
});

test('a policy that gathers waits for more before each batch, and not for more than it may carry', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const batches: number[][] = [];
  const { add } = batcher<number, number>({
    async carryOut(items) {
      batches.push([...items]);
      return [...items];
    },
    policy: inOrder(3, 10),
    concurrency: 1,
  });
  const outcomes = Promise.all([1, 2, 3, 4].map(add));
  context.mock.timers.tick(9);
  assert.deepEqual(batches, []);
  context.mock.timers.tick(1);
  assert.deepEqual(batches, [[1, 2, 3]]);
  await new Promise((resolve) => setImmediate(resolve));
  context.mock.timers.tick(10);
  assert.deepEqual(await outcomes, [1, 2, 3, 4]);
  assert.deepEqual(batches, [[1, 2, 3], [4]]);
});

test('gathering ends when the policy finds enough waiting', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const batches: number[][] = [];
  const { add } = batcher<number, number>({
    async carryOut(items) {
      batches.push([...items]);
      return [...items];
    },
    policy: { ...inOrder(9), gatherMs: (waiting) => (waiting >= 3 ? undefined : 10) },
    concurrency: 1,
  });
  await Promise.all([1, 2, 3].map(add));
  assert.deepEqual(batches, [[1, 2, 3]]);
  const fourth = add(4);
  context.mock.timers.tick(9);
  assert.equal(batches.length, 1, 'the time begins anew');
  context.mock.timers.tick(1);
  await fourth;
  assert.deepEqual(batches, [[1, 2, 3], [4]]);
});

test('it is idle when nothing waits or runs', async () => {
  const { submit, idle } = recorded();
  await idle();
  const outcomes: number[] = [];
  for (const item of [1, 2]) void submit(item).then((outcome) => outcomes.push(outcome));
  await idle();
  await waitUntil('both outcomes', () => outcomes.length === 2);
});
