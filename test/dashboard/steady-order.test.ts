import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LoadedRows, settledOrder, steadyOrder } from '../../dashboard/components/lists/steady-order.ts';

const keyOf = (row: string): string => row[0] ?? '';
const loaded = (rows: readonly string[], pages = 1, hasMore = false): LoadedRows<string> => ({ rows, pages, hasMore });
const shown = settledOrder(loaded(['a', 'b', 'c']));

test('new rows wait, wherever they belong, and rows change in place', () => {
  const now = steadyOrder(shown, loaded(['x', 'a', 'b2', 'y', 'c', 'z']), keyOf);
  assert.deepEqual(now.rows, ['a', 'b2', 'c']);
  assert.deepEqual([now.news, now.gone.size, now.reordered, now.moves], [3, 0, false, 0]);
});

test('a row that has left keeps its place and its last content', () => {
  const now = steadyOrder(shown, loaded(['a', 'c']), keyOf);
  assert.deepEqual([now.rows, [...now.gone]], [['a', 'b', 'c'], ['b']]);
});

test('rows that are pushed out of the loaded pages have not left', () => {
  const now = steadyOrder(shown, loaded(['x', 'a', 'b'], 1, true), keyOf);
  assert.deepEqual([now.rows, [...now.gone], now.news], [['a', 'b', 'c'], [], 1]);
  const further = steadyOrder(now, loaded(['x', 'a', 'b', 'c', 'd'], 2, false), keyOf);
  assert.deepEqual([further.rows, further.news], [['a', 'b', 'c', 'd'], 1]);
});

test('another order is noted and not shown', () => {
  const now = steadyOrder(shown, loaded(['c', 'a', 'b']), keyOf);
  assert.deepEqual([now.rows, now.reordered, now.news], [['a', 'b', 'c'], true, 0]);
  assert.deepEqual(settledOrder(loaded(['c', 'a', 'b']), now).moves, 1);
  assert.equal(settledOrder(loaded(['a']), settledOrder(loaded([]))).moves, 0, 'the first rows move nothing');
});
