import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { MESSAGE_MAX_BYTES } from '#domain/mail/mail-limits.ts';
import { openMailWorld } from '#test/support/mail-world.ts';
import { needs } from '#test/support/programs.ts';
import { testTls } from '#test/support/services.ts';
import { storedMail } from '#test/support/stored-mail.ts';
import { runPython } from './run-program.ts';

const world = await openMailWorld({ clients: { failureDelayMs: () => 10 } });
after(() => world.close());

test('Python’s smtplib delivers over STARTTLS, and gets the refused recipient', needs('python3'), async () => {
  const mailbox = await world.createMailbox('smtplib');
  const result = await runPython<{ features: string[]; refused: Record<string, number> }>('smtplib_session.py', {
    caFile: testTls().caFile,
    port: world.mail.smtp.port,
    to: [mailbox.address, 'nobody@agents.test'],
  });
  assert.deepEqual(result.refused, { 'nobody@agents.test': 550 });
  assert.ok(['8bitmime', 'pipelining', 'size', 'smtputf8'].every((feature) => result.features.includes(feature)));
  assert.ok(!result.features.includes('auth'));
  const [stored] = await storedMail(world, mailbox);
  assert.match(stored?.toString() ?? '', /^Subject: =\?utf-8\?/im);
  assert.match(stored?.toString() ?? '', /filename="b\.bin"/);
});

interface SubmissionSession {
  features: Record<string, string>;
  wrongToken: [number, string] | null;
  tooLargeByItsSize: [number, string] | null;
  tooLargeInDATA: [number, string] | null;
  sent: [number, string] | null;
  held: [number, string];
}

for (const listener of ['submission', 'submissionStarttls'] as const)
  test(
    `Python’s smtplib submits by the ${listener} listener, and gets errors for a wrong token and for a size, and the id of what is held`,
    needs('python3'),
    async () => {
      const [sender, receiver] = [
        await world.createMailbox(`py-${listener.toLowerCase()}`),
        await world.createMailbox(`py-to-${listener.toLowerCase()}`),
      ];
      const session = await runPython<SubmissionSession>('smtplib_submission.py', {
        caFile: testTls().caFile,
        port: world.mail[listener].port,
        starttls: listener === 'submissionStarttls',
        address: sender.address,
        token: sender.token,
        to: receiver.address,
        tooLargeBytes: MESSAGE_MAX_BYTES,
      });
      assert.deepEqual(session.features['size'], String(MESSAGE_MAX_BYTES));
      assert.match(session.features['auth'] ?? '', /PLAIN/);
      assert.equal(session.wrongToken?.[0], 535);
      assert.match(session.wrongToken?.[1] ?? '', /^5\.7\.8/);
      for (const refused of [session.tooLargeByItsSize, session.tooLargeInDATA]) {
        assert.equal(refused?.[0], 552);
        assert.match(refused?.[1] ?? '', /^5\.3\.4/);
      }
      assert.equal(session.sent, null);
      assert.equal(session.held[0], 250);
      assert.match(session.held[1], /^2\.0\.0 held for consent con_/);
      assert.deepEqual(
        (await storedMail(world, receiver)).map((mail) => /^Subject: (.*?)\r?$/m.exec(mail.toString())?.[1]),
        ['by smtplib'],
      );
      assert.deepEqual(await world.faults(), []);
    },
  );
