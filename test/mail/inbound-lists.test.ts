import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { startMail } from '#mail/start.ts';
import { addListEntry, askLists, type ListQuestion, listAsker, removeListEntry } from '#sending/lists/sender-lists.ts';
import { dnsStub, letter, type MailWorld, openMailWorld } from '#test/support/mail-world.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';
import { waitUntil } from '#test/support/wait-until.ts';

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

test('an entry applies from its commit on, in every process, for a mailbox that just received mail', async () => {
  const other = await startMail({ ...world.services }, { lookup: dnsStub() });
  const caller = { actor: SYSTEM_ACTOR, ipAddress: null, requestId: null };
  const list = { organizationId: world.organizationId, direction: 'inbound', action: 'block' } as const;
  const mailbox = await world.createMailbox('at-once');
  const send = async (port: number): Promise<string> => {
    const client = await SmtpClient.open('127.0.0.1', port);
    const reply = await client.send('x@at-once.example', [mailbox.address], letter());
    client.close();
    return reply;
  };
  try {
    await world.services.db.query(`delete from sender_list where organization_id = $1`, [world.organizationId]);
    for (let round = 0; round < 2; round++) {
      for (const { port } of [world.mail.smtp, other.smtp]) assert.match(await send(port), /^250 /);
      const entry = await addListEntry(world.services, list, caller, { value: 'at-once.example', mailboxId: null });
      for (const { port } of [world.mail.smtp, other.smtp]) assert.match(await send(port), /^550 5\.7\.1 /);
      await removeListEntry(world.services, list, caller, entry.id);
    }
  } finally {
    await other.close();
  }
});

test('questions that come at once share statements, and each gets the answer of its own mailbox and organization', async () => {
  const { db } = world.services;
  await db.query(`delete from sender_list where organization_id = $1`, [world.organizationId]);
  const mailboxes = [await world.createMailbox('shared-a'), await world.createMailbox('shared-b')];
  await add('block', 'shared.example');
  await add('allow', 'shared.example', mailboxes[1]?.id);
  await add('block', 'y@shared.example', mailboxes[1]?.id);
  const questions = [world.organizationId, 'org_of_nobody'].flatMap((organizationId) =>
    [...mailboxes.map(({ id }) => id), null].flatMap((mailboxId) =>
      (['inbound', 'outbound'] as const).flatMap((direction) =>
        [
          ['x@Shared.example'],
          ['y@shared.example', 'z@other.example'],
          [],
          ['x@shared.example', 'y@shared.example'],
        ].map((addresses): ListQuestion => ({ organizationId, mailboxId, direction, addresses })),
      ),
    ),
  );
  let statements = 0;
  const ask = listAsker({
    query: (text, values) => {
      statements++;
      return db.query(text, values);
    },
  });
  const together = await Promise.all(questions.map(ask));
  assert.equal(statements, 2, 'the first question goes at once, all others when it is answered');
  for (const [i, question] of questions.entries()) assert.deepEqual(together[i], await askLists(db, question));
  const actions = together.flatMap((verdicts) => [...verdicts.values()].map(({ action }) => action));
  assert.deepEqual([actions.length, actions.filter((action) => action === 'allow').length], [12, 2]);
});
