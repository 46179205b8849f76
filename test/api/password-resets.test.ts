/**
 * A new password by a link: sent to people outside, handed over to those whose mail is read here, and never revealed.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PASSWORD_RESETS_PER_ADDRESS_AND_HOUR } from '#domain/access/credential-format.ts';
import { sendMemberNotice } from '#sending/notices/send-member-notice.ts';
import { relayTransport } from '#sending/transports/choose-transport.ts';
import {
  type Answer,
  type ApiWorld,
  apiWorld,
  asBearer,
  at,
  errorCode,
  TEST_PASSWORD,
  type TestPerson,
  textAt,
} from '#test/support/api-world.ts';
import { type Peer, startPeer } from '#test/support/outbound-world.ts';

const NEW_PASSWORD = 'another long pass phrase';
const LINK = /\/reset-password#(amr_[A-Za-z0-9_-]{43}[0-9a-z]{6})/;

let peer: Peer;
let world: ApiWorld;
/** Sends no mail. */
let silent: ApiWorld;
before(async () => {
  peer = await startPeer();
  world = await apiWorld({ OUTBOUND_TRANSPORT: 'relay', OUTBOUND_RELAY_URL: peer.url });
  silent = await apiWorld();
});
after(async () => {
  await world?.close();
  await silent?.close();
  await peer?.close();
});

let sources = 0;
const ask = (email: string): Promise<Answer> =>
  world.call('POST', '/api/password-resets', {
    body: { email },
    headers: { 'x-forwarded-for': `203.0.113.${++sources % 250}` },
  });

const accept = (token: string, password = NEW_PASSWORD, of = world): Promise<Answer> =>
  of.call('POST', '/api/password-resets/accept', {
    body: { token, password },
    headers: { 'x-forwarded-for': `203.0.113.${++sources % 250}` },
  });

const signIn = (email: string, password: string, of = world): Promise<Answer> =>
  of.call('POST', '/api/sessions', {
    body: { email, password },
    headers: { 'x-forwarded-for': `203.0.113.${++sources % 250}`, 'user-agent': 'Browser/1.0' },
  });

const waiting = (recipient: string) =>
  world.sql(`select id, kind, state, body from member_notices where recipient = $1`, [recipient]);

async function sendAll(recipient: string): Promise<void> {
  const transport = relayTransport({ url: peer.url, hostname: 'mail.test' });
  const chat = { send: () => Promise.reject(new Error('no chat')) };
  for (const { id, state } of await waiting(recipient))
    if (state === 'waiting')
      await sendMemberNotice(world.services, { transport, chat }, String(id), { heartbeat() {}, mayBegin: () => true });
}

const mailsTo = (email: string): string[] =>
  peer.received
    .filter(({ to }) => to.includes(email))
    .map(({ bytes }) => bytes.toString().replaceAll('=\r\n', '').replaceAll('=3D', '='));

async function linkFor(person: TestPerson): Promise<string> {
  assert.equal((await ask(person.email)).status, 202);
  await sendAll(person.email);
  return LINK.exec(mailsTo(person.email).at(-1) ?? '')?.[1] ?? '';
}

const newPerson = () => world.newPerson(world.organization.id, 'member');

describe('a reset by mail', () => {
  test('sets a new password once, ends every session, notifies the person and is in the audit log', async () => {
    const person = await newPerson();
    const token = await linkFor(person);
    assert.match(token, /^amr_/);
    assert.equal((await accept(token)).status, 204);
    assert.equal(errorCode(await accept(token)), 'not_found');
    assert.equal((await world.call('GET', '/api/sessions/current', { as: person.session })).status, 401);
    assert.equal(errorCode(await signIn(person.email, TEST_PASSWORD)), 'unauthenticated');
    assert.equal((await signIn(person.email, NEW_PASSWORD)).status, 201);
    await sendAll(person.email);
    assert.match(mailsTo(person.email).at(-1) ?? '', /Subject: Your password was changed/);
    const audit = await world.call('GET', `/api/audit?action=user.password_reset&targetId=${person.userId}`, {
      as: world.organization.key,
    });
    assert.equal(at(audit.body, 'data', 0, 'actor', 'email'), person.email);
  });

  test('has its credential in the mail and nowhere else', async () => {
    const person = await newPerson();
    const token = await linkFor(person);
    for (const table of ['member_notices', 'password_resets', 'audit_entries', 'idempotency_keys'])
      for (const row of await world.sql(`select * from ${table}`))
        assert.ok(!JSON.stringify(row).includes(token), table);
  });

  test('is over after an hour, and with every other change of the password', async () => {
    const person = await newPerson();
    const late = await linkFor(person);
    await world.sql(`update password_resets set expires_at = now() - interval '1 second' where user_id = $1`, [
      person.userId,
    ]);
    assert.equal(errorCode(await accept(late)), 'not_found');
    const open = await linkFor(person);
    const changed = await world.call('PUT', '/api/sessions/current/password', {
      as: person.session,
      body: { currentPassword: TEST_PASSWORD, newPassword: NEW_PASSWORD },
    });
    assert.equal(changed.status, 204);
    assert.equal(errorCode(await accept(open, TEST_PASSWORD)), 'not_found');
  });

  test('is one of two when a link is used twice at the same time', async () => {
    const token = await linkFor(await newPerson());
    const answers = await Promise.all([accept(token, `${NEW_PASSWORD} 1`), accept(token, `${NEW_PASSWORD} 2`)]);
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [204, 404],
    );
  });

  test('answers and works the same for an address without an account, which gets nothing', async () => {
    const nobody = 'nobody@outside.example';
    const person = await newPerson();
    const [known, unknown] = [await ask(person.email), await ask(nobody)];
    assert.deepEqual([known.status, known.text], [unknown.status, unknown.text]);
    const rows = async (email: string) =>
      (await waiting(email)).map(({ kind, state, body }) => ({ kind, state, body }));
    assert.deepEqual(await rows(nobody), await rows(person.email), 'what the request writes does not depend on it');
    await sendAll(nobody);
    assert.deepEqual([mailsTo(nobody), await waiting(nobody)], [[], []]);
  });

  test('is not asked for without end: further mails to an address are not sent', async () => {
    const person = await newPerson();
    for (let i = 0; i < PASSWORD_RESETS_PER_ADDRESS_AND_HOUR + 3; i++)
      assert.equal((await ask(person.email.toUpperCase())).status, 202);
    assert.equal((await waiting(person.email)).length, PASSWORD_RESETS_PER_ADDRESS_AND_HOUR);
  });
});

describe('a person whose mail is read here', () => {
  async function hosted(): Promise<TestPerson & { address: string }> {
    const { address } = await world.newMailbox(world.organization);
    const person = await newPerson();
    await world.sql(`update users set email = $2 where id = $1`, [person.userId, address]);
    return { ...person, email: address, address };
  }

  test('gets a mail without a link', async () => {
    const person = await hosted();
    assert.equal((await ask(person.email)).status, 202);
    await sendAll(person.email);
    const [row] = await waiting(person.email);
    assert.deepEqual([row?.['kind'], row?.['state']], ['password_reset', 'sent']);
    assert.ok(!/amr_|reset-password#/.test(String(row?.['body'])));
    assert.deepEqual(await world.sql(`select 1 from password_resets where user_id = $1`, [person.userId]), []);
  });

  test('gets the link from another owner', async () => {
    const person = await hosted();
    const path = `/api/members/${person.memberId}/password-reset`;
    const made = await world.call('POST', path, { as: world.organization.owner.session });
    assert.equal(made.status, 201, made.text);
    const token = textAt(made.body, 'token');
    assert.ok(textAt(made.body, 'resetUrl').endsWith(`/reset-password#${token}`));
    assert.equal((await accept(token)).status, 204);
    assert.equal((await signIn(person.email, NEW_PASSWORD)).status, 201);
    const audit = await world.call(
      'GET',
      `/api/audit?action=member.password_reset_created&targetId=${person.memberId}`,
      {
        as: world.organization.key,
      },
    );
    assert.equal(at(audit.body, 'data', 0, 'actor', 'id'), world.organization.owner.userId);
  });

  test('does not get it from an admin, nor from an owner of one of several organizations', async () => {
    const person = await hosted();
    const path = `/api/members/${person.memberId}/password-reset`;
    assert.equal(errorCode(await world.call('POST', path, { as: world.organization.admin.session })), 'forbidden');
    await world.sql(
      `insert into members (id, organization_id, user_id, role) values ('mem_elsewhere', $1, $2, 'owner')`,
      [world.other.id, person.userId],
    );
    const answer = await world.call('POST', path, { as: world.organization.owner.session });
    assert.equal(errorCode(answer), 'conflict', 'the link would open the other organization');
    assert.deepEqual(await world.sql(`select 1 from password_resets where user_id = $1`, [person.userId]), []);
  });

  test('does not get it for somebody who has mail outside, unless no mail is sent at all', async () => {
    const person = await newPerson();
    const path = `/api/members/${person.memberId}/password-reset`;
    assert.equal(errorCode(await world.call('POST', path, { as: world.organization.owner.session })), 'conflict');
    const { organization } = silent;
    const made = await silent.call('POST', `/api/members/${organization.member.memberId}/password-reset`, {
      as: organization.owner.session,
    });
    assert.equal((await accept(textAt(made.body, 'token'), NEW_PASSWORD, silent)).status, 204);
    assert.equal((await signIn(organization.member.email, NEW_PASSWORD, silent)).status, 201);
  });

  test('gets it from the operator by a command', async () => {
    const person = await hosted();
    const run = async (email: string) => {
      const child = spawn(process.execPath, ['dev/start.mjs', 'operations/admin.ts', 'reset-password', email], {
        cwd: fileURLToPath(new URL('../..', import.meta.url)),
        env: {
          ...process.env,
          NODE_TEST_CONTEXT: '',
          DATABASE_URL: world.services.settings.DATABASE_URL ?? '',
          CREDENTIAL_PEPPER: Buffer.from(world.services.pepper).toString('base64'),
          API_PUBLIC_URL: 'https://mail.example.com/',
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => {
          output += chunk.toString();
        });
      return { code: await new Promise((resolve) => child.once('close', resolve)), output: () => output };
    };
    const unknown = await run('nobody@outside.example');
    assert.deepEqual([unknown.code, /no account has the address/.test(unknown.output())], [1, true], unknown.output());
    const known = await run(person.email.toUpperCase());
    const token = /^https:\/\/mail\.example\.com\/reset-password#(amr_\S+)$/m.exec(known.output())?.[1] ?? '';
    assert.equal((await accept(token)).status, 204, known.output());
  });
});

describe('sessions', () => {
  test('are listed to their person alone, and ended one by one or all others at once', async () => {
    const person = await newPerson();
    const tokens = [];
    for (let i = 0; i < 3; i++) tokens.push(textAt((await signIn(person.email, TEST_PASSWORD)).body, 'token'));
    const [mine = '', second = '', third = ''] = tokens;
    const as = asBearer(mine);
    const list = async () => {
      const data = at((await world.call('GET', '/api/sessions', { as })).body, 'data');
      assert.ok(Array.isArray(data));
      return data;
    };
    const all = await list();
    assert.equal(all.length, 4);
    const current = all.filter((each) => at(each, 'current') === true);
    assert.deepEqual(
      current.map((each) => [at(each, 'userAgent'), String(at(each, 'ipAddress')).startsWith('203.0.113.')]),
      [['Browser/1.0', true]],
    );
    const [{ id: secondId } = { id: '' }] = await world.sql(
      `select id from sessions where user_id = $1 order by id offset 2 limit 1`,
      [person.userId],
    );
    const stranger = await newPerson();
    const foreign = await world.call('DELETE', `/api/sessions/${String(secondId)}`, { as: stranger.session });
    assert.equal(errorCode(foreign), 'not_found');
    assert.equal((await world.call('DELETE', `/api/sessions/${String(secondId)}`, { as })).status, 204);
    assert.equal((await list()).length, 3);
    assert.equal((await world.call('DELETE', '/api/sessions', { as })).status, 204);
    assert.equal((await list()).length, 1);
    for (const token of [second, third])
      assert.equal((await world.call('GET', '/api/sessions/current', { as: asBearer(token) })).status, 401);
    assert.equal((await world.call('GET', '/api/sessions', { as: stranger.session })).status, 200);
  });
});

test('an invitation can be looked at: its organization, and whether a password is made or given', async () => {
  const { organization } = world;
  const look = (token: string) => world.call('POST', '/api/invitations/look', { body: { token } });
  const account = await world.newPerson(world.other.id, 'member');
  await world.sql(`update users set email = $2 where id = $1`, [account.userId, 'known@agents.test']);
  for (const [email, accountExists] of [
    ['unknown@agents.test', false],
    ['known@agents.test', true],
  ] as const) {
    const invited = await world.call('POST', '/api/members', {
      as: organization.owner.session,
      body: { email, role: 'admin' },
    });
    const token = textAt(invited.body, 'token');
    const { status, body } = await look(token);
    assert.equal(status, 200);
    assert.deepEqual(
      [at(body, 'organizationName'), at(body, 'email'), at(body, 'role'), at(body, 'accountExists')],
      [organization.name, email, 'admin', accountExists],
    );
    await world.call('DELETE', `/api/invitations/${textAt(invited.body, 'id')}`, { as: organization.owner.session });
    assert.equal(errorCode(await look(token)), 'not_found');
  }
});
