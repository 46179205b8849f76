import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { SEND_BODY_LIMIT_BYTES } from '#api/messages/sending/send-schema.ts';
import {
  type Answer,
  type ApiWorld,
  apiWorld,
  at,
  type Credential,
  errorCode,
  type TestMailbox,
  textAt,
} from '#test/support/api-world.ts';

let world: ApiWorld;
let ann: TestMailbox;
before(async () => {
  world = await apiWorld();
  ann = await world.newMailbox(world.organization);
});
after(() => world?.close());

const ACCEPT = { accept: 'application/json, text/event-stream' };

const post = (body: unknown, as: Credential, headers: Record<string, string> = {}): Promise<Answer> =>
  world.call('POST', '/mcp', { body, as, headers: { ...ACCEPT, ...headers } });

const message = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params });
const call = (name: string, input: object = {}) => message('tools/call', { name, arguments: input });

/** The result of a call: an answer is JSON, or one event of a stream. */
function resultOf({ status, text, body }: Answer): unknown {
  assert.equal(status, 200, text);
  return at(body ?? JSON.parse(text.replace(/^[^]*?^data: /m, '').split('\n')[0] ?? ''), 'result');
}

test('only a mailbox token is accepted; the error for others says what is needed', async () => {
  const mistyped = { authorization: `${ann.token['authorization']}0` };
  for (const as of [{}, mistyped]) {
    const refused = await post(message('tools/list'), as);
    assert.deepEqual([refused.status, errorCode(refused)], [401, 'unauthenticated']);
    assert.match(refused.headers.get('www-authenticate') ?? '', /^Bearer/);
    assert.notEqual(textAt(refused.body, 'error', 'fix'), '');
  }
  for (const as of [world.organization.key, world.organization.owner.session, world.operator]) {
    const refused = await post(message('tools/list'), as);
    assert.deepEqual([refused.status, errorCode(refused)], [403, 'forbidden']);
    assert.match(textAt(refused.body, 'error', 'message'), /mailbox token/);
  }
});

test('a refused credential is told what is accepted here, and in which header it belongs', async () => {
  const token = (ann.token['authorization'] ?? '').replace('Bearer ', '');
  const key = world.organization.key['x-organization-key'] ?? '';
  const { operator } = world;
  for (const as of [{}, { authorization: 'Bearer nonsense' }, { authorization: `Bearer ${key}` }]) {
    const refused = await post(message('tools/list'), as);
    assert.equal(refused.status, 401);
    const fix = textAt(refused.body, 'error', 'fix');
    assert.match(fix, /OAuth/);
    assert.match(fix, /Authorization: Bearer amt_/);
    assert.doesNotMatch(fix, /Send an API key/);
  }
  for (const [method, path, as, name, header] of [
    ['GET', '/api/mailboxes', { 'x-organization-key': token }, 'A mailbox token', 'Authorization: Bearer amt_'],
    ['POST', '/mcp', { 'x-organization-key': token }, 'A mailbox token', 'Authorization: Bearer amt_'],
    ['GET', '/api/mailboxes', { 'x-organization-key': sessionOf() }, 'A session', 'Authorization: Bearer ams_'],
    [
      'GET',
      '/api/mailboxes',
      { 'x-organization-key': operator['x-operator-key'] ?? '' },
      'An operator key',
      'x-operator-key',
    ],
    ['GET', '/api/mailboxes', { authorization: `Bearer ${key}` }, 'An API key', 'x-organization-key'],
  ] as const) {
    const refused = await world.call(method, path, { as });
    assert.deepEqual([refused.status, errorCode(refused)], [401, 'unauthenticated'], refused.text);
    assert.ok(textAt(refused.body, 'error', 'message').startsWith(name), refused.text);
    assert.ok(textAt(refused.body, 'error', 'fix').includes(header), refused.text);
    assert.ok(!refused.text.includes(token) && !refused.text.includes(key));
  }
});

const sessionOf = (): string => (world.organization.member.session['authorization'] ?? '').replace('Bearer ', '');

test('a rotated token is refused at once', async () => {
  const mailbox = await world.newMailbox(world.organization);
  assert.equal((await post(message('tools/list'), mailbox.token)).status, 200);
  await world.call('POST', `/api/mailboxes/${mailbox.id}/rotate-token`, { as: world.organization.key });
  assert.equal((await post(message('tools/list'), mailbox.token)).status, 401);
});

test('the token alone says whose mail it is', async () => {
  const foreign = await world.newMailbox(world.other);
  const colleague = await world.newMailbox(world.organization);
  await world.call('POST', '/api/mailbox/messages', {
    as: foreign.token,
    body: { to: [foreign.address], subject: 'Of another organization' },
  });
  await world.call('POST', '/api/mailbox/messages', {
    as: colleague.token,
    body: { to: [colleague.address], subject: 'Of a colleague' },
  });
  for (const owner of [foreign, colleague]) {
    const own = textAt(
      (await world.call('GET', '/api/mailbox/messages?folder=INBOX', { as: owner.token })).body,
      'data',
      0,
      'id',
    );
    const result = resultOf(await post(call('read_message', { messageId: own }), ann.token));
    assert.equal(at(result, 'isError'), true);
    assert.match(textAt(result, 'content', 0, 'text'), /^not_found/);
    // An id with a path in it stays an id.
    const escaped = resultOf(await post(call('read_message', { messageId: `../../mailboxes/${owner.id}` }), ann.token));
    assert.equal(at(escaped, 'isError'), true);
    for (const tool of ['list_messages', 'list_threads']) {
      const listed = textAt(resultOf(await post(call(tool), ann.token)), 'content', 0, 'text');
      assert.doesNotMatch(listed, /Of a/);
    }
  }
});

test('the requests of a tool have the request id of the caller', async () => {
  const answer = await post(call('read_message', { messageId: 'msg_x' }), ann.token, { 'x-request-id': 'mine-4711' });
  assert.equal(answer.headers.get('x-request-id'), 'mine-4711');
  assert.match(textAt(resultOf(answer), 'content', 0, 'text'), /Request: mine-4711/);
});

test('requests count against the limit of the plan and are refused above it', async () => {
  const limited = await world.newOrganization('free');
  const first = await post(message('tools/list'), limited.mailbox.token);
  const remaining = Number(first.headers.get('ratelimit-remaining'));
  const second = await post(call('get_mailbox'), limited.mailbox.token);
  assert.ok(Number(second.headers.get('ratelimit-remaining')) < remaining);
  await world.sql(`update rate_limits set used = 1000000 where key = $1`, [`api:${limited.id}`]);
  const refused = await post(message('tools/list'), limited.mailbox.token);
  assert.deepEqual([refused.status, errorCode(refused)], [429, 'rate_limited']);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
});

test('too large, of a wrong type, no JSON, a batch, and from a foreign page: each is refused with its reason', async () => {
  const send = (rawBody: string, headers: Record<string, string>) =>
    world.call('POST', '/mcp', { rawBody, as: ann.token, headers: { ...ACCEPT, ...headers } });
  assert.equal((await send('x'.repeat(SEND_BODY_LIMIT_BYTES + 1), {})).status, 413);
  assert.equal((await send('a=b', { 'content-type': 'application/x-www-form-urlencoded' })).status, 415);
  assert.equal(errorCode(await send('{', {})), 'invalid_request');
  const batch = await post([message('tools/list'), message('tools/list')], ann.token);
  assert.deepEqual([batch.status, errorCode(batch)], [400, 'invalid_request']);
  const page = await post(message('tools/list'), ann.token, { origin: 'https://rebound.example' });
  assert.deepEqual([page.status, errorCode(page)], [403, 'forbidden']);
  assert.equal((await post(message('tools/list'), ann.token, { origin: new URL(world.api.url).origin })).status, 200);
});

test('there is no stream and no session to keep open', async () => {
  for (const method of ['GET', 'DELETE'])
    assert.equal((await world.call(method, '/mcp', { as: ann.token, headers: ACCEPT })).status, 405, method);
});
