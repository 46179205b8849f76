/** When digests are due and quiet hours end, also where clocks change. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nextDigestMs, quietMinutes, quietUntilMs } from '#domain/sending/desk-notices.ts';

const at = (text: string): number => Date.parse(text);
const iso = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : new Date(ms).toISOString());

/** Due times one after another, each looked for a minute after the last one. */
function digests(schedule: Parameters<typeof nextDigestMs>[0], from: string, count: number): (string | undefined)[] {
  const due: number[] = [];
  for (let nowMs = at(from), lastMs: number | null = null; due.length < count; ) {
    const next = nextDigestMs(schedule, nowMs, lastMs);
    due.push(next);
    lastMs = next;
    nowMs = next + 60_000;
  }
  return due.map(iso);
}

describe('the next digest', () => {
  test('comes once on each local day, at the same hour there, when clocks go forward', () => {
    const schedule = { timeZone: 'Europe/Berlin', hour: 8, days: 'daily' } as const;
    assert.deepEqual(digests(schedule, '2027-03-27T00:00:00Z', 3), [
      '2027-03-27T07:00:00.000Z',
      '2027-03-28T06:00:00.000Z',
      '2027-03-29T06:00:00.000Z',
    ]);
  });

  test('comes once where its hour comes twice, and where it does not come at all', () => {
    const twice = digests({ timeZone: 'Europe/Berlin', hour: 2, days: 'daily' }, '2027-10-30T12:00:00Z', 2);
    assert.match(String(twice[0]), /^2027-10-31T0[01]:00/);
    assert.equal(twice[1], '2027-11-01T01:00:00.000Z');
    const none = digests({ timeZone: 'Europe/Berlin', hour: 2, days: 'daily' }, '2027-03-27T12:00:00Z', 2);
    assert.match(String(none[0]), /^2027-03-28T0[01]:00/);
    assert.equal(none[1], '2027-03-29T00:00:00.000Z');
  });

  test('is on weekdays of the time zone, not of UTC', () => {
    const schedule = { timeZone: 'Pacific/Auckland', hour: 7, days: 'weekdays' } as const;
    // Friday the 1st of January in Auckland is Thursday in UTC; the next one is Monday there.
    assert.deepEqual(digests(schedule, '2026-12-31T12:00:00Z', 2), [
      '2026-12-31T18:00:00.000Z',
      '2027-01-03T18:00:00.000Z',
    ]);
  });

  test('of a later hour is not on a day that had one', () => {
    const schedule = { timeZone: 'UTC', hour: 18, days: 'daily' } as const;
    const lastMs = at('2026-11-28T08:00:00Z');
    assert.equal(iso(nextDigestMs(schedule, at('2026-11-28T09:00:00Z'), lastMs)), '2026-11-29T18:00:00.000Z');
    assert.equal(iso(nextDigestMs(schedule, at('2026-11-29T02:00:00Z'), lastMs)), '2026-11-29T18:00:00.000Z');
  });
});

describe('quiet hours', () => {
  const night = { timeZone: 'Europe/Berlin', days: [1, 2, 3, 4, 5, 6, 7], from: '20:00', to: '07:10' };

  test('end at their minute, over midnight and over changes of clocks', () => {
    assert.equal(iso(quietUntilMs(night, at('2026-11-28T21:30:17Z'))), '2026-11-29T06:10:00.000Z');
    assert.equal(iso(quietUntilMs(night, at('2027-03-27T22:00:00Z'))), '2027-03-28T05:10:00.000Z');
    assert.equal(iso(quietUntilMs(night, at('2027-10-30T22:00:00Z'))), '2027-10-31T06:10:00.000Z');
  });

  test('are over at their end, and never those of a day that was not chosen', () => {
    assert.equal(quietUntilMs(night, at('2026-11-28T06:10:00Z')), undefined);
    assert.equal(quietUntilMs(null, at('2026-11-28T23:00:00Z')), undefined);
    // Saturday evening; those of Friday reach into Saturday morning.
    const work = { ...night, days: [1, 2, 3, 4, 5] };
    assert.equal(quietUntilMs(work, at('2026-11-28T21:00:00Z')), undefined);
    assert.equal(iso(quietUntilMs(work, at('2026-11-28T05:00:00Z'))), '2026-11-28T06:10:00.000Z');
  });

  test('that join into one another end with the last', () => {
    const long = { timeZone: 'UTC', days: [1, 2, 3, 4, 5, 6, 7], from: '08:00', to: '07:00' };
    assert.equal(quietMinutes(long), 1_380);
    assert.equal(quietMinutes({ from: '08:00', to: '08:00' }), 1_440);
    assert.equal(iso(quietUntilMs(long, at('2026-11-28T09:00:00Z'))), '2026-11-29T07:00:00.000Z');
  });
});
