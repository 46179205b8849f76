/** The second factor: codes of an app (RFC 6238), recovery codes, the two steps of a sign-in, removal and reset. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { lockFactors } from '#core/accounts/second-factor/factors-of-account.ts';
import { SECOND_FACTOR_ACCOUNT_TRIES, SECOND_FACTOR_TRIES } from '#domain/access/credential-format.ts';
import { CHALLENGE_TRIES } from '#domain/access/second-factor.ts';
import {
  type Answer,
  type ApiWorld,
  apiWorld,
  asBearer,
  at,
  errorCode,
  TEST_PASSWORD,
  textAt,
} from '#test/support/api-world.ts';
import { runAdmin } from '#test/support/run-admin.ts';
import { challengeOf, type PersonWithApp, personWithTotp, totpCode } from '#test/support/second-factor.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: ApiWorld;
before(async () => {
  world = await apiWorld();
});
after(() => world?.close());

const BASE = '/api/sessions/current/second-factor';
const from = (address: string) => ({ 'x-forwarded-for': address });

let sources = 0;
/** From a network of its own, unless it is said. */
const answer = (challenge: string, code: string, headers = from(`203.0.${++sources % 250}.1`)) =>
  world.call('POST', '/api/sessions/second-factor', { body: { challenge, code }, headers });

const isSignedIn = async (token: string) =>
  (await world.call('GET', '/api/sessions/current', { as: asBearer(token) })).status === 200;

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

test('the codes that these tests compute are those of RFC 6238, appendix B', () => {
  const secret = Buffer.from('12345678901234567890');
  const codes = [59, 1_111_111_109, 1_234_567_890, 20_000_000_000].map((at) => totpCode(secret, at * 1_000));
  assert.deepEqual(codes, ['287082', '081804', '005924', '353130']);
});

describe('an authenticator app', () => {
  test('is added by password and code; then a password opens nothing without a code', async () => {
    const person = await personWithTotp(world);
    const state = await world.call('GET', BASE, { as: person.session });
    assert.equal(at(state.body, 'recoveryCodesLeft'), 10);
    assert.ok(textAt(state.body, 'totpSince'));
    const current = await world.call('GET', '/api/sessions/current', { as: person.session });
    assert.equal(at(current.body, 'secondFactor'), true);

    const first = await world.call('POST', '/api/sessions', { body: { email: person.email, password: TEST_PASSWORD } });
    assert.equal(first.status, 202);
    assert.equal(at(first.body, 'token'), undefined);
    const challenge = textAt(first.body, 'challenge');
    assert.equal((await world.call('GET', '/api/sessions/current', { as: asBearer(challenge) })).status, 401);
    const second = await answer(challenge, await person.code());
    assert.equal(second.status, 201, second.text);
    assert.equal(at(second.body, 'secondFactor'), true);
    assert.equal(await isSignedIn(textAt(second.body, 'token')), true);
    assert.equal((await answer(challenge, await person.code())).status, 401, 'a challenge works once');
    assert.deepEqual(await auditOf(person), ['user.second_factor_added']);
    assert.deepEqual(await noticesOf(person), ['Your account has a second factor']);
  });

  test('needs the password, so that a stolen session cannot lock its person out', async () => {
    const { session } = await world.newPerson(world.organization.id, 'member');
    const begun = await world.call('POST', `${BASE}/totp`, { as: session, body: { password: 'not the password' } });
    assert.equal(begun.status, 401);
  });

  test('that is begun and not confirmed changes nothing', async () => {
    const person = await world.newPerson(world.organization.id, 'member');
    await world.call('POST', `${BASE}/totp`, { as: person.session, body: { password: TEST_PASSWORD } });
    const wrong = await world.call('POST', `${BASE}/totp/confirm`, { as: person.session, body: { code: '12345x' } });
    assert.equal(wrong.status, 401);
    const signedIn = await world.call('POST', '/api/sessions', {
      body: { email: person.email, password: TEST_PASSWORD },
    });
    assert.equal(signedIn.status, 201);
    assert.equal(at(signedIn.body, 'secondFactor'), false);
  });

  test('ends the other sessions when it is added', async () => {
    const person = await world.newPerson(world.organization.id, 'member');
    const other = await world.call('POST', '/api/sessions', { body: { email: person.email, password: TEST_PASSWORD } });
    const begun = await world.call('POST', `${BASE}/totp`, { as: person.session, body: { password: TEST_PASSWORD } });
    const code = totpCode(textAt(begun.body, 'secret'), Date.now());
    assert.equal(
      (await world.call('POST', `${BASE}/totp/confirm`, { as: person.session, body: { code } })).status,
      200,
    );
    assert.equal(await isSignedIn(textAt(other.body, 'token')), false);
  });

  test('its secret is sealed, and recovery codes are stored as hashes', async () => {
    const person = await personWithTotp(world);
    const [row] = await world.sql(`select * from totp_factor where user_id = $1`, [person.userId]);
    assert.match(String(row?.['secret_sealed']), /^v1\./);
    assert.ok(!JSON.stringify(row).includes(person.secret));
    const codes = JSON.stringify(await world.sql(`select * from recovery_code where user_id = $1`, [person.userId]));
    for (const code of person.recoveryCodes) assert.ok(!codes.includes(code) && !codes.includes(code.replace('-', '')));
  });

  test('a code works once, also for two requests at the same time, and none that is older does', async () => {
    const person = await personWithTotp(world);
    const challenges = await Promise.all([1, 2, 3].map(() => challengeOf(world, person.email)));
    const code = await person.code();
    const answers = await Promise.all(challenges.map((each) => answer(each, code)));
    assert.deepEqual(
      answers.map(({ status }) => status).sort((a, b) => a - b),
      [201, 401, 401],
    );
    const older = totpCode(person.secret, Date.now() - 30_000);
    assert.equal((await answer(await challengeOf(world, person.email), older)).status, 401);
  });

  test('takes the codes of one step before and after, and no others', async () => {
    const person = await personWithTotp(world);
    const statusAt = async (offsetMs: number) => {
      const challenge = await challengeOf(world, person.email);
      // Computed from the database's own moment: the clock may pass a step between two requests.
      await person.code();
      return (await answer(challenge, totpCode(person.secret, Date.now() + offsetMs))).status;
    };
    assert.equal(await statusAt(-25_000), 201);
    assert.equal(await statusAt(25_000), 201);
    assert.equal(await statusAt(-90_000), 401);
    assert.equal(await statusAt(90_000), 401);
  });

  test('is removed by a fresh code alone', async () => {
    const person = await personWithTotp(world);
    const remove = (code: string) => world.call('POST', `${BASE}/totp/remove`, { as: person.session, body: { code } });
    assert.equal((await remove('000000')).status, 401);
    assert.equal((await remove(await person.code())).status, 204);
    const signedIn = await world.call('POST', '/api/sessions', {
      body: { email: person.email, password: TEST_PASSWORD },
    });
    assert.equal(signedIn.status, 201);
    const current = await world.call('GET', '/api/sessions/current', { as: person.session });
    assert.equal(at(current.body, 'secondFactor'), false, 'a session has no factor that the account has not');
    assert.deepEqual((await auditOf(person)).at(-1), 'user.second_factor_removed');
  });
});

describe('recovery codes', () => {
  test('sign in without the app, each once, and the person is notified', async () => {
    const person = await personWithTotp(world);
    const [code = '', another = ''] = person.recoveryCodes;
    const signIn = async (typed: string) => (await answer(await challengeOf(world, person.email), typed)).status;
    assert.equal(await signIn(code), 201);
    assert.equal(await signIn(code), 401);
    assert.equal(await signIn(another.toUpperCase().replace('-', ' ')), 201);
    const state = await world.call('GET', BASE, { as: person.session });
    assert.equal(at(state.body, 'recoveryCodesLeft'), 8);
    assert.equal((await noticesOf(person)).filter((each) => each.includes('recovery code')).length, 2);
  });

  test('are renewed by a fresh code, and the former ones end', async () => {
    const person = await personWithTotp(world);
    const renewed = await world.call('POST', `${BASE}/recovery-codes`, {
      as: person.session,
      body: { code: person.recoveryCodes[0] },
    });
    assert.equal(renewed.status, 200);
    const challenge = await challengeOf(world, person.email);
    assert.equal((await answer(challenge, person.recoveryCodes[1] ?? '')).status, 401);
    assert.equal((await answer(challenge, textAt(renewed.body, 'recoveryCodes', 0))).status, 201);
  });
});

describe('guesses of codes', () => {
  test('a challenge takes five codes', async () => {
    const person = await personWithTotp(world);
    const challenge = await challengeOf(world, person.email, from('192.0.2.200'));
    for (let n = 0; n < CHALLENGE_TRIES; n++)
      assert.equal((await answer(challenge, '000000', from(`192.0.2.${201 + n}`))).status, 401);
    const late = await answer(challenge, await person.code(), from('192.0.2.210'));
    assert.equal(late.status, 401);
    assert.match(textAt(late.body, 'error', 'message'), /has ended/);
  });

  test('are limited like passwords, from any address; the known device of the person is not', async () => {
    const person = await personWithTotp(world);
    const here = from('192.0.2.150');
    assert.equal((await answer(await challengeOf(world, person.email, here), await person.code(), here)).status, 201);
    for (let n = 0; n < SECOND_FACTOR_ACCOUNT_TRIES; n++) {
      const source = from(`198.51.100.${100 + n}`);
      assert.equal((await answer(await challengeOf(world, person.email, source), '000000', source)).status, 401);
    }
    const elsewhere = from('198.51.100.150');
    const limited = await answer(await challengeOf(world, person.email, elsewhere), await person.code(), elsewhere);
    assert.equal(errorCode(limited), 'rate_limited');
    assert.equal((await answer(await challengeOf(world, person.email, here), await person.code(), here)).status, 201);
  });

  test('from one address lock out that address alone', async () => {
    const person = await personWithTotp(world);
    const there = from('198.51.100.77');
    for (let n = 0; n < SECOND_FACTOR_TRIES; n++)
      assert.equal((await answer(await challengeOf(world, person.email, there), '000000', there)).status, 401);
    for (let n = 0; n < 20; n++) {
      const limited = await answer(await challengeOf(world, person.email, there), '000000', there);
      assert.equal(errorCode(limited), 'rate_limited');
    }
    const elsewhere = from('203.0.113.77');
    const signedIn = await answer(await challengeOf(world, person.email, elsewhere), await person.code(), elsewhere);
    assert.equal(signedIn.status, 201);
  });

  test('a right password alone does not make a device known', async () => {
    const person = await personWithTotp(world);
    await challengeOf(world, person.email, from('203.0.113.99'));
    const known = await world.sql(`select source from sign_in_sources where user_id = $1 and source = '203.0.113.99'`, [
      person.userId,
    ]);
    assert.deepEqual(known, []);
  });
});

test('a new password ends a sign-in that waits for a code', async () => {
  const person = await personWithTotp(world);
  const challenge = await challengeOf(world, person.email);
  const changed = await world.call('PUT', '/api/sessions/current/password', {
    as: person.session,
    body: { currentPassword: TEST_PASSWORD, newPassword: 'a new long pass phrase' },
  });
  assert.equal(changed.status, 204);
  assert.equal((await answer(challenge, await person.code())).status, 401);
});

test('a device has the second factor of the session that approved it', async () => {
  const person = await personWithTotp(world);
  const begun = await world.call('POST', '/api/device-sign-ins', { body: { name: 'a terminal' } });
  await world.call('POST', '/api/device-sign-ins/decide', {
    as: person.session,
    body: { userCode: textAt(begun.body, 'userCode'), approve: true },
  });
  const taken = await world.call('POST', '/api/device-sign-ins/session', {
    body: { deviceCode: textAt(begun.body, 'deviceCode') },
  });
  const current = await world.call('GET', '/api/sessions/current', { as: asBearer(textAt(taken.body, 'token')) });
  assert.equal(at(current.body, 'secondFactor'), true);
});

describe('a second factor that is added while its person', () => {
  /** Adds one in a transaction that ends when the request waits for it. */
  async function whileAdding(userId: string, request: () => Promise<Answer>): Promise<Answer> {
    const { db } = world.services;
    let answered: Promise<Answer> | undefined;
    await db.transaction(async (sql) => {
      await lockFactors(sql, userId);
      await sql.query(
        `insert into totp_factor (user_id, secret_sealed, created_at, confirmed_at) values ($1, 'x', now(), now())`,
        [userId],
      );
      answered = request();
      await waitUntil('the request to wait for the transaction', async () => {
        const waiting = await db.query(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return waiting.length > 0 ? true : undefined;
      });
    });
    assert.ok(answered !== undefined);
    return answered;
  }

  test('signs in with the password is asked for', async () => {
    const { userId, email } = await world.newPerson(world.organization.id, 'member');
    const signedIn = await whileAdding(userId, () =>
      world.call('POST', '/api/sessions', { body: { email, password: TEST_PASSWORD } }),
    );
    assert.equal(signedIn.status, 202, signedIn.text);
  });

  test('accepts an invitation is asked for', async () => {
    const { userId, email } = await world.newPerson(world.organization.id, 'member');
    const token = await world.newInvitation(world.other, email);
    const accepted = await whileAdding(userId, () =>
      world.call('POST', '/api/invitations/accept', { body: { token, password: TEST_PASSWORD } }),
    );
    assert.equal(accepted.status, 202, accepted.text);
  });
});

test('an invitation of an account with a second factor opens no session by the password', async () => {
  const person = await personWithTotp(world);
  const token = await world.newInvitation(world.other, person.email);
  const accepted = await world.call('POST', '/api/invitations/accept', { body: { token, password: TEST_PASSWORD } });
  assert.equal(accepted.status, 202, accepted.text);
  const signedIn = await answer(textAt(accepted.body, 'challenge'), await person.code());
  assert.equal(signedIn.status, 201);
  const organizations = at(signedIn.body, 'organizations');
  assert.ok(Array.isArray(organizations));
  assert.ok(organizations.some((each) => at(each, 'id') === world.other.id));
});

describe('a reset', () => {
  const reset = (memberId: string, as = world.organization.owner.session) =>
    world.call('POST', `/api/members/${memberId}/second-factor-reset`, { as });

  async function assertReset(person: PersonWithApp): Promise<void> {
    assert.equal((await world.call('GET', '/api/sessions/current', { as: person.session })).status, 401);
    const body = { email: person.email, password: TEST_PASSWORD };
    assert.equal((await world.call('POST', '/api/sessions', { body })).status, 201);
    assert.equal((await auditOf(person)).at(-1), 'member.second_factor_reset');
    assert.equal((await noticesOf(person)).at(-1), 'The second factor of your account was reset');
  }

  test('by an owner or admin ends the sessions, is audited, and the person is notified', async () => {
    const person = await personWithTotp(world);
    assert.equal((await reset(person.memberId, world.organization.member.session)).status, 403);
    assert.equal((await reset(person.memberId, world.other.owner.session)).status, 404);
    assert.equal((await reset(person.memberId, world.organization.admin.session)).status, 204);
    await assertReset(person);
  });

  test('of an owner needs an owner, and of somebody with other organizations those of all of them', async () => {
    const owner = await personWithTotp(world, 'owner');
    assert.equal(errorCode(await reset(owner.memberId, world.organization.admin.session)), 'conflict');
    assert.equal((await reset(owner.memberId)).status, 204);
    const person = await personWithTotp(world);
    await world.sql(
      `insert into members (id, organization_id, user_id, role) values ('mem_' || substr($1, 5), $2, $1, 'member')`,
      [person.userId, world.other.id],
    );
    assert.equal(errorCode(await reset(person.memberId)), 'conflict');
  });

  test('by the operator prints a link for a new password too', async () => {
    const person = await personWithTotp(world, 'owner');
    const { DATABASE_URL = '', MAIL_DOMAIN } = world.services.settings;
    const environment = {
      DATABASE_URL,
      MAIL_DOMAIN,
      CREDENTIAL_PEPPER: Buffer.from(world.services.pepper).toString('base64'),
      PUBLIC_URL: world.api.url,
    };
    const plain = await runAdmin(['reset-password', person.email], { environment });
    assert.equal(plain.code, 0, plain.stderr);
    await challengeOf(world, person.email);
    const done = await runAdmin(['reset-password', '--second-factor', person.email, '--json'], { environment });
    assert.equal(done.code, 0, done.stderr);
    assert.match(done.stdout, /"secondFactorRemoved": ?true/);
    await assertReset(person);
  });
});
