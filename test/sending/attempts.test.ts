/** Attempts with concurrent events: another attempt, a suspension, a database outage. */

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { attemptMessage, outgoingSlots } from '#sending/attempt/attempt-message.ts';
import { prepareMessage } from '#sending/compose/prepare-message.ts';
import { findRecipients, type SendingServices } from '#sending/outbox/outbound-message.ts';
import { submitMessage } from '#sending/submit/submit-message.ts';
import type { OutgoingMail, RecipientResult, Transport } from '#sending/transports/transport.ts';
import { databaseFault, INFRASTRUCTURE_SQLSTATES } from '#test/support/database-fault.ts';
import { type MailWorld, openMailWorld, type TestMailbox } from '#test/support/mail-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: MailWorld;
let sender: TestMailbox;
before(async () => {
  world = await openMailWorld();
  await world.services.db.query(`update organizations set settings = '{"outboundConsent": "off"}' where id = $1`, [
    world.organizationId,
  ]);
});
after(() => world?.close());
let mailboxes = 0;
beforeEach(async () => {
  sender = await world.createMailbox(`agent${++mailboxes}`);
});

const TAKEN = { kind: 'sent', code: '2.0.0', reply: '250 ok' } as const;
const LATER = { kind: 'deferred', code: '4.2.0', reply: '451 greylisted ann@a.example' } as const;

/** Each domain is a destination; what is sent is noted. */
function transportThat(
  answer: (
    mail: OutgoingMail,
    n: number,
  ) => Promise<Omit<RecipientResult, 'address'>> | Omit<RecipientResult, 'address'>,
): Transport & { readonly sent: string[] } {
  const sent: string[] = [];
  return {
    sent,
    via: 'relay',
    destinationOf: (domain) => domain,
    async send(mail) {
      sent.push(...mail.recipients);
      const said = await answer(mail, sent.length);
      return mail.recipients.map((address) => ({ ...said, address }));
    },
  };
}

async function submit(recipients: readonly string[]): Promise<string> {
  const { messageId } = await submitMessage(world.services, {
    organizationId: world.organizationId,
    mailboxId: sender.id,
    prepared: prepareMessage(Buffer.from(`From: ${sender.address}\r\n\r\nhi\r\n`), sender.address, new Date()),
    recipients,
    via: 'api',
    actor: SYSTEM_ACTOR,
    labels: [],
    clientId: null,
  });
  return messageId;
}

const attempt = (
  messageId: string,
  transport: Transport,
  services: SendingServices = world.services,
  signal = new AbortController().signal,
) => attemptMessage(services, transport, messageId, { heartbeat: () => {}, mayBegin: () => !signal.aborted });

const statuses = async (messageId: string) =>
  (await findRecipients(world.services.db, messageId)).map(({ status }) => status);

const sentEvents = async (messageId: string) =>
  (await world.services.db.query<{ payload: string }>(`select payload from events where type = 'email_sent'`)).filter(
    ({ payload }) => JSON.parse(payload).data.messageId === messageId,
  ).length;

test('a second attempt in the same process waits for the first, and finds nothing to do', async () => {
  const id = await submit(['ann@a.example']);
  const transport = transportThat(() => delay(100, TAKEN));
  await Promise.all([attempt(id, transport), attempt(id, transport)]);
  assert.deepEqual(transport.sent, ['ann@a.example']);
  assert.deepEqual(await statuses(id), ['sent']);
});

test('a temporary failure does not revert the result of another attempt', async () => {
  const id = await submit(['ann@a.example']);
  const transport = transportThat(async () => {
    await world.services.db.query(`update outbound_recipient set status = 'bounced' where message_id = $1`, [id]);
    return LATER;
  });
  assert.equal((await attempt(id, transport)).nextAtMs, null);
  assert.deepEqual(await statuses(id), ['bounced']);
});

test('a reached recipient is sent, although the message was refused during transmission', async () => {
  const id = await submit(['ann@a.example']);
  const transport = transportThat(async () => {
    await world.services.db.query(`update outbound_recipient set status = 'denied' where message_id = $1`, [id]);
    return TAKEN;
  });
  await attempt(id, transport);
  assert.deepEqual([await statuses(id), await sentEvents(id)], [['sent'], 1]);
});

test('nothing more leaves once the mailbox is suspended, in the middle of a message', async () => {
  const recipients = Array.from({ length: 12 }, (_, i) => `p@d${i}.example`);
  const id = await submit(recipients);
  const transport = transportThat(async () => {
    await world.services.db.query(`update mailboxes set status = 'suspended' where id = $1`, [sender.id]);
    return TAKEN;
  });
  await attempt(id, transport);
  assert.ok(transport.sent.length <= 5, `${transport.sent.length}`);
  const { length } = transport.sent;
  assert.equal((await attempt(id, transport)).nextAtMs, null);
  assert.equal(transport.sent.length, length);
  assert.deepEqual(new Set(await statuses(id)), new Set(['sent', 'denied']));
});

test('accepted mail is recorded when the database is back, not sent again', async () => {
  const { db } = world.services;
  const id = await submit(['ann@a.example']);
  let failures = 0;
  const transport = transportThat(() => {
    failures = 2;
    return TAKEN;
  });
  const transaction: typeof db.transaction = async (work) => {
    // Once before the commit, once with its answer lost.
    if (failures === 2) {
      failures--;
      throw Object.assign(new Error('gone'), { code: 'ECONNRESET' });
    }
    const result = await db.transaction(work);
    if (failures === 1) {
      failures--;
      throw Object.assign(new Error('gone'), { code: 'ECONNRESET' });
    }
    return result;
  };
  await attempt(id, transport, { ...world.services, db: { ...db, transaction } });
  assert.deepEqual(transport.sent, ['ann@a.example']);
  assert.deepEqual([await statuses(id), await sentEvents(id)], [['sent'], 1]);
});

test('a rate limit does not count as an attempt, and says when to try again', async () => {
  const id = await submit(['ann@a.example']);
  const busy = transportThat(() => ({ ...LATER, code: '4.4.5', comeBackInMs: 600_000 }));
  const before = Date.now();
  const { nextAtMs } = await attempt(id, busy);
  assert.ok((nextAtMs ?? 0) >= before + 600_000);
  const rows = await world.services.db.query(`select 1 from outbound_attempt where message_id = $1`, [id]);
  assert.deepEqual([rows.length, await statuses(id)], [0, ['queued']]);
});

test('a worker that stops begins no further destination', async () => {
  const stop = new AbortController();
  const id = await submit(Array.from({ length: 12 }, (_, i) => `p@d${i}.example`));
  const transport = transportThat(() => {
    stop.abort();
    return TAKEN;
  });
  const { nextAtMs } = await attempt(id, transport, world.services, stop.signal);
  assert.ok(transport.sent.length <= 5 && nextAtMs !== null);
});

test('a waiting retry is described by its number and the answer of the other host, without addresses', async () => {
  const id = await submit(['ann@a.example']);
  const { retry } = await attempt(
    id,
    transportThat(() => LATER),
  );
  assert.deepEqual(retry, { number: 1, domain: 'a.example', reply: '451 greylisted …' });
});

/** What is written around a request, and whether the message has been sent by then. */
const WRITERS = [
  { name: 'the reservation of an attempt', on: 'insert', table: 'outbound_attempt', sent: 0 },
  { name: 'the state of a recipient', on: 'update', table: 'outbound_recipient', sent: 0 },
  { name: 'the outcome of an attempt', on: 'update', table: 'outbound_attempt', sent: 1 },
  { name: 'the event of a sent message', on: 'insert', table: 'events', sent: 1 },
] as const;

for (const { name, on, table, sent } of WRITERS)
  for (const sqlState of INFRASTRUCTURE_SQLSTATES)
    test(`${name} fails with ${sqlState}: mail waits, and is sent and recorded once`, async () => {
      const id = await submit(['ann@a.example']);
      const transport = transportThat(() => TAKEN);
      const fault = databaseFault(world.services.db);
      await fault.begin(on, table, sqlState);
      const round = attempt(id, transport);
      try {
        await waitUntil('the fault to be met some times', async () => (await fault.hits()) >= 3);
        assert.equal(transport.sent.length, sent);
      } finally {
        await fault.end();
      }
      await round;
      assert.deepEqual(transport.sent, ['ann@a.example']);
      assert.deepEqual([await statuses(id), await sentEvents(id)], [['sent'], 1]);
      const attempts = await world.services.db.query(
        `select number, outcome from outbound_attempt where message_id = $1`,
        [id],
      );
      assert.deepEqual(attempts, [{ number: 1, outcome: 'sent' }]);
    });

test('while an outcome cannot be recorded, no other message is sent', async () => {
  const [first, second] = [await submit(['ann@a.example']), await submit(['bob@b.example'])];
  const transport = transportThat(() => TAKEN);
  const fault = databaseFault(world.services.db);
  await fault.begin('update', 'outbound_attempt', '53100');
  let rounds: Promise<unknown>[] = [];
  try {
    rounds = [attempt(first, transport)];
    await waitUntil('the fault to be met', async () => (await fault.hits()) >= 1);
    rounds.push(attempt(second, transport));
    await waitUntil('the fault to be met again', async () => (await fault.hits()) >= 3);
    assert.deepEqual(transport.sent, ['ann@a.example']);
  } finally {
    await fault.end();
  }
  await Promise.all(rounds);
  assert.deepEqual(transport.sent, ['ann@a.example', 'bob@b.example']);
});

test('large messages wait for a slot, small ones do not', async () => {
  const slots = outgoingSlots(1);
  const free = await slots.take(1_000_000, 10);
  assert.equal(await slots.take(1_000_000, 10), undefined);
  assert.notEqual(await slots.take(1_000, 10), undefined);
  const waiting = slots.take(1_000_000, 60_000);
  free?.();
  assert.notEqual(await waiting, undefined);
});

test('the mail store is sound after all of it', async () => {
  assert.deepEqual(await world.faults(), []);
});
