/** Counting uses against several limits with one statement. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Services } from '#core/platform/process/services.ts';
import { countUse, countUsesInTurn } from '#db/queries/platform/count-use.ts';
import { openTestServices } from '#test/support/services.ts';

let services: Services;
before(async () => {
  services = await openTestServices();
});
after(() => services?.close());

const WINDOW_MS = 1_000;
const NOW_MS = 1_800_000_000_000;
const limits = (...maxima: number[]) => maxima.map((max) => ({ key: `t:${randomUUID()}`, max, windowMs: WINDOW_MS }));

test('counts each in turn, up to the first that is beyond its maximum, and begins a new window after its end', async () => {
  const uses = limits(3, 1, 3);
  const counted = async (nowMs: number) =>
    (await countUsesInTurn(services.db, uses, nowMs)).map(({ used, resetsInMs }) => `${used} for ${resetsInMs} ms`);

  assert.deepEqual(await counted(NOW_MS), ['1 for 1000 ms', '1 for 1000 ms', '1 for 1000 ms']);
  assert.deepEqual(await counted(NOW_MS + 400), ['2 for 600 ms', '2 for 600 ms'], 'the second refuses');
  assert.deepEqual(await counted(NOW_MS + 400), ['3 for 600 ms', '3 for 600 ms']);
  assert.deepEqual(await counted(NOW_MS + 400), ['4 for 600 ms'], 'the first refuses');
  const third = await countUse(services.db, uses[2]?.key ?? '', WINDOW_MS, NOW_MS + 400);
  assert.equal(third.used, 2, 'what an earlier limit refused was not counted');
  assert.deepEqual(await counted(NOW_MS + WINDOW_MS), ['1 for 1000 ms', '1 for 1000 ms', '1 for 1000 ms']);
  assert.deepEqual(await countUsesInTurn(services.db, [], NOW_MS), []);
});

test('exact with many at once', async () => {
  const uses = limits(10, 100);
  const counts = await Promise.all(Array.from({ length: 30 }, () => countUsesInTurn(services.db, uses, NOW_MS)));
  assert.equal(counts.filter((each) => each.length === 2).length, 10);
  assert.deepEqual(
    counts.map(([first]) => first?.used).sort((a, b) => Number(a) - Number(b)),
    Array.from({ length: 30 }, (_, index) => index + 1),
  );
});
