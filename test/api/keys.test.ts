import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ApiWorld, apiWorld, asKey, at, errorCode, textAt } from '#test/support/api-world.ts';

let world: ApiWorld;
before(async () => {
  world = await apiWorld();
});
after(() => world.close());

const create = (body: object) => world.call('POST', '/api/keys', { as: world.organization.admin.session, body });

test('a key is shown once and gives access to its scopes', async () => {
  const answer = await create({ name: 'Reader', scopes: ['mailbox:read'] });
  assert.equal(answer.status, 201);
  const key = textAt(answer.body, 'key');
  const id = textAt(answer.body, 'id');
  assert.ok(key.startsWith(textAt(answer.body, 'keyHint')));
  const again = await world.call('GET', `/api/keys/${id}`, { as: world.organization.owner.session });
  const list = await world.call('GET', '/api/keys', { as: world.organization.owner.session });
  assert.ok(!again.text.includes(key) && !list.text.includes(key));
  assert.equal((await world.call('GET', '/api/mailboxes', { as: asKey(key) })).status, 200);
  assert.equal(errorCode(await world.call('POST', '/api/mailboxes', { as: asKey(key) })), 'insufficient_scope');
});

test('a key gives access until it expires, and none afterwards', async () => {
  const made = await create({ name: 'For a while', scopes: ['mailbox:read'] });
  const use = async () => (await world.call('GET', '/api/mailboxes', { as: asKey(textAt(made.body, 'key')) })).status;
  const expires = (inTime: string) =>
    world.sql(`update api_keys set expires_at = now() + $2::interval where id = $1`, [textAt(made.body, 'id'), inTime]);
  await expires('1 hour');
  assert.equal(await use(), 200);
  await expires('-1 second');
  assert.equal(await use(), 401);
});

test('the database contains no key', async () => {
  const key = textAt((await create({ name: 'Hidden', scopes: ['mailbox:read'] })).body, 'key');
  const rows = await world.sql(`select k::text from api_keys k union all select a::text from audit_entries a`);
  assert.ok(!JSON.stringify(rows).includes(key));
});

test('changed scopes, expiry and revocation apply from the next request on', async () => {
  const answer = await create({ name: 'Changing', scopes: ['mailbox:read'] });
  const key = asKey(textAt(answer.body, 'key'));
  const path = `/api/keys/${textAt(answer.body, 'id')}`;
  const as = world.organization.owner.session;
  await world.call('PATCH', path, { as, body: { scopes: ['org:read'] } });
  assert.equal(errorCode(await world.call('GET', '/api/mailboxes', { as: key })), 'insufficient_scope');
  assert.equal((await world.call('GET', '/api/organization', { as: key })).status, 200);
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const limited = await world.call('PATCH', path, { as, body: { expiresAt, name: 'Renamed' } });
  assert.equal(at(limited.body, 'expiresAt'), expiresAt);
  assert.equal(at(limited.body, 'name'), 'Renamed');
  assert.equal(at((await world.call('PATCH', path, { as, body: { expiresAt: null } })).body, 'expiresAt'), null);
  assert.equal((await world.call('DELETE', path, { as })).status, 204);
  assert.equal((await world.call('GET', '/api/organization', { as: key })).status, 401);
  assert.equal((await world.call('GET', path, { as })).status, 404);
});

test('an expiry in the past is refused', async () => {
  const answer = await create({ name: 'Late', scopes: ['org:read'], expiresAt: '2020-01-01T00:00:00.000Z' });
  assert.equal(errorCode(answer), 'invalid_request');
  assert.equal(at(answer.body, 'error', 'details', 0, 'path'), '/expiresAt');
});

test('the last use is noted, at most once a minute', async () => {
  const answer = await create({ name: 'Used', scopes: ['org:read'] });
  const id = textAt(answer.body, 'id');
  const key = asKey(textAt(answer.body, 'key'));
  const lastUse = async () =>
    at((await world.call('GET', `/api/keys/${id}`, { as: world.organization.owner.session })).body, 'lastUsedAt');
  assert.equal(await lastUse(), null);
  await world.call('GET', '/api/organization', { as: key });
  const first = await lastUse();
  assert.notEqual(first, null);
  await world.call('GET', '/api/organization', { as: key });
  assert.equal(await lastUse(), first);
});
