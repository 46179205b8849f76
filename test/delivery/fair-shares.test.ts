import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fairShares } from '../../core/fair-shares.ts';
import { recordEvents } from '../../core/record-event.ts';
import type { Services } from '../../core/services.ts';
import { claimFairly } from '../../db/queries/claim-deliveries.ts';
import { type EnvelopeOrganization, SYSTEM_ACTOR } from '../../domain/event-envelope.ts';
import { rowsOf } from '../support/delivery-world.ts';
import { openTestServices } from '../support/services.ts';

let services: Services;
before(async () => {
  services = await openTestServices();
});
after(() => services?.close());

test('an organization over its rate is passed over until the bucket is filled again', () => {
  let nowMs = 0;
  const shares = fairShares(10_000, () => nowMs);
  shares.taken('org_a', 'team', 500); // the burst of ten seconds at 50 a second
  assert.deepEqual(shares.excluded(), []);
  shares.taken('org_a', 'team', 100);
  assert.deepEqual(shares.excluded(), ['org_a']);
  nowMs += 1_900;
  assert.deepEqual(shares.excluded(), ['org_a']);
  nowMs += 200;
  assert.deepEqual(shares.excluded(), []);
});

test('an organization may hold only its part of what is in flight', () => {
  const shares = fairShares(1_000, () => 0);
  shares.taken('org_a', 'unlimited', 1_000);
  shares.taken('org_b', 'unlimited', 999);
  assert.deepEqual(shares.excluded(), ['org_a']);
  shares.done('org_a', 1);
  assert.deepEqual(shares.excluded(), []);
});

test('a fair claim takes the oldest of every organization, whatever the backlog of one is', async () => {
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
  const claimed = await claimFairly(services.db, 'fan-out/1', 2, Date.now(), '', []);
  const counts = Map.groupBy(claimed, ({ organizationId }) => organizationId);
  assert.deepEqual(
    organizations.map(({ id }) => counts.get(id)?.length),
    [2, 2, 2, 2],
  );
  const next = await claimFairly(services.db, 'fan-out/2', 2, Date.now(), '', [busy?.id ?? '']);
  assert.equal(next.length, 3);
  assert.ok(next.every(({ organizationId }) => organizationId !== busy?.id));
});
