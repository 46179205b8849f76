import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { recordEvents } from '#core/events/record-event.ts';
import type { Services } from '#core/platform/process/services.ts';
import { fairShares } from '#core/webhooks/dispatcher/claims.ts';
import { claimFairly } from '#db/queries/deliveries/claim-deliveries.ts';
import { type AllowanceWanted, leaseAllowances } from '#db/queries/deliveries/delivery-allowances.ts';
import { type EnvelopeOrganization, SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { rowsOf } from '#test/support/delivery-world.ts';
import { openTestServices } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let services: Services;
before(async () => {
  services = await openTestServices();
});
after(() => services?.close());

const FULL = 500; // the burst of ten seconds at the 50 a second of the plan `team`

interface Taken {
  readonly deliveries: number;
  readonly seconds: number;
  /** Of these, how long this process did not run. */
  readonly stalledSeconds: number;
}

/** A timer that is later than this waited for a processor. */
const STALL_MS = 50;

/** Deliveries that two dispatchers may take in a while, each as soon as its own count allows it. */
async function takenByTwo(organizationId: string, forMs: number): Promise<Taken> {
  const lease = (wanted: readonly AllowanceWanted[]) => leaseAllowances(services.db, wanted);
  const dispatchers = [1, 2].map(() => fairShares(10_000, lease, () => performance.now()));
  const startedAtMs = performance.now();
  let [taken, lastAtMs, stalledMs] = [0, startedAtMs, 0];
  while (lastAtMs < startedAtMs + forMs) {
    for (const shares of dispatchers) {
      if (shares.excluded().includes(organizationId)) continue;
      shares.taken(organizationId, 'team', 10);
      taken += 10;
    }
    await delay(5);
    const gapMs = performance.now() - lastAtMs;
    if (gapMs > STALL_MS) stalledMs += gapMs;
    lastAtMs += gapMs;
  }
  return { deliveries: taken, seconds: (lastAtMs - startedAtMs) / 1_000, stalledSeconds: stalledMs / 1_000 };
}

test('two dispatchers together keep to the delivery rate of the plan, by a bucket they share', async () => {
  const { id } = await rowsOf(services).organization('team');
  const { deliveries: taken, seconds, stalledSeconds } = await takenByTwo(id, 3_000);
  const due = FULL + 50 * seconds;
  // Each may have a portion of half a second, and one more on the way.
  assert.ok(taken <= due + 2 * 2 * 25 + 20, `${taken} of ${due}`);
  const used = due - 100 - 50 * stalledSeconds;
  assert.ok(taken >= used, `${taken} of ${due}, at least ${used}: what is leased is used`);
});

test('an organization in debt is skipped until its bucket is refilled', async () => {
  const { id } = await rowsOf(services).organization('team');
  let nowMs = 0;
  let leases = 0;
  const shares = fairShares(
    10_000,
    async (wanted) => {
      leases++;
      return new Map(wanted.map(({ organizationId, deliveries }) => [organizationId, FULL - deliveries]));
    },
    () => nowMs,
  );
  shares.taken(id, 'team', FULL + 75); // with a portion of 25: a debt of 100, which is two seconds
  await waitUntil('the lease', () => leases === 1 && shares.excluded().length === 1);
  nowMs += 1_900;
  assert.deepEqual(shares.excluded(), [id]);
  nowMs += 200;
  assert.deepEqual(shares.excluded(), []);
  assert.equal(leases, 1);
});

test('a lease of a deleted organization causes no error', async () => {
  const { id } = await rowsOf(services).organization('team');
  const wanted = ['org_gone', id].map((organizationId) => ({ organizationId, perSecond: 50, deliveries: 30 }));
  assert.deepEqual([...(await leaseAllowances(services.db, wanted))], [[id, FULL - 30]]);
});

const noLimit = async () => new Map<string, number>();

test('an organization may use only its share of deliveries in flight', () => {
  const shares = fairShares(1_000, noLimit, () => 0);
  shares.taken('org_a', 'unlimited', 1_000);
  shares.taken('org_b', 'unlimited', 999);
  assert.deepEqual(shares.excluded(), ['org_a']);
  shares.done('org_a', 1);
  assert.deepEqual(shares.excluded(), []);
});

test('a fair claim takes the oldest deliveries of every organization, whatever the backlog of one', async () => {
  const rows = rowsOf(services);
  const happen = (organization: EnvelopeOrganization, count: number) =>
    recordEvents(
      services.db,
      Array.from({ length: count }, () => ({
        type: 'email_sent' as const,
        organization,
        mailbox: null,
        actor: SYSTEM_ACTOR,
        data: {},
      })),
    );
  const organizations = [];
  for (const count of [400, 3, 3, 3]) {
    const organization = await rows.organization();
    await rows.endpoint(organization, { url: 'https://hooks.example/' });
    await happen(organization, count);
    organizations.push(organization);
  }
  const [busy] = organizations;
  const claimed = await claimFairly(services.db, 'fan-out/1', {
    room: 8,
    nowMs: Date.now(),
    after: '',
    excluded: [],
    everything: false,
  });
  const counts = Map.groupBy(claimed, ({ organizationId }) => organizationId);
  assert.deepEqual(
    organizations.map(({ id }) => counts.get(id)?.length),
    [2, 2, 2, 2],
  );
  const next = await claimFairly(services.db, 'fan-out/2', {
    room: 8,
    nowMs: Date.now(),
    after: '',
    excluded: [busy?.id ?? ''],
    everything: false,
  });
  assert.equal(next.length, 3);
  assert.ok(next.every(({ organizationId }) => organizationId !== busy?.id));
});

test('deliveries older than two days are claimed although another organization has used its share', async () => {
  const rows = rowsOf(services);
  const organization = await rows.organization();
  const endpoint = await rows.endpoint(organization, { url: 'https://hooks.example/' });
  const nowMs = Date.now();
  await recordEvents(services.db, [{ type: 'email_sent', organization, mailbox: null, actor: SYSTEM_ACTOR, data: {} }]);
  const later = { room: 100, nowMs: nowMs + 3 * 86_400_000, after: '', excluded: ['org_busy'] };
  assert.deepEqual(await claimFairly(services.db, 'fan-out/3', { ...later, everything: false }), []);
  const claimed = await claimFairly(services.db, 'fan-out/4', { ...later, everything: true });
  assert.ok(claimed.some(({ endpointId }) => endpointId === endpoint.id));
});
