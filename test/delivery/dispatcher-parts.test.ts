/** Each part of the dispatcher alone, with statements and starts that only remember their calls. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import type { Followed } from '#core/platform/engine/follow-workflow.ts';
import { fanOutBatches, newDispatcherState, slowEndpointDeliveries } from '#core/webhooks/dispatcher/claim-loop.ts';
import { deliveryClaims } from '#core/webhooks/dispatcher/claims.ts';
import type { ClaimedDelivery } from '#db/queries/deliveries/claim-deliveries.ts';
import { FAN_OUT_BATCH_MAX } from '#domain/webhooks/delivery-limits.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const delivery = (number: number, endpointId = 'whe_1'): ClaimedDelivery => ({
  id: `dlv_${number}`,
  endpointId,
  eventId: `evt_${number}`,
  organizationId: `org_${number}`,
  mailboxId: null,
  eventType: 'email_received',
  plan: 'team',
  troubled: false,
  inLane: false,
});
/** A claim of two. */
const TWO = { room: 2, nowMs: 0 };
const deliveries = (count: number) => Array.from({ length: count }, (_, i) => delivery(i));

/** Claims over a list of answers; an Error is a lost answer. */
function claimsOver(answers: (ClaimedDelivery[] | Error)[], excluded: string[] = []) {
  const calls: string[] = [];
  const ids: string[] = [];
  const answer = (call: string, id: string) => {
    calls.push(call);
    ids.push(id);
    const next = answers.shift() ?? [];
    return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
  };
  let made = 0;
  const claims = deliveryClaims<ClaimedDelivery>(
    {
      newId: () => `fan-out/${++made}`,
      oldest: (id) => answer('oldest', id),
      fairly: (id, { after }) => answer(`fairly after '${after}'`, id),
      stampedWith: (id) => answer('stamped', id),
    },
    () => excluded,
  );
  return { claims, calls, ids };
}

test('without a backlog the oldest are claimed, and there is no more to look for', async () => {
  const { claims, calls } = claimsOver([deliveries(1)]);
  assert.equal((await claims.next(TWO)).mayBeMore, false);
  await claims.next(TWO);
  assert.deepEqual(calls, ['oldest', 'oldest']);
  assert.equal(claims.backlog, false);
});

test('under a backlog every other claim takes a few of each organization, and continues its round', async () => {
  const { claims, calls } = claimsOver([deliveries(2), [delivery(5)], deliveries(2), [], [delivery(1)]]);
  for (let i = 0; i < 4; i++) assert.equal((await claims.next(TWO)).mayBeMore, true);
  assert.deepEqual(calls, ['oldest', "fairly after ''", 'oldest', "fairly after 'org_5'", "fairly after ''"]);
});

test('while an organization uses its whole share, every claim passes over it', async () => {
  const { claims, calls } = claimsOver([], ['org_1']);
  await claims.next(TWO);
  await claims.next(TWO);
  assert.deepEqual(calls, ["fairly after ''", "fairly after ''"]);
});

test('a claim whose answer was lost is asked for by its id before anything else is claimed', async () => {
  const { claims, calls, ids } = claimsOver([new Error('connection lost'), deliveries(1)]);
  await assert.rejects(claims.next(TWO), /connection lost/);
  const { claimed, claimId, mayBeMore } = await claims.next(TWO);
  assert.deepEqual(calls, ['oldest', 'stamped']);
  assert.equal(ids[0], ids[1]);
  assert.equal(claimId, ids[0]);
  assert.equal(claimed.length, 1);
  assert.equal(mayBeMore, true);
  await claims.next(TWO);
  assert.notEqual(ids[2], ids[0]);
});

/** Batches whose workflows end when the test says so. */
function batchesUntilEnded(ends: Promise<Followed>[]) {
  const state = newDispatcherState();
  const started: string[] = [];
  const batches = fanOutBatches({
    state,
    starts: { areStuck: false, changed: () => Promise.resolve(), run: (start) => start() },
    follower: { follow: () => ends.shift() ?? Promise.resolve('completed') },
    count: (_claimed, run) => run(),
    startFanOut: (fanOutId) => {
      started.push(fanOutId);
      return Promise.resolve({ workflowId: fanOutId } as WorkflowHandle);
    },
  });
  return { state, batches, started };
}

test('a batch whose claim ends after the dispatcher was closed is started, and not again', async () => {
  const { state, batches, started } = batchesUntilEnded([Promise.resolve('lost')]);
  state.closed = true;
  await batches.run('a', deliveries(1));
  await waitUntil('its end', () => state.openFanOuts === 0);
  assert.deepEqual(started, ['a']);
});

test('a batch that never ends delays no other, and is counted as open', async () => {
  const never = new Promise<Followed>(() => {});
  const { state, batches, started } = batchesUntilEnded([never, never, never]);
  for (const id of ['a', 'b', 'c']) await batches.run(id, deliveries(1));
  assert.deepEqual(started, ['a', 'b', 'c']);
  assert.equal(state.openFanOuts, 3);
});

test('while fan-outs start and none ends, claims become rare, and an end makes them frequent again', async () => {
  const never = new Promise<Followed>(() => {});
  const { state, batches } = batchesUntilEnded([]);
  const usual = batches.gatherMs;
  state.startsWithoutEnd = 12;
  assert.ok(batches.gatherMs > 4 * usual, `${batches.gatherMs} ms`);
  state.startsWithoutEnd = 1_000;
  assert.equal(batches.gatherMs, 1_000);
  await batches.run('a', deliveries(1));
  await waitUntil('the end of the batch', () => state.openFanOuts === 0 && state.startsWithoutEnd === 0);
  assert.equal(batches.gatherMs, usual);

  state.openFanOuts = 128;
  const room = batches.untilEngineHasRoom().then(() => 'room');
  assert.equal(await Promise.race([room, never, Promise.resolve('none')]), 'none');
  state.openFanOuts = 127;
  assert.equal(await room, 'room');
});

test('a fan-out that the engine lost is started again', async () => {
  const { batches, started } = batchesUntilEnded([Promise.resolve('lost')]);
  await batches.run('a', deliveries(1));
  await waitUntil('the second start', () => started.length === 2);
  assert.deepEqual(started, ['a', 'a']);
});

type Stamp = Parameters<typeof slowEndpointDeliveries>[0]['stamp'];

const stampAll: Stamp = (assigned) => Promise.resolve(new Set(assigned.map(({ id }) => id)));

/** Workflows of slow endpoints that remember which deliveries they were started with. */
function rememberedStarts(stamp: Stamp) {
  const state = newDispatcherState();
  const started: { workflowId: string; endpointId: string; ids: string[] }[] = [];
  const slowEndpoints = slowEndpointDeliveries({
    state,
    starts: { areStuck: false, run: (start) => start() },
    count: (_claimed, run) => run(),
    now: () => 0,
    stamp,
    startEndpoint: ({ workflowId, endpointId, deliveries: due }) => {
      started.push({ workflowId, endpointId, ids: due.map(({ id }) => id) });
      return Promise.resolve();
    },
  });
  return { state, slowEndpoints, started };
}

test('claims of a slow endpoint gather in one workflow, those of another in its own', async () => {
  const { state, slowEndpoints, started } = rememberedStarts(stampAll);
  const runs = [slowEndpoints.run('a', [delivery(1), delivery(2, 'whe_2')]), slowEndpoints.run('b', [delivery(3)])];
  await nextTurn(); // the rows are stamped
  assert.deepEqual(started, []);
  state.closed = true;
  await slowEndpoints.close(); // ends the gathering
  await Promise.all(runs);
  assert.deepEqual(started, [
    { workflowId: 'delivery/whe_1/slow/a', endpointId: 'whe_1', ids: ['dlv_1', 'dlv_3'] },
    { workflowId: 'delivery/whe_2/slow/a', endpointId: 'whe_2', ids: ['dlv_2'] },
  ]);
});

test('what a workflow has no room for starts at once in another', async () => {
  const { state, slowEndpoints, started } = rememberedStarts(stampAll);
  const all = deliveries(FAN_OUT_BATCH_MAX + 1);
  const runs = [
    slowEndpoints.run('a', all.slice(0, FAN_OUT_BATCH_MAX)),
    slowEndpoints.run('b', all.slice(FAN_OUT_BATCH_MAX)),
  ];
  await runs[1];
  assert.deepEqual(
    started.map(({ ids }) => ids.length),
    [1],
  );
  state.closed = true;
  await slowEndpoints.close();
  await runs[0];
  assert.deepEqual(
    started.map(({ ids }) => ids.length),
    [1, FAN_OUT_BATCH_MAX],
  );
});

test('a workflow is not started before its rows are stamped', async () => {
  let tries = 0;
  const { state, slowEndpoints, started } = rememberedStarts((assigned) => {
    tries++;
    return tries > 1 ? stampAll(assigned) : Promise.resolve(undefined);
  });
  const run = slowEndpoints.run('a', [delivery(1)]);
  const closing = slowEndpoints.close(); // ends the gathering
  await waitUntil('the second statement', () => tries === 2);
  await run;
  state.closed = true;
  await closing;
  assert.equal(started.length, 1);
});

test('deliveries that are stamped when their workflow has started join it', async () => {
  const slow = Promise.withResolvers<void>();
  const { slowEndpoints, started } = rememberedStarts(async (assigned) => {
    if (assigned.some(({ id }) => id === 'dlv_2')) await slow.promise;
    return stampAll(assigned);
  });
  const runs = [slowEndpoints.run('a', [delivery(1)]), slowEndpoints.run('b', [delivery(2)])];
  const closing = slowEndpoints.close(); // ends the gathering
  await runs[0];
  slow.resolve();
  await runs[1];
  await closing;
  const workflowId = 'delivery/whe_1/slow/a';
  assert.deepEqual(started, [
    { workflowId, endpointId: 'whe_1', ids: ['dlv_1'] },
    { workflowId, endpointId: 'whe_1', ids: ['dlv_2'] },
  ]);
});

test('a workflow leaves alone what another one has taken over', async () => {
  const { state, slowEndpoints, started } = rememberedStarts((assigned) =>
    stampAll(assigned.filter(({ id }) => id !== 'dlv_1')),
  );
  const run = slowEndpoints.run('a', [delivery(1), delivery(2)]);
  state.closed = true;
  await slowEndpoints.close(); // ends the gathering
  await run;
  assert.deepEqual(
    started.flatMap(({ ids }) => ids),
    ['dlv_2'],
  );
});
