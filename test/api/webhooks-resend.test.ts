import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { resendDelivery } from '#core/webhooks/resend-delivery.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { verified } from '#test/support/receiver.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { errorOf, idOf, isSuccess, LONG_LADDER_MS, type WebhookWorld, webhookWorld } from './webhook-world.ts';

let world: WebhookWorld;
before(async () => {
  world = await webhookWorld({ WEBHOOK_RETRY_DELAYS_MS: LONG_LADDER_MS });
});
after(() => world?.close());

test('a resend of a waiting delivery attempts it now, in its workflow', async () => {
  const setting = await world.setUp();
  world.receiver.answer(500, 200);
  await world.happen({ organization: setting.organization });
  const waiting = await world.waitingDelivery(setting);
  const answer = await setting.call('POST', `${setting.path}/deliveries/${waiting.id}/resend`);
  assert.equal(answer.status, 202, JSON.stringify(answer.body));
  const done = await world.delivery(setting.id, isSuccess);
  assert.equal(done.workflowId, waiting.workflowId);
  assert.deepEqual(
    (await world.attempts(done.id)).map(({ number, trigger }) => [number, trigger]),
    [
      [1, 'automatic'],
      [2, 'manual'],
    ],
  );
  for (const request of world.receiver.of(done.id)) verified(request, setting.secret);
  const audit = await world.sql(`select target_id from audit_entries where action = 'webhook.delivery_resent'`);
  assert.ok(audit.some((entry) => entry['target_id'] === done.id));
});

test('a resend of a waiting delivery whose workflow no longer exists starts a new one', async () => {
  const setting = await world.setUp();
  world.receiver.answer(500, 500, 200);
  await world.happen({ organization: setting.organization });
  const waiting = await world.waitingDelivery(setting);
  await world.temporal.client.workflow.getHandle(String(waiting.workflowId)).terminate('forgotten');
  const resend = () => setting.call('POST', `${setting.path}/deliveries/${waiting.id}/resend`);
  const answer = await resend();
  const workflowId = `delivery/${setting.id}/resend/${waiting.id}/2`;
  assert.equal(answer.body['workflowId'], workflowId);
  // It fails once more, and the same workflow continues to wait for the next retry.
  const again = await world.delivery(
    setting.id,
    ({ attemptCount, status }) => attemptCount === 2 && status === 'failed',
  );
  assert.equal(again.workflowId, workflowId);
  assert.equal((await resend()).body['workflowId'], workflowId);
  const done = await world.delivery(setting.id, isSuccess);
  assert.equal(done.attemptCount, 3);
});

test('a resend of a delivery whose workflow has just made the attempt and ended makes no further one', async () => {
  const setting = await world.setUp();
  world.receiver.answer(500, 200);
  await world.happen({ organization: setting.organization });
  const waiting = await world.waitingDelivery(setting);
  const { workflow } = world.temporal.client;
  const handle = workflow.getHandle(String(waiting.workflowId));
  await handle.terminate('ended');
  const ended = () => world.sql(`update deliveries set attempt_count = 2 where id = $1`, [waiting.id]);
  // The workflow ends between the look at the row and the signal.
  const racing = {
    ...handle,
    signal: async (...args: Parameters<typeof handle.signal>) => {
      await ended();
      await handle.signal(...args);
    },
  };
  const client = Object.create(world.temporal.client, { workflow: { value: { getHandle: () => racing } } });
  const temporal = { ...world.temporal, client } as typeof world.temporal;
  const caller = { actor: SYSTEM_ACTOR, ipAddress: null, requestId: null };
  const organization = { id: setting.organization.id, plan: 'unlimited' } as const;
  const answered = await resendDelivery(world.services, temporal, organization, setting.id, waiting.id, caller);
  assert.equal(answered.attemptCount, 2);
  const [row] = await world.deliveries(setting.id);
  assert.equal(row?.workflowId, waiting.workflowId, 'no workflow was started for it');
});

test('a resend while the rest of the batch still hangs does not run beside it', async () => {
  const setting = await world.setUp();
  const slow = await setting.call('POST', '/api/webhooks', {
    url: `${world.receiver.url}/slow`,
    eventTypes: ['email_received'],
  });
  let answers = 0;
  const held: (() => void)[] = [];
  world.receiver.answer((response, { path }) => {
    if (path.endsWith('/slow')) held.push(() => response.end());
    else response.writeHead(answers++ === 0 ? 500 : 200).end();
  });
  await world.happen({ organization: setting.organization });
  const waiting = await world.delivery(setting.id, ({ status }) => status === 'failed');
  await waitUntil('the other endpoint to be asked', () => held.length === 1);
  const answer = await setting.call('POST', `${setting.path}/deliveries/${waiting.id}/resend`);
  assert.equal(answer.status, 202);
  assert.equal(world.receiver.of(waiting.id).length, 1);
  for (const end of held) end();
  const done = await world.delivery(setting.id, isSuccess);
  assert.ok(done.workflowId?.startsWith(`delivery/${setting.id}/fan-out/`), String(done.workflowId));
  assert.equal(done.attemptCount, 2);
  await world.delivery(idOf(slow), isSuccess);
});

test('a resend of a final delivery makes one more attempt, marked manual, whatever its result', async () => {
  const setting = await world.setUp();
  world.receiver.answer(500);
  await world.happen({ organization: setting.organization });
  const waiting = await world.waitingDelivery(setting);
  await setting.call('PATCH', setting.path, { active: false });
  const exhausted = await world.delivery(setting.id, ({ status }) => status === 'exhausted');
  const resend = () => setting.call('POST', `${setting.path}/deliveries/${exhausted.id}/resend`);
  assert.deepEqual(errorOf(await resend()).code, 'conflict');
  await setting.call('PATCH', setting.path, { active: true });

  const failing = await resend();
  assert.equal(failing.status, 202);
  assert.equal(failing.body['workflowId'], `delivery/${setting.id}/resend/${waiting.id}/2`);
  const still = await world.delivery(
    setting.id,
    ({ attemptCount, lastError }) => attemptCount === 2 && lastError !== null,
  );
  await world.temporal.client.workflow.getHandle(String(failing.body['workflowId'])).result();
  assert.equal((await world.delivery(setting.id, () => true)).status, 'exhausted');
  assert.equal(still.nextAttemptAt, null);

  world.receiver.answer(200);
  await resend();
  const done = await world.delivery(setting.id, isSuccess);
  assert.equal(done.reason, null);
  // A delivered one too: the customer lost it, say.
  const answer = await resend();
  await world.temporal.client.workflow.getHandle(String(answer.body['workflowId'])).result();
  assert.deepEqual(
    (await world.attempts(done.id)).map(({ number, trigger, responseCode }) => [number, trigger, responseCode]),
    [
      [1, 'automatic', 500],
      [2, 'manual', 500],
      [3, 'manual', 200],
      [4, 'manual', 200],
    ],
  );
  assert.equal(world.receiver.of(done.id).length, 4);
  const { workflowExecutionInfo } = await world.temporal.client.workflow
    .getHandle(String(answer.body['workflowId']))
    .describe()
    .then(({ raw }) => raw);
  const found = Object.keys(workflowExecutionInfo?.searchAttributes?.indexedFields ?? {});
  assert.deepEqual(found.filter((name) => name !== 'BuildIds').sort(), [
    'DeliveryIds',
    'EndpointId',
    'EventIds',
    'EventType',
    'OrganizationId',
  ]);
});

test('a resend to a destination that is still unsafe keeps the reason', async () => {
  const setting = await world.setUp();
  await world.sql(`update webhook_endpoints set url = 'https://10.0.0.1/hook' where id = $1`, [setting.id]);
  await world.happen({ organization: setting.organization });
  const exhausted = await world.delivery(setting.id, ({ status }) => status === 'exhausted');
  assert.equal(exhausted.reason, 'unsafe_destination');
  const answer = await setting.call('POST', `${setting.path}/deliveries/${exhausted.id}/resend`);
  await world.temporal.client.workflow.getHandle(String(answer.body['workflowId'])).result();
  const again = await world.delivery(setting.id, ({ attemptCount }) => attemptCount === 2);
  assert.deepEqual([again.status, again.reason], ['exhausted', 'unsafe_destination']);
  assert.equal(world.receiver.of(exhausted.id).length, 0);
});

test('two resends at once of a final delivery make one attempt', async () => {
  const setting = await world.setUp();
  const [delivery] = await world.deliver(setting, 1);
  assert.ok(delivery);
  const path = `${setting.path}/deliveries/${delivery.id}/resend`;
  const answers = await Promise.all([setting.call('POST', path), setting.call('POST', path)]);
  const ids = new Set(answers.map(({ body }) => body['workflowId']));
  for (const id of ids) await world.temporal.client.workflow.getHandle(String(id)).result();
  assert.equal(world.receiver.of(delivery.id).length, 1 + ids.size);
});

test('nothing is sent by hand on a plan without webhooks', async () => {
  const setting = await world.setUp({}, 'team');
  const [delivery] = await world.deliver(setting, 1);
  assert.ok(delivery);
  await world.sql(`update organizations set plan = 'free' where id = $1`, [setting.organization.id]);
  for (const path of [`/deliveries/${delivery.id}/resend`, '/test'])
    assert.equal(errorOf(await setting.call('POST', `${setting.path}${path}`)).code, 'plan_required');
  assert.equal((await setting.call('GET', `${setting.path}/deliveries`)).body['total'], 1);
});

test('a test delivery reaches this endpoint alone, signed, with the header, and says that it is a test', async () => {
  const setting = await world.setUp({ authHeader: { name: 'X-Hook-Token', value: 'abc' } });
  const other = await setting.call('POST', '/api/webhooks', {
    url: world.receiver.url,
    eventTypes: ['email_received'],
  });
  const answer = await setting.call('POST', `${setting.path}/test`);
  assert.equal(answer.status, 202, JSON.stringify(answer.body));
  assert.equal(answer.body['eventType'], 'email_received');
  const delivery = await world.delivery(setting.id, isSuccess);
  assert.equal(delivery.id, idOf(answer));
  const [request] = world.receiver.of(delivery.id);
  assert.ok(request);
  assert.equal(request.headers['x-hook-token'], 'abc');
  const envelope = verified(request, setting.secret) as { organization: object; data: { test: boolean } };
  assert.deepEqual(envelope.organization, setting.organization);
  assert.equal(envelope.data.test, true);
  assert.deepEqual(answer.body['payload'], envelope);
  assert.deepEqual(await world.deliveries(idOf(other)), []);

  const chosen = await setting.call('POST', `${setting.path}/test`, { eventType: 'outbound_consent_denied' });
  assert.equal(chosen.body['eventType'], 'outbound_consent_denied');
  assert.equal((await setting.call('POST', `${setting.path}/test`, { eventType: 'x' })).status, 400);
  await setting.call('PATCH', setting.path, { active: false });
  assert.equal(errorOf(await setting.call('POST', `${setting.path}/test`)).code, 'conflict');
});

test('a test delivery of a mailbox endpoint is about its mailbox and within its scope', async () => {
  const organization = await world.organization();
  const mailbox = await world.mailbox(organization);
  const call = await world.client(organization);
  const body = { url: world.receiver.url, eventTypes: ['email_sent'], mailboxId: mailbox.id };
  const path = `/api/webhooks/${idOf(await call('POST', '/api/webhooks', body))}/test`;
  const answer = await call('POST', path);
  assert.deepEqual((answer.body['payload'] as { mailbox: object }).mailbox, mailbox);
  assert.equal(answer.body['mailboxId'], mailbox.id);
  assert.equal(
    errorOf(await call('POST', path, { eventType: 'mailbox_created' })).code,
    'event_type_not_allowed_for_mailbox',
  );
});
