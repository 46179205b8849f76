import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { EVENT_TYPES } from '#domain/webhooks/event-types.ts';
import {
  type Answer,
  type Call,
  errorOf,
  idOf,
  nextPage,
  statusesOf,
  type WebhookWorld,
  webhookWorld,
} from './webhook-world.ts';

let world: WebhookWorld;
let organization: Awaited<ReturnType<WebhookWorld['organization']>>;
let call: Call;
before(async () => {
  world = await webhookWorld();
  organization = await world.organization();
  call = await world.client(organization);
});
after(() => world?.close());

const valid = () => ({ url: world.receiver.url, eventTypes: ['email_received'] });
const create = async (body: object = valid(), by: Call = call): Promise<Answer> => {
  const answer = await by('POST', '/api/webhooks', body);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer;
};

test('creation answers every field and the secret, which no later answer shows', async () => {
  const mailbox = await world.mailbox(organization);
  const url = `${world.receiver.url}?token=in-the-query`;
  const created = await create({
    ...valid(),
    url,
    mailboxId: mailbox.id,
    description: 'Orders',
    authHeader: { name: 'X-Hook-Token', value: 'top secret value' },
  });
  const { secret, ...endpoint } = created.body;
  assert.match(String(secret), /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.deepEqual(endpoint, {
    id: endpoint['id'],
    url,
    eventTypes: ['email_received'],
    mailboxId: mailbox.id,
    description: 'Orders',
    active: true,
    authHeaderName: 'X-Hook-Token',
    disabledReason: null,
    secretPrefix: String(secret).slice(0, 10),
    createdAt: endpoint['createdAt'],
    updatedAt: endpoint['createdAt'],
    lastSuccessAt: null,
    failingSince: null,
    previousSecretExpiresAt: null,
    publicKeySignature: false,
    includeExtracts: false,
    oldestWaitingAt: null,
    stats: { last24h: { pending: 0, success: 0, failed: 0, exhausted: 0 } },
  });
  const read = await call('GET', `/api/webhooks/${idOf(created)}`);
  assert.deepEqual(read.body, endpoint);
  const list = await call('GET', `/api/webhooks?mailboxId=${mailbox.id}`);
  assert.deepEqual(list.body, { data: [endpoint], nextCursor: null });

  const [row] = await world.sql(
    `select secret_sealed, auth_header_value_sealed, (select json_agg(a) from audit_entries a)::text as audit
       from webhook_endpoints where id = $1`,
    [idOf(created)],
  );
  const stored = JSON.stringify(row);
  assert.ok(!stored.includes(String(secret)) && !stored.includes('top secret value'));
  assert.match(String(row?.['audit']), /"webhook\.created"/);
  assert.ok(!String(row?.['audit']).includes('in-the-query'));
});

const rejections: readonly [what: string, change: object, status: number, code: string, paths: string[]][] = [
  ['a URL that is not https', { url: 'http://localhost/hook' }, 422, 'invalid_url', ['/url']],
  ['a relative URL', { url: '/hook' }, 422, 'invalid_url', ['/url']],
  ['an empty URL', { url: '' }, 422, 'invalid_url', ['/url']],
  ['a URL with a password', { url: 'https://u:p@localhost/' }, 422, 'invalid_url', ['/url']],
  ['port 0', { url: 'https://localhost:0/' }, 422, 'invalid_url', ['/url']],
  ['a name that does not resolve', { url: 'https://nowhere.test/' }, 422, 'unresolvable_destination', ['/url']],
  ['a private address', { url: 'https://10.1.2.3/' }, 422, 'unsafe_destination', ['/url']],
  ['a private address in hex', { url: 'https://0x0a010203/' }, 422, 'unsafe_destination', ['/url']],
  ['a metadata address', { url: 'https://169.254.169.254/' }, 422, 'unsafe_destination', ['/url']],
  ['a mapped private address', { url: 'https://[::ffff:10.0.0.1]/' }, 422, 'unsafe_destination', ['/url']],
  ['one private address of two', { url: 'https://mixed.test/' }, 422, 'unsafe_destination', ['/url']],
  ['no event type', { eventTypes: [] }, 422, 'invalid_event_types', ['/eventTypes']],
  ['an unknown event type', { eventTypes: ['email_received', 'x'] }, 422, 'invalid_event_types', ['/eventTypes/1']],
  ['an event type twice', { eventTypes: ['email_sent', 'email_sent'] }, 422, 'invalid_event_types', ['/eventTypes/1']],
  ['a header name that is no token', { authHeader: { name: 'X Y', value: 'v' } }, 422, 'invalid_auth_header', []],
  ['a header value with a line break', { authHeader: { name: 'X', value: 'a\r\nb' } }, 422, 'invalid_auth_header', []],
  ...[
    'Host',
    'content-type',
    'USER-AGENT',
    'webhook-id',
    'Webhook-Anything',
    'X-Forwarded-For',
    'X-Service-Event',
    'Content-Length',
  ].map((name): [string, object, number, string, string[]] => [
    `the header ${name}`,
    { authHeader: { name, value: 'v' } },
    422,
    'invalid_auth_header',
    [],
  ]),
  ['an unknown field', { urls: [] }, 400, 'invalid_request', ['/urls']],
  ['a URL that is too long', { url: `https://localhost/${'a'.repeat(2_048)}` }, 400, 'invalid_request', ['/url']],
  ['two headers', { authHeader: [] }, 400, 'invalid_request', ['/authHeader']],
  ['event types that are no list', { eventTypes: 'email_received' }, 400, 'invalid_request', ['/eventTypes']],
];

test('creation and change reject', async (t) => {
  world.dns.records = [
    { type: 'A', name: 'mixed.test', value: '203.0.114.1' },
    { type: 'A', name: 'mixed.test', value: '192.168.0.1' },
  ];
  const id = idOf(await create());
  const before = (await call('GET', `/api/webhooks/${id}`)).body;
  for (const [what, change, status, code, paths] of rejections)
    await t.test(what, async () => {
      const expected = { status, code, paths: code === 'invalid_auth_header' ? ['/authHeader'] : paths };
      assert.deepEqual(errorOf(await call('POST', '/api/webhooks', { ...valid(), ...change })), expected);
      assert.deepEqual(errorOf(await call('PATCH', `/api/webhooks/${id}`, change)), expected);
    });
  assert.deepEqual((await call('GET', `/api/webhooks/${id}`)).body, before);
});

test('a mailbox endpoint takes only what reaches a mailbox, at creation and at change', async () => {
  const mailbox = await world.mailbox(organization);
  const results = ['email_delivered', 'email_bounced', 'email_complained'];
  const allowed = ['email_received', 'email_sent', 'email_blocked', 'outbound_consent_requested', ...results];
  const id = idOf(await create({ ...valid(), eventTypes: allowed, mailboxId: mailbox.id }));
  for (const type of EVENT_TYPES.filter((each) => !allowed.includes(each))) {
    const expected = { status: 422, code: 'event_type_not_allowed_for_mailbox', paths: ['/eventTypes/1'] };
    const eventTypes = ['email_sent', type];
    const body = { ...valid(), eventTypes, mailboxId: mailbox.id };
    assert.deepEqual(errorOf(await call('POST', '/api/webhooks', body)), expected);
    assert.deepEqual(errorOf(await call('PATCH', `/api/webhooks/${id}`, { eventTypes })), expected);
  }
  await create({ ...valid(), eventTypes: EVENT_TYPES });
});

test('the scope of an endpoint cannot be changed', async () => {
  const mailbox = await world.mailbox(organization);
  const id = idOf(await create());
  for (const mailboxId of [mailbox.id, null, 7]) {
    const answer = await call('PATCH', `/api/webhooks/${id}`, { mailboxId, description: 'no' });
    assert.deepEqual(errorOf(answer), { status: 422, code: 'immutable_field', paths: ['/mailboxId'] });
  }
  assert.equal((await call('GET', `/api/webhooks/${id}`)).body['description'], null);
});

test('a change keeps omitted fields, replaces or removes the header, and clears the description', async () => {
  const authHeader = { name: 'X-One', value: 'first' };
  const id = idOf(await create({ ...valid(), description: 'Orders', authHeader }));
  const sealed = async () =>
    (await world.sql('select auth_header_value_sealed as v from webhook_endpoints where id = $1', [id]))[0]?.['v'];
  const first = await sealed();
  const change = async (body: object) => {
    const answer = await call('PATCH', `/api/webhooks/${id}`, body);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    assert.deepEqual((await call('GET', `/api/webhooks/${id}`)).body, answer.body);
    return answer.body;
  };

  const kept = await change({ eventTypes: ['email_sent', 'email_blocked'] });
  assert.deepEqual(kept['eventTypes'], ['email_sent', 'email_blocked']);
  assert.equal(kept['authHeaderName'], 'X-One');
  assert.equal(kept['description'], 'Orders');
  assert.equal(await sealed(), first);
  const replaced = await change({ authHeader: { name: 'X-Two', value: 'second' } });
  assert.equal(replaced['authHeaderName'], 'X-Two');
  assert.notEqual(await sealed(), first);
  const removed = await change({ authHeader: null, description: null });
  assert.equal(removed['authHeaderName'], null);
  assert.equal(removed['description'], null);
  assert.equal(await sealed(), null);
  const moved = await change({ url: `${world.receiver.url}/2` });
  assert.equal(moved['url'], `${world.receiver.url}/2`);
  assert.deepEqual(await change({}), moved);
});

test('activating forgets why the service had set the endpoint inactive, unless it is suspended', async () => {
  const id = idOf(await create());
  const disable = (reason: string) =>
    world.sql(
      `update webhook_endpoints set active = false, disabled_reason = $2, failing_since = now() where id = $1`,
      [id, reason],
    );
  await disable('gone');
  assert.equal((await call('GET', `/api/webhooks/${id}`)).body['disabledReason'], 'gone');
  const { body } = await call('PATCH', `/api/webhooks/${id}`, { active: true });
  assert.deepEqual([body['active'], body['disabledReason'], body['failingSince']], [true, null, null]);
  await disable('suspended');
  assert.equal(errorOf(await call('PATCH', `/api/webhooks/${id}`, { active: true })).code, 'conflict');
  assert.equal((await call('PATCH', `/api/webhooks/${id}`, { description: 'x' })).status, 200);
});

test('a plan without webhooks answers plan_required', async () => {
  const free = await world.organization('free');
  const by = await world.client(free);
  assert.deepEqual(errorOf(await by('POST', '/api/webhooks', valid())), {
    status: 403,
    code: 'plan_required',
    paths: [],
  });
});

test('creations at the same time do not pass the limit of the plan', async () => {
  const by = await world.client(await world.organization('team'));
  const answers = await Promise.all(Array.from({ length: 14 }, () => by('POST', '/api/webhooks', valid())));
  assert.deepEqual(statusesOf(answers), [...Array(10).fill(201), ...Array(4).fill(402)]);
  const refused = answers.find(({ status }) => status === 402);
  assert.equal(refused && errorOf(refused).code, 'plan_limit_reached');
  const [one] = answers.filter(({ status }) => status === 201);
  assert.ok(one);
  assert.equal((await by('DELETE', `/api/webhooks/${idOf(one)}`)).status, 204);
  await create(valid(), by);
});

test('creations at the same time do not pass the limit of a mailbox', async () => {
  const mailbox = await world.mailbox(organization);
  const body = { ...valid(), mailboxId: mailbox.id };
  const answers = await Promise.all(Array.from({ length: 23 }, () => call('POST', '/api/webhooks', body)));
  assert.deepEqual(statusesOf(answers), [...Array(20).fill(201), ...Array(3).fill(402)]);
  await create();
});

test('endpoints and mailboxes of another organization do not exist', async () => {
  const other = await world.organization();
  const by = await world.client(other);
  const id = idOf(await create());
  const mailbox = await world.mailbox(organization);
  for (const [method, path, body] of [
    ['GET', '', undefined],
    ['PATCH', '', { active: false }],
    ['DELETE', '', undefined],
    ['POST', '/rotate-secret', {}],
    ['POST', '/test', {}],
    ['GET', '/deliveries', undefined],
  ] as const)
    assert.equal(errorOf(await by(method, `/api/webhooks/${id}${path}`, body)).code, 'not_found', `${method} ${path}`);
  assert.deepEqual((await by('GET', '/api/webhooks')).body, { data: [], nextCursor: null });
  assert.deepEqual(errorOf(await by('POST', '/api/webhooks', { ...valid(), mailboxId: mailbox.id })), {
    status: 404,
    code: 'not_found',
    paths: ['/mailboxId'],
  });
  assert.deepEqual((await by('GET', `/api/webhooks?mailboxId=${mailbox.id}`)).body['data'], []);
  assert.equal((await call('GET', `/api/webhooks/${id}`)).body['active'], true);
});

test('each action needs its own scope', async () => {
  const id = idOf(await create());
  const reader = await world.client(organization, ['webhook:read']);
  const creator = await world.client(organization, ['webhook:create']);
  const manager = await world.client(organization, ['webhook:manage']);
  const allowed = async (by: Call) => [
    (await by('POST', '/api/webhooks', valid())).status,
    (await by('GET', '/api/webhooks')).status,
    (await by('GET', `/api/webhooks/${id}`)).status,
    (await by('GET', `/api/webhooks/${id}/deliveries`)).status,
    (await by('GET', '/api/webhooks/event-types')).status,
    (await by('PATCH', `/api/webhooks/${id}`, {})).status,
    (await by('POST', `/api/webhooks/${id}/rotate-secret`)).status,
    (await by('DELETE', `/api/webhooks/${id}`)).status,
  ];
  assert.deepEqual(await allowed(reader), [403, 200, 200, 200, 200, 403, 403, 403]);
  assert.deepEqual(await allowed(creator), [201, 403, 403, 403, 403, 403, 403, 403]);
  assert.deepEqual(await allowed(manager), [403, 403, 403, 403, 403, 200, 200, 204]);
});

test('a repeated creation by Idempotency-Key answers the same endpoint, and its secret for ten minutes only', async () => {
  const headers = { 'idempotency-key': 'create-once' };
  const body = { ...valid(), description: 'idempotent' };
  const first = await call('POST', '/api/webhooks', body, headers);
  const again = await call('POST', '/api/webhooks', body, headers);
  assert.deepEqual(again.body, first.body);
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  await world.sql(`update idempotency_keys set created_at = created_at - interval '11 minutes' where key = $1`, [
    'create-once',
  ]);
  const late = await call('POST', '/api/webhooks', body, headers);
  assert.deepEqual(late.body, { ...first.body, secret: null });
  const other = await call('POST', '/api/webhooks', { ...body, description: 'other' }, headers);
  assert.equal(errorOf(other).code, 'idempotency_conflict');
});

test('rotation answers a new secret, with or without an overlap', async () => {
  const created = await create();
  const path = `/api/webhooks/${idOf(created)}`;
  const rotated = await call('POST', `${path}/rotate-secret`);
  assert.equal(rotated.status, 200);
  assert.match(String(rotated.body['secret']), /^whsec_/);
  assert.notEqual(rotated.body['secret'], created.body['secret']);
  assert.equal(rotated.body['previousSecretExpiresAt'], null);
  const prefix = (await call('GET', path)).body['secretPrefix'];
  assert.equal(prefix, String(rotated.body['secret']).slice(0, 10));
  const overlapping = await call('POST', `${path}/rotate-secret`, { overlapSeconds: 3_600 });
  const remainingMs = Date.parse(String(overlapping.body['previousSecretExpiresAt'])) - Date.now();
  assert.ok(remainingMs > 3_500_000 && remainingMs <= 3_600_000);
  for (const overlapSeconds of [-1, 86_401, 1.5])
    assert.equal((await call('POST', `${path}/rotate-secret`, { overlapSeconds })).status, 400);
});

test('a deleted endpoint and its history are in no answer', async () => {
  const id = idOf(await create());
  assert.equal((await call('DELETE', `/api/webhooks/${id}`)).status, 204);
  for (const path of ['', '/deliveries', '/deliveries/dlv_01k8e8f2c0e4x9w2v7a3r5t6y8'])
    assert.equal((await call('GET', `/api/webhooks/${id}${path}`)).status, 404);
  assert.equal((await call('DELETE', `/api/webhooks/${id}`)).status, 404);
  const listed = (await call('GET', '/api/webhooks?limit=200')).body['data'] as { id: string }[];
  assert.ok(!listed.some((endpoint) => endpoint.id === id));
});

test('the list pages newest first', async () => {
  const by = await world.client(await world.organization());
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.unshift(idOf(await create(valid(), by)));
  const seen: string[] = [];
  let cursor = '';
  do {
    const answer = await by('GET', `/api/webhooks?limit=2${cursor}`);
    seen.push(...(answer.body['data'] as { id: string }[]).map(({ id }) => id));
    cursor = nextPage(answer);
  } while (cursor !== '');
  assert.deepEqual(seen, ids.toSorted().reverse());
  assert.equal((await by('GET', '/api/webhooks?cursor=abc')).status, 400);
});

test('a single endpoint carries an ETag', async () => {
  const path = `/api/webhooks/${idOf(await create())}`;
  const etag = (await call('GET', path)).headers.get('etag');
  assert.ok(etag);
  assert.equal((await call('GET', path, undefined, { 'if-none-match': etag })).status, 304);
});

test('a URL is kept in its normal form, in which its length counts and a change is seen', async () => {
  const { port } = world.receiver;
  const created = await create({ ...valid(), url: `HTTPS://LocalHost:${port}/a/../hooks/ä` });
  const normal = `https://localhost:${port}/hooks/%C3%A4`;
  assert.equal(created.body['url'], normal);
  const path = `/api/webhooks/${idOf(created)}`;
  await world.sql(`update webhook_endpoints set failing_since = now() where id = $1`, [idOf(created)]);
  const same = await call('PATCH', path, { url: `https://localhost:${port}/hooks/ä` });
  assert.equal(same.body['url'], normal);
  assert.notEqual(same.body['failingSince'], null, 'the same address fails on');
  const long = await call('POST', '/api/webhooks', { ...valid(), url: `${world.receiver.url}?${'ä'.repeat(1_000)}` });
  assert.deepEqual(errorOf(long), { status: 422, code: 'invalid_url', paths: ['/url'] });
});

test('an error says what to do in this case', async () => {
  const fixOf = (answer: Answer) => (answer.body['error'] as { fix: string }).fix;
  const { organization: own, call: by, path } = await world.setUp();
  await by('PATCH', path, { active: false });
  assert.match(fixOf(await by('POST', `${path}/test`, {})), /PATCH \/api\/webhooks\/:id \{"active": true\}/);
  const reader = await world.client(own, ['webhook:manage']);
  assert.match(fixOf(await reader('GET', path)), /scope webhook:read/);
  assert.match(fixOf(await by('GET', '/api/webhooks/whe_no')), /Check the path and the id/);
});
