import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newId } from '#core/platform/new-id.ts';
import { type ApiWorld, apiWorld, at, errorCode, textAt } from '#test/support/api-world.ts';

let world: ApiWorld;
before(async () => {
  world = await apiWorld();
});
after(() => world.close());

const DAY_MS = 86_400_000;
const dayOf = (timeMs: number) => new Date(timeMs).toISOString().slice(0, 10);

test('usage counts mailboxes and deliveries by day, of the own organization only', async () => {
  const organization = await world.newOrganization('business');
  const yesterday = Date.now() - DAY_MS;
  await world.sql(`update mailboxes set created_at = $2 where id = $1`, [organization.mailbox.id, new Date(yesterday)]);
  const second = await world.newMailbox(organization);
  await world.call('DELETE', `/api/mailboxes/${second.id}`, { as: organization.key });
  const hook = await world.call('POST', '/api/webhooks', {
    as: organization.key,
    body: { url: 'https://127.0.0.1/hook', eventTypes: ['email_received'] },
  });
  for (const [timeMs, status] of [
    [Date.now(), 'pending'],
    [Date.now(), 'pending'],
    [yesterday, 'success'],
  ] as const)
    await world.sql(
      `insert into deliveries (id, event_id, endpoint_id, organization_id, event_type, status, created_at, completed_at)
       values ($1, 'evt_x', $2, $3, 'email_received', $4, $5, $6)`,
      [
        newId('delivery', timeMs),
        textAt(hook.body, 'id'),
        organization.id,
        status,
        new Date(timeMs),
        status === 'success' ? new Date() : null,
      ],
    );
  const answer = await world.call('GET', `/api/usage?from=${dayOf(yesterday)}`, { as: organization.key });
  assert.equal(at(answer.body, 'current', 'mailboxes'), 1);
  assert.deepEqual(at(answer.body, 'days', 0, 'deliveries'), { pending: 0, success: 1, failed: 0, exhausted: 0 });
  assert.deepEqual(at(answer.body, 'days', 1, 'deliveries'), { pending: 2, success: 0, failed: 0, exhausted: 0 });
  assert.deepEqual(
    [0, 1].map((day) => at(answer.body, 'days', day, 'mailboxes')),
    [1, 1],
  );
});

test('usage of too many days, or of days backwards, is refused', async () => {
  for (const query of [
    'from=2020-01-01',
    'from=2026-02-02&to=2026-02-01',
    'from=2026-02-30',
    'to=0001-01-01',
    'to=9999-12-31',
  ])
    assert.equal(
      errorCode(await world.call('GET', `/api/usage?${query}`, { as: world.organization.key })),
      'invalid_request',
      query,
    );
});

test('the audit log says who did what, when and from where, and can be filtered', async () => {
  const { admin } = world.organization;
  const since = new Date(Date.now() - 1_000).toISOString();
  const created = await world.call('POST', '/api/keys', {
    as: admin.session,
    body: { name: 'Audited', scopes: ['org:read'] },
    headers: { 'x-forwarded-for': '203.0.113.7', 'x-request-id': 'my-request' },
  });
  const targetId = textAt(created.body, 'id');
  const list = (query: string) => world.call('GET', `/api/audit?${query}`, { as: world.organization.member.session });
  const answer = await list(`targetId=${targetId}`);
  const entry = at(answer.body, 'data', 0);
  assert.equal(at(entry, 'actor', 'id'), admin.userId);
  assert.equal(at(entry, 'actor', 'email'), admin.email);
  assert.equal(at(entry, 'action'), 'api_key.created');
  assert.equal(at(entry, 'ipAddress'), '203.0.113.7');
  assert.equal(at(entry, 'requestId'), 'my-request');
  assert.deepEqual(at(entry, 'details'), {
    name: 'Audited',
    scopes: ['org:read'],
    expiresAt: null,
    mailboxGroups: null,
  });
  const filters = `action=api_key.created&actorId=${admin.userId}&since=${encodeURIComponent(since)}`;
  assert.equal(at((await list(filters)).body, 'data', 0, 'id'), at(entry, 'id'));
  assert.deepEqual(at((await list(`targetId=${targetId}&until=${encodeURIComponent(since)}`)).body, 'data'), []);
});

test('a change that fails leaves no entry', async () => {
  const count = async () => (await world.sql(`select count(*)::int as count from audit_entries`))[0]?.['count'];
  const before = await count();
  await world.call('PATCH', '/api/organization', {
    as: world.organization.owner.session,
    body: { slug: world.other.slug },
  });
  assert.equal(await count(), before);
});
