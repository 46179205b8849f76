/**
 * An agent has tokens of mailboxes, API keys with all scopes, and every mail to a mailbox here. With all of these it
 * cannot approve anything, become a member or loosen a brake: by no route, and by no mail that it reads or forwards.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { AuthRule, Route } from '#api/http/route.ts';
import { routes } from '#api/routes.ts';
import { newId } from '#core/platform/new-id.ts';
import { sendMemberNotice } from '#sending/notices/send-member-notice.ts';
import { relayTransport } from '#sending/transports/choose-transport.ts';
import { approvalLink, holdMessage } from '#test/api/approval-link-world.ts';
import {
  type ApiWorld,
  apiWorld,
  asBearer,
  at,
  type Credential,
  errorCode,
  TEST_PASSWORD,
  type TestMailbox,
  type TestOrganization,
  type TestPerson,
  textAt,
} from '#test/support/api-world.ts';
import { type GivenTokens, givenTokens } from '#test/support/oauth-host.ts';
import { type Peer, startPeer } from '#test/support/outbound-world.ts';
import { unknownId } from '#test/support/schema-samples.ts';

let peer: Peer;
let world: ApiWorld;
let of: TestOrganization;
/** An agent that a person has connected by OAuth, with everything that can be given. */
let connected: GivenTokens;
before(async () => {
  peer = await startPeer();
  world = await apiWorld({ OUTBOUND_TRANSPORT: 'relay', OUTBOUND_RELAY_URL: peer.url });
  of = world.organization;
  connected = await givenTokens(world, of.member.session, of.mailbox.id);
});
after(async () => {
  await world?.close();
  await peer?.close();
});

/**
 * Operations that take an API key by their rule and are for a person all the same, with a request that would succeed for
 * one. Routes that loosen what holds mail back belong here, unless their rule alone keeps keys out.
 */
const FOR_PEOPLE: Readonly<Record<string, () => Promise<{ path: string; body?: object }>>> = {
  'updateMailbox of one that is stopped': () => braked({ sendingMode: 'stopped' }, { sendingMode: 'normal' }),
  'updateMailbox of one that writes drafts only': () =>
    braked({ sendingMode: 'drafts_only' }, { sendingMode: 'normal' }),
  'updateMailbox of one with a budget': () =>
    braked({ budgets: { messagesPerDay: 1 } }, { budgets: { messagesPerDay: null } }),
  'updateMailbox of one with a smaller budget': () =>
    braked({ budgets: { newRecipientsPerDay: 1 } }, { budgets: { newRecipientsPerDay: 2 } }),
  approveConsent: async () => ({ path: `/api/consents/${await held()}/approve`, body: { scope: 'message' } }),
  denyConsent: async () => ({ path: `/api/consents/${await held()}/deny`, body: {} }),
  async takeBackApproval() {
    const id = await held();
    const as = of.owner.session;
    await world.call('PATCH', '/api/organization', { as, body: { settings: { undoSeconds: 60 } } });
    await world.call('POST', `/api/consents/${id}/approve`, { as, body: { scope: 'message' } });
    await world.call('PATCH', '/api/organization', { as, body: { settings: { undoSeconds: 0 } } });
    return { path: `/api/consents/${id}/take-back` };
  },
  createStandingApproval: async () => ({
    path: '/api/standing-approvals',
    body: {
      mailboxId: of.mailbox.id,
      recipients: [newDomain()],
      endsAt: new Date(Date.now() + 3_600_000).toISOString(),
      messagesMax: 5,
    },
  }),
  denyConsents: async () => ({ path: '/api/consents/deny', body: { consentIds: [await held()] } }),
  async decideConsents() {
    const consentId = await held();
    const message = await world.call('GET', `/api/consents/${consentId}/message`, { as: of.owner.session });
    const shown = [{ consentId, sha256: textAt(message.body, 'sha256') }];
    return { path: '/api/consents/decide', body: { decision: 'approve', shown } };
  },
  returnConsent: async () => ({ path: `/api/consents/${await held()}/return`, body: { comment: 'No' } }),
  getConsentMessage: async () => ({ path: `/api/consents/${await held()}/message` }),
  getConsentMessageRaw: async () => ({ path: `/api/consents/${await held()}/message/raw` }),
  getConsentMessageAttachment: async () => ({ path: `/api/consents/${await held()}/message/attachments/1` }),
  addOutboundAllow: async () => ({ path: '/api/lists/outbound/allow', body: { value: newDomain() } }),
  async removeOutboundBlock() {
    const body = { value: newDomain() };
    const added = await world.call('POST', '/api/lists/outbound/block', { as: of.owner.session, body });
    return { path: `/api/lists/outbound/block/${textAt(added.body, 'id')}` };
  },
  async 'updateMailbox of one that is suspended'() {
    const { path, body } = await braked({ status: 'suspended' }, { status: 'active' });
    return { path, body };
  },
  'createDomain of a domain with members': async () => ({
    path: '/api/domains',
    body: { name: await domainOfMember() },
  }),
  async 'deleteDomain of a domain with members'() {
    const body = { name: await domainOfMember() };
    const added = await world.call('POST', '/api/domains', { as: of.owner.session, body });
    return { path: `/api/domains/${textAt(added.body, 'id')}` };
  },
  async removeSuppression() {
    const id = newId('suppression');
    await world.sql(`insert into suppression (id, organization_id, address, reason) values ($1, $2, $3, 'complaint')`, [
      id,
      of.id,
      `angry@${newDomain()}`,
    ]);
    return { path: `/api/suppressions/${id}` };
  },
  resumeMailboxSending: async () => ({ path: `/api/mailboxes/${of.mailbox.id}/resume-sending` }),
};

const newDomain = (): string => `${newId('request').replace('_', '-')}.example`;

/** A domain in which, one level below, a member has an address: whether it is hosted decides what is sent there. */
async function domainOfMember(): Promise<string> {
  const domain = newDomain();
  const { userId } = await world.newPerson(of.id, 'member');
  await world.sql(`update users set email = $2 where id = $1`, [userId, `${userId}@mail.${domain}`]);
  return domain;
}

const held = async (): Promise<string> => (await holdMessage(world, of)).consentId;

/** A mailbox that a person has put a brake on, and the request that would loosen it. */
async function braked(brake: object, body: object): Promise<{ path: string; body: object }> {
  const path = `/api/mailboxes/${(await world.newMailbox(of)).id}`;
  const answer = await world.call('PATCH', path, { as: of.owner.session, body: brake });
  assert.equal(answer.status, 200, answer.text);
  return { path, body };
}

const agentsCredentials = (): Readonly<Record<string, Credential>> => ({
  'API key with every scope': of.key,
  'mailbox token': of.mailbox.token,
  'access token of OAuth': connected.credential,
});

/** Rules that no credential of an agent fulfils. */
const isForPeople = (auth: AuthRule): boolean =>
  auth === 'session' ||
  auth === 'operator' ||
  auth === 'instance' ||
  auth === 'approval_link' ||
  (typeof auth === 'object' && 'role' in auth);

/** Rules that the token of a mailbox fulfils at its own mailbox. */
const isForMailboxTokens = (auth: AuthRule): boolean =>
  auth === 'mailbox_token' || (typeof auth === 'object' && 'scope' in auth && auth.mailboxToken === true);

const propertiesOf = (schema: unknown): Readonly<Record<string, unknown>> =>
  Object(Reflect.get(Object(schema ?? {}), 'properties') ?? {});

/** The path, with rows of this organization where it names some. */
function pathOf(route: Route): string {
  const ids: Readonly<Record<string, string>> = { mem_: of.owner.memberId, mbx_: of.mailbox.id };
  return route.path.replaceAll(/:([A-Za-z]+)/g, (_, name: string) => {
    const schema = propertiesOf(route.params)[name];
    const prefix = /^\^([a-z]{3}_)/.exec(String(Reflect.get(Object(schema ?? {}), 'pattern') ?? ''))?.[1] ?? '';
    return ids[prefix] ?? unknownId(schema);
  });
}

describe('by no route', () => {
  const forPeople = routes.filter(({ auth }) => isForPeople(auth));

  test('there are such routes, those of members, keys and settings among them', () => {
    const names = new Set(forPeople.map(({ operationId }) => operationId));
    for (const name of [
      'inviteMember',
      'changeMemberRole',
      'removeMember',
      'resetMemberPassword',
      'createKey',
      'updateKey',
      'updateOrganization',
      'putNoticeSettings',
      'changePassword',
      'listSessions',
      'listNotices',
      'approveByLink',
      'decideOAuthRequest',
      'deleteGrant',
    ])
      assert.ok(names.has(name), `${name} is for people`);
  });

  for (const [n, route] of forPeople.entries())
    test(`${route.operationId} accepts no credential of an agent`, async () => {
      // Links are limited by source.
      const headers = { 'x-forwarded-for': `198.18.9.${n}` };
      for (const [name, as] of Object.entries(agentsCredentials())) {
        const answer = await world.call(route.method, pathOf(route), {
          as,
          headers,
          ...(route.bodyExample === undefined ? {} : { body: route.bodyExample }),
        });
        assert.deepEqual([answer.status, errorCode(answer)], [403, 'forbidden'], `${name}: ${answer.text}`);
        // As a header that is for another kind of credential.
        const text = Object.values(as)[0]?.replace(/^Bearer /, '') ?? '';
        for (const disguise of [
          { authorization: `Bearer ${text.replace(/^am._/, 'ams_')}` },
          { 'x-operator-key': text },
        ]) {
          const disguised = await world.call(route.method, pathOf(route), {
            as: disguise,
            headers,
            ...(route.bodyExample === undefined ? {} : { body: route.bodyExample }),
          });
          assert.ok([401, 403].includes(disguised.status), `${name}: ${disguised.text}`);
        }
        const cookie = await world.call(route.method, pathOf(route), {
          headers: { ...headers, cookie: `agent-mailbox-session=${text}`, origin: world.api.url },
          ...(route.bodyExample === undefined ? {} : { body: route.bodyExample }),
        });
        assert.equal(cookie.status, 401, `${name} as a cookie: ${cookie.text}`);
      }
    });

  for (const [name, make] of Object.entries(FOR_PEOPLE))
    test(`${name} needs a person`, async () => {
      const [operationId] = name.split(' ');
      const route = routes.find((each) => each.operationId === operationId);
      assert.ok(route !== undefined, `${operationId} is a route`);
      for (const [held, as] of Object.entries(agentsCredentials())) {
        const { path, body } = await make();
        const answer = await world.call(route.method, path, { as, ...(body === undefined ? {} : { body }) });
        assert.equal(answer.status, 403, `${held}: ${answer.text}`);
        const byPerson = await world.call(route.method, path, {
          as: of.owner.session,
          ...(body === undefined ? {} : { body }),
        });
        assert.ok([200, 201, 204, 404].includes(byPerson.status), `a person may: ${byPerson.text}`);
      }
    });

  test('a mailbox that a key makes is no way around a brake: it has those that new mailboxes have', async () => {
    const organization = await world.newOrganization('business');
    const settings = (as: Credential, body: object) => world.call('PATCH', '/api/organization', { as, body });
    const brakes = {
      newMailboxSendingMode: 'drafts_only',
      newMailboxDailyMessages: 5,
      newMailboxDailyNewRecipients: 0,
    };
    assert.equal((await settings(organization.admin.session, { settings: brakes })).status, 200);
    const made = await world.call('POST', '/api/mailboxes', { as: organization.key, body: {} });
    assert.equal(made.status, 201, made.text);
    const path = `/api/mailboxes/${textAt(made.body, 'id')}`;
    for (const { body } of [made, await world.call('GET', path, { as: organization.key })])
      assert.deepEqual(
        [at(body, 'sendingMode'), at(body, 'budgets')],
        ['drafts_only', { messagesPerDay: 5, newRecipientsPerDay: 0 }],
      );
    const message = { to: ['zed@acme.example'], subject: 'Hello', text: 'Hello.' };
    const token = asBearer(textAt(made.body, 'token'));
    const sent = await world.call('POST', '/api/mailbox/messages', { as: token, body: message });
    assert.equal(errorCode(sent), 'drafts_only');
    for (const as of [organization.key, token]) {
      for (const body of [{ sendingMode: 'normal' }, { budgets: { messagesPerDay: null } }])
        assert.equal((await world.call('PATCH', path, { as, body })).status, 403);
      assert.equal((await settings(as, { settings: { newMailboxSendingMode: 'normal' } })).status, 403);
    }
    assert.equal(
      (await world.call('PATCH', path, { as: organization.member.session, body: { sendingMode: 'normal' } })).status,
      200,
    );
    await settings(organization.admin.session, { settings: { newMailboxSendingMode: 'stopped' } });
    const stopped = await world.call('POST', '/api/mailboxes', { as: organization.key, body: {} });
    assert.equal(at(stopped.body, 'sending', 'stoppedBy'), 'mailbox');
    assert.equal(
      at(
        (await world.call('GET', `/api/mailboxes/${organization.mailbox.id}`, { as: organization.key })).body,
        'sendingMode',
      ),
      'normal',
      'mailboxes that are there keep theirs',
    );
  });

  test('the token of a suspended mailbox opens nothing, until a person resumes it', async () => {
    const mailbox = await world.newMailbox(of);
    const path = `/api/mailboxes/${mailbox.id}`;
    const tokens = await givenTokens(world, of.member.session, mailbox.id);
    const change = (as: Credential, status: string) => world.call('PATCH', path, { as, body: { status } });
    assert.equal((await change(of.key, 'suspended')).status, 200);
    for (const route of routes.filter(({ auth }) => isForMailboxTokens(auth))) {
      const own = route.path.replace('/api/mailboxes/:id', path);
      const answer = await world.call(route.method, pathOf({ ...route, path: own }), {
        as: mailbox.token,
        ...(route.bodyExample === undefined ? {} : { body: route.bodyExample }),
      });
      assert.deepEqual([answer.status, errorCode(answer)], [403, 'forbidden'], `${route.operationId}: ${answer.text}`);
    }
    const mcp = await fetch(new URL('/mcp', world.api.url), {
      method: 'POST',
      headers: {
        ...mailbox.token,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'list_messages', arguments: {} },
      }),
    });
    const refusal = await mcp.text();
    assert.match(refusal, /suspended/, `MCP: ${mcp.status} ${refusal}`);
    const byOAuth = await world.call('POST', '/mcp', { as: tokens.credential, body: {} });
    assert.match(textAt(byOAuth.body, 'error', 'message'), /suspended/);
    const read = (as: Credential) => world.call('GET', `${path}/messages`, { as });
    assert.equal((await read(of.key)).status, 200, 'a program that manages mailboxes still reads it');
    assert.equal((await read(of.member.session)).status, 200);
    assert.equal((await change(of.member.session, 'active')).status, 200);
    assert.equal((await read(mailbox.token)).status, 200);
  });

  test('a key cannot create another key, nor widen anything that would let it decide', async () => {
    for (const [method, path, body] of [
      ['POST', '/api/keys', { name: 'mine', scopes: ['org:read'] }],
      ['PATCH', '/api/organization', { settings: { consentByApiKey: true } }],
      ['PATCH', '/api/organization', { settings: { outboundConsent: 'off' } }],
      ['PATCH', '/api/organization', { settings: { sendingStopped: false } }],
      ['PATCH', `/api/members/${of.member.memberId}`, { role: 'owner' }],
      ['POST', '/api/members', { email: 'agent@outside.example', role: 'owner' }],
      ['PUT', '/api/organization/plan', { plan: 'unlimited' }],
    ] as const)
      for (const as of Object.values(agentsCredentials()))
        assert.equal((await world.call(method, path, { as, body })).status, 403, `${method} ${path}`);
  });
});

/** Mail as an agent reads it, with its encodings undone. */
const plain = (bytes: Buffer | string): string =>
  bytes
    .toString()
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** Whatever could be a credential of a person. */
const CREDENTIALS = /am[slr]_[A-Za-z0-9_-]{20,}|(?:accept-invitation|approve|reset-password)#\S+/g;

async function inbox(mailbox: TestMailbox): Promise<string[]> {
  const list = await world.call('GET', '/api/mailbox/messages?limit=100&folder=*', { as: mailbox.token });
  const data = at(list.body, 'data');
  assert.ok(Array.isArray(data));
  return Promise.all(
    data.map(async (each) =>
      plain((await world.call('GET', `/api/mailbox/messages/${textAt(each, 'id')}/raw`, { as: mailbox.token })).text),
    ),
  );
}

/** Sends all notices that wait, as the workflows do, with the time of the digests over. */
async function sendNotices(): Promise<void> {
  const transport = relayTransport({ url: peer.url, hostname: 'mail.test' });
  const chat = { send: () => Promise.reject(new Error('no chat')) };
  const services = { ...world.services, now: () => Date.now() + 3_000_000 };
  for (const { id } of await world.sql(`select id from member_notices where state = 'waiting'`))
    await sendMemberNotice(services, { transport, chat }, String(id), { heartbeat() {}, mayBegin: () => true });
}

const ask = (email: string) =>
  world.call('POST', '/api/password-resets', { body: { email }, headers: { 'x-forwarded-for': '203.0.113.9' } });

describe('by no mail', () => {
  /** A person whose mail an agent reads, and everything that could be sent to this person. */
  async function everythingSentTo(email: string, person: TestPerson, inviter: TestOrganization): Promise<void> {
    await world.sql(`update users set email = $2 where id = $1`, [person.userId, email.toLowerCase()]);
    await holdMessage(world, of);
    assert.equal((await ask(email)).status, 202);
    await world.call('POST', '/api/members', {
      as: inviter.owner.session,
      // A member already is not invited again.
      body: { email: inviter === of ? `guest-${email}` : email, role: 'owner' },
    });
    await sendNotices();
  }

  test('a mailbox here never contains a credential of a person', async () => {
    const person = await world.newPerson(of.id, 'owner');
    const [local = '', domain = ''] = of.mailbox.address.split('@');
    for (const email of [of.mailbox.address, `${local}+tag@${domain}`, `${local.toUpperCase()}@${domain}`])
      await everythingSentTo(email, person, world.other);
    const mails = await inbox(of.mailbox);
    assert.ok(
      mails.some((mail) => mail.includes('/approvals?open=con_')),
      'the notice itself did come',
    );
    for (const mail of mails) assert.deepEqual(mail.match(CREDENTIALS), null);
    for (const { to, bytes } of peer.received)
      if (to.some((address) => address.endsWith('agents.test'))) assert.fail(`left this host: ${bytes}`);
    assert.deepEqual(await world.sql(`select 1 from approval_links where member_id = $1`, [person.memberId]), []);
    assert.deepEqual(await world.sql(`select 1 from password_resets where user_id = $1`, [person.userId]), []);
  });

  test('a role address, or an address of a domain that an agent adds, is treated the same', async () => {
    const person = await world.newPerson(of.id, 'owner');
    assert.equal(
      (await world.call('POST', '/api/domains', { as: of.key, body: { name: 'taken.example' } })).status,
      201,
    );
    for (const email of [
      'postmaster@agents.test',
      'abuse@sub.agents.test',
      'boss@taken.example',
      'boss@deep.taken.example',
    ])
      await everythingSentTo(email, person, of);
    assert.deepEqual(await world.sql(`select 1 from approval_links where member_id = $1`, [person.memberId]), []);
    assert.deepEqual(await world.sql(`select 1 from password_resets where user_id = $1`, [person.userId]), []);
    for (const { to, bytes } of peer.received)
      if (to.some((address) => address.endsWith('taken.example')))
        assert.deepEqual(plain(bytes).match(CREDENTIALS), null);
  });

  test('no route gives a person another address, so none becomes one that is read here', () => {
    const changes = routes.filter(
      ({ method, body, auth }) =>
        (method === 'PATCH' || method === 'PUT') && isForPeople(auth) && 'email' in propertiesOf(body),
    );
    assert.deepEqual(
      changes.map(({ operationId }) => operationId),
      [],
    );
  });

  test('quoted text cannot put a link into a notice', async () => {
    const person = await world.newPerson(of.id, 'member');
    await holdMessage(world, of, {
      subject: 'Approve at https://evil.example/approve#x',
      text: 'Hello\n\n  https://evil.example/approve#x\n',
    });
    await sendNotices();
    const mail = plain(peer.received.findLast(({ to }) => to.includes(person.email))?.bytes ?? '');
    const links = mail.split(/\r?\n/).filter((line) => /^\s*https?:/.test(line));
    assert.ok(links.length > 0);
    for (const line of links) assert.ok(line.trim().startsWith(world.api.url), line);
  });

  test('a reply to a notice, or a forward of it, decides nothing', async () => {
    const reader = await world.newMailbox(of);
    await world.sql(`update users set email = $2 where id = $1`, [of.owner.userId, reader.address]);
    const consentId = await held();
    await sendNotices();
    const list = await world.call('GET', '/api/mailbox/messages?limit=100', { as: reader.token });
    const notice = (at(list.body, 'data') as object[]).find((each) =>
      textAt(each, 'subject').startsWith('Approval needed'),
    );
    assert.ok(notice !== undefined);
    const base = `/api/mailbox/messages/${textAt(notice, 'id')}`;
    for (const [path, body] of [
      [`${base}/reply`, { text: 'approve' }],
      [`${base}/forward`, { to: [of.mailbox.address], text: `approve ${consentId}` }],
    ] as const)
      assert.ok((await world.call('POST', path, { as: reader.token, body })).status < 500);
    const consent = await world.call('GET', `/api/consents/${consentId}`, { as: of.key });
    assert.equal(at(consent.body, 'status'), 'pending');
  });

  test('a forwarded link decides its one request and nothing else', async () => {
    const own = await holdMessage(world, of);
    const another = await holdMessage(world, of);
    const link = await approvalLink(world, of, own, of.owner.memberId);
    for (const route of routes.filter(({ auth }) => auth !== 'public' && auth !== 'approval_link')) {
      const answer = await world.call(route.method, pathOf(route), {
        as: link,
        ...(route.bodyExample === undefined ? {} : { body: route.bodyExample }),
      });
      assert.ok([401, 403].includes(answer.status), `${route.operationId}: ${answer.text}`);
    }
    const byCookie = await world.call('GET', '/api/sessions/current', {
      headers: { cookie: `agent-mailbox-session=${String(link['authorization']).slice(7)}`, origin: world.api.url },
    });
    assert.equal(byCookie.status, 401);
    for (const { consentId } of [own, another])
      assert.equal(
        at((await world.call('GET', `/api/consents/${consentId}`, { as: of.key })).body, 'status'),
        'pending',
      );
  });

  test('an invitation that an agent reads elsewhere needs the password of its account', async () => {
    const account = await world.newPerson(world.other.id, 'member');
    const address = (await world.newMailbox(of)).address;
    await world.sql(`update users set email = $2 where id = $1`, [account.userId, address]);
    const invited = await world.call('POST', '/api/members', {
      as: of.admin.session,
      body: { email: address, role: 'admin' },
    });
    assert.equal(at(invited.body, 'delivery'), 'by_inviter');
    const accepted = await world.call('POST', '/api/invitations/accept', {
      body: { token: textAt(invited.body, 'token'), name: 'Agent', password: `${TEST_PASSWORD} of the agent` },
      headers: { 'x-forwarded-for': '203.0.113.10' },
    });
    assert.equal(errorCode(accepted), 'unauthenticated');
  });
});
