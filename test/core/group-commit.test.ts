import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupCommit } from '../../core/group-commit.ts';

function recorded(fails: (items: readonly number[]) => boolean = () => false, concurrency = 1) {
  const groups: number[][] = [];
  const submit = groupCommit<number, number>({
    async carryOut(items) {
      groups.push([...items]);
      await new Promise((resolve) => setImmediate(resolve));
      if (fails(items)) throw new Error(`refused ${items.join()}`);
      return items.map((item) => item * 10);
    },
    maxItems: 3,
    concurrency,
  });
  return { groups, submit };
}

test('an item that comes alone is carried out at once and alone', async () => {
  const { groups, submit } = recorded();
  assert.equal(await submit(1), 10);
  assert.equal(await submit(2), 20);
  assert.deepEqual(groups, [[1], [2]]);
});

test('items that come while a group is under way go together, in order, no more than allowed', async () => {
  const { groups, submit } = recorded();
  const outcomes = await Promise.all([1, 2, 3, 4, 5, 6].map(submit));
  assert.deepEqual(outcomes, [10, 20, 30, 40, 50, 60]);
  assert.deepEqual(groups, [[1], [2, 3, 4], [5, 6]]);
});

test('nobody suffers from a neighbour that fails', async () => {
  const { groups, submit } = recorded((items) => items.includes(3));
  const outcomes = await Promise.allSettled([1, 2, 3, 4].map(submit));
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(groups, [[1], [2, 3, 4], [2], [3], [4]]);
});

test('as many groups are under way as allowed', async () => {
  const { groups, submit } = recorded(undefined, 2);
  await Promise.all([1, 2, 3, 4, 5].map(submit));
  assert.deepEqual(groups, [[1], [2], [3, 4, 5]]);
});
