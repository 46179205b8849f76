import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newId } from '#core/platform/new-id.ts';
import { SIGN_IN_ACCOUNT_TRIES, SIGN_IN_NETWORK_TRIES, SIGN_IN_TRIES } from '#domain/access/credential-format.ts';
import { type ApiWorld, apiWorld, asBearer, at, errorCode, TEST_PASSWORD, textAt } from '#test/support/api-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: ApiWorld;
before(async () => {
  world = await apiWorld();
});
after(() => world.close());

const DAY_MS = 86_400_000;

const signIn = (email: string, password: string, address: string) =>
  world.call('POST', '/api/sessions', { body: { email, password }, headers: { 'x-forwarded-for': address } });

test('a person signs in, is known by the token, and signs out', async () => {
  const { owner, id } = world.organization;
  const answer = await signIn(owner.email.toUpperCase(), TEST_PASSWORD, '192.0.2.1');
  assert.equal(answer.status, 201);
  assert.equal(at(answer.body, 'user', 'email'), owner.email);
  assert.equal(at(answer.body, 'organizations', 0, 'id'), id);
  assert.equal(at(answer.body, 'organizations', 0, 'role'), 'owner');
  const session = asBearer(textAt(answer.body, 'token'));
  const current = await world.call('GET', '/api/sessions/current', { as: session });
  assert.equal(at(current.body, 'user', 'id'), owner.userId);
  assert.equal((await world.call('GET', '/api/organization', { as: session })).status, 200);
  assert.equal((await world.call('DELETE', '/api/sessions/current', { as: session })).status, 204);
  assert.equal((await world.call('GET', '/api/sessions/current', { as: session })).status, 401);
});

test('a wrong password and an unknown account answer the same', async () => {
  const wrong = await signIn(world.organization.admin.email, 'not the password', '192.0.2.2');
  const unknown = await signIn('nobody@people.test', 'not the password', '192.0.2.2');
  assert.equal(wrong.status, 401);
  assert.equal(at(wrong.body, 'error', 'message'), at(unknown.body, 'error', 'message'));
});

/** Fails so often for an account that what all unknown addresses may try is used up, from a /24 of its own. */
async function guessFromMany(email: string): Promise<void> {
  for (let tries = 0; tries < SIGN_IN_ACCOUNT_TRIES; tries++)
    assert.equal((await signIn(email, 'not the password', `192.0.2.${10 + (tries % 200)}`)).status, 401);
}

test('a thousand guesses from one address lock out that address alone, and the answer says when to try again', async () => {
  const { email } = await world.newPerson(world.organization.id, 'member');
  const attacker = '198.51.100.66';
  for (let tries = 0; tries < SIGN_IN_TRIES; tries++)
    assert.equal((await signIn(email, 'not the password', attacker)).status, 401);
  for (let tries = SIGN_IN_TRIES; tries < 1_000; tries++)
    assert.equal(errorCode(await signIn(email, 'not the password', attacker)), 'rate_limited');
  const locked = await signIn(email, TEST_PASSWORD, attacker);
  assert.equal(errorCode(locked), 'rate_limited');
  const seconds = Number(locked.headers.get('retry-after'));
  assert.ok(seconds > 0 && seconds <= 900, String(seconds));
  assert.equal(
    (await signIn(email, TEST_PASSWORD, '203.0.113.50')).status,
    201,
    'the owner, from a new place, at once',
  );
});

test('guessing from many addresses gets slow, and the owner signs in from a new place', async () => {
  const { email } = await world.newPerson(world.organization.id, 'member');
  await guessFromMany(email);
  const network = (host: number) => `198.18.7.${host}`;
  for (let tries = 0; tries < SIGN_IN_NETWORK_TRIES; tries++)
    assert.equal((await signIn(email, 'not the password', network(tries + 1))).status, 401);
  assert.equal(
    errorCode(await signIn(email, 'not the password', network(99))),
    'rate_limited',
    'another address of it',
  );
  assert.equal((await signIn(email, TEST_PASSWORD, '203.0.113.51')).status, 201);
});

test('failed tries from elsewhere do not lock out a person who has signed in from here, also by another process', async () => {
  const { email } = await world.newPerson(world.organization.id, 'member');
  assert.equal((await signIn(email, TEST_PASSWORD, '192.0.2.120')).status, 201);
  assert.equal((await signIn(email, TEST_PASSWORD, '2001:db8:1:2::1')).status, 201);
  await guessFromMany(email);
  for (let tries = 0; tries < SIGN_IN_NETWORK_TRIES; tries++) await signIn(email, 'not it', `192.0.2.${140 + tries}`);
  assert.equal(errorCode(await signIn(email, TEST_PASSWORD, '192.0.2.150')), 'rate_limited');
  assert.equal((await signIn(email, TEST_PASSWORD, '192.0.2.120')).status, 201);
  assert.equal((await signIn(email, TEST_PASSWORD, '2001:db8:1:2:ffff::9')).status, 201, 'the same /64');
});

test('a neighbour who guesses passwords does not lock out a known person; the own failures do', async () => {
  const { email } = await world.newPerson(world.organization.id, 'member');
  const here = '192.0.2.121';
  assert.equal((await signIn(email, TEST_PASSWORD, here)).status, 201);
  for (let tries = 0; tries <= SIGN_IN_TRIES; tries++) await signIn(`guess-${tries}@people.test`, 'not it', here);
  assert.equal(errorCode(await signIn('guess-x@people.test', 'not it', here)), 'rate_limited');
  assert.equal((await signIn(email, TEST_PASSWORD, here)).status, 201);
  for (let tries = 0; tries < SIGN_IN_TRIES; tries++) assert.equal((await signIn(email, 'not it', here)).status, 401);
  assert.equal(errorCode(await signIn(email, TEST_PASSWORD, here)), 'rate_limited');
});

test('failed tries at the same time cannot slip through together', async () => {
  const { email } = await world.newPerson(world.organization.id, 'member');
  const answers = await Promise.all(
    Array.from({ length: 2 * SIGN_IN_ACCOUNT_TRIES }, (_, index) =>
      signIn(email, 'not the password', `192.0.2.${60 + index}`),
    ),
  );
  const compared = answers.filter(({ status }) => status === 401).length;
  assert.equal(compared, SIGN_IN_ACCOUNT_TRIES + SIGN_IN_NETWORK_TRIES);
});

test('successful sign-ins are not counted', async () => {
  const { email } = await world.newPerson(world.organization.id, 'member');
  for (let tries = 0; tries < SIGN_IN_TRIES + 2; tries++)
    assert.equal((await signIn(email, TEST_PASSWORD, '192.0.2.100')).status, 201);
});

test('a session expires 30 days after its last request', async () => {
  const person = await world.newPerson(world.organization.id, 'member');
  await world.sql(`update sessions set last_used_at = now() - interval '2 days' where user_id = $1`, [person.userId]);
  const answer = await world.call('GET', '/api/sessions/current', { as: person.session });
  const left = Date.parse(textAt(answer.body, 'expiresAt')) - Date.now();
  assert.ok(left > 29 * DAY_MS && left <= 30 * DAY_MS, String(left));
});

test('a session that has expired is refused, and a request does not revive it', async () => {
  const person = await world.newPerson(world.organization.id, 'member');
  const status = async () => (await world.call('GET', '/api/sessions/current', { as: person.session })).status;
  assert.equal(await status(), 200);
  // Without a request in the last interval, a request would set a later end.
  await world.sql(
    `update sessions set expires_at = now() - interval '1 second', last_used_at = now() - interval '1 day'
      where user_id = $1`,
    [person.userId],
  );
  assert.deepEqual([await status(), await status()], [401, 401]);
});

test('a session ends 90 days after the sign-in, however often it is used', async () => {
  const person = await world.newPerson(world.organization.id, 'member');
  const signedInDaysAgo = (days: number) =>
    world.sql(
      `update sessions set created_at = now() - make_interval(days => $2), last_used_at = now() - interval '1 day'
        where user_id = $1`,
      [person.userId, days],
    );
  const get = () => world.call('GET', '/api/sessions/current', { as: person.session });
  const leftDays = async () => (Date.parse(textAt((await get()).body, 'expiresAt')) - Date.now()) / DAY_MS;
  await signedInDaysAgo(59);
  assert.ok((await leftDays()) > 29, 'until then by its last request');
  // The use is stored beside the request. Stored later than the next statement, it would undo that.
  await waitUntil('the use to be stored', async () => {
    const [row] = await world.sql(
      `select last_used_at > now() - interval '1 hour' as used from sessions where user_id = $1`,
      [person.userId],
    );
    return row?.['used'] === true;
  });
  await signedInDaysAgo(85);
  const left = await leftDays();
  assert.ok(left > 4 && left <= 5, String(left));
  await waitUntil('the new end to be stored', async () => {
    const [row] = await world.sql(
      `select expires_at < now() + interval '6 days' as soon from sessions where user_id = $1`,
      [person.userId],
    );
    return row?.['soon'] === true;
  });
  await signedInDaysAgo(91);
  await world.sql(`update sessions set expires_at = now() + interval '20 days' where user_id = $1`, [person.userId]);
  assert.equal((await get()).status, 401, 'whatever end was stored');
});

test('with several organizations x-organization-id chooses, and only among the own', async () => {
  const person = await world.newPerson(world.organization.id, 'owner');
  const second = await world.newOrganization('team');
  await world.sql(`insert into members (id, organization_id, user_id, role) values ($1, $2, $3, 'member')`, [
    newId('member'),
    second.id,
    person.userId,
  ]);
  const get = (chosen?: string) =>
    world.call('GET', '/api/organization', {
      as: person.session,
      ...(chosen === undefined ? {} : { headers: { 'x-organization-id': chosen } }),
    });
  assert.equal(errorCode(await get()), 'invalid_request');
  assert.equal(at((await get(second.id)).body, 'id'), second.id);
  assert.equal(at((await get(world.organization.id)).body, 'id'), world.organization.id);
  assert.equal(errorCode(await get(world.other.id)), 'invalid_request');
  const patch = await world.call('PATCH', '/api/organization', {
    as: person.session,
    headers: { 'x-organization-id': second.id },
    body: { name: 'Mine' },
  });
  assert.equal(errorCode(patch), 'forbidden', 'an owner elsewhere is a member here');
});

test('a changed password applies at once, and ends the other sessions', async () => {
  const person = await world.newPerson(world.organization.id, 'member');
  const other = asBearer(textAt((await signIn(person.email, TEST_PASSWORD, '192.0.2.120')).body, 'token'));
  const answer = await world.call('PUT', '/api/sessions/current/password', {
    as: person.session,
    body: { currentPassword: TEST_PASSWORD, newPassword: 'a new long pass phrase' },
  });
  assert.equal(answer.status, 204);
  assert.equal((await world.call('GET', '/api/sessions/current', { as: other })).status, 401);
  assert.equal((await world.call('GET', '/api/sessions/current', { as: person.session })).status, 200);
  assert.equal((await signIn(person.email, TEST_PASSWORD, '192.0.2.120')).status, 401);
  assert.equal((await signIn(person.email, 'a new long pass phrase', '192.0.2.120')).status, 201);
});
