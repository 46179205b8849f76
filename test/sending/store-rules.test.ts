/** That `npm run check:mailstore` detects violations: mail sent without its consent, or without its event. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { approveConsent } from '#sending/consent/decide-consent.ts';
import { signalDecided } from '#sending/submit/start-outbound.ts';
import { type OutboundWorld, openOutboundWorld } from '#test/support/outbound-world.ts';

let world: OutboundWorld;
before(async () => {
  world = await openOutboundWorld({ capture: true });
  await world.consentMode('first_contact');
});
after(() => world?.close());

/** Violations while the change exists; it is reverted. */
async function faultsAfter(change: string, messageId: string, undo: string): Promise<string> {
  const { db } = world.mail.services;
  await db.query(change, [messageId]);
  try {
    return (await world.mail.faults()).join('\n');
  } finally {
    await db.query(undo, [messageId]);
  }
}

test('a held message that was attempted, sent or filed is found', async () => {
  const { messageId } = await world.send(['ann@example.com'], { subject: 'Held' });
  assert.deepEqual(await world.mail.faults(), []);
  const attempted = await faultsAfter(
    `insert into outbound_attempt (message_id, destination, number, recipients, transport, started_at)
     values ($1, 'example.com', 1, '{}', 'relay', now())`,
    messageId,
    `delete from outbound_attempt where message_id = $1`,
  );
  assert.match(attempted, new RegExp(`^9: message ${messageId} was attempted, its consent is pending$`));
  const reached = await faultsAfter(
    `update outbound_recipient set status = 'sent' where message_id = $1`,
    messageId,
    `update outbound_recipient set status = 'queued' where message_id = $1`,
  );
  assert.match(reached, new RegExp(`9: message ${messageId} reached ann@example.com, its consent is pending`));
  const released = await faultsAfter(
    `update outbound_message set consent_id = null where id = $1`,
    messageId,
    `update outbound_message set consent_id = (select id from consent where message_id = $1) where id = $1`,
  );
  assert.match(released, new RegExp(`9: message ${messageId} is held without a request for consent`));
  assert.deepEqual(await world.mail.faults(), []);
});

test('the check finds a released message that differs from the approved one, and one without its event', async () => {
  const { services, organizationId } = world.mail;
  const held = await world.send(['ben@example.com'], { subject: 'Approved' });
  const caller = { actor: SYSTEM_ACTOR, ipAddress: null, requestId: null };
  const { messageIds } = await approveConsent(services, organizationId, held.consentId ?? '', 'message', caller);
  await signalDecided(services, world.temporal, messageIds);
  assert.equal(await world.finished(held.messageId), 'captured');
  assert.deepEqual(await world.mail.faults(), []);
  const readdressed = await faultsAfter(
    `update outbound_recipient set address = 'eve@example.com' where message_id = $1`,
    held.messageId,
    `update outbound_recipient set address = 'ben@example.com' where message_id = $1`,
  );
  assert.match(
    readdressed,
    new RegExp(`^9: message ${held.messageId} was released and differs from what was approved$`),
  );
  const unrecorded = await faultsAfter(
    `update events set type = 'email_blocked' where type = 'email_sent' and payload::jsonb #>> '{data,messageId}' = $1`,
    held.messageId,
    `update events set type = 'email_sent' where type = 'email_blocked' and payload::jsonb #>> '{data,messageId}' = $1`,
  );
  assert.match(unrecorded, new RegExp(`^5: sent message ${held.messageId} has 0 events$`));
});
