/** A cache is bounded, drops what was set the longest ago, and counts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countedCache } from '#core/platform/caching/counted-cache.ts';
import { cacheEntries, cacheLookupsTotal } from '#core/platform/log/metrics.ts';

const has = (labels: object, wanted: Readonly<Record<string, string>>): boolean =>
  Object.entries(wanted).every(([name, value]) => Reflect.get(labels, name) === value);
const counted = async (outcome: string): Promise<number> =>
  (await cacheLookupsTotal.get()).values.find(({ labels }) => has(labels, { cache: 'mta_sts', outcome }))?.value ?? 0;
const size = async (): Promise<number | undefined> =>
  (await cacheEntries.get()).values.find(({ labels }) => has(labels, { cache: 'mta_sts' }))?.value;

test('the oldest entry leaves a full cache; one that is set again is the newest', async () => {
  const cache = countedCache<number>('mta_sts', 2);
  cache.set('a', 1);
  cache.set('b', 2);
  cache.set('a', 3);
  cache.set('c', 4);
  assert.deepEqual(
    ['a', 'b', 'c'].map((key) => cache.peek(key)),
    [3, undefined, 4],
  );
  assert.equal(await size(), 2);
  cache.delete('a');
  cache.delete('unknown');
  assert.equal(await size(), 1);
});

test('an entry that is not valid any more is a miss, and one of value 0 or undefined is a hit', async () => {
  const cache = countedCache<number | undefined>('mta_sts', 3);
  const before = [await counted('hit'), await counted('miss')];
  cache.set('zero', 0);
  cache.set('none', undefined);
  assert.equal(cache.get('zero'), 0);
  cache.get('none');
  assert.equal(
    cache.get('zero', (value) => value !== 0),
    undefined,
  );
  cache.get('unknown');
  assert.deepEqual([await counted('hit'), await counted('miss')], [(before[0] ?? 0) + 2, (before[1] ?? 0) + 2]);
});
