import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type OutboundWorld, openOutboundWorld } from '#test/support/outbound-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: OutboundWorld;
before(async () => {
  world = await openOutboundWorld();
});
after(() => world?.close());

test('a message that waits for hours is reported once, and still sent', async () => {
  world.peer.faults = [{ at: 'rcpt', reply: 451, times: 1_000 }];
  const { messageId } = await world.send(['slow@example.com']);
  const { db } = world.mail.services;
  const attempts = async () =>
    (await db.query(`select 1 from outbound_attempt where message_id = $1 and finished_at is not null`, [messageId]))
      .length;
  await waitUntil('an attempt', async () => (await attempts()) > 0);
  assert.deepEqual(await world.folder(world.sender, '\\Inbox'), []);
  await db.query(`update outbound_message set give_up_at = give_up_at - interval '4 hours' where id = $1`, [messageId]);
  const before = await attempts();
  await waitUntil('further attempts', async () => (await attempts()) > before + 2);
  assert.deepEqual(await world.folder(world.sender, '\\Inbox'), ['Mail is delayed']);
  const received = (await world.events('email_received')).at(-1);
  assert.equal(received?.actor['type'], 'system');
  world.peer.faults = [];
  assert.equal(await world.finished(messageId), 'sent');
  assert.equal((await world.folder(world.sender, '\\Inbox')).length, 1);
});
