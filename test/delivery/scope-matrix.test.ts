import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { recordEvents } from '#core/events/record-event.ts';
import type { Services } from '#core/platform/process/services.ts';
import { EVENT_TYPES, type EventType, SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { rowsOf } from '#test/support/delivery-world.ts';
import { openTestServices } from '#test/support/services.ts';

/** Interface §6, written out once more: the events of an organization endpoint and of an endpoint of the mailbox. */
const MATRIX: Record<EventType, { organization: boolean; mailbox: boolean }> = {
  email_received: { organization: true, mailbox: true },
  email_sent: { organization: true, mailbox: true },
  email_blocked: { organization: true, mailbox: true },
  mailbox_created: { organization: true, mailbox: false },
  mailbox_deleted: { organization: true, mailbox: false },
  outbound_consent_requested: { organization: true, mailbox: true },
  outbound_consent_approved: { organization: true, mailbox: false },
  outbound_consent_denied: { organization: true, mailbox: false },
  // Beyond the interface.
  email_delivered: { organization: true, mailbox: true },
  email_bounced: { organization: true, mailbox: true },
  email_complained: { organization: true, mailbox: true },
};

let services: Services;
before(async () => {
  services = await openTestServices();
});
after(() => services?.close());

for (const type of EVENT_TYPES)
  test(`${type} reaches exactly the scopes of the interface, and no other mailbox or organization`, async () => {
    const rows = rowsOf(services);
    const [organization, stranger] = [await rows.organization(), await rows.organization()];
    const [mailbox, otherMailbox] = [await rows.mailbox(organization), await rows.mailbox(organization)];
    const url = 'https://hooks.example/';
    const endpoints = {
      organization: await rows.endpoint(organization, { url }),
      mailbox: await rows.endpoint(organization, { url, mailboxId: mailbox.id }),
      otherMailbox: await rows.endpoint(organization, { url, mailboxId: otherMailbox.id }),
      otherOrganization: await rows.endpoint(stranger, { url }),
      otherType: await rows.endpoint(organization, { url, eventTypes: EVENT_TYPES.filter((each) => each !== type) }),
    };
    const inactive = await rows.endpoint(organization, { url });
    await rows.sql('update webhook_endpoints set active = false where id = $1', [inactive.id]);
    await recordEvents(services.db, [{ type, organization, mailbox, actor: SYSTEM_ACTOR, data: {} }]);

    const heard = async (endpoint: { id: string }) => (await rows.deliveries(endpoint.id)).length === 1;
    assert.deepEqual(
      {
        organization: await heard(endpoints.organization),
        mailbox: await heard(endpoints.mailbox),
        otherMailbox: await heard(endpoints.otherMailbox),
        otherOrganization: await heard(endpoints.otherOrganization),
        otherType: await heard(endpoints.otherType),
        inactive: await heard(inactive),
      },
      { ...MATRIX[type], otherMailbox: false, otherOrganization: false, otherType: false, inactive: false },
    );
  });

test('many events of one batch get their own deliveries in one statement', async () => {
  const rows = rowsOf(services);
  const organization = await rows.organization();
  const endpoint = await rows.endpoint(organization, { url: 'https://hooks.example/' });
  const events = Array.from({ length: 64 }, (_, n) => ({
    type: 'email_received' as const,
    organization,
    mailbox: null,
    actor: SYSTEM_ACTOR,
    data: { n },
  }));
  assert.equal(await recordEvents(services.db, events), 64);
  const deliveries = await rows.deliveries(endpoint.id);
  assert.equal(new Set(deliveries.map(({ eventId }) => eventId)).size, 64);
});

test('an event that is rolled back leaves neither event nor delivery', async () => {
  const rows = rowsOf(services);
  const organization = await rows.organization();
  const endpoint = await rows.endpoint(organization, { url: 'https://hooks.example/' });
  await assert.rejects(
    services.db.transaction(async (sql) => {
      await recordEvents(sql, [{ type: 'email_sent', organization, mailbox: null, actor: SYSTEM_ACTOR, data: {} }]);
      throw new Error('rolled back');
    }),
    /rolled back/,
  );
  assert.equal((await rows.deliveries(endpoint.id)).length, 0);
});

test('a payload above 256 KiB is cut field by field, marked, and says where the rest is', async () => {
  const rows = rowsOf(services);
  const organization = await rows.organization();
  const mailbox = await rows.mailbox(organization);
  const endpoint = await rows.endpoint(organization, { url: 'https://hooks.example/' });
  const data = {
    messageId: 'msg_1',
    subject: 'kept',
    to: Array.from({ length: 9_000 }, (_, i) => `${i}@many.example`),
    preview: '🙂'.repeat(90_000),
  };
  await recordEvents(services.db, [{ type: 'email_received', organization, mailbox, actor: SYSTEM_ACTOR, data }]);
  const [delivery] = await rows.deliveries(endpoint.id);
  const [event] = await rows.sql('select payload from events where id = $1', [delivery?.eventId]);
  const payload = String(event?.['payload']);
  assert.ok(Buffer.byteLength(payload) <= 256 * 1024);
  const sent = JSON.parse(payload).data;
  assert.equal(sent.truncated, true);
  assert.equal(sent.subject, 'kept');
  assert.equal(sent.full, `/api/mailboxes/${mailbox.id}/messages/msg_1`);
});
