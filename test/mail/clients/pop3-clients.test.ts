import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import Pop3Command from 'node-pop3';
import { letter, openMailWorld, type TestMailbox } from '#test/support/mail-world.ts';
import { needs } from '#test/support/programs.ts';
import { testTls } from '#test/support/services.ts';
import { sha256, storedMail } from '#test/support/stored-mail.ts';
import { runPython } from './run-program.ts';

const world = await openMailWorld();
after(() => world.close());
const { caFile } = testTls();

async function filled(localPart: string): Promise<TestMailbox> {
  const mailbox = await world.createMailbox(localPart);
  await world.send(mailbox.address, letter('One', '', 'Hello\n.dot\n..dots\n'));
  await world.send(mailbox.address, letter('Two', '', `${'long line '.repeat(90)}\n`.repeat(2_000)));
  await world.send(mailbox.address, letter('Drei', 'Content-Type: text/plain; charset=utf-8\n', 'Grüße\n'));
  return mailbox;
}

interface PoplibSession {
  before: string[];
  capabilities: string[];
  count: number;
  size: number;
  sizes: number[];
  ids: string[];
  lengths: number[];
  hashes: string[];
  tops: number[];
}

test(
  'Python’s poplib reads and deletes over TLS and STLS, byte for byte, with stable ids',
  needs('python3'),
  async () => {
    const mailbox = await filled('poplib');
    const { address, token } = mailbox;
    const messages = await storedMail(world, mailbox);
    const common = { caFile, address, token };
    const first = await runPython<PoplibSession>('poplib_session.py', {
      ...common,
      port: world.mail.pop3.port,
      starttls: false,
      delete: [2],
    });
    assert.equal(first.count, 3);
    assert.deepEqual(first.hashes, messages.map(sha256));
    assert.deepEqual(first.sizes, first.lengths);
    assert.equal(
      first.size,
      first.lengths.reduce((sum, length) => sum + length, 0),
    );
    assert.ok(first.capabilities.includes('SASL') && !first.capabilities.includes('STLS'));
    const second = await runPython<PoplibSession>('poplib_session.py', {
      ...common,
      port: world.mail.pop3Starttls.port,
      starttls: true,
      delete: [],
    });
    assert.ok(second.before.includes('STLS') && !second.before.includes('USER'));
    assert.deepEqual(second.ids, [first.ids[0], first.ids[2]]);
    assert.deepEqual(second.hashes, [first.hashes[0], first.hashes[2]]);
    assert.deepEqual(await world.faults(), []);
  },
);

test('node-pop3 lists, retrieves and deletes', async () => {
  const mailbox = await filled('node-pop3');
  const [, , three] = await storedMail(world, mailbox);
  /** Ids of a listing of all messages. */
  const ids = (list: string[][] | string[]) => list.map((entry) => [entry].flat()[1]);
  const open = () =>
    new Pop3Command({
      host: 'localhost',
      port: world.mail.pop3.port,
      tls: true,
      user: mailbox.address,
      password: mailbox.token,
      servername: 'localhost',
      tlsOptions: { ca: readFileSync(caFile) },
    });
  const client = open();
  const list = await client.UIDL();
  assert.equal(list.length, 3);
  // It leaves stuffed dots as they are, so this is a message without any.
  assert.equal((await client.RETR(3)).trimEnd(), three?.toString().trimEnd());
  assert.match(await client.TOP(2, 0), /Subject: Two/);
  await client.DELE(1);
  await client.QUIT();
  const again = open();
  assert.deepEqual(ids(await again.UIDL()), ids(list).slice(1));
  await again.QUIT();
});
