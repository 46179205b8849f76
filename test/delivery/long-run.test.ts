/**
 * What a process that runs for months must not gather: abort listeners and memory of fan-outs that are over.
 * `LONG_RUN_FAN_OUTS=5000` makes it longer.
 */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { after, before, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { workflowFollower } from '#core/platform/engine/follow-workflow.ts';
import { connectTemporal, type TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { startDispatcher } from '#core/webhooks/dispatcher/dispatcher.ts';
import { startFanOut } from '#core/webhooks/dispatcher/start-deliveries.ts';
import { type DeliveryWorld, deliveryWorld } from '#test/support/delivery-world.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { testLog } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Every signal somebody has listened to, without keeping it alive. */
const signals = new Set<WeakRef<AbortSignal>>();
const known = new WeakSet<AbortSignal>();
const { addEventListener } = EventTarget.prototype;

let world: DeliveryWorld;
let temporal: TemporalClient;
let receiver: Receiver;
before(async () => {
  EventTarget.prototype.addEventListener = function (this: EventTarget, ...args: Parameters<typeof addEventListener>) {
    if (this instanceof AbortSignal && !known.has(this)) {
      known.add(this);
      signals.add(new WeakRef(this));
    }
    return Reflect.apply(addEventListener, this, args);
  };
  [world, receiver] = await Promise.all([deliveryWorld(), startReceiver()]);
  // As in an API process; the connection of a worker knows no abort signals.
  temporal = connectTemporal(world.services.settings);
});
after(async () => {
  EventTarget.prototype.addEventListener = addEventListener;
  await temporal?.close();
  await world?.close();
  await receiver?.close();
});

async function measured(): Promise<{ listeners: number; heapBytes: number }> {
  for (let i = 0; i < 3; i++) {
    collectGarbage();
    await new Promise((resolve) => setImmediate(resolve));
  }
  let listeners = 0;
  for (const ref of signals) {
    const signal = ref.deref();
    if (signal === undefined) signals.delete(ref);
    else listeners += getEventListeners(signal, 'abort').length;
  }
  return { listeners, heapBytes: process.memoryUsage().heapUsed };
}

/** Listeners of work in progress at the moment of measuring. */
const UNDER_WAY_MAX = 50;
const DISPATCHED = 150;

test('the dispatcher keeps no abort listener of a fan-out that is over', async () => {
  await world.dispatcher.close();
  const dispatcher = startDispatcher(world.services, temporal);
  try {
    const organization = await world.organization();
    const endpoint = await world.endpoint(organization, { url: receiver.url });
    const before = await measured();
    for (let fanOuts = 0; fanOuts < DISPATCHED; fanOuts++) {
      await world.happen({ organization });
      // Then the next one is a fan-out of its own, beside those before it.
      await waitUntil('it to be claimed', async () => {
        const [row] = await world.sql(`select count(*)::int as waiting from deliveries where fan_out_id is null`);
        return row?.['waiting'] === 0;
      });
    }
    await waitUntil('all to be delivered', async () =>
      (await world.deliveries(endpoint.id)).every(({ status }) => status === 'success'),
    );
    await waitUntil('all fan-outs to be over', () => dispatcher.inFlight === 0);
    const { listeners } = await measured();
    assert.ok(listeners - before.listeners < UNDER_WAY_MAX, `${listeners - before.listeners} listeners`);
  } finally {
    await dispatcher.close();
  }
});

const FAN_OUTS = Number(process.env['LONG_RUN_FAN_OUTS'] ?? 1_500);
const AT_ONCE = 40;
const WARM_UP = 300;
/** A call under a signal that lives as long as the process leaves 21 KB. */
const HEAP_BYTES_EACH = 4_096;

test(`${FAN_OUTS} fan-outs leave neither listeners nor memory`, { timeout: 900_000 }, async (t) => {
  // No worker takes them, so that starting, following and ending is all that is done for each.
  const idle = { ...temporal, taskQueue: `${temporal.taskQueue}-idle` };
  const follower = workflowFollower(idle, testLog());
  let next = 0;
  async function run(until: number): Promise<void> {
    const producer = async () => {
      while (next < until) {
        const id = `fan-out/long-run-${next++}`;
        const delivery = { id: 'dlv_0', endpointId: 'whe_0', eventId: 'evt_0', organizationId: 'org_0' };
        const described = { ...delivery, mailboxId: null, eventType: 'email_received' };
        const handle = await startFanOut(idle, id, [described], [50]);
        const followed = follower.follow(handle, 120_000);
        await handle.terminate();
        assert.equal(await followed, 'lost');
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, producer));
  }
  await run(WARM_UP);
  const before = await measured();
  await run(FAN_OUTS);
  const after = await measured();
  follower.close();
  const growth = (after.heapBytes - before.heapBytes) / (FAN_OUTS - WARM_UP);
  t.diagnostic(
    `${after.listeners - before.listeners} listeners more, ${Math.round(growth)} bytes of heap for each fan-out`,
  );
  assert.ok(after.listeners - before.listeners < UNDER_WAY_MAX, `${after.listeners - before.listeners} listeners more`);
  assert.ok(growth < HEAP_BYTES_EACH, `${Math.round(growth)} bytes of heap for each fan-out`);
});
