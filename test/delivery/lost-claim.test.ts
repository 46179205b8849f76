/** A claim of a lane whose answer was lost: the lane may have leased deliveries that it does not know of. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type LaneAttempts, waitForLanes } from '#activities/attempt-deliveries.ts';
import { startFastLane } from '#activities/fast-lane.ts';
import { attemptDependencies } from '#activities/index.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { WebhookSender } from '#core/webhooks/requests/webhook-sender.ts';
import { databaseFault } from '#test/support/database-fault.ts';
import { rowsOf } from '#test/support/delivery-world.ts';
import { openTestServices } from '#test/support/services.ts';
import { tcpProxy } from '#test/support/tcp-proxy.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const LEASED = { id: 'dlv_1', pending: true, lane: 'own' };

/** The calls of an attempt while the lane answers what its parts say, look after look. */
async function attemptsWith(looks: readonly Pick<LaneAttempts, 'mayHaveLeasedMore'>[]): Promise<string[]> {
  const happened: string[] = [];
  let look = -1;
  await waitForLanes({
    ids: [LEASED.id],
    db: {
      async query<Row extends object>() {
        look++;
        happened.push('looked');
        return (happened.includes('attempted') ? [] : [LEASED]) as Row[];
      },
    },
    lane: {
      id: LEASED.lane,
      inFlight: () => undefined,
      get mayHaveLeasedMore() {
        return looks[Math.min(look, looks.length - 1)]?.mayHaveLeasedMore ?? false;
      },
    },
    goOn: () => true,
    async attempt(ids, againstLeases) {
      assert.deepEqual([ids, againstLeases], [[LEASED.id], true]);
      happened.push('attempted');
    },
  });
  return happened;
}

test('a workflow attempts nothing that the lane of its process may have taken, until that lane knows what it took', async () => {
  const [lost, known] = [{ mayHaveLeasedMore: true }, { mayHaveLeasedMore: false }];
  assert.deepEqual(await attemptsWith([known]), ['looked', 'attempted', 'looked']);
  assert.deepEqual(await attemptsWith([lost, lost, known]), ['looked', 'looked', 'looked', 'attempted', 'looked']);
});

/** Of the waits between the first four looks: 100, 200 and 400 ms. */
const LOOKS_TAKE_MS = 700;

test('a lane of another process is looked at after growing waits', async () => {
  let looks = 0;
  const startedAt = performance.now();
  await waitForLanes({
    ids: [LEASED.id],
    db: { query: async <Row extends object>() => (++looks < 4 ? [LEASED] : []) as Row[] },
    lane: undefined,
    goOn: () => true,
    attempt: () => assert.fail('a lane makes it'),
  });
  const tookMs = performance.now() - startedAt;
  assert.equal(looks, 4);
  // Timers may be a millisecond early each.
  assert.ok(tookMs > LOOKS_TAKE_MS - 10, `${tookMs} ms`);
});

let services: Services;
before(async () => {
  services = await openTestServices({ WEBHOOK_FAST_LANE: 'on' });
});
after(() => services?.close());

const TRIES_MAX = 20;

test('a lane whose claim failed may have leased more than it knows until it has asked what that claim took', async () => {
  const rows = rowsOf(services);
  const organization = await rows.organization();
  await rows.endpoint(organization, { url: 'https://hooks.example/' });
  const fault = databaseFault(services.db);
  const address = new URL(services.settings.DATABASE_URL ?? '');
  const proxy = await tcpProxy({ host: address.hostname, port: Number(address.port) });
  address.port = String(proxy.port);
  const closing = new AbortController();
  const nothingIsSent: WebhookSender = {
    enter: () => assert.fail('its claim failed'),
    send: () => assert.fail('its claim failed'),
    drain: () => {},
    close: async () => {},
  };
  const attempts = attemptDependencies({
    services,
    sender: nothingIsSent,
    draining: closing.signal,
    onEndpointGone: () => {},
    onDisabled: () => {},
  });
  const lane = startFastLane({ ...services, settings: { ...services.settings, DATABASE_URL: address.href } }, attempts);
  // The delivery waits for a claim.
  services.db.lanes.clear();
  /** Lets a claim fail, and then everything that the lane asks. @returns whether it knows that it may have leased more */
  async function afterLostClaim(): Promise<boolean> {
    await fault.begin('update', 'deliveries', '53200');
    services.deliveriesDue.wake();
    await waitUntil('a claim to fail', async () => (await fault.hits()) >= 1);
    proxy.cut();
    const { refused } = proxy;
    await waitUntil('the lane to ask in vain', () => proxy.refused >= refused + 3);
    const { mayHaveLeasedMore } = lane;
    proxy.restore();
    return mayHaveLeasedMore;
  }
  try {
    await rows.happen({ organization });
    let isKnown = false;
    // On a busy machine it can ask before the connections are cut; then there is nothing that it does not know.
    for (let tries = 0; !isKnown && tries < TRIES_MAX; tries++) isKnown = await afterLostClaim();
    assert.ok(isKnown, 'it never knew that it may have leased more');
    await services.db.query('update webhook_endpoints set active = false');
    await fault.end();
    await waitUntil('its answer', () => !lane.mayHaveLeasedMore);
  } finally {
    await fault.end();
    proxy.restore();
    closing.abort();
    await lane.close();
    await proxy.close();
  }
});
