import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type DeliveryWorld, deliveryWorld } from '../support/delivery-world.ts';
import { type Receiver, startReceiver, verified } from '../support/receiver.ts';

let world: DeliveryWorld;
let receiver: Receiver;
before(async () => {
  [world, receiver] = await Promise.all([deliveryWorld(), startReceiver()]);
});
after(async () => {
  await world?.close();
  await receiver?.close();
});

const isSuccess = ({ status }: { status: string }) => status === 'success';

test('an event reaches its endpoint at the first attempt, signed, as the envelope that was stored', async () => {
  const organization = await world.organization();
  const mailbox = await world.mailbox(organization);
  const endpoint = await world.endpoint(organization, {
    url: receiver.url,
    authHeader: { name: 'X-My-Auth', value: 'Basic 123' },
  });
  assert.equal(await world.happen({ organization, mailbox, data: { subject: 'Grüße ✉', from: 'a@b.test' } }), 1);
  const delivery = await world.delivery(endpoint.id, isSuccess);

  const [request, ...more] = receiver.of(delivery.id);
  assert.ok(request);
  assert.equal(more.length, 0);
  const body = verified(request, endpoint.secret);
  const [event] = await world.sql(
    'select payload, (extract(epoch from occurred_at) * 1000)::bigint as occurred_ms from events where id = $1',
    [delivery.eventId],
  );
  assert.equal(request.body, event?.['payload']);
  assert.deepEqual(body, {
    id: delivery.eventId,
    type: 'email_received',
    occurredAt: new Date(Number(event?.['occurred_ms'])).toISOString(),
    organization,
    mailbox,
    actor: { type: 'system', id: null, name: null, email: null, address: null },
    data: { subject: 'Grüße ✉', from: 'a@b.test' },
  });
  assert.equal(request.headers['content-type'], 'application/json');
  assert.equal(request.headers['user-agent'], 'Service-Webhooks/1.0');
  assert.equal(request.headers['x-service-event'], 'email_received');
  assert.equal(request.headers['x-my-auth'], 'Basic 123');
  assert.ok(request.rawHeaders.includes('X-My-Auth'));
  assert.deepEqual(await world.attempts(delivery.id), [
    { number: 1, error: null, responseCode: 200, trigger: 'automatic' },
  ]);
  assert.equal(delivery.attemptCount, 1);
});

test('an event without a subscriber, or on a plan without webhooks, leaves no delivery', async () => {
  const organization = await world.organization();
  await world.endpoint(organization, { url: receiver.url, eventTypes: ['mailbox_deleted'] });
  assert.equal(await world.happen({ organization, type: 'mailbox_created' }), 0);
  const free = await world.organization('free');
  await world.endpoint(free, { url: receiver.url });
  assert.equal(await world.happen({ organization: free }), 0);
});

test('more endpoints than ids made ahead each get their delivery once', async () => {
  const organization = await world.organization();
  const endpoints = await Promise.all(
    Array.from({ length: 11 }, () => world.endpoint(organization, { url: receiver.url })),
  );
  assert.equal(await world.happen({ organization }), 11);
  const ids = new Set<string>();
  for (const endpoint of endpoints) {
    const { id } = await world.delivery(endpoint.id, isSuccess);
    assert.equal((await world.deliveries(endpoint.id)).length, 1);
    assert.equal(receiver.of(id).length, 1);
    ids.add(id);
  }
  assert.equal(ids.size, 11);
});

test('every 2xx acknowledges, and the beginning of the answer is kept with secrets masked', async () => {
  const organization = await world.organization();
  const endpoint = await world.endpoint(organization, { url: receiver.url });
  receiver.answer((res) =>
    res.writeHead(204 + 22, { 'set-cookie': 'session=secret', 'x-trace': 'abc' }).end('x'.repeat(100_000)),
  );
  await world.happen({ organization });
  const delivery = await world.delivery(endpoint.id, isSuccess);
  const [attempt] = await world.sql(
    'select response_code, response_headers, length(response_body) as size, remote_address from delivery_attempts where delivery_id = $1',
    [delivery.id],
  );
  assert.equal(attempt?.['response_code'], 226);
  assert.equal(attempt?.['size'], 16 * 1024);
  assert.equal(attempt?.['remote_address'], '127.0.0.1');
  const headers = attempt?.['response_headers'] as Record<string, string>;
  assert.equal(headers['set-cookie'], '[hidden]');
  assert.equal(headers['x-trace'], 'abc');
  receiver.answer(200);
});
