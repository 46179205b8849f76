/** An approval by address or domain that covers many held messages: bounded statements, transactions and signals. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { newId } from '#core/platform/new-id.ts';
import { DECIDED_AT_ONCE_MAX } from '#domain/sending/consent.ts';
import { OUTBOUND_DECIDED_OVERDUE_MS } from '#domain/sending/outbound.ts';
import { outboundWorkflowId } from '#domain/sending/outbound-workflow.ts';
import type { Actor } from '#domain/webhooks/event-types.ts';
import { approveConsent, approveCovered } from '#sending/consent/decide-consent.ts';
import type { SendingServices } from '#sending/outbox/outbound-message.ts';
import { listOutbox, outboxReason } from '#sending/outbox/outbox.ts';
import { continueApproval, signalDecided, startOutboundSweep } from '#sending/submit/start-outbound.ts';
import { type OutboundWorld, openOutboundWorld } from '#test/support/outbound-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const MANY = 250;

let world: OutboundWorld;
before(async () => {
  world = await openOutboundWorld();
  await world.consentMode('first_contact');
});
after(() => world?.close());

const PERSON: Actor = { type: 'user', id: 'usr_1', name: 'Grace', email: 'grace@acme.test', address: null };
const CALLER = { actor: PERSON, ipAddress: '192.0.2.1', requestId: 'req_1' };

/** So many requests about one recipient. @returns the id of the first */
async function hold(address: string, count: number): Promise<string> {
  const { messageId, consentId } = await world.send([address]);
  const { db } = world.mail.services;
  const messages = Array.from({ length: count - 1 }, () => newId('message'));
  const consents = messages.map(() => newId('consent'));
  const clone = (table: string, changes: string, of: string) =>
    db.query(
      `insert into ${table} select (json_populate_record(r, json_build_object(${changes}))).*
         from ${table} r cross join unnest($2::text[], $3::text[]) as n (message, consent) where ${of} = $1`,
      [messageId, messages, consents],
    );
  await clone('outbound_message', `'id', n.message, 'consent_id', n.consent, 'due_at', r.due_at`, 'r.id');
  await clone('outbound_recipient', `'message_id', n.message`, 'r.message_id');
  await clone('consent', `'id', n.consent, 'message_id', n.message`, 'r.message_id');
  return consentId ?? '';
}

/** The services with counted statements of transactions. */
function counted(): { services: SendingServices; statements: number[] } {
  const { services } = world.mail;
  const statements: number[] = [];
  const transaction: SendingServices['db']['transaction'] = (work) =>
    services.db.transaction(async (sql) => {
      let count = 0;
      const result = await work({
        query: (text, values) => {
          count++;
          return sql.query(text, values);
        },
      });
      statements.push(count);
      return result;
    });
  return { services: { ...services, db: { ...services.db, transaction } }, statements };
}

const statusesOf = (address: string) =>
  world.mail.services.db.query<{ status: string; n: number }>(
    `select status, count(*)::int as n from consent where recipients = array[$1] group by 1 order by 1`,
    [address],
  );

test(`${MANY} held messages are approved in portions, each with the same few statements`, async () => {
  const { organizationId } = world.mail;
  const few = counted();
  await approveConsent(few.services, organizationId, await hold('few@few.example', 3), 'address', CALLER);
  const many = counted();
  const address = 'many@many.example';
  const first = await hold(address, MANY);
  const begun = await approveConsent(many.services, organizationId, first, 'address', CALLER);
  assert.equal(begun.messageIds.length, DECIDED_AT_ONCE_MAX + 1);
  assert.equal(begun.more, true);
  const second = await approveCovered(many.services, organizationId, first, CALLER);
  assert.equal(second.messageIds.length, DECIDED_AT_ONCE_MAX);
  const third = await approveCovered(many.services, organizationId, first, CALLER);
  assert.equal(third.messageIds.length, MANY - 1 - 2 * DECIDED_AT_ONCE_MAX);
  assert.equal(third.more, false);
  assert.deepEqual(await statusesOf(address), [{ status: 'approved', n: MANY }]);
  const [ofFew = 0] = few.statements;
  // Only the mark that there is more comes on top.
  assert.ok(
    many.statements.every((each) => each <= ofFew + 1),
    `${many.statements} statements in each transaction, ${ofFew} for three messages`,
  );
  const audit = await world.mail.services.db.query<{ n: number; request: string; actor: Actor }>(
    `select count(*)::int as n, min(request_id) as request, min(actor::text)::jsonb as actor
       from audit_entries a join consent c on c.id = a.target_id where c.recipients = array[$1]`,
    [address],
  );
  assert.deepEqual(
    audit.map(({ n, request, actor }) => [n, request, actor.id]),
    [[MANY, 'req_1', 'usr_1']],
  );
  const [logged] = await world.mail.services.db.query<{ n: number; seqs: number }>(
    `select count(*)::int as n, count(distinct d.seq)::int as seqs
       from decision_log d join consent c on c.id = d.consent_id where c.recipients = array[$1]`,
    [address],
  );
  assert.deepEqual(logged, { n: MANY, seqs: MANY });
});

/** An engine whose signals are counted. */
function engine(signal: () => Promise<void>): { temporal: TemporalClient; most: () => number; all: () => number } {
  const { temporal } = world;
  let [open, most, all] = [0, 0, 0];
  const handle = {
    async signal() {
      all++;
      most = Math.max(most, ++open);
      try {
        await signal();
      } finally {
        open--;
      }
    },
  };
  const workflow = Object.assign(Object.create(temporal.client.workflow), { getHandle: () => handle });
  const client = Object.assign(Object.create(temporal.client), {
    workflow,
    withDeadline: (_: number, work: () => Promise<unknown>) => work(),
  });
  return { temporal: { ...temporal, client }, most: () => most, all: () => all };
}

test('their workflows are signalled a few at a time, and no further ones while the engine is away', async () => {
  const ids = Array.from({ length: MANY }, () => newId('message'));
  const { services } = world.mail;
  const well = engine(() => new Promise((resolve) => setImmediate(resolve)));
  await signalDecided(services, well.temporal, ids);
  assert.equal(well.all(), MANY);
  assert.ok(well.most() <= 20, `${well.most()} at once`);
  const away = engine(async () => {
    throw Object.assign(new Error('14 UNAVAILABLE: no connection'), { code: 14, details: '', metadata: {} });
  });
  await signalDecided(services, away.temporal, ids);
  assert.ok(away.all() <= 20, `${away.all()} tried`);
});

test('what an approval did not decide before its process ended is decided by the sweep', async () => {
  const { services, organizationId } = world.mail;
  const address = 'rest@rest.example';
  const first = await hold(address, DECIDED_AT_ONCE_MAX + 5);
  await approveConsent(services, organizationId, first, 'domain', CALLER);
  assert.deepEqual(await statusesOf(address), [
    { status: 'approved', n: DECIDED_AT_ONCE_MAX + 1 },
    { status: 'pending', n: 4 },
  ]);
  const later = { ...services, now: () => Date.now() + OUTBOUND_DECIDED_OVERDUE_MS + 1_000 };
  const away = engine(async () => {});
  const sweep = startOutboundSweep(later, away.temporal);
  try {
    await waitUntil('the rest', async () => (await statusesOf(address)).length === 1);
  } finally {
    await sweep.close();
  }
  const [row] = await services.db.query<{ actor: Actor }>(
    `select actor from audit_entries a join consent c on c.id = a.target_id where c.recipients = array[$1] order by a.id desc limit 1`,
    [address],
  );
  assert.equal(row?.actor.id, PERSON.id);
  assert.deepEqual(await services.db.query(`select 1 from consent where releases_others`), []);
  await continueApproval(services, world.temporal, { id: first, organizationId });
});

test('an approved message is not reported as held, although its workflow has not looked yet', async () => {
  const held = await world.send(['late@late.example']);
  await world.temporal.client.workflow.getHandle(outboundWorkflowId(held.messageId)).terminate();
  const { services, organizationId } = world.mail;
  assert.equal(await world.status(held.messageId), 'consent_pending');
  await approveConsent(services, organizationId, held.consentId ?? '', 'message', CALLER);
  assert.equal(await world.status(held.messageId), 'queued');
  const entries = await listOutbox(services.db, world.sender.id, Date.now(), { limit: 1_000, after: null });
  const entry = entries.find(({ id }) => id === held.messageId);
  assert.equal(entry?.state, 'scheduled');
  assert.ok(entry !== undefined);
  assert.match(outboxReason(entry) ?? '', /approved/);
});
