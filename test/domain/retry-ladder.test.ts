import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  MAX_DELIVERY_ATTEMPTS,
  RETRY_DELAYS_MS,
  RETRY_GROUPING_RATIO,
  RETRY_JITTER_RATIO,
  retryDelayMs,
} from '#domain/webhooks/retry-ladder.ts';

test('the ladder is 30 s, 2 min, 10 min, 30 min, and a fifth failure has no successor', () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5].map((attempt) => retryDelayMs(RETRY_DELAYS_MS, attempt, 0)),
    [30_000, 120_000, 600_000, 1_800_000, undefined],
  );
  assert.equal(RETRY_DELAYS_MS.length + 1, MAX_DELIVERY_ATTEMPTS);
});

test('a retry is never early and at most 5 % late', () => {
  for (const random of [0, 0.5, 0.999_999])
    for (const [i, step] of RETRY_DELAYS_MS.entries()) {
      const delay = retryDelayMs(RETRY_DELAYS_MS, i + 1, random) ?? 0;
      assert.ok(delay >= step && delay <= step * (1 + RETRY_JITTER_RATIO));
    }
  assert.ok(RETRY_JITTER_RATIO + RETRY_GROUPING_RATIO <= 0.05);
});

test('Retry-After lengthens a wait up to 30 minutes, never shortens it, and never adds an attempt', () => {
  assert.equal(retryDelayMs(RETRY_DELAYS_MS, 1, 0, 90_000), 90_000);
  assert.equal(retryDelayMs(RETRY_DELAYS_MS, 3, 0, 1_000), 600_000);
  assert.equal(retryDelayMs(RETRY_DELAYS_MS, 1, 0, 86_400_000), 1_800_000);
  assert.equal(retryDelayMs(RETRY_DELAYS_MS, 5, 0, 90_000), undefined);
});
