/** Single sign-on with a real OpenID provider: linking, second factors, and answers that are not accepted. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { signOnFindings } from '#core/process/diagnosis/sign-on-findings.ts';
import { type ApiWorld, apiWorld, asBearer, at, errorCode, TEST_PASSWORD, textAt } from '#test/support/api-world.ts';
import {
  beginAtProvider,
  browseProvider,
  finish,
  linkedPerson,
  returned,
  type TestProvider,
  useProvider,
} from '#test/support/oidc.ts';
import { addTotp } from '#test/support/second-factor.ts';

let world: ApiWorld;
let provider: TestProvider;
before(async () => {
  world = await apiWorld();
});
beforeEach(async () => {
  provider = await useProvider(world, { OIDC_EMAIL_DOMAINS: [], OIDC_SECOND_FACTOR: [], OIDC_NAME: 'Staff' });
});
after(() => world?.close());

const link = (token: string, password = TEST_PASSWORD) =>
  world.call('POST', '/api/sessions/oidc/link', { body: { link: token, password } });
const send = (body: object) => world.call('POST', '/api/sessions/oidc', { body });
const newPerson = () => world.newPerson(world.organization.id, 'member');
const noticesOf = async ({ email }: { readonly email: string }) =>
  (await world.sql(`select subject from member_notices where recipient = $1 order by id`, [email])).map(({ subject }) =>
    String(subject),
  );

test('an account is linked by its password once; from then on the provider signs in', async () => {
  const person = await linkedPerson(world);
  const signedIn = await finish(world);
  assert.equal(signedIn.status, 201, signedIn.text);
  assert.equal(textAt(signedIn.body, 'user', 'id'), person.userId);
  assert.equal(at(signedIn.body, 'secondFactor'), false);
  assert.deepEqual(await noticesOf(person), ['Your account signs in by single sign-on too']);
  const as = asBearer(textAt(signedIn.body, 'token'));
  const listed = await world.call('GET', '/api/sessions/current/oidc', { as });
  assert.equal(textAt(listed.body, 'data', 0, 'issuer'), provider.issuer);
  const removed = await world.call('DELETE', `/api/sessions/current/oidc/${textAt(listed.body, 'data', 0, 'id')}`, {
    as,
  });
  assert.equal(removed.status, 204);
  assert.equal((await finish(world)).status, 200, 'the password is asked for again');
  assert.equal((await world.call('DELETE', '/api/sessions/current', { as })).status, 204);
});

test('an account follows its subject, and not the address', async () => {
  const person = await linkedPerson(world);
  const other = await newPerson();
  provider.signInAs({ subject: person.subject, email: other.email });
  const renamed = await finish(world);
  assert.equal(textAt(renamed.body, 'user', 'id'), person.userId);
  // Somebody who got the address of the person later is asked for the password.
  provider.signInAs({ subject: 'another subject', email: person.email });
  assert.equal((await finish(world)).status, 200);
});

describe('an account is not taken over', () => {
  test('by an address that the provider has not verified, or of nobody here', async () => {
    const { email } = await newPerson();
    for (const account of [{ email, verified: false }, {}, { email: 'nobody@people.test' }]) {
      provider.signInAs({ subject: 'a stranger', ...account });
      const refused = await finish(world);
      assert.equal(refused.status, 401, refused.text);
      assert.match(refused.text, /invite/);
    }
  });

  test('without its password, and a link works once', async () => {
    const { email, userId } = await newPerson();
    provider.signInAs({ subject: `of ${userId}`, email });
    const token = textAt((await finish(world)).body, 'link');
    assert.equal((await link(token, 'not the password')).status, 401);
    assert.equal((await link('unknown')).status, 401);
    assert.equal((await link(token)).status, 201);
    assert.equal((await link(token)).status, 401);
  });

  test('whose second factor is missing: the second step links it', async () => {
    const person = await addTotp(world, await newPerson());
    provider.signInAs({ subject: `of ${person.userId}`, email: person.email, amr: ['mfa'] });
    Object.assign(world.services.settings, { OIDC_SECOND_FACTOR: ['mfa'] });
    const step = await link(textAt((await finish(world)).body, 'link'));
    assert.equal(step.status, 202, step.text);
    assert.equal((await finish(world)).status, 200, 'not linked yet');
    const body = { challenge: textAt(step.body, 'challenge'), code: await person.code() };
    assert.equal((await world.call('POST', '/api/sessions/second-factor', { body })).status, 201);
    const signedIn = await finish(world);
    assert.equal(signedIn.status, 201, signedIn.text);
  });
});

describe('a second factor', () => {
  test('of the account is asked for, unless the operator trusts the provider with it', async () => {
    const person = await linkedPerson(world);
    await addTotp(world, person);
    provider.signInAs({ subject: person.subject, email: person.email, amr: ['mfa'] });
    assert.equal((await finish(world)).status, 202);
    Object.assign(world.services.settings, { OIDC_SECOND_FACTOR: ['mfa', 'hwk'] });
    const signedIn = await finish(world);
    assert.equal(signedIn.status, 201, signedIn.text);
    assert.equal(at(signedIn.body, 'secondFactor'), true);
    provider.signInAs({ subject: person.subject, email: person.email, amr: ['pwd'] });
    assert.equal((await finish(world)).status, 202);
  });
});

describe('an answer is refused', () => {
  test('in another browser, the second time, and too late', async () => {
    await linkedPerson(world);
    const first = await returned(world);
    const second = await returned(world);
    assert.equal((await send({ ...first, browserKey: second.browserKey })).status, 401);
    assert.equal((await send(first)).status, 201);
    assert.equal((await send(first)).status, 401);
    await world.sql(`update oidc_sign_ins set expires_at = now() - interval '1 second'`, []);
    assert.equal((await send(second)).status, 401);
  });

  test('at the same time as the same one', async () => {
    await linkedPerson(world);
    const body = await returned(world);
    const answers = await Promise.all([send(body), send(body), send(body)]);
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [201, 401, 401],
    );
  });

  test('with the code of another sign-in: PKCE and nonce bind it to this one', async () => {
    await linkedPerson(world);
    const mine = await beginAtProvider(world);
    const victim = new URLSearchParams((await returned(world)).query);
    const query = new URLSearchParams(await browseProvider(mine.url));
    query.set('code', victim.get('code') ?? '');
    const refused = await send({ query: query.toString(), browserKey: mine.browserKey });
    assert.equal(refused.status, 401, refused.text);
    assert.match(refused.text, /was not accepted/);
  });

  test('of another issuer, or that is an error', async () => {
    await linkedPerson(world);
    const { query, browserKey } = await returned(world);
    const foreign = new URLSearchParams(query);
    foreign.set('iss', 'https://elsewhere.example');
    assert.equal((await send({ query: foreign.toString(), browserKey })).status, 401);
    const denied = await beginAtProvider(world);
    const state = new URL(denied.url).searchParams.get('state') ?? '';
    const answer = await send({ query: `error=access_denied&state=${state}`, browserKey: denied.browserKey });
    assert.match(textAt(answer.body, 'error', 'message'), /Staff did not sign you in/);
  });

  test('of people of other domains, also when they were linked before', async () => {
    const person = await linkedPerson(world);
    Object.assign(world.services.settings, { OIDC_EMAIL_DOMAINS: ['elsewhere.example'] });
    assert.equal((await finish(world)).status, 401);
    Object.assign(world.services.settings, { OIDC_EMAIL_DOMAINS: [person.email.split('@')[1] ?? ''] });
    assert.equal((await finish(world)).status, 201);
  });

  test('of a suspended organization', async () => {
    const { id } = await world.newOrganization('business');
    await linkedPerson(world, id);
    await world.sql(`update organizations set suspended_at = now(), suspended_receive = 'defer' where id = $1`, [id]);
    assert.equal(errorCode(await finish(world)), 'forbidden');
  });
});

test('a provider that does not answer, redirects or lies about itself is said to be away', async () => {
  for (const OIDC_ISSUER of [
    'http://127.0.0.1:1',
    `${world.api.url}/api`,
    provider.issuer.replace('127.0.0.1', 'localhost'),
  ]) {
    Object.assign(world.services.settings, { OIDC_ISSUER });
    const begun = await world.call('POST', '/api/sessions/oidc/begin');
    assert.equal(errorCode(begun), 'unavailable', OIDC_ISSUER);
  }
  Object.assign(world.services.settings, { OIDC_ISSUER: undefined });
  assert.equal(at((await world.call('GET', '/api/sessions/oidc')).body, 'name'), null);
  assert.equal(errorCode(await world.call('POST', '/api/sessions/oidc/begin')), 'not_found');
});

test('doctor says whether the provider can be used', async () => {
  const { settings } = world.services;
  const found = async (more: object) => (await signOnFindings({ ...settings, ...more })).map(({ level }) => level);
  assert.deepEqual(await found({}), ['ok']);
  assert.deepEqual(await found({ OIDC_ISSUER: 'http://127.0.0.1:1' }), ['error']);
  assert.deepEqual(await found({ OIDC_ISSUER: provider.issuer.replace('127.0.0.1', 'localhost') }), ['error']);
  assert.deepEqual(await found({ MODE: 'production' }), ['error'], 'without TLS');
  assert.deepEqual(await found({ OIDC_CLIENT_ID: undefined }), ['warning']);
  assert.deepEqual(await found({ OIDC_CLIENT_ID: undefined, OIDC_ISSUER: undefined }), []);
});
