/** Two-way synchronization of a mailbox that changes meanwhile, by mbsync (isync) and a Maildir. */
import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { ImapFlow } from 'imapflow';
import { LineClient } from '#test/support/line-client.ts';
import { letter, openMailWorld, type TestMailbox } from '#test/support/mail-world.ts';
import { needs } from '#test/support/programs.ts';
import { testTls } from '#test/support/services.ts';
import { runProgram } from './run-program.ts';

const world = await openMailWorld();
const folder = mkdtempSync(path.join(tmpdir(), 'mbsync-test-'));
after(async () => {
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});
const { caFile } = testTls();
/** Of the first synchronization. All of it: `TEST_MBSYNC_MESSAGES=10000 npm test -- test/mail/clients/mbsync.test.ts`. */
const MESSAGES = Number(process.env['TEST_MBSYNC_MESSAGES'] ?? 1_000);
const RUN_WITHIN_MS = 120_000 + MESSAGES * 60;

interface Maildir {
  sync(): Promise<void>;
  /** Message files of a folder with their flags, by subject. */
  messages(name?: string): Map<string, { file: string; flags: string }>;
  /** Many files take longer to remove than is left after the last test. */
  remove(): void;
}

function maildir(mailbox: TestMailbox): Maildir {
  const root = path.join(folder, mailbox.id);
  mkdirSync(root);
  const config = path.join(root, 'mbsyncrc');
  writeFileSync(
    config,
    `IMAPAccount agent
Host localhost
Port ${world.mail.imap.port}
User ${mailbox.address}
Pass ${mailbox.token}
SSLType IMAPS
CertificateFile ${caFile}
SystemCertificates no

IMAPStore far
Account agent

MaildirStore near
Path ${root}/mail/
Inbox ${root}/mail/INBOX
SubFolders Verbatim

Channel all
Far :far:
Near :near:
Patterns *
Create Both
Expunge Both
SyncState ${root}/state-
`,
    { mode: 0o600 },
  );
  mkdirSync(path.join(root, 'mail'));
  return {
    async sync() {
      const { code, stderr } = await runProgram('mbsync', ['-c', config, '-a'], {
        environment: { HOME: root },
        withinMs: RUN_WITHIN_MS,
      });
      assert.equal(code, 0, stderr);
      assert.doesNotMatch(stderr, /UIDVALIDITY|lost track|Warning|Error/i);
    },
    remove: () => rmSync(root, { recursive: true }),
    messages(name = 'INBOX') {
      const found = new Map<string, { file: string; flags: string }>();
      for (const kind of ['cur', 'new'])
        for (const file of readdirSync(path.join(root, 'mail', name, kind))) {
          const full = path.join(root, 'mail', name, kind, file);
          const subject = /^Subject: (.*?)\r?$/m.exec(readFileSync(full, 'utf8'))?.[1] ?? '';
          assert.ok(!found.has(subject), `${subject} is there twice`);
          found.set(subject, { file: full, flags: /:2,(.*)$/.exec(file)?.[1] ?? '' });
        }
      return found;
    },
  };
}

async function inbox(mailbox: TestMailbox, name = 'INBOX'): Promise<Map<string, string>> {
  const client = await connect(mailbox);
  await client.mailboxOpen(name, { readOnly: true });
  const letters: Record<string, string> = { '\\Seen': 'S', '\\Flagged': 'F', '\\Answered': 'R', '\\Draft': 'D' };
  const found = new Map<string, string>();
  for await (const { envelope, flags } of client.fetch('1:*', { envelope: true, flags: true }))
    found.set(
      envelope?.subject ?? '',
      [...(flags ?? [])]
        .map((flag) => letters[flag] ?? '')
        .toSorted()
        .join(''),
    );
  await client.logout();
  return found;
}

async function connect(mailbox: TestMailbox): Promise<ImapFlow> {
  const client = new ImapFlow({
    host: 'localhost',
    port: world.mail.imap.port,
    secure: true,
    auth: { user: mailbox.address, pass: mailbox.token },
    tls: { ca: readFileSync(caFile) },
    logger: false,
  });
  await client.connect();
  return client;
}

/** What moves on with every change of a folder. */
const changes = (mailbox: TestMailbox) =>
  world.services.db.query(`select name, modseq, uid_next, total from folder where mailbox_id = $1 order by id`, [
    mailbox.id,
  ]);

const flagsOf = (messages: Map<string, { flags: string }>) =>
  new Map([...messages].map(([subject, { flags }]) => [subject, [...flags].toSorted().join('')]));

test(
  'twenty rounds of changes on both sides meanwhile: both come out alike, with no UID trouble',
  needs('mbsync'),
  async () => {
    const mailbox = await world.createMailbox('mbsync');
    const near = maildir(mailbox);
    const deliver = (subject: string) => world.send(mailbox.address, letter(subject));
    for (let count = 0; count < 10; count++) await deliver(`start ${count}`);
    await near.sync();
    assert.equal(near.messages().size, 10);
    const far = await connect(mailbox);
    await far.mailboxOpen('INBOX');
    for (let round = 0; round < 20; round++) {
      // Here: flag one, remove another.
      const [one, two] = [...near.messages().values()];
      if (one !== undefined) renameSync(one.file, `${one.file.replace(/\/new\//, '/cur/').replace(/:2,.*$/, '')}:2,F`);
      if (two !== undefined && round % 2 === 0) unlinkSync(two.file);
      // There, while it runs: deliveries, flags, a move there and one back, an expunge, a copy put aside by APPEND.
      const running = near.sync();
      await Promise.all([
        deliver(`round ${round} a`),
        deliver(`round ${round} b`),
        far.append('Archive', letter(`aside ${round}`).replaceAll('\n', '\r\n'), ['\\Seen']),
      ]);
      await far.noop();
      await far.messageFlagsAdd('*', ['\\Answered']);
      await far.messageFlagsRemove('2', ['\\Flagged']);
      await far.messageMove('1', 'Archive');
      await far.messageDelete('2');
      if (round % 4 === 3) {
        await far.mailboxOpen('Archive');
        await far.messageMove('1', 'INBOX');
        await far.mailboxOpen('INBOX');
      }
      await running;
    }
    await far.logout();
    await near.sync();
    const before = await changes(mailbox);
    await near.sync();
    assert.deepEqual(await changes(mailbox), before, 'a further run changes nothing');
    for (const name of ['INBOX', 'Archive'])
      assert.deepEqual(flagsOf(near.messages(name)), await inbox(mailbox, name), name);
    assert.deepEqual(await world.faults(), []);
  },
);

test('a folder made on one side appears on the other, with its mail', needs('mbsync'), async () => {
  const mailbox = await world.createMailbox('mbsync-folders');
  const near = maildir(mailbox);
  await near.sync();
  const client = await connect(mailbox);
  await client.mailboxCreate('Projekte/Süd');
  await client.append('Projekte/Süd', letter('there').replaceAll('\n', '\r\n'));
  await client.logout();
  await near.sync();
  assert.deepEqual([...near.messages('Projekte/S&APw-d').keys()], ['there']);
});

test(`the first synchronization of ${MESSAGES} messages brings them all, the second changes nothing`, {
  ...needs('mbsync'),
  timeout: RUN_WITHIN_MS * 3,
}, async () => {
  const mailbox = await world.createMailbox('mbsync-large');
  const client = await LineClient.open(world.mail.imap.port, { secure: true });
  await client.line();
  await client.tagged('l', `LOGIN ${mailbox.address} ${mailbox.token}`);
  const expected = new Map<string, string>();
  for (let from = 0; from < MESSAGES; from += 500) {
    const messages = Array.from({ length: Math.min(500, MESSAGES - from) }, (_, i) => {
      const subject = `message ${from + i}`;
      expected.set(subject, i % 3 === 0 ? 'S' : '');
      const text = letter(subject, '', `Text ${'x'.repeat((i * 37) % 3_000)}\n`).replaceAll('\n', '\r\n');
      return ` (${i % 3 === 0 ? '\\Seen' : ''}) {${text.length}+}\r\n${text}`;
    });
    assert.match((await client.tagged(`a${from}`, `APPEND INBOX${messages.join('')}`)).at(-1) ?? '', / OK /);
  }
  client.close();
  const near = maildir(mailbox);
  await near.sync();
  assert.deepEqual(flagsOf(near.messages()), expected);
  const before = [await changes(mailbox), [...near.messages().values()].map(({ file }) => file)];
  await near.sync();
  assert.deepEqual([await changes(mailbox), [...near.messages().values()].map(({ file }) => file)], before);
  near.remove();
  assert.deepEqual(await world.faults(), []);
});
