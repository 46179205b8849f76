import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { PLANS } from '#domain/organizations/plans.ts';
import {
  type ApiWorld,
  apiWorld,
  asBearer,
  at,
  errorCode,
  TEST_PASSWORD,
  type TestOrganization,
  textAt,
} from '#test/support/api-world.ts';

let world: ApiWorld;
before(async () => {
  world = await apiWorld();
});
after(() => world.close());

const changePlan = (organization: TestOrganization, plan: string) =>
  world.call('PUT', '/api/organization/plan', {
    as: { ...world.operator, 'x-organization-id': organization.id },
    body: { plan },
  });

test('settings that are not named keep their value', async () => {
  const as = world.organization.admin.session;
  const patch = (settings: object) => world.call('PATCH', '/api/organization', { as, body: { settings } });
  await patch({ outboundConsent: 'always' });
  const answer = await patch({ consentExpiresInDays: 3 });
  assert.deepEqual(at(answer.body, 'settings'), {
    outboundConsent: 'always',
    consentExpiresInDays: 3,
    repliesNeedApproval: false,
    carriedMail: 'hold',
    askAfterReadingMinutes: 0,
    undoSeconds: 0,
    aliasesByToken: 10,
    consentByApiKey: false,
    secondFactor: 'off',
    retention: { allMailDays: null, trashDays: null, spamDays: null },
    screening: 'off',
    sendingStopped: false,
    dailyMessages: null,
    dailyNewRecipients: null,
    newMailboxSendingMode: 'normal',
    newMailboxDailyMessages: null,
    newMailboxDailyNewRecipients: null,
  });
});

test('a plan takes effect at once: limits, quota of every mailbox, rate limit', async () => {
  const organization = await world.newOrganization('business');
  const quota = async () =>
    at(
      (await world.call('GET', `/api/mailboxes/${organization.mailbox.id}`, { as: organization.key })).body,
      'quota',
      'limitBytes',
    );
  assert.equal(await quota(), PLANS.business.quotaBytesPerMailbox);
  const answer = await changePlan(organization, 'free');
  assert.equal(at(answer.body, 'plan'), 'free');
  assert.equal(at(answer.body, 'limits', 'mailboxes'), PLANS.free.maxMailboxes);
  assert.equal(await quota(), PLANS.free.quotaBytesPerMailbox);
  const limited = await world.call('GET', '/api/organization', { as: organization.key });
  assert.equal(limited.headers.get('ratelimit-limit'), String(PLANS.free.apiRequestsPerMinute));
  await changePlan(organization, 'unlimited');
  const free = await world.call('GET', '/api/organization', { as: organization.key });
  assert.equal(free.headers.get('ratelimit-limit'), null);
});

test('after a downgrade nothing is removed, and nothing can be added', async () => {
  const organization = await world.newOrganization('business');
  for (let count = 0; count < 4; count++) await world.newMailbox(organization);
  await changePlan(organization, 'free');
  const list = await world.call('GET', '/api/mailboxes', { as: organization.key });
  const data = at(list.body, 'data');
  assert.equal(Array.isArray(data) && data.length, 5);
  assert.equal(errorCode(await world.call('POST', '/api/mailboxes', { as: organization.key })), 'plan_limit_reached');
});

test('a plan change is in the audit log with both plans', async () => {
  const organization = await world.newOrganization('team');
  await changePlan(organization, 'business');
  const audit = await world.call('GET', '/api/audit?action=organization.plan_changed', { as: organization.key });
  assert.deepEqual(at(audit.body, 'data', 0, 'details'), { from: 'team', to: 'business' });
});

test('the operator has to say which of several organizations', async () => {
  const answer = await world.call('PUT', '/api/organization/plan', { as: world.operator, body: { plan: 'team' } });
  assert.equal(errorCode(answer), 'invalid_request');
  assert.equal(at(answer.body, 'error', 'details', 0, 'path'), 'header/x-organization-id');
});

test('the rate limit counts down, and up to the next window answers 429', async () => {
  const organization = await world.newOrganization('free');
  const get = () => world.call('GET', '/api/organization', { as: organization.key });
  const first = Number((await get()).headers.get('ratelimit-remaining'));
  const second = Number((await get()).headers.get('ratelimit-remaining'));
  assert.equal(second, first - 1);
  await world.sql(`update rate_limits set used = 300 where key = $1`, [`api:${organization.id}`]);
  assert.equal(errorCode(await get()), 'rate_limited');
  await world.sql(`update rate_limits set resets_at_ms = 0 where key = $1`, [`api:${organization.id}`]);
  assert.equal((await get()).status, 200);
});

test('the operator makes an organization whose owner signs in by the invitation', async () => {
  const created = await world.call('POST', '/api/organizations', {
    as: world.operator,
    body: { name: 'Müller & Söhne', ownerEmail: 'Boss@mueller.test' },
  });
  assert.equal(created.status, 201);
  assert.deepEqual([at(created.body, 'slug'), at(created.body, 'plan')], ['muller-sohne', 'free']);
  const token = textAt(created.body, 'invitation', 'token');
  const accepted = await world.call('POST', '/api/invitations/accept', {
    body: { token, name: 'Boss', password: TEST_PASSWORD },
  });
  assert.equal(at(accepted.body, 'organizations', 0, 'role'), 'owner');
  const own = await world.call('GET', '/api/organization', { as: asBearer(textAt(accepted.body, 'token')) });
  assert.equal(at(own.body, 'id'), at(created.body, 'id'));
  const list = await world.call('GET', '/api/organizations?limit=200', { as: world.operator });
  assert.ok(list.text.includes(textAt(created.body, 'id')));
});
