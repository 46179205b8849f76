import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { waitUntil } from '../support/wait-until.ts';
import { letter, type MailWorld, openMailWorld } from './mail-world.ts';

let world: MailWorld;
before(async () => {
  world = await openMailWorld();
});
after(() => world?.close());

const add = (action: 'allow' | 'block', value: string, mailboxId: string | null = null) =>
  world.services.db.query(
    `insert into sender_list (id, organization_id, mailbox_id, direction, action, value) values ($1, $2, $3, 'inbound', $4, $5)`,
    [`lst_${value}${mailboxId ?? ''}`, world.organizationId, mailboxId, action, value],
  );

test('a blocked sender is refused at RCPT with one event; nearer entries let pass', async () => {
  await add('block', 'spam.example');
  await add('allow', 'friend@spam.example');
  const [strict, open] = [await world.createMailbox('strict'), await world.createMailbox('open')];
  await add('allow', 'spam.example', open.id);

  assert.match(await world.send(strict.address, letter(), 'x@SPAM.example'), /^550 5\.7\.1/);
  assert.match(await world.send(strict.address, letter(), 'x@spam.example'), /^550 5\.7\.1/);
  assert.match(await world.send(strict.address, letter(), 'friend@spam.example'), /^250/);
  assert.match(await world.send(open.address, letter(), 'x@spam.example'), /^250/);
  assert.match(
    await world.send(strict.address, letter(), 'x@sub.spam.example'),
    /^250/,
    'a subdomain is another domain',
  );
  assert.match(await world.send(strict.address, letter(), ''), /^250/, 'a bounce has no sender to block');

  const events = await waitUntil('the event', async () => {
    const rows = await world.services.db.query<{ payload: string }>(
      `select payload from events where type = 'email_blocked'`,
    );
    return rows.length > 0 && rows;
  });
  assert.equal(events.length, 1);
  const { data } = JSON.parse(events[0]?.payload ?? '');
  assert.deepEqual(
    [data.direction, data.reason, data.rule, data.to],
    ['inbound', 'blocked_sender', 'spam.example', [strict.address]],
  );
});
