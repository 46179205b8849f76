/** Signing in on a device (RFC 8628). */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { readUserCode, shownUserCode } from '#domain/access/sign-in-limits.ts';
import { type ApiWorld, apiWorld, asBearer, at, errorCode, textAt } from '#test/support/api-world.ts';

let world: ApiWorld;
before(async () => {
  world = await apiWorld();
});
after(() => world?.close());

const PATH = '/api/device-sign-ins';
const begin = async () => (await world.call('POST', PATH, { body: { name: 'agent-mailbox on laptop' } })).body;
const take = (begun: unknown) =>
  world.call('POST', `${PATH}/session`, { body: { deviceCode: textAt(begun, 'deviceCode') } });
const decide = (begun: unknown, approve: boolean, as = world.organization.owner.session) =>
  world.call('POST', `${PATH}/decide`, { as, body: { userCode: textAt(begun, 'userCode'), approve } });
/** As if so much time had passed since the device asked. */
const polledLongAgo = () => world.sql(`update device_sign_ins set polled_at = polled_at - interval '1 minute'`, []);

describe('a device', () => {
  test('gets a session of the person who approves its code, once; the session can be ended', async () => {
    const begun = await begin();
    assert.match(textAt(begun, 'userCode'), /^[B-Z]{4}-[B-Z]{4}$/);
    assert.match(textAt(begun, 'verificationUrl'), /\/device$/);
    assert.deepEqual((await take(begun)).body, { status: 'pending', token: null });
    const { owner } = world.organization;
    const typed = textAt(begun, 'userCode').toLowerCase().replace('-', ' ');
    const looked = await world.call('POST', `${PATH}/look`, { as: owner.session, body: { userCode: typed } });
    assert.equal(textAt(looked.body, 'name'), 'agent-mailbox on laptop');
    assert.equal((await decide(begun, true)).status, 204);
    const taken = await take(begun);
    assert.equal(textAt(taken.body, 'status'), 'approved');
    const session = asBearer(textAt(taken.body, 'token'));
    assert.equal((await world.call('GET', '/api/members', { as: session })).status, 200);
    assert.deepEqual((await take(begun)).body, { status: 'expired', token: null });
    const list = (await world.call('GET', '/api/sessions', { as: owner.session })).body;
    const sessions = at(list, 'data');
    assert.ok(Array.isArray(sessions));
    const own = sessions.find((each) => at(each, 'userAgent') === 'agent-mailbox on laptop');
    await world.call('DELETE', `/api/sessions/${textAt(own, 'id')}`, { as: owner.session });
    assert.equal((await world.call('GET', '/api/members', { as: session })).status, 401);
  });

  test('gets nothing when the person refuses, and a decision stands', async () => {
    const begun = await begin();
    assert.equal((await decide(begun, false)).status, 204);
    assert.equal(errorCode(await decide(begun, true)), 'not_found');
    assert.deepEqual((await take(begun)).body, { status: 'denied', token: null });
    assert.deepEqual((await take(begun)).body, { status: 'expired', token: null });
  });

  test('that asks too often waits longer', async () => {
    const begun = await begin();
    assert.equal((await take(begun)).status, 200);
    await world.sql(`update device_sign_ins set polled_at = now() + interval '1 hour'`, []);
    const soon = await take(begun);
    assert.deepEqual([soon.status, errorCode(soon)], [429, 'rate_limited']);
    await world.sql(`update device_sign_ins set polled_at = now() - interval '1 hour'`, []);
    assert.equal((await take(begun)).status, 200);
    await polledLongAgo();
  });

  test('is too late after the codes have expired', async () => {
    const begun = await begin();
    await world.sql(`update device_sign_ins set expires_at = now() - interval '1 second'`, []);
    assert.equal(errorCode(await decide(begun, true)), 'not_found');
    assert.deepEqual((await take(begun)).body, { status: 'expired', token: null });
  });
});

test('only a signed-in person decides: no key, no mailbox token, nobody without a session', async () => {
  const begun = await begin();
  const { key, mailbox } = world.organization;
  for (const as of [key, mailbox.token, {}]) {
    assert.ok([401, 403].includes((await decide(begun, true, as)).status));
    const look = await world.call('POST', `${PATH}/look`, { as, body: { userCode: textAt(begun, 'userCode') } });
    assert.ok([401, 403].includes(look.status));
  }
  // The secret of the device decides nothing either.
  assert.equal((await decide(begun, true, asBearer(textAt(begun, 'deviceCode')))).status, 401);
  assert.deepEqual((await take(begun)).body, { status: 'pending', token: null });
});

test('codes are stored as hashes, and cannot be guessed by trying', async () => {
  const begun = await begin();
  const rows = JSON.stringify(await world.sql('select * from device_sign_ins', []));
  assert.ok(!rows.includes(textAt(begun, 'userCode')) && !rows.includes(textAt(begun, 'deviceCode')));
  const { member } = world.organization;
  const guess = () => world.call('POST', `${PATH}/look`, { as: member.session, body: { userCode: 'BBBB-BBBB' } });
  const codes = new Set<unknown>();
  for (let i = 0; i < 31; i++) codes.add(errorCode(await guess()));
  assert.deepEqual([...codes], ['not_found', 'rate_limited']);
});

test('what a person types is read as a code, whatever helps reading', () => {
  assert.equal(shownUserCode('BCDFGHJK'), 'BCDF-GHJK');
  for (const typed of ['bcdf-ghjk', ' BCDF GHJK ', 'bcdfghjk']) assert.equal(readUserCode(typed), 'BCDFGHJK');
  for (const typed of ['', 'BCDF-GHJ', 'BCDF-GHJKL', 'ABCD-EFGH']) assert.equal(readUserCode(typed), undefined);
});
