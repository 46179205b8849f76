import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, afterEach, before, test } from 'node:test';
import { engineStarts } from '#core/platform/engine/engine-starts.ts';
import { searchKeys } from '#core/platform/engine/temporal-client.ts';
import { sweepRecoveries } from '#core/webhooks/endpoints/recover-deliveries.ts';
import { recoveryWorkflowId } from '#domain/webhooks/recovery.ts';
import type { DeliveryState } from '#test/support/delivery-world.ts';
import { verified } from '#test/support/receiver.ts';
import { testLog } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import {
  type Answer,
  errorOf,
  idOf,
  isFailed,
  isSuccess,
  LONG_LADDER_MS,
  type Subscribed,
  type WebhookWorld,
  webhookWorld,
} from './webhook-world.ts';

let world: WebhookWorld;
before(async () => {
  world = await webhookWorld({ WEBHOOK_RETRY_DELAYS_MS: LONG_LADDER_MS });
});
after(() => world?.close());
afterEach(() => world.receiver.answer(200));

const LONG_AGO = '2026-01-01T00:00:00.000Z';
const isExhausted = ({ status }: { status: string }): boolean => status === 'exhausted';

/** An endpoint that is active again after so many deliveries were given up. */
async function outage(count: number): Promise<Subscribed & { readonly givenUp: readonly DeliveryState[] }> {
  const setting = await world.setUp();
  world.receiver.answer(500);
  for (let i = 0; i < count; i++) await world.happen({ organization: setting.organization, data: { number: i } });
  const all = async (is: (delivery: DeliveryState) => boolean) => {
    const deliveries = await world.deliveries(setting.id);
    return deliveries.length === count && deliveries.every(is) && deliveries;
  };
  await waitUntil('first attempts to fail', () => all(isFailed));
  await setting.call('PATCH', setting.path, { active: false });
  const givenUp = await waitUntil('deliveries to be given up', () => all(isExhausted));
  const active = await setting.call('PATCH', setting.path, { active: true });
  assert.equal(active.status, 200);
  world.receiver.answer(200);
  return { ...setting, givenUp };
}

const recover = (setting: Subscribed, body: object = {}, headers = {}): Promise<Answer> =>
  setting.call('POST', `${setting.path}/recover`, { since: LONG_AGO, ...body }, headers);

/** What people did with the recoveries of the endpoint, in order. */
const audited = async ({ id }: Subscribed): Promise<unknown[]> =>
  (
    await world.sql(
      `select action from audit_entries where target_id = $1 and action like 'webhook.recovery\\_%' order by id`,
      [id],
    )
  ).map(({ action }) => action);

const recoveryPath = (setting: Subscribed, recovery: Answer): string => `${setting.path}/recoveries/${idOf(recovery)}`;

/** The recovery once it has ended. */
const ended = (setting: Subscribed, recovery: Answer): Promise<Answer> =>
  waitUntil('the recovery to end', async () => {
    const answer = await setting.call('GET', recoveryPath(setting, recovery));
    return answer.body['finishedAt'] !== null && answer;
  });

const figures = ({ body }: Answer) => [body['state'], body['total'], body['done'], body['succeeded'], body['failed']];

/** Requests that hang until they are let go. */
function holdRequests() {
  const held: ServerResponse[] = [];
  world.receiver.answer((response) => held.push(response));
  return {
    held,
    letGo() {
      world.receiver.answer(200);
      for (const response of held.splice(0)) response.end();
    },
  };
}

test('a recovery sends given-up deliveries again, under their ids, and counts the results', async () => {
  const setting = await outage(12);
  world.receiver.answer(503, 200);
  const begun = await recover(setting);
  assert.equal(begun.status, 202, JSON.stringify(begun.body));
  assert.deepEqual(figures(begun), ['running', 12, 0, 0, 0]);
  const done = await ended(setting, begun);
  assert.deepEqual(figures(done), ['completed', 12, 12, 11, 1]);
  const deliveries = await world.deliveries(setting.id);
  assert.equal(deliveries.filter(isSuccess).length, 11);
  const [still] = deliveries.filter(isExhausted);
  assert.equal(still?.reason, 'attempts_exhausted');
  for (const { id } of setting.givenUp) {
    assert.deepEqual(
      (await world.attempts(id)).map(({ number, trigger }) => [number, trigger]),
      [
        [1, 'automatic'],
        [2, 'manual'],
      ],
    );
    const requests = world.receiver.of(id);
    assert.equal(requests.length, 2);
    for (const request of requests) verified(request, setting.secret);
  }
  const handle = world.temporal.client.workflow.getHandle(recoveryWorkflowId(setting.id, idOf(begun)));
  const described = await handle.describe();
  assert.equal(await described.staticSummary(), `recover 12 exhausted deliveries of ${setting.id}`);
  assert.equal(described.typedSearchAttributes.get(searchKeys.endpointId), setting.id);
  assert.equal(described.typedSearchAttributes.get(searchKeys.organizationId), setting.organization.id);
  assert.equal(done.body['workflowId'], handle.workflowId);
  // The one that failed again is found by the next recovery; nothing else is.
  const again = await ended(setting, await recover(setting));
  assert.deepEqual(figures(again), ['completed', 1, 1, 1, 0]);
  const list = await setting.call('GET', `${setting.path}/recoveries`);
  assert.deepEqual(
    (list.body['data'] as { id: string }[]).map(({ id }) => id),
    [idOf(again), idOf(begun)],
  );
});

test('only deliveries of the time range are sent again', async () => {
  const setting = await outage(3);
  const [, second, third] = setting.givenUp;
  const timeOf = async (of: DeliveryState | undefined): Promise<string> => {
    const [row] = await world.sql(`select created_at from deliveries where id = $1`, [of?.id]);
    const at = row?.['created_at'];
    assert.ok(at instanceof Date);
    return at.toISOString();
  };
  const begun = await recover(setting, { since: await timeOf(second), until: await timeOf(third) });
  assert.deepEqual(figures(await ended(setting, begun)), ['completed', 1, 1, 1, 0]);
  assert.deepEqual(
    (await world.deliveries(setting.id)).map(({ status }) => status),
    ['exhausted', 'success', 'exhausted'],
  );
  const empty = await recover(setting, { since: '2026-02-01T00:00:00.000Z', until: '2026-01-01T00:00:00.000Z' });
  assert.deepEqual(errorOf(empty), { status: 400, code: 'invalid_request', paths: ['/since'] });
  const ahead = await recover(setting, { since: '2999-01-01T00:00:00.000Z' });
  assert.deepEqual(errorOf(ahead), { status: 400, code: 'invalid_request', paths: ['/since'] });
});

test('deliveries that wait for a retry are made now, and those that fail again keep their ladder', async () => {
  const setting = await world.setUp();
  world.receiver.answer(500);
  for (let i = 0; i < 2; i++) await world.happen({ organization: setting.organization });
  const before = await waitUntil('both to wait', async () => {
    const deliveries = await world.deliveries(setting.id);
    return deliveries.length === 2 && deliveries.every(isFailed) && deliveries;
  });
  world.receiver.answer(200, 500);
  const done = await ended(setting, await recover(setting, { status: 'failed' }));
  assert.deepEqual(figures(done), ['completed', 2, 2, 1, 1]);
  const deliveries = await world.deliveries(setting.id);
  const waits = deliveries.find(isFailed);
  assert.equal(deliveries.filter(isSuccess).length, 1);
  assert.equal(waits?.attemptCount, 2);
  assert.equal(waits?.workflowId, before.find(({ id }) => id === waits?.id)?.workflowId, 'its workflow still holds it');
  assert.ok((waits?.nextAttemptAt?.getTime() ?? 0) > Date.now());
});

test('one recovery of an endpoint at a time; a repeated request with its key begins none', async () => {
  const setting = await outage(6);
  const requests = holdRequests();
  const headers = { 'idempotency-key': 'recover-once' };
  const begun = await recover(setting, {}, headers);
  await waitUntil('requests', () => requests.held.length > 0);
  const second = await recover(setting);
  assert.deepEqual(errorOf(second), { status: 409, code: 'conflict', paths: [] });
  assert.match(String((second.body['error'] as { message: string }).message), new RegExp(idOf(begun)));
  assert.equal(idOf(await recover(setting, {}, headers)), idOf(begun));
  requests.letGo();
  assert.deepEqual(figures(await ended(setting, begun)), ['completed', 6, 6, 6, 0]);
});

test('a recovery leaves half of the slots to live deliveries', async () => {
  const setting = await outage(12);
  const requests = holdRequests();
  const begun = await recover(setting);
  await waitUntil('half of the slots to be taken', () => requests.held.length === 5);
  world.receiver.answer(200);
  await world.happen({ organization: setting.organization, data: { live: true } });
  await waitUntil('the live delivery', async () => (await world.deliveries(setting.id)).filter(isSuccess).length === 1);
  assert.equal(requests.held.length, 5, 'no further one of the recovery has begun');
  requests.letGo();
  assert.deepEqual(figures(await ended(setting, begun)), ['completed', 12, 12, 12, 0]);
});

test('a recovery that finds no slot does not put off the retries it would make', async () => {
  const setting = await world.setUp();
  world.receiver.answer(500);
  await world.happen({ organization: setting.organization });
  const waiting = await waitUntil('it to wait', async () => (await world.deliveries(setting.id)).find(isFailed));
  const [due] = await world.sql(
    `update deliveries set next_attempt_at = now() + interval '30 seconds' where id = $1 returning next_attempt_at`,
    [waiting.id],
  );
  const requests = holdRequests();
  for (let i = 0; i < 5; i++) await world.happen({ organization: setting.organization, data: { live: i } });
  await waitUntil('half of the slots to be taken', () => requests.held.length === 5);
  const begun = await recover(setting, { status: 'failed' });
  await waitUntil('it to look', async () => {
    const [row] = await world.sql(`select updated_at > created_at as looked from recoveries where id = $1`, [
      idOf(begun),
    ]);
    return row?.['looked'] === true;
  });
  const [still] = await world.sql(`select next_attempt_at from deliveries where id = $1`, [waiting.id]);
  assert.deepEqual(still, due);
  requests.letGo();
  assert.deepEqual(figures(await ended(setting, begun)), ['completed', 1, 1, 1, 0]);
});

test('a cancelled recovery sends nothing more, and another one may begin', async () => {
  const setting = await outage(12);
  const requests = holdRequests();
  const begun = await recover(setting);
  await waitUntil('its first requests', () => requests.held.length === 5);
  const cancel = () => setting.call('POST', `${recoveryPath(setting, begun)}/cancel`);
  const cancelled = await cancel();
  assert.deepEqual([cancelled.status, cancelled.body['state']], [200, 'cancelled']);
  assert.deepEqual((await cancel()).body['state'], 'cancelled');
  assert.equal((await audited(setting)).at(-1), 'webhook.recovery_cancelled');
  const from = world.receiver.requests.length;
  requests.letGo();
  await world.temporal.client.workflow.getHandle(recoveryWorkflowId(setting.id, idOf(begun))).result();
  assert.equal(world.receiver.requests.length, from);
  assert.equal((await world.deliveries(setting.id)).filter(isSuccess).length, 5, 'requests in flight have ended');
  const rest = await ended(setting, await recover(setting));
  assert.deepEqual(figures(rest), ['completed', 7, 7, 7, 0]);
});

test('a paused recovery keeps its position and continues when it is resumed', async () => {
  const setting = await outage(12);
  const requests = holdRequests();
  const begun = await recover(setting);
  await waitUntil('its first requests', () => requests.held.length === 5);
  const paused = await setting.call('POST', `${recoveryPath(setting, begun)}/pause`);
  assert.equal(paused.body['state'], 'paused');
  requests.letGo();
  const handle = world.temporal.client.workflow.getHandle(recoveryWorkflowId(setting.id, idOf(begun)));
  await waitUntil(
    'the workflow to wait',
    async () => (await handle.query<{ state: string } | null>('progress'))?.state === 'paused',
  );
  assert.equal((await world.deliveries(setting.id)).filter(isSuccess).length, 5);
  const resumed = await setting.call('POST', `${recoveryPath(setting, begun)}/resume`);
  assert.equal(resumed.body['state'], 'running');
  assert.deepEqual((await audited(setting)).slice(-2), ['webhook.recovery_paused', 'webhook.recovery_resumed']);
  assert.deepEqual(figures(await ended(setting, begun)), ['completed', 12, 12, 12, 0]);
});

for (const { change, reason, act } of [
  {
    change: 'deactivation of the endpoint',
    reason: 'endpoint_inactive',
    act: (setting: Subscribed) => setting.call('PATCH', setting.path, { active: false }),
  },
  {
    change: 'a downgrade',
    reason: 'plan_downgraded',
    act: (setting: Subscribed) =>
      fetch(`${world.api.url}/api/organization/plan`, {
        method: 'PUT',
        headers: {
          'x-operator-key': 'amo_test-operator-key',
          'x-organization-id': setting.organization.id,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ plan: 'free' }),
      }),
  },
])
  for (const state of ['running', 'paused'] as const)
    test(`${change} stops a recovery that is ${state}, with its reason and no further request`, async () => {
      const setting = await outage(8);
      const requests = holdRequests();
      const begun = await recover(setting);
      await waitUntil('its first requests', () => requests.held.length === 5);
      const handle = world.temporal.client.workflow.getHandle(recoveryWorkflowId(setting.id, idOf(begun)));
      if (state === 'paused') {
        await setting.call('POST', `${recoveryPath(setting, begun)}/pause`);
        requests.letGo();
        await waitUntil(
          'it to wait',
          async () => (await handle.query<{ state: string } | null>('progress'))?.state === 'paused',
        );
      }
      const from = world.receiver.requests.length;
      assert.equal((await act(setting)).status, 200);
      requests.letGo();
      const progress = await handle.result();
      assert.deepEqual(
        [Reflect.get(Object(progress), 'state'), Reflect.get(Object(progress), 'stopReason')],
        ['stopped', reason],
      );
      assert.equal(world.receiver.requests.length, from);
    });

test('a recovery of a deleted endpoint stops, and one of an inactive endpoint does not begin', async () => {
  const setting = await outage(8);
  const requests = holdRequests();
  const begun = await recover(setting);
  await waitUntil('its first requests', () => requests.held.length === 5);
  const handle = world.temporal.client.workflow.getHandle(recoveryWorkflowId(setting.id, idOf(begun)));
  assert.equal((await setting.call('DELETE', setting.path)).status, 204);
  requests.letGo();
  assert.equal(Reflect.get(Object(await handle.result()), 'stopReason'), 'endpoint_deleted');
  const inactive = await world.setUp();
  await inactive.call('PATCH', inactive.path, { active: false });
  assert.deepEqual(errorOf(await recover(inactive)), { status: 409, code: 'conflict', paths: [] });
});

test('a recovery is reached by its own endpoint only', async () => {
  const setting = await outage(1);
  const begun = await recover(setting);
  const other = await setting.call('POST', '/api/webhooks', {
    url: world.receiver.url,
    eventTypes: ['email_received'],
  });
  const path = `/api/webhooks/${idOf(other)}/recoveries/${idOf(begun)}`;
  assert.equal((await setting.call('GET', path)).status, 404);
  assert.equal((await setting.call('POST', `${path}/cancel`)).status, 404);
  await ended(setting, begun);
});

test('the sweep restarts a recovery that the engine lost, and it continues where it was', async () => {
  const setting = await outage(8);
  const requests = holdRequests();
  const begun = await recover(setting);
  await waitUntil('its first requests', () => requests.held.length === 5);
  const handle = world.temporal.client.workflow.getHandle(recoveryWorkflowId(setting.id, idOf(begun)));
  await handle.terminate('forgotten');
  requests.letGo();
  await world.sql(`update recoveries set updated_at = now() - interval '1 hour' where id = $1`, [idOf(begun)]);
  await sweepRecoveries(world.services, world.temporal, engineStarts(testLog()));
  assert.deepEqual(figures(await ended(setting, begun)), ['completed', 8, 8, 8, 0]);
});
