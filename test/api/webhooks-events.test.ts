import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule, { type FormatsPlugin } from 'ajv-formats';
import nodemailer from 'nodemailer';
import { EVENT_SCOPES, EVENT_TYPES, isEventType } from '#domain/webhooks/event-types.ts';
import { type MailListeners, startMail } from '#mail/start.ts';
import { verified } from '#test/support/receiver.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { type Call, errorOf, idOf, type WebhookWorld, webhookWorld } from './webhook-world.ts';

// The package is CommonJS with an ES default: under nodenext the namespace is typed, the function is what runs.
const addFormats = addFormatsModule as unknown as FormatsPlugin;

interface DescribedType {
  readonly type: string;
  readonly summary: string;
  readonly scopes: object;
  readonly schema: object;
  readonly example: { readonly data: object };
}

let world: WebhookWorld;
let mail: MailListeners;
let dataFolder: string;
let described: readonly DescribedType[];
before(async () => {
  dataFolder = mkdtempSync(path.join(tmpdir(), 'webhooks-events-'));
  world = await webhookWorld({ DATA_DIR: dataFolder });
  mail = await startMail(world.services);
  const call = await world.client(await world.organization());
  described = (await call('GET', '/api/webhooks/event-types')).body['data'] as DescribedType[];
});
after(async () => {
  await mail?.close();
  await world?.close();
  rmSync(dataFolder, { recursive: true, force: true });
});

const ajv = new Ajv2020({ allErrors: true, strict: true });
addFormats(ajv);

/** The published schema, with every object closed: what is sent is described in full. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const plain = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return 'properties' in plain ? { ...plain, additionalProperties: false } : plain;
}

function checkFits(type: string, body: unknown): void {
  const schema = described.find((each) => each.type === type)?.schema;
  assert.ok(schema, `${type} is described`);
  const validate = ajv.compile(closed(schema) as object);
  assert.ok(validate(body), `${type}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`);
}

test('all event types are described, with the scopes they reach', () => {
  assert.deepEqual(
    described.map(({ type, scopes }) => [type, scopes]),
    EVENT_TYPES.map((type) => [type, EVENT_SCOPES[type]]),
  );
  for (const { summary } of described) assert.ok(summary.length > 0);
});

for (const type of EVENT_TYPES)
  test(`the example of ${type} fits its schema, which allows fields to come`, () => {
    const event = described.find((each) => each.type === type);
    assert.ok(event);
    checkFits(type, event.example);
    const later = { ...event.example, later: 1, data: { ...event.example.data, later: 1 } };
    assert.ok(ajv.compile(event.schema)(later));
    assert.ok(!ajv.compile(event.schema)({ ...event.example, data: {} }));
  });

test('recorded and sent events match their schema', async () => {
  const organization = await world.organization();
  const call = await world.client(organization);
  const hook = '/all-events';
  const created = await call('POST', '/api/webhooks', {
    url: new URL(hook, world.receiver.url).href,
    eventTypes: EVENT_TYPES,
  });
  const mailbox = await call('POST', '/api/mailboxes', { metadata: { team: 'orders' }, clientId: 'one' });
  assert.equal(mailbox.status, 201, JSON.stringify(mailbox.body));
  const transport = nodemailer.createTransport({
    host: mail.smtp.host,
    port: mail.smtp.port,
    tls: { rejectUnauthorized: false },
  });
  await transport.sendMail({
    from: { name: 'Ada Byron', address: 'ada@customer.example' },
    to: String(mailbox.body['address']),
    cc: 'grace@customer.example',
    subject: 'Grüße',
    text: 'Where is my order?',
    attachments: [{ filename: 'order.txt', content: 'x' }, { content: 'y' }],
  });
  transport.close();
  assert.equal((await call('DELETE', `/api/mailboxes/${idOf(mailbox)}`)).status, 204);
  for (const eventType of EVENT_TYPES)
    assert.equal((await call('POST', `/api/webhooks/${idOf(created)}/test`, { eventType })).status, 202);

  const wanted = 3 + EVENT_TYPES.length;
  const requests = await waitUntil('all events', () => {
    const got = world.receiver.requests.filter((request) => request.path === hook);
    return got.length >= wanted && got;
  });
  const types = requests.map((request) => {
    const body = verified(request, String(created.body['secret'])) as { type: string; data: { test?: boolean } };
    assert.ok(isEventType(body.type));
    checkFits(body.type, body);
    return body.data.test === true ? `test ${body.type}` : body.type;
  });
  assert.deepEqual(
    types.toSorted(),
    ['email_received', 'mailbox_created', 'mailbox_deleted', ...EVENT_TYPES.map((type) => `test ${type}`)].toSorted(),
  );
});

/** A mail to a mailbox, and its events by the path of the endpoint. */
async function eventsOfMail(call: Call, hooks: Readonly<Record<string, object>>, html: string) {
  const endpoints: string[] = [];
  for (const [hook, more] of Object.entries(hooks)) {
    const url = new URL(hook, world.receiver.url).href;
    const created = await call('POST', '/api/webhooks', { url, eventTypes: ['email_received'], ...more });
    assert.equal(created.status, 201, JSON.stringify(created.body));
    endpoints.push(idOf(created));
  }
  const mailbox = await call('POST', '/api/mailboxes', {});
  const transport = nodemailer.createTransport({
    host: mail.smtp.host,
    port: mail.smtp.port,
    tls: { rejectUnauthorized: false },
  });
  await transport.sendMail({
    from: 'shop@shop.example',
    to: String(mailbox.body['address']),
    subject: 'Your verification code',
    html,
  });
  transport.close();
  const bodies = await Promise.all(
    Object.keys(hooks).map((hook) =>
      waitUntil(`the event at ${hook}`, () => world.receiver.requests.find(({ path: at }) => at === hook)),
    ),
  );
  const events = bodies.map(
    ({ body }) => JSON.parse(body) as { type: string; data: { messageId: string; extracts?: { links: object[] } } },
  );
  for (const event of events) checkFits(event.type, event);
  return { endpoints, events, bodies, mailboxId: idOf(mailbox) };
}

test('codes and links of a mail are in the event of endpoints that ask for them, as GET answers them', async () => {
  const call = await world.client(await world.organization());
  const { endpoints, events, bodies, mailboxId } = await eventsOfMail(
    call,
    { '/plain': {}, '/extracts': { includeExtracts: true } },
    '<p>Your verification code is <b>482913</b>.</p><p><a href="https://shop.example/confirm?t=b1c2">Confirm your address</a></p>',
  );
  const [plain, asking] = events;
  assert.ok(plain && asking);
  assert.equal(plain.data.extracts, undefined);
  const path = `/api/mailboxes/${mailboxId}/messages/${asking.data.messageId}/extracts`;
  const answer = await call('GET', path);
  assert.equal(answer.body['otp'], '482913');
  assert.deepEqual(asking.data.extracts, answer.body);
  for (const [i, id] of endpoints.entries()) {
    const list = await call('GET', `/api/webhooks/${id}/deliveries`);
    const [delivery] = list.body['data'] as { payload: object }[];
    assert.deepEqual(delivery?.payload, JSON.parse(bodies[i]?.body ?? ''), 'the history shows what was sent');
  }
  const tested = await call('POST', `/api/webhooks/${endpoints[1]}/test`, { eventType: 'email_received' });
  const { data } = tested.body['payload'] as { data: { extracts?: object } };
  assert.ok(data.extracts);
  checkFits('email_received', tested.body['payload']);
});

test('a key that may not read mail gets no codes by a webhook either', async () => {
  const organization = await world.organization();
  const reader = await world.client(organization);
  const blind = await world.client(organization, ['webhook:create', 'webhook:read', 'webhook:manage']);
  const wanted = { url: `${world.receiver.url}blind`, eventTypes: ['email_received'] };
  const refused = { status: 403, code: 'insufficient_scope', paths: [] };
  assert.deepEqual(errorOf(await blind('POST', '/api/webhooks', { ...wanted, includeExtracts: true })), refused);
  const plain = `/api/webhooks/${idOf(await blind('POST', '/api/webhooks', wanted))}`;
  assert.deepEqual(errorOf(await blind('PATCH', plain, { includeExtracts: true })), refused);
  assert.equal((await blind('PATCH', plain, { includeExtracts: false, url: wanted.url })).status, 200);
  const asking = `/api/webhooks/${idOf(await reader('POST', '/api/webhooks', { ...wanted, includeExtracts: true }))}`;
  const audited = await world.sql(
    `select details ->> 'includeExtracts' as asked from audit_entries where organization_id = $1 and action = 'webhook.created'
      order by id`,
    [organization.id],
  );
  assert.deepEqual(audited, [{ asked: null }, { asked: 'true' }]);
  for (const change of [{ url: `${wanted.url}/elsewhere` }, { includeExtracts: false }])
    assert.deepEqual(errorOf(await blind('PATCH', asking, change)), refused, JSON.stringify(change));
  assert.equal((await blind('PATCH', asking, { description: 'Mine', includeExtracts: true })).status, 200);
  assert.equal((await reader('PATCH', asking, { url: `${wanted.url}/elsewhere` })).status, 200);
});

test('a mail with many long links makes no large event: it has the most likely links', async () => {
  const call = await world.client(await world.organization());
  const long = 'x'.repeat(3_000);
  const links = Array.from({ length: 40 }, (_, i) => `<a href="https://shop.example/${i}/${long}">Link ${i}</a>`);
  const { events, bodies } = await eventsOfMail(
    call,
    { '/many': { includeExtracts: true } },
    `<p><a href="https://shop.example/confirm?t=1">Confirm your address</a></p>${links.join(' ')}`,
  );
  const found = events[0]?.data.extracts?.links ?? [];
  assert.ok(found.length >= 2 && found.length < 41, String(found.length));
  assert.equal(Reflect.get(found[0] ?? {}, 'url'), 'https://shop.example/confirm?t=1');
  assert.ok(Buffer.byteLength(JSON.stringify(events[0]?.data.extracts)) <= 16 * 1024);
  assert.ok(Buffer.byteLength(bodies[0]?.body ?? '') < 32 * 1024);
});
