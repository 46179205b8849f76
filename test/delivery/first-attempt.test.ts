import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { verifyWebhook } from '#client/index.ts';
import { recordEvents } from '#core/events/record-event.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { type DeliveryWorld, deliveryWorld } from '#test/support/delivery-world.ts';
import { type Receiver, startReceiver, verified } from '#test/support/receiver.ts';
import { waitUntil } from '#test/support/wait-until.ts';

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
  await world.happen({ organization, mailbox, data: { subject: 'Grüße ✉', from: 'a@b.test' } });
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

test('an endpoint that asks for it gets a v1a signature beside v1, over the same bytes, at each attempt', async () => {
  const organization = await world.organization();
  const plain = await world.endpoint(organization, { url: receiver.url });
  const endpoint = await world.endpoint(organization, { url: receiver.url, publicKeySignature: true });
  receiver.answer((response, { headers }) => {
    const isFirst = receiver.of(String(headers['webhook-id'])).length === 1;
    response.writeHead(isFirst ? 500 : 200).end();
  });
  await world.happen({ organization });
  const delivery = await world.delivery(endpoint.id, isSuccess);
  receiver.answer(200);
  const [key] = await world.sql('select public_key from webhook_signing_key where organization_id = $1', [
    organization.id,
  ]);
  const requests = receiver.of(delivery.id);
  assert.equal(requests.length, 2);
  for (const request of requests) {
    const signatures = String(request.headers['webhook-signature']);
    assert.match(signatures, /^v1,\S+ v1a,\S+$/);
    verified(request, endpoint.secret);
    const event = await verifyWebhook(request.headers, request.body, String(key?.['public_key']));
    assert.equal(event.id, delivery.eventId);
  }
  assert.equal(requests[0]?.body, requests[1]?.body);
  const other = receiver.of((await world.delivery(plain.id, isSuccess)).id);
  assert.ok(other.every(({ headers }) => /^v1,\S+$/.test(String(headers['webhook-signature']))));
});

test('codes and links go to endpoints that ask for them only, and every attempt sends the same', async () => {
  const organization = await world.organization();
  const plain = await world.endpoint(organization, { url: receiver.url });
  const asking = await world.endpoint(organization, { url: receiver.url, includeExtracts: true });
  receiver.answer((response, { headers }) => {
    const isFirst = receiver.of(String(headers['webhook-id'])).length === 1;
    if (!isFirst) return void response.writeHead(200).end();
    // What the endpoint asks for later holds for later events.
    const flip = `update webhook_endpoints set include_extracts = not include_extracts
                   where id = (select endpoint_id from deliveries where id = $1)`;
    void world.sql(flip, [String(headers['webhook-id'])]).then(() => response.writeHead(500).end());
  });
  const extracts = { otp: '482913', otpCandidates: [{ code: '482913', confidence: 0.97 }], links: [] };
  await world.happen({ organization, data: { subject: 'Your code', nested: { deep: {} } }, extracts });
  const bodies = await Promise.all(
    [plain, asking].map(async ({ id }) => {
      const delivery = await world.delivery(id, isSuccess);
      const requests = receiver.of(delivery.id);
      assert.equal(requests.length, 2);
      assert.equal(requests[0]?.body, requests[1]?.body);
      return JSON.parse(requests[0]?.body ?? '') as { data: object };
    }),
  );
  receiver.answer(200);
  assert.deepEqual(
    bodies.map(({ data }) => data),
    [
      { subject: 'Your code', nested: { deep: {} } },
      { subject: 'Your code', nested: { deep: {} }, extracts },
    ],
  );
  const stored = await world.sql('select payload, extracts from events where organization_id = $1', [organization.id]);
  assert.equal(stored.length, 1);
  assert.ok(!String(stored[0]?.['payload']).includes('482913'));
});

test('without an endpoint that asks for them codes and links are not stored with the event', async () => {
  const organization = await world.organization();
  await world.endpoint(organization, { url: receiver.url });
  await world.happen({ organization, extracts: { otp: '482913' } });
  const stored = await world.sql('select extracts from events where organization_id = $1', [organization.id]);
  assert.deepEqual(stored, [{ extracts: null }]);
});

test('events that are recorded together and match many endpoints keep codes and links apart', async () => {
  const organization = await world.organization();
  const endpoints = await Promise.all(
    Array.from({ length: 6 }, (_, i) =>
      world.endpoint(organization, { url: receiver.url, includeExtracts: i % 2 === 0 }).then(({ id }) => ({ id, i })),
    ),
  );
  const event = { type: 'email_received', organization, mailbox: null, actor: SYSTEM_ACTOR } as const;
  await world.services.db.transaction((sql) =>
    recordEvents(sql, [
      { ...event, data: { number: 1 }, extracts: { otp: '1' } },
      { ...event, data: { number: 2 } },
      { ...event, data: { number: 3 }, extracts: { otp: '3' } },
    ]),
  );
  world.services.deliveriesDue.wake();
  for (const { id, i } of endpoints) {
    const deliveries = await waitUntil('all three', async () => {
      const all = await world.deliveries(id);
      return all.length === 3 && all.every(isSuccess) && all;
    });
    const data = deliveries.map((delivery) => JSON.parse(receiver.of(delivery.id)[0]?.body ?? '').data as object);
    const numbers = data.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
    assert.deepEqual(
      numbers,
      i % 2 === 0
        ? [{ number: 1, extracts: { otp: '1' } }, { number: 2 }, { number: 3, extracts: { otp: '3' } }]
        : [{ number: 1 }, { number: 2 }, { number: 3 }],
    );
  }
});

test('an event without a subscriber, or on a plan without webhooks, leaves no delivery', async () => {
  const organization = await world.organization();
  const other = await world.endpoint(organization, { url: receiver.url, eventTypes: ['mailbox_deleted'] });
  await world.happen({ organization, type: 'mailbox_created' });
  const free = await world.organization('free');
  const ofFree = await world.endpoint(free, { url: receiver.url });
  await world.happen({ organization: free });
  assert.deepEqual([await world.deliveries(other.id), await world.deliveries(ofFree.id)], [[], []]);
});

test('more endpoints than ids made ahead each get their delivery once', async () => {
  const organization = await world.organization();
  const endpoints = await Promise.all(
    Array.from({ length: 11 }, () => world.endpoint(organization, { url: receiver.url })),
  );
  await world.happen({ organization });
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
