/** What happens to deliveries that wait behind a slow endpoint's ten slots. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, afterEach, before, test } from 'node:test';
import { recordEvents } from '../../core/record-event.ts';
import { SYSTEM_ACTOR } from '../../domain/event-envelope.ts';
import { type DeliveryWorld, deliveryWorld } from '../support/delivery-world.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { waitUntil } from '../support/wait-until.ts';

let world: DeliveryWorld;
let receiver: Receiver;
before(async () => {
  [world, receiver] = await Promise.all([deliveryWorld(), startReceiver()]);
});
after(async () => {
  await world?.close();
  await receiver?.close();
});
afterEach(() => receiver.answer(200));

/** Answers nothing until told to. */
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

/** An endpoint that has lately been slow: its deliveries leave their batch and wait in the endpoint's own lanes. */
async function slowEndpoint(events: number) {
  const organization = await world.organization();
  const endpoint = await world.endpoint(organization, { url: receiver.url });
  receiver.answer((response) => setTimeout(() => response.writeHead(200).end(), 1_050));
  await world.happen({ organization });
  await world.delivery(endpoint.id, ({ status }) => status === 'success');
  const held = heldAnswers();
  // One after another, so that there are several lanes to wait in line: some gather, the first leave their batch.
  for (let i = 0; i < events; i++) {
    await world.happen({ organization });
    await waitUntil('it to be claimed', async () =>
      (await world.deliveries(endpoint.id)).every(({ fanOutId }) => fanOutId !== null),
    );
  }
  await waitUntil('all slots to be taken', () => held.count() === 10);
  // Ten under way and ten in line have their attempt reserved, if there are lanes enough, each of which reserves ten at
  // once; the others wait in their workflows. Before that a lane might be about to send what it has just read.
  await waitUntil(
    'the line of the endpoint to be full and the rest to wait in its lanes',
    async () => {
      const open = (await world.deliveries(endpoint.id)).filter(({ status }) => status === 'pending');
      const reserved = open.filter(({ attemptCount }) => attemptCount === 1);
      const lanes = Map.groupBy(open, ({ workflowId }) => workflowId ?? '');
      const wanted = [...lanes.values()].reduce((sum, { length }) => sum + Math.min(10, length), 0);
      return (
        open.length === events &&
        reserved.length === Math.min(20, wanted) &&
        [...lanes.keys()].every((workflowId) => workflowId.startsWith('delivery/'))
      );
    },
    60_000,
  );
  return { held, organization, endpoint };
}

test('deliveries that wait for a slot when their endpoint is set inactive are not sent', async () => {
  const { held, endpoint } = await slowEndpoint(40);
  const sent = receiver.requests.length - 10;
  await world.sql('update webhook_endpoints set active = false where id = $1', [endpoint.id]);
  held.answerAll(200);
  await waitUntil('every delivery to end', async () =>
    (await world.deliveries(endpoint.id)).every(({ completedAt }) => completedAt !== null),
  );
  assert.equal(receiver.requests.length - sent, 10);
  const rows = await world.deliveries(endpoint.id);
  assert.equal(rows.filter(({ status }) => status === 'success').length, 11);
  const stopped = rows.filter(({ reason }) => reason === 'endpoint_inactive');
  assert.equal(stopped.length, 30);
  assert.ok(
    stopped.every(({ attemptCount }) => attemptCount === 0),
    'no attempt is counted that was not made',
  );
});

test('deliveries that wait for a slot go by the address the endpoint has when they are sent', async () => {
  const { held, endpoint } = await slowEndpoint(30);
  const sent = receiver.requests.length - 10;
  await world.sql(`update webhook_endpoints set url = url || '/new' where id = $1`, [endpoint.id]);
  held.answerAll(200);
  await waitUntil('every delivery to end', async () =>
    (await world.deliveries(endpoint.id)).every(({ status }) => status === 'success'),
  );
  const paths = receiver.requests.slice(sent).map(({ path }) => path);
  assert.equal(paths.filter((path) => path === '/hook').length, 10);
  assert.equal(paths.filter((path) => path === '/hook/new').length, 20);
});

test('an endpoint that hangs holds up neither the others nor the end of the worker', async () => {
  // Long enough that no retry comes within the test, whatever the machine does beside it.
  const ladder = { WEBHOOK_RETRY_DELAYS_MS: '600000,600000,600000,600000' };
  const [own, hanging] = await Promise.all([deliveryWorld(ladder), startReceiver()]);
  let closed = false;
  try {
    hanging.answer(() => {});
    const organization = await own.organization();
    const bad = await own.endpoint(organization, { url: hanging.url, eventTypes: ['email_received'] });
    await own.endpoint(organization, { url: receiver.url, eventTypes: ['email_sent'] });
    // More than the worker's activities; each becomes a workflow of its own.
    for (let i = 0; i < 250; i++) {
      await own.happen({ organization });
      await waitUntil('it to be dispatched', async () =>
        (await own.deliveries(bad.id)).every(({ fanOutId }) => fanOutId),
      );
    }
    await waitUntil(
      'all but those under way to wait in lanes',
      async () => {
        const rows = await own.deliveries(bad.id);
        return rows.filter(({ workflowId }) => workflowId?.startsWith('delivery/')).length >= rows.length - 10;
      },
      60_000,
    );
    for (let i = 0; i < 5; i++) {
      const before = receiver.requests.length;
      await own.happen({ organization, type: 'email_sent' });
      await waitUntil('the healthy endpoint to be told', () => receiver.requests.length > before, 10_000);
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

test('what gathers for a slow endpoint when the process stops is handed on before it ends', async () => {
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

test('events of an endpoint that is known to be slow gather into one lane, past the fan-outs', async () => {
  const organization = await world.organization();
  const endpoint = await world.endpoint(organization, { url: receiver.url });
  const well = await world.endpoint(organization, { url: `${receiver.url}/well` });
  receiver.answer((response, { path }) => {
    if (path.endsWith('/well')) response.writeHead(200).end();
    else setTimeout(() => response.writeHead(200).end(), 1_050);
  });
  await world.happen({ organization });
  await waitUntil('the endpoint to be noted as slow', async () => {
    const [row] = await world.sql(`select troubled_until > now() as slow from webhook_endpoints where id = $1`, [
      endpoint.id,
    ]);
    return row?.['slow'] === true;
  });
  const others = await world.sql(`select troubled_until from webhook_endpoints where id = $1`, [well.id]);
  assert.equal(others[0]?.['troubled_until'], null);
  // Recorded in one transaction, so that one claim finds them all.
  const events = 8;
  await world.services.db.transaction((sql) =>
    recordEvents(
      sql,
      Array.from({ length: events }, () => ({
        type: 'email_received' as const,
        organization,
        mailbox: null,
        actor: SYSTEM_ACTOR,
        data: {},
      })),
    ),
  );
  world.services.deliveriesDue.nudge();
  const ended = (id: string) =>
    waitUntil('all to be acknowledged', async () => {
      const rows = await world.deliveries(id);
      return rows.length === events + 1 && rows.every(({ status }) => status === 'success') && rows;
    });
  const [slow, healthy] = await Promise.all([ended(endpoint.id), ended(well.id)]);
  const lanes = new Set(slow.slice(1).map(({ workflowId }) => workflowId));
  assert.equal(lanes.size, 1);
  assert.match(String([...lanes][0]), /^delivery\//);
  assert.ok(healthy.every(({ workflowId }) => workflowId?.startsWith('fan-out/')));
  for (const { id } of slow) assert.equal(receiver.of(id).length, 1);
});
