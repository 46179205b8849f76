/** Passkeys: added, signing in alone and after the password, refused, removed and reset (WebAuthn). */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { PASSKEY_SIGN_INS_PER_SOURCE, relyingPartyOf } from '#domain/access/passkeys.ts';
import { type ApiWorld, apiWorld, asBearer, at, errorCode, TEST_PASSWORD, textAt } from '#test/support/api-world.ts';
import {
  addPasskey,
  authenticator,
  newPasskeyOptions,
  type PersonWithPasskey,
  passkeyOptions,
  personWithPasskey,
} from '#test/support/authenticator.ts';
import { runAdmin } from '#test/support/run-admin.ts';
import { addTotp, challengeOf } from '#test/support/second-factor.ts';

let world: ApiWorld;
before(async () => {
  world = await apiWorld();
});
after(() => world?.close());

const OWN = '/api/sessions/current/passkeys';

const signIn = (passkey: Record<string, unknown>) => world.call('POST', '/api/sessions/passkey', { body: { passkey } });
let sources = 0;
/** A network of its own: failures are counted by it. */
const somewhere = () => ({ 'x-forwarded-for': `203.0.${++sources % 250}.1` });
const answer = (challenge: string, proof: object) =>
  world.call('POST', '/api/sessions/second-factor', { body: { challenge, ...proof }, headers: somewhere() });
const remove = ({ session, passkeyId }: PersonWithPasskey, proof: object) =>
  world.call('POST', `${OWN}/${passkeyId}/remove`, { as: session, body: proof, headers: somewhere() });
const confirmed = async ({ session, device }: PersonWithPasskey) => ({
  passkey: device.assert(await passkeyOptions(world, { session })),
});
const signInOf = async ({ device }: PersonWithPasskey) =>
  (await signIn(device.assert(await passkeyOptions(world, 'sign-in')))).status;

async function auditOf({ userId }: { readonly userId: string }): Promise<string[]> {
  const rows = await world.sql(
    `select action from audit_entries where target_id = $1 and action <> 'session.created' order by id`,
    [userId],
  );
  return rows.map(({ action }) => String(action));
}
const noticesOf = async ({ email }: { readonly email: string }) =>
  (await world.sql(`select subject from member_notices where recipient = $1 order by id`, [email])).map(({ subject }) =>
    String(subject),
  );

describe('a passkey', () => {
  test('is added by the password, and signs in alone, with the second factor', async () => {
    const person = await personWithPasskey(world);
    assert.equal(person.recoveryCodes.length, 10);
    const options = await passkeyOptions(world, 'sign-in');
    assert.deepEqual(at(options, 'allowCredentials'), []);
    const signedIn = await signIn(person.device.assert(options));
    assert.equal(signedIn.status, 201, signedIn.text);
    assert.equal(at(signedIn.body, 'secondFactor'), true);
    assert.equal(textAt(signedIn.body, 'user', 'id'), person.userId);
    const listed = await world.call('GET', OWN, { as: asBearer(textAt(signedIn.body, 'token')) });
    assert.equal(at(listed.body, 'data', 0, 'name'), 'Laptop');
    assert.notEqual(at(listed.body, 'data', 0, 'lastUsedAt'), null);
    assert.deepEqual(await auditOf(person), ['user.passkey_added']);
    assert.deepEqual(await noticesOf(person), ['Your account has a new passkey']);
  });

  test('is a second factor: a password opens nothing without it or a recovery code', async () => {
    const person = await personWithPasskey(world);
    const first = await world.call('POST', '/api/sessions', { body: { email: person.email, password: TEST_PASSWORD } });
    assert.equal(first.status, 202);
    assert.equal(at(first.body, 'passkey'), true);
    const challenge = textAt(first.body, 'challenge');
    const options = await passkeyOptions(world, { challenge });
    assert.equal(textAt(options, 'allowCredentials', 0, 'id'), person.device.id);
    const second = await answer(challenge, { passkey: person.device.assert(options) });
    assert.equal(second.status, 201, second.text);
    assert.equal(at(second.body, 'secondFactor'), true);
    const byCode = await answer(await challengeOf(world, person.email), { code: person.recoveryCodes[0] });
    assert.equal(byCode.status, 201, byCode.text);
    const both = await answer(await challengeOf(world, person.email), {
      code: person.recoveryCodes[1],
      passkey: person.device.assert(options),
    });
    assert.equal(errorCode(both), 'invalid_request');
  });

  test('as first factor ends the other sessions; a further factor changes neither those nor the recovery codes', async () => {
    const person = await world.newPerson(world.organization.id, 'member');
    const other = await world.call('POST', '/api/sessions', { body: { email: person.email, password: TEST_PASSWORD } });
    const first = await addPasskey(world, person);
    const as = asBearer(textAt(other.body, 'token'));
    assert.equal((await world.call('GET', '/api/sessions/current', { as })).status, 401);
    const signedIn = await signIn(first.device.assert(await passkeyOptions(world, 'sign-in')));
    const second = await addPasskey(world, person, 'Key ring');
    assert.deepEqual(second.recoveryCodes, []);
    assert.deepEqual((await addTotp(world, person)).recoveryCodes, []);
    const still = await world.call('GET', '/api/sessions/current', { as: asBearer(textAt(signedIn.body, 'token')) });
    assert.equal(still.status, 200);
    const byCode = await answer(await challengeOf(world, person.email), { code: first.recoveryCodes[0] });
    assert.equal(byCode.status, 201, byCode.text);
  });

  test('needs the password to be added, and is added once', async () => {
    const person = await world.newPerson(world.organization.id, 'member');
    const begun = await world.call('POST', `${OWN}/begin`, {
      as: person.session,
      body: { password: 'not the password' },
    });
    assert.equal(begun.status, 401);
    const { device } = await addPasskey(world, person);
    const again = device.register(await newPasskeyOptions(world, person));
    const added = await world.call('POST', OWN, { as: person.session, body: { name: 'x', passkey: again } });
    assert.equal(errorCode(added), 'conflict');
  });

  test('satisfies the policy of an organization, and the last one stays while it is required', async () => {
    const of = await world.newOrganization('business');
    const owner = await addPasskey(world, of.owner);
    const as = of.owner.session;
    const turnedOn = await world.call('PATCH', '/api/organization', {
      as,
      body: { settings: { secondFactor: 'everyone' } },
    });
    assert.equal(turnedOn.status, 200, turnedOn.text);
    assert.equal((await world.call('GET', '/api/members', { as: of.admin.session })).status, 403);
    await addPasskey(world, of.admin);
    const members = await world.call('GET', '/api/members', { as: of.admin.session });
    assert.equal(members.status, 200);
    assert.equal(errorCode(await remove(owner, await confirmed(owner))), 'conflict');
    assert.equal(await signInOf(owner), 201, 'it is still there');
    const second = await addPasskey(world, of.owner, 'Key ring');
    const removed = await remove(owner, {
      passkey: second.device.assert(await passkeyOptions(world, { session: as })),
    });
    assert.equal(removed.status, 204, removed.text);
    assert.equal((await world.call('GET', '/api/members', { as })).status, 200);
  });
});

describe('an answer is refused', () => {
  const WRONG: Readonly<Record<string, (person: PersonWithPasskey, options: unknown) => Record<string, unknown>>> = {
    'of a page of another origin': ({ device }, options) =>
      device.assert(options, { origin: 'https://elsewhere.example' }),
    'of a page of a neighbouring port': ({ device }, options) =>
      device.assert(options, { origin: 'http://localhost:1' }),
    'for another site': ({ device }, options) => device.assert(options, { rpId: 'elsewhere.example' }),
    'without the person being verified': ({ device }, options) => device.assert(options, { verified: false }),
    'to a challenge that nobody asked': ({ device }, options) =>
      device.assert(options, { challenge: 'vB0o2cQ8mJ6wXk1rT4yN7sD9fG3hL5zP0aE2uI8xC6M' }),
    'with a signature of another key': ({ device }, options) => ({
      ...authenticator(world.api.url).assert(options),
      id: device.id,
    }),
    'in the name of somebody else': ({ device }, options) => ({
      ...device.assert(options),
      userHandle: Buffer.from(world.organization.owner.userId).toString('base64url'),
    }),
    'of an unknown passkey': (_, options) => authenticator(world.api.url).assert(options),
  };
  for (const [name, answerOf] of Object.entries(WRONG))
    test(name, async () => {
      const person = await personWithPasskey(world);
      const refused = await signIn(answerOf(person, await passkeyOptions(world, 'sign-in')));
      assert.equal(refused.status, 401, refused.text);
      assert.equal(await signInOf(person), 201, 'the passkey itself is as good as before');
    });

  test('the second time', async () => {
    const person = await personWithPasskey(world);
    const passkey = person.device.assert(await passkeyOptions(world, 'sign-in'));
    const twice = await Promise.all([signIn(passkey), signIn(passkey)]);
    assert.deepEqual(
      twice.map(({ status }) => status).toSorted((one, other) => one - other),
      [201, 401],
    );
    assert.equal((await signIn(passkey)).status, 401);
  });

  test('after a wrong answer to the same challenge', async () => {
    const person = await personWithPasskey(world);
    const options = await passkeyOptions(world, 'sign-in');
    assert.equal((await signIn(person.device.assert(options, { origin: 'https://elsewhere.example' }))).status, 401);
    assert.equal((await signIn(person.device.assert(options))).status, 401);
  });

  test('too late', async () => {
    const person = await personWithPasskey(world);
    const options = await passkeyOptions(world, 'sign-in');
    await world.sql(`update passkey_ceremonies set expires_at = now() - interval '1 second'`, []);
    assert.equal((await signIn(person.device.assert(options))).status, 401);
  });

  test('in another ceremony, session or sign-in than the one that it is for', async () => {
    const person = await personWithPasskey(world);
    const { device } = person;
    const challenge = await challengeOf(world, person.email);
    const forSignIn = await passkeyOptions(world, 'sign-in');
    assert.equal((await answer(challenge, { passkey: device.assert(forSignIn) })).status, 401);
    const forStep = await passkeyOptions(world, { challenge });
    assert.equal((await signIn(device.assert(forStep))).status, 401);
    const otherSignIn = await challengeOf(world, person.email);
    assert.equal((await answer(otherSignIn, { passkey: device.assert(forStep) })).status, 401);
    assert.equal((await remove(person, { passkey: device.assert(forStep) })).status, 401);
    const elsewhere = await signIn(device.assert(await passkeyOptions(world, 'sign-in')));
    const otherSession = await passkeyOptions(world, { session: asBearer(textAt(elsewhere.body, 'token')) });
    assert.equal((await remove(person, { passkey: device.assert(otherSession) })).status, 401);
    const creation = await newPasskeyOptions(world, person);
    assert.equal(
      (await signIn(device.assert({ ...Object(creation), rpId: textAt(creation, 'rp', 'id') }))).status,
      401,
    );
  });

  test('with the passkey of another member, or of a member elsewhere', async () => {
    const person = await personWithPasskey(world);
    const colleague = await personWithPasskey(world);
    const stranger = await addPasskey(world, await world.newPerson(world.other.id, 'owner'));
    for (const { device } of [colleague, stranger]) {
      const challenge = await challengeOf(world, person.email);
      const passkey = device.assert(await passkeyOptions(world, { challenge }));
      assert.equal((await answer(challenge, { passkey })).status, 401);
      const confirmation = device.assert(await passkeyOptions(world, { session: person.session }));
      assert.equal((await remove(person, { passkey: confirmation })).status, 401);
    }
    // Nor does one remove, list or add what belongs to somebody else.
    const foreign = { ...person, session: stranger.session };
    const own = { passkey: stranger.device.assert(await passkeyOptions(world, { session: stranger.session })) };
    assert.equal(errorCode(await remove(foreign, own)), 'not_found');
    const listed = await world.call('GET', OWN, { as: stranger.session });
    assert.deepEqual(at(listed.body, 'data', 1), undefined);
    assert.equal(textAt(listed.body, 'data', 0, 'id'), stranger.passkeyId);
    const device = authenticator(world.api.url);
    const passkey = device.register(await newPasskeyOptions(world, person));
    const body = { name: 'x', passkey };
    assert.equal((await world.call('POST', OWN, { as: stranger.session, body })).status, 401);
  });

  test('of a new passkey from another origin, for another site, or without verification', async () => {
    const person = await world.newPerson(world.organization.id, 'member');
    for (const claims of [
      { origin: 'https://elsewhere.example' },
      { rpId: 'elsewhere.example' },
      { verified: false },
    ]) {
      const device = authenticator(world.api.url);
      const passkey = device.register(await newPasskeyOptions(world, person), claims);
      const added = await world.call('POST', OWN, { as: person.session, body: { name: 'x', passkey } });
      assert.equal(added.status, 401, added.text);
    }
  });

  test('of a copy: its counter went back; the person is notified, and the counter stays', async () => {
    const person = await personWithPasskey(world);
    assert.equal(await signInOf(person), 201);
    assert.equal(await signInOf(person), 201);
    person.device.counter = 0;
    const copied = await signIn(person.device.assert(await passkeyOptions(world, 'sign-in')));
    assert.equal(copied.status, 401);
    assert.match(textAt(copied.body, 'error', 'message'), /copied/);
    assert.equal((await auditOf(person)).at(-1), 'user.passkey_refused');
    assert.equal((await noticesOf(person)).at(-1), 'A passkey of your account may have been copied');
    person.device.counter = 2;
    assert.equal(await signInOf(person), 201, 'the original goes on counting');
  });

  test('of a suspended organization', async () => {
    const of = await world.newOrganization('business');
    const person = await addPasskey(world, of.member);
    await world.sql(`update organizations set suspended_at = now(), suspended_receive = 'defer' where id = $1`, [
      of.id,
    ]);
    const suspended = await signIn(person.device.assert(await passkeyOptions(world, 'sign-in')));
    assert.equal(errorCode(suspended), 'forbidden');
  });

  test('whose sign-in was begun too often from one address', async () => {
    const begin = () =>
      world.call('POST', '/api/sessions/passkey/begin', { headers: { 'x-forwarded-for': '198.51.100.240' } });
    for (let n = 0; n < PASSKEY_SIGN_INS_PER_SOURCE; n++) assert.equal((await begin()).status, 201);
    assert.equal(errorCode(await begin()), 'rate_limited');
  });
});

describe('the end of a passkey', () => {
  test('that was removed: it signs in no more, and without a factor the password alone does', async () => {
    const person = await personWithPasskey(world);
    assert.equal((await remove(person, { code: 'k3m9w-x7q2d' })).status, 401);
    const removed = await remove(person, await confirmed(person));
    assert.equal(removed.status, 204, removed.text);
    assert.equal(await signInOf(person), 401);
    const body = { email: person.email, password: TEST_PASSWORD };
    assert.equal((await world.call('POST', '/api/sessions', { body })).status, 201);
    const current = await world.call('GET', '/api/sessions/current', { as: person.session });
    assert.equal(at(current.body, 'secondFactor'), false);
    assert.equal((await auditOf(person)).at(-1), 'user.passkey_removed');
  });

  test('that was lost: a recovery code removes it, and renews the codes', async () => {
    const person = await personWithPasskey(world);
    const renewed = await world.call('POST', '/api/sessions/current/second-factor/recovery-codes', {
      as: person.session,
      body: await confirmed(person),
    });
    assert.equal(renewed.status, 200, renewed.text);
    assert.equal((await remove(person, { code: person.recoveryCodes[0] })).status, 401);
    assert.equal((await remove(person, { code: textAt(renewed.body, 'recoveryCodes', 0) })).status, 204);
  });

  test('the removal of an app leaves passkeys and recovery codes', async () => {
    const person = await world.newPerson(world.organization.id, 'member');
    const withApp = await addTotp(world, person);
    const { device } = await addPasskey(world, person);
    const removed = await world.call('POST', '/api/sessions/current/second-factor/totp/remove', {
      as: person.session,
      body: { passkey: device.assert(await passkeyOptions(world, { session: person.session })) },
    });
    assert.equal(removed.status, 204, removed.text);
    const byCode = await answer(await challengeOf(world, person.email), { code: withApp.recoveryCodes[0] });
    assert.equal(byCode.status, 201);
  });

  test('a reset by an admin or the operator ends passkeys with all else', async () => {
    const person = await personWithPasskey(world);
    const reset = await world.call('POST', `/api/members/${person.memberId}/second-factor-reset`, {
      as: world.organization.owner.session,
    });
    assert.equal(reset.status, 204);
    assert.equal(await signInOf(person), 401);
    const other = await personWithPasskey(world);
    const { DATABASE_URL = '' } = world.services.settings;
    const CREDENTIAL_PEPPER = Buffer.from(world.services.pepper).toString('base64');
    const environment = { DATABASE_URL, CREDENTIAL_PEPPER };
    const run = await runAdmin(['reset-password', '--second-factor', other.email], { environment });
    assert.equal(run.code, 0, run.stderr);
    assert.equal(await signInOf(other), 401);
  });
});

test('an address without a name has no passkeys', () => {
  assert.deepEqual(relyingPartyOf('http://127.0.0.1:8080'), { id: 'localhost', origin: 'http://localhost:8080' });
  assert.deepEqual(relyingPartyOf('https://mail.example.com'), {
    id: 'mail.example.com',
    origin: 'https://mail.example.com',
  });
  for (const url of ['https://203.0.113.7', 'https://[2001:db8::7]', 'http://mail.example.com'])
    assert.equal(relyingPartyOf(url), null, url);
});
