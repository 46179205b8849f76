/** The entry point for sending, with concurrent submissions and other spellings of addresses. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { addListEntry } from '#sending/lists/sender-lists.ts';
import { LineClient } from '#test/support/line-client.ts';
import { type OutboundWorld, openOutboundWorld } from '#test/support/outbound-world.ts';

let world: OutboundWorld;
before(async () => {
  world = await openOutboundWorld({ capture: true });
});
after(() => world?.close());

const letter = (id: string) => `From: ${world.sender.address}\r\nSubject: ${id}\r\nMessage-ID: <${id}>\r\n\r\nhi\r\n`;

/** As a mail client does that keeps its own copy. */
async function fileInSent(message: string): Promise<void> {
  const client = await LineClient.open(world.mail.mail.imap.port, { secure: true });
  await client.line();
  client.send(`a LOGIN ${world.sender.address} "${world.sender.token}"\r\n`);
  assert.match((await client.line()) ?? '', /^a OK/);
  client.send(`b APPEND Sent (\\Seen) {${Buffer.byteLength(message)}+}\r\n${message}\r\n`);
  assert.match((await client.line()) ?? '', /APPENDUID/);
  client.close();
}

test('two submissions with one client id at once are one message', async () => {
  const clientId = { id: 'order-1', hashes: [Buffer.from('same')] };
  const submit = () => world.submit(letter('twice'), ['ann@example.com'], { clientId });
  const answers = await Promise.all([submit(), submit(), submit()]);
  assert.equal(new Set(answers.map(({ messageId }) => messageId)).size, 1);
  assert.equal(answers.filter(({ repeated }) => repeated).length, 2);
  assert.equal(await world.finished(answers[0]?.messageId ?? ''), 'captured');
});

test('many more submissions at once than there are connections to the database all end', {
  timeout: 120_000,
}, async () => {
  const colleague = await world.mail.createMailbox('colleague');
  const many = world.mail.services.settings.DATABASE_POOL_MAX * 4;
  const submit = (_: unknown, i: number) => world.submit(letter(`many-${i}`), [colleague.address]);
  const answers = await Promise.all(Array.from({ length: many }, submit));
  assert.equal(new Set(answers.map(({ messageId }) => messageId)).size, many);
  assert.equal((await world.folder(colleague, '\\Inbox')).length, many);
});

test('two concurrent submissions of a message that a client filed use its copy and one new copy', async () => {
  await fileInSent(letter('filed-first'));
  const submit = () => world.submit(letter('filed-first'), ['ann@example.com']);
  const [one, two] = await Promise.all([submit(), submit()]);
  assert.notEqual(one.messageId, two.messageId);
  const sent = await world.folder(world.sender, '\\Sent');
  assert.equal(sent.filter((subject) => subject === 'filed-first').length, 2);
});

test('a copy that a client files while the message is held stays the only one', async () => {
  await world.consentMode('first_contact');
  const held = await world.submit(letter('filed-meanwhile'), ['stranger@example.org']);
  assert.equal(held.status, 'consent_pending');
  await fileInSent(letter('filed-meanwhile'));
  const { db } = world.mail.services;
  await db.query(
    `update consent set status = 'approved', scope = 'message', decided_at = now(), decided_by = $2 where id = $1`,
    [held.consentId, JSON.stringify(SYSTEM_ACTOR)],
  );
  await world.temporal.client.workflow.getHandle(`outbound/${held.messageId}`).signal('decide');
  assert.equal(await world.finished(held.messageId), 'captured');
  await world.consentMode('off');
  const sent = await world.folder(world.sender, '\\Sent');
  assert.equal(sent.filter((subject) => subject === 'filed-meanwhile').length, 1);
});

test('a blocked domain is blocked in every spelling that is the same in DNS', async () => {
  const list = { organizationId: world.mail.organizationId, direction: 'outbound', action: 'block' } as const;
  const caller = { actor: SYSTEM_ACTOR, ipAddress: null, requestId: null };
  for (const value of ['foe.example', 'ann@bücher.example'])
    await addListEntry(world.mail.services, list, caller, { value, mailboxId: null });
  for (const address of ['x@FOE.example', 'x@ｆｏｅ.example', 'Ann@bücher.example', 'ann@xn--bcher-kva.example'])
    await assert.rejects(world.submit(letter('blocked'), [address]), { code: 'recipient_blocked' }, address);
});

test('one place to send to is one recipient, however it is written', async () => {
  const { messageId } = await world.submit(letter('spelling'), ['ann@bücher.test', 'ann@xn--bcher-kva.test']);
  assert.deepEqual(
    (await world.recipients(messageId)).map(({ address }) => address),
    ['ann@xn--bcher-kva.test'],
  );
  const here = await world.submit(letter('here'), [`${world.sender.address.split('@')[0]}@ａｇｅｎｔｓ.test`]);
  assert.equal((await world.recipients(here.messageId))[0]?.local, true);
});

test('the mail store is sound after all of it', async () => {
  assert.deepEqual(await world.mail.faults(), []);
});
