/** Many clients of one mailbox on all doors at once; the store's rules must hold in the end. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { ImapFlow } from 'imapflow';
import Pop3Command from 'node-pop3';
import { startMail } from '../../../mail/start.ts';
import { testTls } from '../../support/services.ts';
import { dnsStub, letter, openMailWorld } from '../mail-world.ts';

/** Longer hunts: `TEST_MAIL_LOAD_MS=180000 npm test -- test/mail/clients/everything-at-once.test.ts`. */
const FOR_MS = Number(process.env['TEST_MAIL_LOAD_MS'] ?? 10_000);
const IMAP_CLIENTS = 14;
const POP3_CLIENTS = 3;
const SMTP_CLIENTS = 3;
const FOLDERS = ['INBOX', 'Archive', 'Trash', 'Work'];

const world = await openMailWorld();
/** A second set of doors with a store and a notifier of its own, as in another process. */
const other = await startMail(world.services, { lookup: dnsStub() });
after(async () => {
  await other.close();
  await world.close();
});
const ca = readFileSync(testTls().caFile);

const pick = <Value>(values: readonly Value[]): Value => {
  const value = values[Math.floor(Math.random() * values.length)];
  if (value === undefined) throw new Error('nothing to pick from');
  return value;
};

test('clients that do everything at once leave a mailbox whose rules hold', async () => {
  const mailbox = await world.createMailbox('busy');
  const until = Date.now() + FOR_MS;
  const done = new Map<string, number>();
  const count = (what: string) => done.set(what, (done.get(what) ?? 0) + 1);
  const problems: string[] = [];

  async function imapClient(): Promise<void> {
    const client = new ImapFlow({
      host: 'localhost',
      port: pick([world.mail, other]).imap.port,
      secure: true,
      auth: { user: mailbox.address, pass: mailbox.token },
      tls: { ca },
      logger: false,
      // With QRESYNC it takes no message off its count when it hears VANISHED, and then asks for numbers there are not.
      qresync: false,
      disableCompression: Math.random() < 0.5,
    });
    client.on('error', (error: Error) => problems.push(`connection: ${error.message}`));
    await client.connect();
    await client.mailboxCreate('Work').catch(() => {});
    let open = '';
    const actions: Record<string, () => Promise<unknown>> = {
      append: () => client.append(pick(FOLDERS), letter('appended').replaceAll('\n', '\r\n'), ['\\Seen']),
      flags: () => client.messageFlagsAdd('1:3', [pick(['\\Flagged', '\\Seen', 'blue', 'red'])]),
      unflag: () => client.messageFlagsRemove('*', ['\\Flagged', 'blue']),
      copy: () => client.messageCopy('1', pick(FOLDERS)),
      move: () => client.messageMove('*', pick(FOLDERS)),
      expunge: () => client.messageDelete('2'),
      search: () => client.search({ or: [{ flagged: true }, { subject: 'sent' }] }),
      // Of another folder: it would take the count for that of its session, which may not have been told yet.
      status: () =>
        client.status(pick(FOLDERS.filter((name) => name !== open)), {
          messages: true,
          unseen: true,
          highestModseq: true,
        }),
      noop: () => client.noop(),
      async fetch() {
        for await (const message of client.fetch('1:*', { envelope: true, flags: true, uid: true, size: true }))
          if (message.uid <= 0) problems.push('a message without a UID');
      },
      async source() {
        const message = await client.fetchOne('*', { source: true, size: true });
        if (message && message.source?.length !== message.size) problems.push('a size that is not that of the source');
      },
    };
    while (Date.now() < until) {
      open = pick(FOLDERS);
      await client.mailboxOpen(open);
      for (let steps = 0; steps < 12 && Date.now() < until; steps++) {
        const [name, action] = pick(Object.entries(actions));
        // In a folder without messages imapflow answers some of these by itself, with false.
        await action();
        count(name);
      }
    }
    await client.logout();
  }

  async function pop3Client(): Promise<void> {
    while (Date.now() < until) {
      const client = new Pop3Command({
        host: 'localhost',
        port: pick([world.mail, other]).pop3.port,
        tls: true,
        user: mailbox.address,
        password: mailbox.token,
        servername: 'localhost',
        tlsOptions: { ca },
      });
      const { length } = await client.UIDL();
      // Others may have taken it away since login; then RETR says so.
      if (length > 0) await client.RETR(1).catch(() => count('pop3 gone'));
      if (length > 1) await client.DELE(2);
      await client.QUIT();
      count('pop3');
    }
  }

  async function smtpClient(): Promise<void> {
    while (Date.now() < until) {
      assert.match(await world.send(mailbox.address, letter('sent')), /^250/);
      count('smtp');
    }
  }

  await Promise.all([
    ...Array.from({ length: IMAP_CLIENTS }, imapClient),
    ...Array.from({ length: POP3_CLIENTS }, pop3Client),
    ...Array.from({ length: SMTP_CLIENTS }, smtpClient),
  ]);
  assert.deepEqual(problems, []);
  for (const what of ['append', 'flags', 'copy', 'move', 'expunge', 'fetch', 'source', 'pop3', 'smtp'])
    assert.ok((done.get(what) ?? 0) > 0, what);
  assert.deepEqual(await world.faults(), []);
});
