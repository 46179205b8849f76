/** What happens to deliveries that wait behind a slow endpoint's ten slots. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { after, afterEach, before, test } from 'node:test';
import { recordEvents } from '#core/events/record-event.ts';
import { destinationPolicy } from '#core/webhooks/requests/destination-guard.ts';
import { createWebhookSender, type WebhookSender } from '#core/webhooks/requests/webhook-sender.ts';
import { type EnvelopeOrganization, SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { type DeliveryState, type DeliveryWorld, deliveryWorld } from '#test/support/delivery-world.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { testSettings, testTls } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: DeliveryWorld;
let receiver: Receiver;
let sender: WebhookSender;
before(async () => {
  receiver = await startReceiver();
  // Requests that the test holds must not run into their time limit, however slow the machine.
  sender = createWebhookSender({
    policy: destinationPolicy(testSettings()),
    extraCa: [readFileSync(testTls().caFile, 'utf8')],
    timeoutMs: 170_000,
  });
  world = await deliveryWorld({}, { sender });
});
after(async () => {
  await world?.close();
  await receiver?.close();
});
afterEach(() => receiver.answer(200));

/** Answers nothing until the test releases it. */
function heldAnswers() {
  const held: ServerResponse[] = [];
  receiver.answer((response) => void held.push(response));
  return {
    count: () => held.length,
    answerAll(status: number) {
      receiver.answer(status);
      for (const response of held.splice(0)) response.writeHead(status).end();
    },
  };
}

const isPassedOn = ({ workflowId }: DeliveryState) => workflowId?.startsWith('delivery/') === true;

/** Events recorded in one transaction, so that one claim finds them all. */
async function happenAtOnce(own: DeliveryWorld, organization: EnvelopeOrganization, events: number): Promise<void> {
  const event = { type: 'email_received' as const, organization, mailbox: null, actor: SYSTEM_ACTOR, data: {} };
  await own.services.db.transaction((sql) =>
    recordEvents(
      sql,
      Array.from({ length: events }, () => event),
    ),
  );
  own.services.deliveriesDue.wake();
}

/**
 * An endpoint known to be slow, with two workflows: ten deliveries of the first are in flight, ten of the second wait for a
 * slot with their attempt reserved, the others wait in their workflows.
 */
async function slowEndpoint(eventsEach: number) {
  const organization = await world.organization();
  const endpoint = await world.endpoint(organization, { url: receiver.url });
  await world.sql(`update webhook_endpoints set troubled_until = now() + interval '1 hour' where id = $1`, [
    endpoint.id,
  ]);
  const held = heldAnswers();
  const passedOn = (count: number) =>
    waitUntil('a workflow to carry them', async () => {
      const rows = await world.deliveries(endpoint.id);
      return rows.length === count && rows.every(isPassedOn);
    });
  await happenAtOnce(world, organization, eventsEach);
  await passedOn(eventsEach);
  await waitUntil('all slots to be taken', () => held.count() === 10);
  await happenAtOnce(world, organization, eventsEach);
  await passedOn(2 * eventsEach);
  await waitUntil('ten to wait for a slot', async () => {
    const rows = await world.deliveries(endpoint.id);
    return rows.filter(({ attemptCount }) => attemptCount === 1).length === 20;
  });
  return {
    held,
    organization,
    endpoint,
    /** A change of the endpoint, after which nothing that was read before counts as fresh. */
    async change(statement: string) {
      await world.sql(`update webhook_endpoints set ${statement} where id = $1`, [endpoint.id]);
      const changedAtMs = performance.now();
      await waitUntil('what was read before to be old', () => performance.now() - changedAtMs > FRESH_MS);
    },
  };
}

/** Above the time for which a workflow takes what it has read of an endpoint for current. */
const FRESH_MS = 50;

test('deliveries that wait for a slot when their endpoint is set inactive are not sent', async () => {
  const { held, endpoint, change } = await slowEndpoint(20);
  const sent = receiver.requests.length - 10;
  await change('active = false');
  held.answerAll(200);
  await waitUntil('every delivery to end', async () =>
    (await world.deliveries(endpoint.id)).every(({ completedAt }) => completedAt !== null),
  );
  assert.equal(receiver.requests.length - sent, 10);
  const rows = await world.deliveries(endpoint.id);
  assert.equal(rows.filter(({ status }) => status === 'success').length, 10);
  const stopped = rows.filter(({ reason }) => reason === 'endpoint_inactive');
  assert.equal(stopped.length, 30);
  assert.ok(
    stopped.every(({ attemptCount }) => attemptCount === 0),
    'no attempt is counted that was not made',
  );
});

test('deliveries that wait for a slot go by the address the endpoint has when they are sent', async () => {
  const { held, endpoint, change } = await slowEndpoint(15);
  const sent = receiver.requests.length - 10;
  await change(`url = url || '/new'`);
  held.answerAll(200);
  await waitUntil('every delivery to end', async () =>
    (await world.deliveries(endpoint.id)).every(({ status }) => status === 'success'),
  );
  const paths = receiver.requests.slice(sent).map(({ path }) => path);
  assert.equal(paths.filter((path) => path === '/hook').length, 10);
  assert.equal(paths.filter((path) => path === '/hook/new').length, 20);
});

test('an endpoint that hangs delays neither the others nor the end of the worker', async () => {
  // Long enough that no retry comes within the test, whatever the load of the machine.
  const ladder = { WEBHOOK_RETRY_DELAYS_MS: '600000,600000,600000,600000' };
  const [own, hanging] = await Promise.all([deliveryWorld(ladder), startReceiver()]);
  let closed = false;
  try {
    hanging.answer(() => {});
    const organization = await own.organization();
    const bad = await own.endpoint(organization, { url: hanging.url, eventTypes: ['email_received'] });
    await own.endpoint(organization, { url: receiver.url, eventTypes: ['email_sent'] });
    for (let portion = 0; portion < 10; portion++) await happenAtOnce(own, organization, 25);
    await waitUntil('all its slots to be taken', () => hanging.requests.length >= 10);
    await waitUntil(
      'all to be carried',
      async () => (await own.deliveries(bad.id)).every(({ fanOutId }) => fanOutId !== null),
      60_000,
    );
    for (let i = 0; i < 5; i++) {
      const before = receiver.requests.length;
      await own.happen({ organization, type: 'email_sent' });
      await waitUntil('the request to the healthy endpoint', () => receiver.requests.length > before);
    }
    const open = await own.deliveries(bad.id);
    assert.ok(open.every(({ attemptCount }) => attemptCount <= 1));
    const begun = hanging.requests.length;
    await own.close();
    closed = true;
    // Ten may have begun before the worker heard of its end; one that worked its line off would begin all the others.
    assert.ok(hanging.requests.length <= begun + 10, `${hanging.requests.length - begun} requests began while closing`);
  } finally {
    if (!closed) await own.close();
    await hanging.close();
  }
});

test('deliveries set aside for a slow endpoint are started before the process ends', async () => {
  const own = await deliveryWorld();
  try {
    const organization = await own.organization();
    const endpoint = await own.endpoint(organization, { url: receiver.url });
    await own.sql(`update webhook_endpoints set troubled_until = now() + interval '1 hour' where id = $1`, [
      endpoint.id,
    ]);
    await own.happen({ organization });
    await own.delivery(endpoint.id, ({ fanOutId }) => fanOutId !== null);
    await own.dispatcher.close();
    // No dispatcher is left that could sweep it up.
    await own.delivery(endpoint.id, ({ status }) => status === 'success');
  } finally {
    await own.close();
  }
});

test('events of an endpoint that is known to be slow gather into one workflow, past the fan-outs', async () => {
  const organization = await world.organization();
  const endpoint = await world.endpoint(organization, { url: receiver.url });
  const well = await world.endpoint(organization, { url: `${receiver.url}/well` });
  receiver.answer((response, { path }) => {
    if (path.endsWith('/well')) response.writeHead(200).end();
    else setTimeout(() => response.writeHead(200).end(), 1_050);
  });
  const allAnswered = async () => {
    const rows = await world.deliveries(endpoint.id);
    return rows.every(({ status }) => status === 'success') && rows;
  };
  // Time in which this process could not run does not count, so one answer may not look slow.
  await waitUntil('the endpoint to be noted as slow', async () => {
    const [row] = await world.sql(`select troubled_until > now() as slow from webhook_endpoints where id = $1`, [
      endpoint.id,
    ]);
    if (row?.['slow'] === true) return true;
    if (await allAnswered()) await world.happen({ organization });
    return false;
  });
  const before = (await waitUntil('those to be answered', allAnswered)).length;
  const others = await world.sql(`select troubled_until from webhook_endpoints where id = $1`, [well.id]);
  assert.equal(others[0]?.['troubled_until'], null);
  // So long that the test may take its time.
  await world.sql(`update webhook_endpoints set troubled_until = now() + interval '1 hour' where id = $1`, [
    endpoint.id,
  ]);
  const events = 8;
  await happenAtOnce(world, organization, events);
  const ended = (id: string) =>
    waitUntil('all to be acknowledged', async () => {
      const rows = await world.deliveries(id);
      return (
        rows.length === before + events &&
        rows.every(({ status, workflowId }) => status === 'success' && workflowId !== null) &&
        rows
      );
    });
  const [slow, healthy] = await Promise.all([ended(endpoint.id), ended(well.id)]);
  const workflows = new Set(slow.slice(before).map(({ workflowId }) => workflowId));
  assert.equal(workflows.size, 1);
  assert.match(String([...workflows][0]), /^delivery\//);
  assert.ok(healthy.every(({ workflowId }) => workflowId?.startsWith('fan-out/')));
  for (const { id } of slow) assert.equal(receiver.of(id).length, 1);
});
