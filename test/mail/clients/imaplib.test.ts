import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { letter, openMailWorld } from '#test/support/mail-world.ts';
import { needs } from '#test/support/programs.ts';
import { testTls } from '#test/support/services.ts';
import { sha256, storedMail } from '#test/support/stored-mail.ts';
import { runPython } from './run-program.ts';

const world = await openMailWorld({ clients: { failureDelayMs: () => 10 } });
after(() => world.close());

interface ImaplibSession {
  capabilities: string[];
  folders: string[];
  hashes: string[];
  lengths: number[];
  sizes: string[];
  found: string;
  flags: string;
  expunged: number[];
  appended: string;
  subjects: string[];
  status: string;
}

for (const starttls of [false, true])
  test(
    `Python’s imaplib reads, searches, flags, copies, appends and expunges over ${starttls ? 'STARTTLS' : 'TLS'}`,
    needs('python3'),
    async () => {
      const mailbox = await world.createMailbox(starttls ? 'imaplib-starttls' : 'imaplib');
      await world.send(mailbox.address, letter('One', '', 'Hello\n.dot\n'));
      await world.send(mailbox.address, letter('Two', '', 'long line\n'.repeat(20_000)));
      await world.send(mailbox.address, letter('Drei', 'Content-Type: text/plain; charset=utf-8\n', 'Grüße\n'));
      const messages = await storedMail(world, mailbox);
      const session = await runPython<ImaplibSession>('imaplib_session.py', {
        caFile: testTls().caFile,
        port: (starttls ? world.mail.imapStarttls : world.mail.imap).port,
        starttls,
        address: mailbox.address,
        token: mailbox.token,
        append: 'Subject: Appended\r\n\r\nBy a client\r\n',
      });
      assert.ok(session.capabilities.includes('AUTH=PLAIN') && !session.capabilities.includes('LOGINDISABLED'));
      assert.equal(session.folders.length, 6);
      assert.deepEqual(session.hashes, messages.map(sha256));
      for (const [index, size] of session.sizes.entries())
        assert.match(size, new RegExp(`RFC822\\.SIZE ${session.lengths[index]}\\b`));
      assert.equal(session.found, '2');
      assert.match(session.flags, /\\Flagged/);
      assert.match(session.flags, /\$Label1/);
      assert.deepEqual(session.expunged, [2]);
      assert.match(session.appended, /APPENDUID \d+ 2\]/);
      assert.deepEqual(session.subjects, ['Subject: One', 'Subject: Appended']);
      assert.match(session.status, /MESSAGES 2\b.*UIDNEXT 4\b/);
      assert.equal(
        (await storedMail(world, mailbox, 'Projects/One'))[1]?.toString(),
        'Subject: Appended\r\n\r\nBy a client\r\n',
      );
      assert.deepEqual(await world.faults(), []);
    },
  );
