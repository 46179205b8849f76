/** From a management request to the deliveries it stops or causes, through the running engine. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { type StartedApi, startApi } from '#api/start.ts';
import { newId } from '#core/platform/new-id.ts';
import { credentialHint, hashCredential, newCredential } from '#core/platform/secrets/credentials.ts';
import { API_SCOPES } from '#domain/access/api-scopes.ts';
import type { EndpointDeliveryState } from '#domain/webhooks/delivery-workflows.ts';
import type { EnvelopeOrganization } from '#domain/webhooks/event-types.ts';
import { at } from '#test/support/api-world.ts';
import { type DeliveryWorld, deliveryWorld, waitsForRetry } from '#test/support/delivery-world.ts';
import { type Receiver, startReceiver, verified } from '#test/support/receiver.ts';
import { waitUntil } from '#test/support/wait-until.ts';

/** Waits so long that only a stop ends them within the test. */
const LONG_LADDER_MS = '3600000,3600000,3600000,3600000';

let world: DeliveryWorld;
let receiver: Receiver;
let api: StartedApi;
before(async () => {
  [world, receiver] = await Promise.all([deliveryWorld({ WEBHOOK_RETRY_DELAYS_MS: LONG_LADDER_MS }), startReceiver()]);
  api = await startApi(world.services, world.temporal);
});
after(async () => {
  await api?.close();
  await world?.close();
  await receiver?.close();
});
afterEach(() => receiver.answer(200));

async function send(method: string, path: string, credential: Record<string, string>, body?: object) {
  const response = await fetch(new URL(path, api.url), {
    method,
    headers: { ...credential, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  assert.ok(response.ok, text);
  return text === '' ? undefined : (JSON.parse(text) as unknown);
}

async function keyOf(organization: EnvelopeOrganization): Promise<Record<string, string>> {
  const key = newCredential('apiKey');
  await world.sql(
    `insert into api_keys (id, organization_id, name, key_hash, key_hint, scopes) values ($1, $2, 'test', $3, $4, $5)`,
    [newId('apiKey'), organization.id, hashCredential(key, world.services.pepper), credentialHint(key), API_SCOPES],
  );
  return { 'x-organization-key': key };
}

const changePlan = (organization: EnvelopeOrganization, plan: string) =>
  send(
    'PUT',
    '/api/organization/plan',
    { 'x-operator-key': world.services.settings.OPERATOR_KEY ?? '', 'x-organization-id': organization.id },
    { plan },
  );

/** A delivery to a mailbox endpoint whose workflow waits for the second attempt. */
async function waiting() {
  receiver.answer(500);
  const organization = await world.organization('team');
  const mailbox = await world.mailbox(organization);
  const endpoint = await world.endpoint(organization, { url: receiver.url, mailboxId: mailbox.id });
  await world.happen({ organization, mailbox });
  const delivery = await world.delivery(endpoint.id, waitsForRetry);
  await waitUntil('its workflow to wait', async () => {
    const handle = world.temporal.client.workflow.getHandle(delivery.workflowId ?? '');
    const state = await handle.query<EndpointDeliveryState>('state').catch(() => undefined);
    return state?.phase === 'waiting';
  });
  receiver.answer(200);
  return { organization, mailbox, endpoint, delivery };
}

test('a downgrade stops waiting deliveries at once; after an upgrade only new events are delivered', async () => {
  const { organization, mailbox, endpoint, delivery } = await waiting();
  await changePlan(organization, 'free');
  const stopped = await world.delivery(endpoint.id, ({ status }) => status === 'exhausted');
  assert.equal(stopped.reason, 'plan_downgraded');
  assert.equal(await world.happen({ organization, mailbox }), 0, 'no deliveries on a plan without webhooks');
  await changePlan(organization, 'business');
  await world.happen({ organization, mailbox });
  await waitUntil('the new event to be delivered', async () =>
    (await world.deliveries(endpoint.id)).some(({ status }) => status === 'success'),
  );
  assert.equal((await world.deliveries(endpoint.id)).length, 2);
  assert.equal(receiver.of(delivery.id).length, 1, 'the stopped delivery was not sent again');
});

test('deliveries of a suspended organization end without a request, and are sent when it is resumed', async () => {
  const { organization, mailbox, endpoint, delivery } = await waiting();
  const suspend = (suspended: boolean) =>
    send(
      'PUT',
      '/api/organization/suspension',
      { 'x-operator-key': world.services.settings.OPERATOR_KEY ?? '', 'x-organization-id': organization.id },
      { suspended },
    );
  await suspend(true);
  const stopped = await world.delivery(endpoint.id, ({ status }) => status === 'exhausted');
  assert.equal(stopped.reason, 'organization_suspended');
  await world.happen({ organization, mailbox });
  await waitUntil('the new delivery to end', async () => {
    const all = await world.deliveries(endpoint.id);
    return all.length === 2 && all.every(({ reason }) => reason === 'organization_suspended');
  });
  assert.equal(receiver.of(delivery.id).length, 1, 'nothing was sent meanwhile');
  await suspend(false);
  await waitUntil('both to be delivered', async () =>
    (await world.deliveries(endpoint.id)).every(({ status }) => status === 'success'),
  );
  assert.equal(receiver.of(delivery.id).length, 2);
});

test('deleting a mailbox stops the deliveries of its endpoints and notifies the organization', async () => {
  const { organization, mailbox, endpoint, delivery } = await waiting();
  const whole = await world.endpoint(organization, { url: receiver.url, eventTypes: ['mailbox_deleted'] });
  await send('DELETE', `/api/mailboxes/${mailbox.id}`, await keyOf(organization));
  const stopped = await world.delivery(endpoint.id, ({ status }) => status === 'exhausted');
  assert.equal(stopped.reason, 'mailbox_deleted');
  assert.equal(receiver.of(delivery.id).length, 1);
  const delivered = await world.delivery(whole.id, ({ status }) => status === 'success');
  const [request] = receiver.of(delivered.id);
  assert.ok(request !== undefined);
  assert.equal(at(verified(request, whole.secret), 'data', 'mailbox', 'id'), mailbox.id);
});

test('a created mailbox sends a signed webhook with the key as actor', async () => {
  const organization = await world.organization('team');
  const endpoint = await world.endpoint(organization, { url: receiver.url, eventTypes: ['mailbox_created'] });
  const created = await send('POST', '/api/mailboxes', await keyOf(organization), { name: 'Created' });
  const delivery = await world.delivery(endpoint.id, ({ status }) => status === 'success');
  const [request] = receiver.of(delivery.id);
  assert.ok(request !== undefined);
  const envelope = verified(request, endpoint.secret);
  assert.equal(at(envelope, 'mailbox', 'address'), at(created, 'address'));
  assert.equal(at(envelope, 'actor', 'type'), 'api_key');
});
