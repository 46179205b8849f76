import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type OutboundWorld, openOutboundWorld } from '#test/support/outbound-world.ts';
import { logIn } from '#test/support/submission-client.ts';

let world: OutboundWorld;
before(async () => {
  world = await openOutboundWorld();
});
after(() => world?.close());

describe('the refusal of a sender that is not the mailbox says what to change', () => {
  const answerTo = async (header: string, envelopeFrom?: string): Promise<string> => {
    const client = await logIn(world.mail.mail.submissionStarttls, world.sender);
    const from = envelopeFrom ?? world.sender.address;
    const reply = await client.send(from, ['ann@example.com'], `${header}Subject: x\n\nwords\n`);
    client.close();
    return reply;
  };
  const own = () => world.sender.address;

  test('in MAIL FROM', async () => {
    assert.equal(
      await answerTo(`From: ${own()}\n`, 'boss@example.com'),
      `553 5.7.1 The envelope sender is <boss@example.com>, but this mailbox sends as ${own()}: use MAIL FROM:<${own()}>`,
    );
    assert.match(await answerTo(`From: ${own()}\n`, ''), /^553 5\.7\.1 The envelope sender is empty, but /);
  });
  for (const [name, header, text] of [
    [
      'in From',
      () => 'From: Boss <boss@example.com>\n',
      /^553 5\.7\.1 From is "Boss <boss@example\.com>", but this mailbox sends as \S+: set From to \S+ .*or add "Sender: /,
    ],
    [
      'in two From fields',
      () => `From: ${own()}\nFrom: boss@example.com\n`,
      /^553 5\.7\.1 The message has 2 From fields: keep one, "From: \S+"$/,
    ],
    ['without From', () => '', /^553 5\.7\.1 The message has no From field: add "From: \S+"$/],
    [
      'in From of a neighbour, with Sender',
      () => `From: other@agents.test\nSender: ${own()}\n`,
      /^553 5\.7\.1 From is other@agents\.test, but this mailbox sends as \S+: set From to/,
    ],
    [
      'in Sender of its own mail',
      () => `From: ${own()}\nSender: Boss <boss@example.com>\n`,
      /^553 5\.7\.1 Sender is "Boss <boss@example\.com>", but this mailbox sends as (\S+): remove the field or set it to \1$/,
    ],
    [
      'in Resent-From of its own mail',
      () => `Resent-From: boss@example.com\nFrom: ${own()}\n`,
      /^553 5\.7\.1 Resent-From is "boss@example\.com", but /,
    ],
    [
      'in a From beyond all measure',
      () => `From: ${'boss'.repeat(200)}@example.com\n`,
      /^553 5\.7\.1 From is "(?:boss){20}\.\.\.", but /,
    ],
  ] as const)
    test(name, async () => {
      const reply = await answerTo(header());
      assert.match(reply, text);
      assert.ok(reply.length <= 510);
    });
});
