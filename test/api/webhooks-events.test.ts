import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule, { type FormatsPlugin } from 'ajv-formats';
import nodemailer from 'nodemailer';
import { EVENT_SCOPES, EVENT_TYPES, isEventType } from '../../domain/event-types.ts';
import { type MailDoors, startMail } from '../../mail/start.ts';
import { verified } from '../support/receiver.ts';
import { waitUntil } from '../support/wait-until.ts';
import { idOf, type WebhookWorld, webhookWorld } from './webhook-world.ts';

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
let mail: MailDoors;
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

test('what is recorded and sent fits its schema', async () => {
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
