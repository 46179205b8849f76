/** Which addresses are allowed in From, and the authentication results for recipients here. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type OutboundWorld, openOutboundWorld } from '#test/support/outbound-world.ts';

let world: OutboundWorld;
before(async () => {
  world = await openOutboundWorld({ capture: true });
});
after(() => world?.close());

const asSecretaryOf = (author: string) =>
  `From: ${author}\r\nSender: ${world.sender.address}\r\nSubject: s\r\n\r\nhi\r\n`;

test('no mailbox can write as another mailbox of this host, nor as a domain that its signature would vouch for', async () => {
  const other = await world.mail.createMailbox('other');
  for (const author of [other.address, 'nobody@agents.test', 'ceo@sub.agents.test', 'Boss <x@AGENTS.test>'])
    await assert.rejects(world.submit(asSecretaryOf(author), ['ann@example.com']), { code: 'invalid_request' }, author);
  const submitted = await world.submit(asSecretaryOf('boss@example.com'), ['ann@example.com']);
  assert.equal(await world.finished(submitted.messageId), 'captured');
});

test('a recipient here sees whether the author is the mailbox that sent it', async () => {
  const reader = await world.mail.createMailbox('reader');
  await world.submit(asSecretaryOf('ceo@bank.example'), [reader.address]);
  await world.send([reader.address]);
  const rows = await world.mail.services.db.query<{ auth: { dmarc: { result: string; domain: string } } }>(
    `select auth from message where mailbox_id = $1 order by id`,
    [reader.id],
  );
  assert.deepEqual(
    rows.map(({ auth }) => [auth.dmarc.result, auth.dmarc.domain]),
    [
      ['fail', 'bank.example'],
      ['pass', 'agents.test'],
    ],
  );
});
