import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { NativeConnection } from '@temporalio/worker';
import { type Dispatcher, startDispatcher } from '#core/webhooks/dispatcher/dispatcher.ts';
import { RECEIVER_BODY_MAX_BYTES, RECEIVER_REQUESTS_MAX } from '#domain/webhooks/endpoint-limits.ts';
import {
  type Answer,
  type ApiWorld,
  apiWorld,
  at,
  errorCode,
  type TestOrganization,
  textAt,
} from '#test/support/api-world.ts';
import { deleteHistory } from '#test/support/delete-history.ts';
import { temporalConnection } from '#test/support/temporal-connection.ts';
import { startTestWorker } from '#test/support/test-worker.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import type { RunningWorker } from '#worker/start.ts';

let world: ApiWorld;
let connection: NativeConnection;
let worker: RunningWorker;
let dispatcher: Dispatcher;

before(async () => {
  // Nothing of this machine counts as public: what arrives came without a connection.
  world = await apiWorld({ WEBHOOK_ALLOW_DESTINATIONS: '' });
  connection = await temporalConnection();
  worker = await startTestWorker(world.services, connection);
  dispatcher = startDispatcher(world.services, worker.temporal);
});
after(async () => {
  await dispatcher?.close();
  await worker?.close();
  await connection?.close();
  await world?.close();
});

const open = async (organization: TestOrganization): Promise<string> => {
  const opened = await world.call('POST', '/api/receiver', { as: organization.key });
  assert.equal(opened.status, 200, opened.text);
  return textAt(opened.body, 'url');
};
const createEndpoint = (organization: TestOrganization, url: string): Promise<Answer> =>
  world.call('POST', '/api/webhooks', { as: organization.key, body: { url, eventTypes: ['email_received'] } });

async function requests(organization: TestOrganization): Promise<unknown[]> {
  const { body } = await world.call('GET', '/api/receiver', { as: organization.key });
  const list = at(body, 'requests');
  assert.ok(Array.isArray(list));
  return list;
}

const deliveriesOf = async (organization: TestOrganization, endpointId: string): Promise<unknown[]> => {
  const { body } = await world.call('GET', `/api/webhooks/${endpointId}/deliveries`, { as: organization.key });
  const list = at(body, 'data');
  assert.ok(Array.isArray(list));
  return list;
};

test('the event of a test mail is sent to the built-in receiver, which lists it with its signature verified', async () => {
  const organization = await world.newOrganization('business');
  const before = await world.call('GET', '/api/receiver', { as: organization.key });
  assert.deepEqual(before.body, { receiver: null, requests: [] });
  const url = await open(organization);
  assert.equal(await open(organization), url, 'there is one');
  const endpoint = await createEndpoint(organization, url);
  assert.equal(endpoint.status, 201, endpoint.text);
  const { mailbox, member } = organization;
  const sent = await world.call('POST', `/api/mailboxes/${mailbox.id}/test-mail`, { as: member.session });
  assert.equal(sent.status, 201, sent.text);
  await waitUntil('the request', async () => (await requests(organization)).length === 1);
  const [request] = await requests(organization);
  assert.equal(textAt(request, 'signature'), 'verified');
  assert.equal(textAt(request, 'headers', 'x-service-event'), 'email_received');
  const event: unknown = JSON.parse(textAt(request, 'body'));
  assert.equal(textAt(event, 'data', 'messageId'), textAt(sent.body, 'messageId'));
  assert.match(textAt(event, 'data', 'from'), /^Agent Mailbox test <no-reply@agents\.test>$/);
  // The receiver has the request before its sender has written down the answer.
  const delivery = await waitUntil('the result', async () => {
    const [only] = await deliveriesOf(organization, textAt(endpoint.body, 'id'));
    return textAt(only, 'status') === 'pending' ? undefined : only;
  });
  assert.equal(textAt(delivery, 'status'), 'success');
  assert.equal(textAt(delivery, 'id'), textAt(request, 'headers', 'webhook-id'));
  const mail = await world.call('GET', `/api/mailbox/messages/${textAt(sent.body, 'messageId')}`, {
    as: mailbox.token,
  });
  assert.match(textAt(mail.body, 'subject'), /Test mail/);
  const logins = await waitUntil('the login', async () => {
    const { body } = await world.call('GET', `/api/mailboxes/${mailbox.id}/logins`, { as: organization.key });
    return at(body, 'data', 0) === undefined ? undefined : body;
  });
  assert.equal(textAt(logins, 'data', 0, 'protocol'), 'api');
  const steps = await world.call('GET', '/api/first-run', { as: member.session });
  assert.deepEqual(steps.body, {
    mailbox: { id: mailbox.id, address: mailbox.address },
    connected: true,
    received: true,
    notified: true,
  });
  assert.equal((await requests(world.other)).length, 0, 'another organization sees nothing of it');
});

test('the destination guard lets in the own receiver and nothing that looks like it', async () => {
  const [organization, stranger] = [await world.newOrganization('business'), await world.newOrganization('business')];
  const url = await open(organization);
  const token = url.slice(url.lastIndexOf('/') + 1);
  const { origin, host } = new URL(url);
  for (const other of [
    `${url}?x=1`,
    `${url}#x`,
    `${url}/`,
    `${url}/../../api/mailboxes`,
    `${origin}/receiver/${token.toLowerCase()}0`.slice(0, url.length),
    `${origin}/api/mailboxes`,
    `http://user@${host}/receiver/${token}`,
    `https://${host}/receiver/${token}`,
    `http://127.0.0.2:${new URL(url).port}/receiver/${token}`,
  ]) {
    if (other === url) continue;
    const refused = await createEndpoint(organization, other);
    assert.equal(refused.status, 422, `${other}: ${refused.text}`);
  }
  assert.equal((await createEndpoint(stranger, url)).status, 422, 'the receiver of another organization');
  const made = await createEndpoint(organization, url);
  const id = textAt(made.body, 'id');
  const changed = await world.call('PATCH', `/api/webhooks/${id}`, {
    as: organization.key,
    body: { url: `${origin}/api/mailboxes` },
  });
  assert.equal(changed.status, 422);
});

test('a request from the network is kept with the verdict about it, within bounds', async () => {
  const organization = await world.newOrganization('business');
  const url = await open(organization);
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
  const unsigned = await post('{"a":1}', { authorization: 'Bearer secret-of-somebody' });
  assert.equal(unsigned.status, 200);
  await unsigned.text();
  const forged = await post('{}', {
    'webhook-id': 'dlv_01k8e8f2c0e4x9w2v7a3r5t6y8',
    'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
    'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  });
  await forged.text();
  const kept = await requests(organization);
  assert.deepEqual(
    kept.map((each) => textAt(each, 'signature')),
    ['failed', 'unsigned'],
  );
  assert.ok(!JSON.stringify(kept).includes('secret-of-somebody'));
  const large = await post('x'.repeat(RECEIVER_BODY_MAX_BYTES + 1));
  assert.equal(large.status, 413);
  await large.text();
  assert.equal((await fetch(`${url}x`, { method: 'POST' })).status, 404);

  for (let i = 0; i < RECEIVER_REQUESTS_MAX + 5; i++) await (await post(JSON.stringify({ i }))).text();
  const last = await requests(organization);
  assert.equal(last.length, RECEIVER_REQUESTS_MAX);
  assert.equal(textAt(last[0], 'body'), JSON.stringify({ i: RECEIVER_REQUESTS_MAX + 4 }));
  for (let i = 0; i < 20; i++) await (await post('{}')).text();
  const limited = await post('{}');
  assert.equal(limited.status, 429);
  assert.equal(errorCode({ ...(await asAnswer(limited)) }), 'rate_limited');
});

const asAnswer = async (response: Response): Promise<Answer> => {
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as unknown };
};

test('after a day a receiver answers 410, and retention removes it with its requests', async () => {
  const organization = await world.newOrganization('business');
  const url = await open(organization);
  assert.equal((await createEndpoint(organization, url)).status, 201);
  await (await fetch(url, { method: 'POST', body: '{}' })).text();
  await world.sql(`update webhook_receiver set expires_at = now() where organization_id = $1`, [organization.id]);
  assert.equal((await fetch(url, { method: 'POST', body: '{}' })).status, 410);
  const state = await world.call('GET', '/api/receiver', { as: organization.key });
  assert.deepEqual(state.body, { receiver: null, requests: [] });
  assert.equal((await createEndpoint(organization, url)).status, 422);
  await deleteHistory(world.services);
  assert.deepEqual(await world.sql(`select id from webhook_receiver where url = $1`, [url]), []);
  assert.notEqual(await open(organization), url);
});
