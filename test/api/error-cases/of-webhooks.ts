/** Errors of webhooks, recoveries and deliveries. */
import assert from 'node:assert/strict';
import { startApi } from '#api/start.ts';
import { connectTemporal } from '#core/platform/engine/temporal-client.ts';
import { PLANS } from '#domain/organizations/plans.ts';
import { type Answer, type ApiWorld, type TestOrganization, textAt } from '#test/support/api-world.ts';
import { created, type Reach } from './reach.ts';

const endpoint = (world: ApiWorld, organization: TestOrganization, more: object = {}) =>
  created(world, '/api/webhooks', organization, {
    url: 'https://127.0.0.1/hook',
    eventTypes: ['email_received'],
    ...more,
  });

const createWebhook =
  (more: object, of: (world: ApiWorld) => TestOrganization = (world) => world.organization): Reach =>
  (world) =>
    world.call('POST', '/api/webhooks', {
      as: of(world).key,
      body: { url: 'https://127.0.0.1/hook', eventTypes: ['email_received'], ...more },
    });

const checkUrl =
  (url: string): Reach =>
  (world) =>
    world.call('POST', '/api/webhooks/check-url', { as: world.organization.key, body: { url } });

const changeWebhook =
  (change: object, more: (world: ApiWorld) => object = () => ({})): Reach =>
  async (world) => {
    const id = await endpoint(world, world.organization, more(world));
    return world.call('PATCH', `/api/webhooks/${id}`, { as: world.organization.key, body: change });
  };

/** An endpoint made while the plan allowed it. */
async function downgraded(world: ApiWorld): Promise<{ organization: TestOrganization; endpointId: string }> {
  const organization = await world.newOrganization('team');
  const endpointId = await endpoint(world, organization);
  const moved = await world.call('PUT', '/api/organization/plan', {
    as: { ...world.operator, 'x-organization-id': organization.id },
    body: { plan: 'free' },
  });
  assert.equal(moved.status, 200, moved.text);
  return { organization, endpointId };
}

const recover = (world: ApiWorld, organization: TestOrganization, endpointId: string): Promise<Answer> =>
  world.call('POST', `/api/webhooks/${endpointId}/recover`, {
    as: organization.key,
    body: { since: '2026-01-01T00:00:00.000Z' },
  });

/** A recovery that was stopped because its endpoint was set inactive. */
const moveEnded =
  (verb: string): Reach =>
  async (world) => {
    const id = await endpoint(world, world.organization);
    const recovery = textAt((await recover(world, world.organization, id)).body, 'id');
    await world.sql(
      `update recoveries set state = 'stopped', stop_reason = 'endpoint_inactive', finished_at = now() where id = $1`,
      [recovery],
    );
    return world.call('POST', `/api/webhooks/${id}/recoveries/${recovery}/${verb}`, { as: world.organization.key });
  };

async function testDelivery(world: ApiWorld, organization: TestOrganization, endpointId: string): Promise<string> {
  const answer = await world.call('POST', `/api/webhooks/${endpointId}/test`, { as: organization.key, body: {} });
  assert.equal(answer.status, 202, answer.text);
  return textAt(answer.body, 'id');
}

export const webhookCases: Readonly<Record<string, Reach>> = {
  async 'createWebhook plan_required'(world) {
    const organization = await world.newOrganization('free');
    return createWebhook({}, () => organization)(world);
  },
  async 'createWebhook plan_limit_reached'(world) {
    const organization = await world.newOrganization('team');
    for (let count = 0; count < (PLANS.team.maxWebhookEndpoints ?? 0); count++) await endpoint(world, organization);
    return createWebhook({}, () => organization)(world);
  },
  'createWebhook not_found': (world) => createWebhook({ mailboxId: world.other.mailbox.id })(world),
  'createWebhook invalid_url': createWebhook({ url: 'http://example.com/' }),
  'createWebhook unresolvable_destination': createWebhook({ url: 'https://no-such-host.invalid/' }),
  'createWebhook unsafe_destination': createWebhook({ url: 'https://10.0.0.1/' }),
  'createWebhook invalid_event_types': createWebhook({ eventTypes: ['no_such_event'] }),
  'createWebhook event_type_not_allowed_for_mailbox': (world) =>
    createWebhook({ mailboxId: world.organization.mailbox.id, eventTypes: ['mailbox_created'] })(world),
  'createWebhook invalid_auth_header': createWebhook({ authHeader: { name: 'Host', value: 'x' } }),
  async 'updateWebhook conflict'(world) {
    const id = await endpoint(world, world.organization);
    await world.sql(`update webhook_endpoints set active = false, disabled_reason = 'suspended' where id = $1`, [id]);
    return world.call('PATCH', `/api/webhooks/${id}`, { as: world.organization.key, body: { active: true } });
  },
  'updateWebhook immutable_field': changeWebhook({ mailboxId: null }),
  'updateWebhook invalid_url': changeWebhook({ url: 'https://user:password@example.com/' }),
  'updateWebhook unresolvable_destination': changeWebhook({ url: 'https://no-such-host.invalid/' }),
  'updateWebhook unsafe_destination': changeWebhook({ url: 'https://[fd00::1]/' }),
  'updateWebhook invalid_event_types': changeWebhook({ eventTypes: [] }),
  'updateWebhook event_type_not_allowed_for_mailbox': changeWebhook({ eventTypes: ['mailbox_created'] }, (world) => ({
    mailboxId: world.organization.mailbox.id,
  })),
  'checkWebhookUrl plan_required': async (world) => {
    const { key } = await world.newOrganization('free');
    return world.call('POST', '/api/webhooks/check-url', { as: key, body: { url: 'https://127.0.0.1/hook' } });
  },
  'checkWebhookUrl invalid_url': checkUrl('http://127.0.0.1/hook'),
  'checkWebhookUrl unresolvable_destination': checkUrl('https://nowhere.invalid/hook'),
  'checkWebhookUrl unsafe_destination': checkUrl('https://10.0.0.1/hook'),
  'updateWebhook invalid_auth_header': changeWebhook({ authHeader: { name: 'webhook-id', value: 'x' } }),
  async 'testWebhook plan_required'(world) {
    const { organization, endpointId } = await downgraded(world);
    return world.call('POST', `/api/webhooks/${endpointId}/test`, { as: organization.key, body: {} });
  },
  async 'testWebhook conflict'(world) {
    const id = await endpoint(world, world.organization);
    await world.call('PATCH', `/api/webhooks/${id}`, { as: world.organization.key, body: { active: false } });
    return world.call('POST', `/api/webhooks/${id}/test`, { as: world.organization.key, body: {} });
  },
  async 'testWebhook event_type_not_allowed_for_mailbox'(world) {
    const id = await endpoint(world, world.organization, { mailboxId: world.organization.mailbox.id });
    const body = { eventType: 'mailbox_created' };
    return world.call('POST', `/api/webhooks/${id}/test`, { as: world.organization.key, body });
  },
  async 'recoverDeliveries plan_required'(world) {
    const { organization, endpointId } = await downgraded(world);
    return recover(world, organization, endpointId);
  },
  async 'recoverDeliveries conflict'(world) {
    const id = await endpoint(world, world.organization);
    const begun = await recover(world, world.organization, id);
    assert.equal(begun.status, 202, begun.text);
    return recover(world, world.organization, id);
  },
  'cancelRecovery conflict': moveEnded('cancel'),
  'pauseRecovery conflict': moveEnded('pause'),
  'resumeRecovery conflict': moveEnded('resume'),
  async 'resendDelivery plan_required'(world) {
    const organization = await world.newOrganization('team');
    const endpointId = await endpoint(world, organization);
    const deliveryId = await testDelivery(world, organization, endpointId);
    await world.sql(`update organizations set plan = 'free' where id = $1`, [organization.id]);
    return world.call('POST', `/api/webhooks/${endpointId}/deliveries/${deliveryId}/resend`, { as: organization.key });
  },
  async 'resendDelivery conflict'(world) {
    const { organization } = world;
    const endpointId = await endpoint(world, organization);
    const deliveryId = await testDelivery(world, organization, endpointId);
    await world.call('PATCH', `/api/webhooks/${endpointId}`, { as: organization.key, body: { active: false } });
    return world.call('POST', `/api/webhooks/${endpointId}/deliveries/${deliveryId}/resend`, { as: organization.key });
  },
  async 'resendDelivery unavailable'(world) {
    const { organization, services } = world;
    const endpointId = await endpoint(world, organization);
    const deliveryId = await testDelivery(world, organization, endpointId);
    // A delivery that is final needs a workflow for one more attempt.
    await world.sql(
      `update deliveries set status = 'success', attempt_count = 1, completed_at = now(), fan_out_id = 'fan-out/test'
        where id = $1`,
      [deliveryId],
    );
    const away = connectTemporal({ ...services.settings, TEMPORAL_ADDRESS: '127.0.0.1:9' });
    const api = await startApi(services, away);
    try {
      const path = `/api/webhooks/${endpointId}/deliveries/${deliveryId}/resend`;
      return await world.call('POST', `${api.url}${path}`, { as: organization.key });
    } finally {
      await api.close();
      await away.close();
    }
  },
};
