/** What other programs make of an export, and what they write: Python's mailbox module, Dovecot, our own IMAP listener. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { readImap } from '#administration/moving/imap-reader.ts';
import { MAIL_FLAGS } from '#domain/mail/mail-flags.ts';
import { knownImports } from '#mailstore/delivery/import-messages.ts';
import { openMailWorld } from '#test/support/mail-world.ts';
import { needs, programFile } from '#test/support/programs.ts';
import { letter, type StoreMailbox, spooled } from '#test/support/store-world.ts';
import { contentsOf, fillHard, type MovingWorld, openMovingWorld } from './moving-world.ts';

let world: MovingWorld;
before(async () => {
  world = await openMovingWorld();
});
after(() => world.close());

/** What every program keeps. */
async function fillPlain({ store, inbox }: StoreMailbox): Promise<void> {
  const projects = await store.createFolder('Projects/Größe & 受信', null);
  const { seen, answered, flagged, draft } = MAIL_FLAGS;
  for (const folder of [inbox, projects])
    for (const [n, flags] of [0, seen, seen | answered, flagged | draft].entries())
      await store.append(folder.id, [
        spooled(letter(`letter ${n}`, '', 'Hello\r\n\r\nFrom here 12:00 2026\r\n'), {
          flags,
          keywords: n % 2 === 0 ? [] : ['work', 'later'],
          internalDate: new Date(`2026-01-0${n + 1}T10:20:30Z`),
        }),
      ]);
}

const knownOf = ({ id }: { readonly id: string }) => ({
  known: (digests: readonly Buffer[]) => knownImports(world.services.db, id, digests),
});

test(
  'Python reads every message, flag and date of an export, and its own files are imported',
  needs('python3'),
  async () => {
    const source = await world.newMailbox();
    await fillPlain(source);
    const wanted = await contentsOf(world, source);
    for (const format of ['mbox', 'maildir'] as const)
      await world.export(source, format, world.path(`python-${format}`));
    const copied = world.path('python-copies');
    mkdirSync(copied);
    const output = execFileSync(
      programFile('python3'),
      ['-c', PYTHON_PROGRAM, world.path('python-mbox'), world.path('python-maildir'), copied],
      {
        encoding: 'utf8',
      },
    );
    const read = JSON.parse(output) as Record<string, { subject: string; flags: string; date: number }[]>;
    for (const format of ['mbox', 'maildir']) {
      const messages = read[format] ?? [];
      assert.equal(messages.length, wanted.messages.length, format);
      const shown = wanted.messages.map(({ content, flags, date }) =>
        JSON.stringify([
          /Subject: (.*)\r/.exec(content)?.[1],
          (flags & MAIL_FLAGS.seen) !== 0,
          (flags & MAIL_FLAGS.answered) !== 0,
          date / 1_000,
        ]),
      );
      assert.deepEqual(
        messages
          .map(({ subject, flags, date }) =>
            JSON.stringify([
              subject,
              /[RS]/.test(format === 'mbox' ? flags.replaceAll(/[^R]/g, '') : flags.replaceAll(/[^S]/g, '')),
              flags.includes(format === 'mbox' ? 'A' : 'R'),
              date,
            ]),
          )
          .toSorted(),
        shown.toSorted(),
        format,
      );
    }
    for (const [name, format] of [
      ['copy.mbox', 'mboxo'],
      ['copy-maildir', 'maildir'],
    ] as const) {
      const mailbox = await world.newMailbox();
      const report = await world.import(mailbox, path.join(copied, name), { format });
      assert.deepEqual([report.imported, report.problems], [2, []], format);
      const { messages } = await contentsOf(world, mailbox);
      assert.deepEqual(
        messages.map(({ content }) => content.slice(content.indexOf('Hello'))),
        Array.from({ length: 2 }, () => 'Hello\r\n\r\nFrom me\r\n>>From you\r\n'),
      );
      assert.equal(messages.filter(({ flags }) => flags === (MAIL_FLAGS.seen | MAIL_FLAGS.flagged)).length, 1, format);
    }
  },
);

const PYTHON_PROGRAM = `
import calendar, email.utils, glob, json, mailbox, os, sys, time
mboxes, maildir, copies = sys.argv[1:]
read = {'mbox': [], 'maildir': []}
for name in sorted(glob.glob(os.path.join(mboxes, '*.mbox'))):
    for message in mailbox.mbox(name, create=False):
        date = calendar.timegm(time.strptime(' '.join(message.get_from().split()[1:]), '%a %b %d %H:%M:%S %Y'))
        read['mbox'].append({'subject': message['subject'], 'flags': message.get_flags(), 'date': date})
root = mailbox.Maildir(maildir, create=False)
for box in [root] + [root.get_folder(name) for name in root.list_folders()]:
    for message in box:
        read['maildir'].append({'subject': message['subject'], 'flags': message.get_flags(), 'date': message.get_date()})
text = b'From: a@example.org\\nSubject: copy %d\\nMessage-ID: <%d@example.org>\\n\\nHello\\n\\nFrom me\\n>>From you\\n'
for kind, box in (('mbox', mailbox.mbox(os.path.join(copies, 'copy.mbox'))), ('maildir', mailbox.Maildir(os.path.join(copies, 'copy-maildir')))):
    for n in (1, 2):
        message = (mailbox.mboxMessage if kind == 'mbox' else mailbox.MaildirMessage)(text % (n, n))
        if n == 2:
            message.set_flags('RF' if kind == 'mbox' else 'SF')
            if kind == 'maildir': message.set_subdir('cur')
        box.add(message)
    box.close()
print(json.dumps(read))
`;

test('Dovecot serves an export as it was, and an import from it has the same', needs('Dovecot for IMAP'), async () => {
  const source = await world.newMailbox();
  await fillPlain(source);
  const target = world.path('dovecot');
  await world.export(source, 'maildir', target);
  const dovecot = await serveByDovecot(target);
  try {
    const mailbox = await world.newMailbox();
    const url = new URL(`imap://127.0.0.1:${dovecot.port}`);
    const from = () => readImap({ url, user: 'ada', password: 'x', insecure: false, ...knownOf(mailbox) });
    const report = await world.import(mailbox, from());
    assert.deepEqual(report.problems, []);
    const comparison = { exact: false, withoutEmpty: true };
    assert.deepEqual(
      (await contentsOf(world, mailbox, comparison)).messages,
      (await contentsOf(world, source, comparison)).messages,
    );
    const again = await world.import(mailbox, from());
    assert.deepEqual([again.imported, again.known], [0, report.imported]);
  } finally {
    await dovecot.close();
  }
});

const NOBODY = 65_534;

/** Each connection is a session of Dovecot's imap program, logged in already. It refuses to run as root. */
async function serveByDovecot(maildir: string) {
  const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if (identity.uid !== undefined) {
    chmodSync(path.dirname(maildir), 0o755);
    for (const entry of ['', ...(readdirSync(maildir, { recursive: true }) as string[])])
      chownSync(path.join(maildir, entry), NOBODY, NOBODY);
  }
  const ids = [process.getuid?.() ?? 0, process.getgid?.() ?? 0].map((id) => (id === 0 ? NOBODY : id));
  const settings = {
    ...{ mail_location: `maildir:${maildir}`, ssl: 'no', mail_uid: ids[0], mail_gid: ids[1], first_valid_uid: 1 },
    ...{ first_valid_gid: 1, stats_writer_socket_path: '', log_path: '/dev/stderr' },
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  const running = new Set<Promise<unknown>>();
  const server = net.createServer((socket) => {
    const child = spawn(programFile('Dovecot for IMAP'), ['-c', '/dev/null', ...options], {
      ...{ ...identity, env: { HOME: maildir, USER: 'ada' }, cwd: '/', stdio: ['pipe', 'pipe', 'ignore'] },
    });
    running.add(new Promise((resolve) => child.once('close', resolve)));
    child.stdin?.on('error', () => {});
    socket.on('error', () => {});
    if (child.stdin !== null && child.stdout !== null) {
      socket.pipe(child.stdin);
      child.stdout.pipe(socket);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    async close() {
      server.close();
      await Promise.all(running);
    },
  };
}

test('by IMAP from a mailbox of this service, whatever its messages contain', async () => {
  const mail = await openMailWorld();
  try {
    const source = await mail.createMailbox('imap-source');
    const account = { mailboxId: source.id, address: source.address };
    const { openMailStore } = await import('#mailstore/mail-store.ts');
    const { openMailNotifier } = await import('#mailstore/changes/notifier.ts');
    const notifier = openMailNotifier(mail.services);
    const store = openMailStore(mail.services, notifier);
    const opened = store.openMailbox(account);
    const inbox = (await opened.folder('INBOX')) ?? assert.fail('no INBOX');
    await fillHard({ id: source.id, address: source.address, store: opened, inbox });
    await store.close();
    await notifier.close();
    const target = await world.newMailbox();
    const { port } = mail.mail.imap;
    const from = (password: string) =>
      readImap({
        ...{ url: new URL(`imaps://localhost:${port}`), user: source.address, password, insecure: false },
        ...knownOf(target),
      });
    const report = await world.import(target, from(source.token));
    assert.deepEqual(report.problems, []);
    const sourceWorld = { ...world, services: mail.services };
    const { folders, messages } = await contentsOf(sourceWorld, { ...target, id: source.id }, { exact: false });
    // IMAP has no NUL (RFC 9051 §9, CHAR8): servers send another byte instead.
    const wanted = {
      folders,
      messages: messages.map((each) => ({ ...each, content: each.content.replaceAll('\0', '\x80') })),
    };
    assert.deepEqual(await contentsOf(world, target, { exact: false }), wanted);
    const again = await world.import(target, from(source.token));
    assert.deepEqual([again.imported, again.known], [0, wanted.messages.length]);
    await assert.rejects(world.import(target, from('wrong')), /localhost:\d+: .*run the same command again/);
  } finally {
    await mail.close();
  }
});

test('an import by IMAP without TLS from another machine is refused before the password is sent', async () => {
  let received = '';
  const server = net.createServer((socket) => {
    socket.write('* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN] ready\r\n');
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      received += chunk.toString();
      const [tag] = chunk.toString().split(' ');
      socket.write(`* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\n${tag} OK done\r\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  try {
    const mailbox = await world.newMailbox();
    // Not the name or number of this machine, but leads to it.
    const url = new URL(`imap://ip6-localhost.invalid:${port}`);
    url.hostname = '0.0.0.0';
    const source = readImap({ url, user: 'ada', password: 'secret-word', insecure: false, ...knownOf(mailbox) });
    await assert.rejects(world.import(mailbox, source), /STARTTLS/i);
    assert.ok(
      !received.includes('LOGIN') && !received.includes('AUTHENTICATE') && !received.includes('secret-word'),
      received,
    );
  } finally {
    server.close();
  }
});

test('a hostile Maildir: links, names, too many folders, dates and keywords that cannot be stored', async () => {
  const root = world.path('hostile');
  const make = (folder: string, name: string, text = 'Subject: x\n\nbody\n') => {
    mkdirSync(path.join(root, folder, 'cur'), { recursive: true });
    writeFileSync(path.join(root, folder, 'cur', name), text);
  };
  make('', '1.a:2,S');
  make('.Sub.One', '1.b:2,Fa');
  make('.dots.....', '1.c');
  make('.tab\there', '1.d');
  make(`.${'deep.'.repeat(30)}end`, '1.e');
  writeFileSync(path.join(root, '.Sub.One', 'dovecot-keywords'), `0 ${'k'.repeat(100)}\n1 ok\n`);
  symlinkSync('/etc/passwd', path.join(root, 'cur', '1.link:2,'));
  symlinkSync('/', path.join(root, '.root'));
  for (let n = 0; n < 1_200; n++) mkdirSync(path.join(root, `.zz.${n}`, 'cur'), { recursive: true });
  make('.zz.999', '1.f');
  const mailbox = await world.newMailbox();
  const report = await world.import(mailbox, root);
  const { messages } = await contentsOf(world, mailbox, { withoutEmpty: true });
  assert.deepEqual(
    messages.map(({ folder, flags }) => [folder, flags]),
    [
      ['INBOX', MAIL_FLAGS.seen],
      ['Sub/One', MAIL_FLAGS.flagged],
      ['dots', 0],
      ['tab_here', 0],
    ],
  );
  assert.equal(report.imported, 4);
  const found = report.problems.map(({ problem }) => problem);
  for (const wanted of [
    /symbolic link/,
    /keywords cannot be stored/,
    /called tab_here/,
    /at most 1000 folders/,
    /cannot have the folder zz\/999/,
    /cannot have the folder deep/,
  ])
    assert.ok(
      found.some((each) => wanted.test(each)),
      `${wanted}: ${found.slice(0, 20).join('; ')}`,
    );
  assert.deepEqual(await world.faults(), []);
});
