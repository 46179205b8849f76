import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { OPEN_INVITATIONS_MAX } from '#domain/organizations/plans.ts';
import {
  type ApiWorld,
  apiWorld,
  asBearer,
  at,
  errorCode,
  TEST_PASSWORD,
  type TestOrganization,
  type TestPerson,
  textAt,
} from '#test/support/api-world.ts';

let world: ApiWorld;
before(async () => {
  world = await apiWorld();
});
after(() => world.close());

const invite = (organization: TestOrganization, body: object, by = organization.owner) =>
  world.call('POST', '/api/members', { as: by.session, body });

const accept = (token: string, more: object = { name: 'New Person' }) =>
  world.call('POST', '/api/invitations/accept', { body: { token, password: TEST_PASSWORD, ...more } });

const change = (member: TestPerson, role: string, by: TestPerson) =>
  world.call('PATCH', `/api/members/${member.memberId}`, { as: by.session, body: { role } });

test('an invited person accepts, has an account, and is signed in with the role', async () => {
  const invitation = await invite(world.organization, { email: 'New.Person@people.test', role: 'admin' });
  assert.equal(invitation.status, 201);
  assert.ok(textAt(invitation.body, 'acceptUrl').endsWith(`#${textAt(invitation.body, 'token')}`));
  const answer = await accept(textAt(invitation.body, 'token'));
  assert.equal(answer.status, 201);
  assert.equal(at(answer.body, 'user', 'email'), 'new.person@people.test');
  assert.equal(at(answer.body, 'organizations', 0, 'role'), 'admin');
  const list = await world.call('GET', '/api/members?limit=200', { as: asBearer(textAt(answer.body, 'token')) });
  assert.ok(list.text.includes('new.person@people.test'));
  assert.equal(errorCode(await accept(textAt(invitation.body, 'token'))), 'not_found', 'a link works once');
});

test('members are seen last when they used the service, and not at all without a session', async () => {
  const { owner, member, key } = await world.newOrganization('team');
  const usedAt = new Date(world.services.now() - 3 * 86_400_000);
  await world.sql(`update sessions set last_used_at = $2 where user_id = $1`, [member.userId, usedAt]);
  const seen = async ({ memberId }: TestPerson): Promise<unknown> => {
    const { body } = await world.call('GET', '/api/members', { as: key });
    const members = at(body, 'data');
    assert.ok(Array.isArray(members));
    return at(
      members.find((each) => textAt(each, 'id') === memberId),
      'lastSeenAt',
    );
  };
  assert.equal(await seen(member), usedAt.toISOString());
  const ownerSeen = await seen(owner);
  assert.ok(typeof ownerSeen === 'string' && ownerSeen > usedAt.toISOString());
  assert.equal((await world.call('DELETE', '/api/sessions/current', { as: member.session })).status, 204);
  assert.equal(await seen(member), null);
});

test('a link accepted twice at the same time makes one member', async () => {
  const token = textAt((await invite(world.organization, { email: 'twice@people.test' })).body, 'token');
  const answers = await Promise.all([accept(token), accept(token), accept(token)]);
  assert.equal(answers.filter(({ status }) => status === 201).length, 1, answers.map(({ text }) => text).join('\n'));
});

test('a new account needs a name', async () => {
  const token = textAt((await invite(world.organization, { email: 'nameless@people.test' })).body, 'token');
  assert.equal(errorCode(await accept(token, {})), 'invalid_request');
});

test('a person with an account joins with its password', async () => {
  const { owner } = world.other;
  const token = textAt((await invite(world.organization, { email: owner.email })).body, 'token');
  const answer = await accept(token, {});
  assert.equal(answer.status, 201, answer.text);
  assert.equal(at(answer.body, 'user', 'id'), owner.userId);
  const organizations = at(answer.body, 'organizations');
  assert.equal(Array.isArray(organizations) && organizations.length, 2);
});

test('a second invitation replaces the first; a withdrawn or expired one is invalid', async () => {
  const email = 'again@people.test';
  const { owner } = world.organization;
  const first = await invite(world.organization, { email });
  const second = await invite(world.organization, { email });
  assert.equal(errorCode(await accept(textAt(first.body, 'token'))), 'not_found');
  const list = await world.call('GET', '/api/invitations', { as: owner.session });
  assert.equal(list.text.split(email).length - 1, 1);
  assert.ok(!list.text.includes(textAt(second.body, 'token')));
  const withdrawn = await world.call('DELETE', `/api/invitations/${textAt(second.body, 'id')}`, { as: owner.session });
  assert.equal(withdrawn.status, 204);
  assert.equal(errorCode(await accept(textAt(second.body, 'token'))), 'not_found');
  const third = await invite(world.organization, { email });
  await world.sql(`update invitations set expires_at = now() - interval '1 second' where id = $1`, [
    textAt(third.body, 'id'),
  ]);
  assert.equal(errorCode(await accept(textAt(third.body, 'token'))), 'not_found');
});

test('only an owner makes, changes or invites an owner', async () => {
  const { owner, admin, member } = await world.newOrganization('team');
  assert.equal(errorCode(await change(member, 'owner', admin)), 'forbidden');
  assert.equal(errorCode(await change(owner, 'member', admin)), 'forbidden');
  const removal = await world.call('DELETE', `/api/members/${owner.memberId}`, { as: admin.session });
  assert.equal(errorCode(removal), 'forbidden');
  const invitation = { email: 'boss@people.test', role: 'owner' };
  assert.equal(errorCode(await invite(world.organization, invitation, world.organization.admin)), 'forbidden');
  assert.equal(at((await change(member, 'owner', owner)).body, 'role'), 'owner');
});

test('two owners cannot leave at the same time', async () => {
  const organization = await world.newOrganization('team');
  const second = await world.newPerson(organization.id, 'owner');
  const leave = (person: TestPerson) => world.call('DELETE', `/api/members/${person.memberId}`, { as: person.session });
  const answers = await Promise.all([leave(organization.owner), leave(second)]);
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [204, 409],
  );
});

test('a member may leave and may not remove others; the session opens nothing afterwards', async () => {
  const { member, admin } = await world.newOrganization('team');
  const removal = await world.call('DELETE', `/api/members/${admin.memberId}`, { as: member.session });
  assert.equal(errorCode(removal), 'forbidden');
  assert.equal((await world.call('DELETE', `/api/members/${member.memberId}`, { as: member.session })).status, 204);
  assert.equal(errorCode(await world.call('GET', '/api/organization', { as: member.session })), 'forbidden');
  assert.equal((await world.call('GET', '/api/sessions/current', { as: member.session })).status, 200);
});

test('there is a number of open invitations that is enough; those that are over do not count', async () => {
  const { id, owner } = await world.newOrganization('team');
  await world.sql(
    `insert into invitations (id, organization_id, email, role, token_hash, expires_at)
     select 'inv_' || $1 || n, $1, n || '@people.test', 'member', sha256(($1 || n)::bytea), now() + interval '1 day'
       from generate_series(1, $2::int) n`,
    [id, OPEN_INVITATIONS_MAX],
  );
  const invite = () => world.call('POST', '/api/members', { as: owner.session, body: { email: 'more@people.test' } });
  assert.equal(errorCode(await invite()), 'conflict');
  await world.sql(
    `update invitations set expires_at = now() - interval '1 day'
      where organization_id = $1 and email = '1@people.test'`,
    [id],
  );
  assert.equal((await invite()).status, 201);
});
