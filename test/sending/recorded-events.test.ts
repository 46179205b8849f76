/** That what is recorded about outgoing mail is what `GET /api/webhooks/event-types` promises to receivers. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule, { type FormatsPlugin } from 'ajv-formats';
import { webhookEvents } from '#api/webhooks/event-schemas.ts';
import type { Actor } from '#domain/webhooks/event-types.ts';
import { approveConsent, denyConsent } from '#sending/consent/decide-consent.ts';
import { suppress } from '#sending/lists/suppressions.ts';
import { signalDecided } from '#sending/submit/start-outbound.ts';
import { type OutboundWorld, openOutboundWorld } from '#test/support/outbound-world.ts';

// The package is CommonJS with an ES default: under nodenext the namespace is typed, the function is what runs.
const addFormats = addFormatsModule as unknown as FormatsPlugin;

let world: OutboundWorld;
before(async () => {
  world = await openOutboundWorld({ capture: true });
});
after(() => world?.close());

/** The published schema, with every object closed: what is recorded is described in full. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const plain = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return 'properties' in plain ? { ...plain, additionalProperties: false } : plain;
}

const PERSON: Actor = { type: 'user', id: 'usr_1', name: 'Grace', email: 'grace@acme.test', address: null };
const CALLER = { actor: PERSON, ipAddress: null, requestId: null };

test('events of sent, blocked, held, approved, denied and expired mail keep to their published schemas', async () => {
  const { services, organizationId } = world.mail;
  const colleague = await world.mail.createMailbox('colleague');
  const { messageId } = await world.send(['ann@example.com', colleague.address]);
  await world.finished(messageId);
  await services.db.query(
    `insert into sender_list (id, organization_id, direction, action, value) values ('lst_1', $1, 'outbound', 'block', 'foe.example')`,
    [organizationId],
  );
  await assert.rejects(world.send(['x@foe.example']), { code: 'recipient_blocked' });
  const about = { organizationId, messageId };
  await suppress(services.db, about, 'hard_bounce', ['gone@example.com'], new Date());
  await world.finished((await world.send(['gone@example.com'])).messageId);

  await world.consentMode('always');
  const approved = await world.send(['ben@example.com']);
  await approveConsent(services, organizationId, approved.consentId ?? '', 'address', CALLER);
  await signalDecided(services, world.temporal, [approved.messageId]);
  await world.finished(approved.messageId);
  const denied = await world.send(['cy@example.com']);
  await denyConsent(services, organizationId, denied.consentId ?? '', 'Not now.', CALLER);
  await signalDecided(services, world.temporal, [denied.messageId]);
  await world.finished(denied.messageId);
  const expired = await world.send(['dee@example.com']);
  await services.db.query(`update consent set expires_at = now() where id = $1`, [expired.consentId]);
  await signalDecided(services, world.temporal, [expired.messageId]);
  await world.finished(expired.messageId);

  const ajv = new Ajv2020({ allErrors: true, strict: true });
  addFormats(ajv);
  const seen = new Map<string, number>();
  for (const { type, schema } of webhookEvents) {
    const validate = ajv.compile(closed(schema) as object);
    for (const event of await world.events(type)) {
      assert.ok(validate(event), `${type}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(event)}`);
      seen.set(type, (seen.get(type) ?? 0) + 1);
    }
  }
  assert.deepEqual(Object.fromEntries(seen), {
    email_received: 1,
    email_sent: 2,
    email_blocked: 4,
    outbound_consent_requested: 3,
    outbound_consent_approved: 1,
    outbound_consent_denied: 2,
  });
});
