import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ArrivedMessage, type WaitAnswer, type WaitQuery, waitForRecent } from '#client/index.ts';

/** What the service answers, one after another; each request takes as long as it asked to wait if nothing comes. */
function world(answers: readonly (readonly string[])[]) {
  let nowMs = 1_000_000;
  const asked: WaitQuery[] = [];
  const ask = (query: WaitQuery): Promise<WaitAnswer> => {
    const ids = answers[asked.length] ?? [];
    asked.push(query);
    if (ids.length === 0) nowMs += (query.timeoutSeconds ?? 0) * 1_000;
    const data = ids.map((id) => ({ id }) as ArrivedMessage);
    return Promise.resolve({
      data,
      after: `place ${asked.length}`,
      timedOut: ids.length === 0,
      hint: null,
      consent: null,
    });
  };
  return { ask, asked, now: () => nowMs };
}

test('mail of the last two minutes is handed out once, and the wait goes on after what was handed out', async () => {
  const { ask, asked, now } = world([['one', 'two'], ['one', 'two'], ['three']]);
  const handedOut = new Set<string>();
  const wait = () => waitForRecent(ask, { timeoutSeconds: 30, subject: 'x' }, handedOut, now);
  assert.deepEqual(
    (await wait()).data.map(({ id }) => id),
    ['one', 'two'],
  );
  assert.equal(asked[0]?.since, new Date(1_000_000 - 120_000).toISOString());
  assert.deepEqual(
    (await wait()).data.map(({ id }) => id),
    ['three'],
  );
  assert.deepEqual([asked[1]?.after, asked[2]?.after, asked[2]?.subject], [undefined, 'place 2', 'x']);
  assert.deepEqual([...handedOut], ['one', 'two', 'three']);
});

test('a long wait is several requests; its end says that nothing came', async () => {
  const { ask, asked, now } = world([]);
  const answer = await waitForRecent(ask, { timeoutSeconds: 130 }, new Set(), now);
  assert.equal(answer.timedOut, true);
  assert.deepEqual(
    asked.map(({ timeoutSeconds }) => timeoutSeconds),
    [60, 60, 10],
  );
});

test('a place that the caller gives is the place, whatever was handed out', async () => {
  const { ask, asked, now } = world([['one'], ['one']]);
  for (const place of [{ after: 'msg_1' }, { since: '2026-01-01T00:00:00.000Z' }]) {
    const answer = await waitForRecent(ask, { ...place, timeoutSeconds: 30 }, new Set(['one']), now);
    assert.equal(answer.data.length, 1);
  }
  assert.deepEqual(
    [asked[0]?.since, asked[0]?.after, asked[1]?.since],
    [undefined, 'msg_1', '2026-01-01T00:00:00.000Z'],
  );
});
