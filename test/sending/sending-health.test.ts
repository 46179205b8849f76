import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { getMailbox } from '#core/mailboxes/mailbox-queries.ts';
import { resumeSending } from '#core/mailboxes/sending-health.ts';
import { evaluateSending } from '#domain/sending/sending-brakes.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import type { TestMailbox } from '#test/support/mail-world.ts';
import { type OutboundWorld, openOutboundWorld } from '#test/support/outbound-world.ts';

let world: OutboundWorld;
before(async () => {
  world = await openOutboundWorld();
});
after(() => world?.close());

const state = (handedOver: number, bounced: number, complained: number) =>
  evaluateSending({ handedOver, bounced, complained }).state;

test('rates count from 100 recipients on: bounces flag at 5 % and pause at 10 %, complaints at 0.1 % and 0.5 %', () => {
  assert.equal(state(99, 99, 99), 'ok');
  assert.deepEqual(
    [state(100, 4, 0), state(100, 5, 0), state(100, 9, 0), state(100, 10, 0)],
    ['ok', 'flagged', 'flagged', 'paused'],
  );
  assert.deepEqual(
    [state(2_000, 0, 1), state(2_000, 0, 2), state(2_000, 0, 9), state(2_000, 0, 10)],
    ['ok', 'flagged', 'flagged', 'paused'],
  );
  assert.match(evaluateSending({ handedOver: 200, bounced: 21, complained: 0 }).reason ?? '', /^21 of 200 .*10\.5 %/);
});

const CALLER = { actor: SYSTEM_ACTOR, ipAddress: null, requestId: null };
const shown = async ({ id }: TestMailbox) =>
  (await getMailbox(world.mail.services.db, world.mail.organizationId, id)).sending;

/** As if a message had been sent to this many more recipients, the first of which bounced. */
const addRecipients = (messageId: string, count: number, bounced: number) =>
  world.mail.services.db.query(
    `insert into outbound_recipient (message_id, number, address, local, status)
     select $1, n, 'r' || n || '@many.example', false, case when n <= $3 then 'bounced' else 'sent' end
       from generate_series(1, $2) n`,
    [messageId, count, bounced],
  );

describe('a mailbox', () => {
  test('is flagged, then paused, with the reason; after it is resumed it sends again and counting starts anew', async () => {
    const from = await world.mail.createMailbox('careless');
    const { messageId } = await world.send(['first@many.example'], { from });
    await world.finished(messageId);
    await addRecipients(messageId, 120, 6);
    const fail = async () => {
      world.peer.faults = [{ at: 'rcpt', reply: 550, times: 1 }];
      const failed = await world.send([`x${Math.random().toString(36).slice(2)}@many.example`], { from });
      assert.equal(await world.finished(failed.messageId), 'bounced');
    };
    await fail();
    assert.equal((await shown(from)).state, 'flagged');
    for (let more = 0; more < 6; more++) await fail();
    const paused = await shown(from);
    assert.equal(paused.state, 'paused');
    assert.match(paused.reason ?? '', /^13 of 128 recipients of the last 24 hours bounced \(10\.16 %/);

    await assert.rejects(world.send(['y@many.example'], { from }), { code: 'forbidden', message: /paused.*13 of 128/ });
    const blocked = (await world.events('email_blocked')).at(-1);
    assert.deepEqual([blocked?.data['reason'], blocked?.data['to']], ['sending_paused', ['y@many.example']]);
    const inside = await world.send([world.sender.address], { from });
    assert.equal(await world.finished(inside.messageId), 'sent', 'recipients here are not concerned');

    const { services, organizationId } = world.mail;
    await assert.rejects(resumeSending(services, 'org_other', from.id, CALLER), { code: 'not_found' });
    await resumeSending(services, organizationId, from.id, CALLER);
    assert.deepEqual(await shown(from), { state: 'ok', reason: null });
    const again = await world.send(['z@many.example'], { from });
    assert.equal(await world.finished(again.messageId), 'sent');
    await fail();
    assert.equal((await shown(from)).state, 'ok');
  });

  test('that is paused while a message waits does not send it', async () => {
    const from = await world.mail.createMailbox('waiting');
    world.peer.faults = [{ at: 'rcpt', reply: 451, times: 1_000 }];
    const { messageId } = await world.send(['slow@many.example'], { from });
    await world.mail.services.db.query(
      `insert into mailbox_sending (mailbox_id, state, reason, reviewed_at) values ($1, 'paused', 'Too much.', now())`,
      [from.id],
    );
    assert.equal(await world.finished(messageId), 'denied');
    world.peer.faults = [];
    assert.equal((await world.recipients(messageId))[0]?.reply, 'sending_paused');
  });

  test('is paused by complaints', async () => {
    const from = await world.mail.createMailbox('unwanted');
    const { messageId } = await world.send(['angry@many.example'], { from });
    await world.finished(messageId);
    const path = world.peer.received.at(-1)?.from ?? '';
    await addRecipients(messageId, 150, 0);
    const complaint =
      'From: fbl@many.example\nMIME-Version: 1.0\nContent-Type: multipart/report; report-type=feedback-report; boundary="r"\n\n' +
      '--r\nContent-Type: message/feedback-report\n\nFeedback-Type: abuse\nVersion: 1\n\n--r--\n';
    assert.match(await world.mail.send(path, complaint, 'fbl@many.example'), /^250/);
    const { state: now, reason } = await shown(from);
    assert.equal(now, 'paused');
    assert.match(reason ?? '', /^1 of 151 .* complained/);
  });
});
