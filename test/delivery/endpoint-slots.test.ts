/** What makes an endpoint look slow to a worker. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { type EndpointSlots, endpointSlots, responsiveClock, type Slot } from '#activities/endpoint-slots.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let nowMs = 0;
let ending = new AbortController();
beforeEach(() => {
  nowMs = 1_000;
  ending = new AbortController();
});
afterEach(() => ending.abort());

function slotsOfWorker() {
  const slow: string[] = [];
  const onSlow = (endpointId: string) => void slow.push(endpointId);
  return { slow, slots: endpointSlots(ending.signal, onSlow, () => nowMs) };
}

test('time before the request begins, in which we wait for the database, makes no endpoint slow', async () => {
  const { slow, slots } = slotsOfWorker();
  const first = await slots.acquire('whe_1', 'fan-out');
  nowMs += 20_000;
  const second = await slots.acquire('whe_1', 'fan-out');
  assert.ok(first && second, 'a fan-out goes on');
  first.begin();
  nowMs += 100;
  first.release(true);
  second.release();
  assert.deepEqual(slow, []);
  assert.ok(await slots.acquire('whe_1', 'fan-out'));
});

test('a request that takes over a second does', async () => {
  const { slow, slots } = slotsOfWorker();
  const first = await slots.acquire('whe_1', 'fan-out');
  first?.begin();
  nowMs += 1_001;
  assert.equal(await slots.acquire('whe_1', 'fan-out'), undefined);
  first?.release(true);
  assert.deepEqual(slow, ['whe_1', 'whe_1']);
});

/** Ten requests in flight since now. */
async function tenInFlight(slots: EndpointSlots): Promise<Slot[]> {
  const taken = await Promise.all(Array.from({ length: 10 }, () => slots.acquire('whe_1', 'fan-out')));
  return taken.map((slot) => {
    assert.ok(slot);
    slot.begin();
    return slot;
  });
}

/** Whether a delivery of a fan-out that comes now is turned away, instead of being given a slot or waiting for one. */
async function isTurnedAway(slots: EndpointSlots): Promise<boolean> {
  let turnedAway = false;
  void slots.acquire('whe_1', 'fan-out').then((slot) => {
    turnedAway = slot === undefined;
  });
  await new Promise((resolve) => setImmediate(resolve));
  return turnedAway;
}

test('deliveries wait for an overloaded endpoint as long as it answers', async () => {
  const { slow, slots } = slotsOfWorker();
  const [first, second] = await tenInFlight(slots);
  const inLine = slots.acquire('whe_1', 'fan-out');
  nowMs += 390;
  first?.release(true);
  const slot = await inLine;
  assert.ok(slot, 'requests that have just begun are no silence');
  slot.begin();
  nowMs += 390;
  assert.equal(await isTurnedAway(slots), false, 'the oldest request is 780 ms old, the last answer 390');
  nowMs += 20;
  assert.equal(await isTurnedAway(slots), true, 'nothing has been answered for 410 ms');
  second?.release(true);
  assert.equal(await isTurnedAway(slots), false, 'it answers again');
  assert.deepEqual(slow, []);
});

test('waiting deliveries leave when requests are in flight and none is answered', async () => {
  const { slow, slots } = slotsOfWorker();
  await tenInFlight(slots);
  const inLine = Array.from({ length: 5 }, () => slots.acquire('whe_1', 'fan-out'));
  const retry = slots.acquire('whe_1', 'manual');
  nowMs += 400;
  assert.deepEqual(await Promise.all(inLine), Array(5).fill(undefined));
  assert.equal(await Promise.race([retry, Promise.resolve('waits')]), 'waits', 'a resend by a person waits');
  assert.deepEqual(slow, [], 'it is not known to be slow yet');
});

test('waiting deliveries leave after a second when one request hangs and others are answered', async () => {
  const { slow, slots } = slotsOfWorker();
  const taken = await tenInFlight(slots);
  for (const slot of taken.slice(1)) {
    nowMs += 110;
    const inLine = slots.acquire('whe_1', 'manual');
    slot.release(true);
    (await inLine)?.begin();
  }
  const inLine = slots.acquire('whe_1', 'fan-out');
  nowMs += 15;
  assert.equal(await inLine, undefined);
  assert.deepEqual(slow, ['whe_1']);
});

test('no delivery waits for more than five seconds', async () => {
  const { slots } = slotsOfWorker();
  let taken = await tenInFlight(slots);
  const before = Array.from({ length: 200 }, () => slots.acquire('whe_1', 'manual'));
  const inLine = slots.acquire('whe_1', 'fan-out');
  for (let round = 0; round < 17; round++) {
    nowMs += 300;
    for (const slot of taken) slot.release(true);
    const next = await Promise.all(before.slice(round * 10, round * 10 + 10));
    taken = next.map((slot) => {
      assert.ok(slot);
      slot.begin();
      return slot;
    });
  }
  assert.equal(await inLine, undefined, 'after 5.1 s, in which it was not its turn');
});

test('a queue is looked at again as long as a delivery waits in it', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { slots } = slotsOfWorker();
  await tenInFlight(slots);
  const inLine = slots.acquire('whe_1', 'fan-out');
  context.mock.timers.tick(400); // by the clock of requests no time has passed
  nowMs += 400;
  context.mock.timers.tick(400);
  assert.equal(await inLine, undefined);
});

test('an endpoint with requests in flight is not forgotten, however long it was not asked about', async () => {
  const { slots } = slotsOfWorker();
  for (let i = 0; i < 10; i++) assert.ok(await slots.acquire('whe_1', 'endpoint'));
  nowMs += 600_000;
  await slots.acquire('whe_2', 'endpoint'); // forgets
  assert.equal(slots.roomForRecovery('whe_1'), 0);
});

test('ten places are ten, whether their requests have begun or not', async () => {
  const { slots } = slotsOfWorker();
  for (let i = 0; i < 10; i++) {
    const slot = await slots.acquire('whe_1', 'endpoint');
    if (i % 2 === 0) slot?.begin();
  }
  let given = false;
  void slots.acquire('whe_1', 'endpoint').then(() => {
    given = true;
  });
  await Promise.resolve();
  assert.equal(given, false);
  assert.equal(slots.roomForRecovery('whe_1'), 0);
});

test('the clock of requests stands still while this process cannot run, and runs again afterwards', async () => {
  const until = new AbortController();
  const now = responsiveClock(until.signal);
  try {
    const startedAt = now();
    await waitUntil('the clock to run', async () => now() - startedAt > 50);
    const [before, beforeReal] = [now(), performance.now()];
    while (performance.now() - beforeReal < 500); // nothing else runs meanwhile
    assert.ok(now() - before < (performance.now() - beforeReal) / 4, `${now() - before} ms`);
    const after = now();
    await waitUntil('the clock to run again', async () => now() - after > 50);
    assert.ok(now() - before < 500, 'what was lost stays lost');
  } finally {
    until.abort();
  }
});
