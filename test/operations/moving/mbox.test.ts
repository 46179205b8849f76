/** What other programs write as mbox, and what is made to break a reader. */
import assert from 'node:assert/strict';
import { createWriteStream, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { finished } from 'node:stream/promises';
import { after, test } from 'node:test';
import { filesOnDisk, openOnDisk } from '#administration/moving/mail-files.ts';
import { type MboxVariant, readMbox, readMboxFile } from '#administration/moving/mbox-reader.ts';
import { mboxEntry } from '#administration/moving/mbox-writer.ts';
import type { MovedMessage, Problem, SourceItem } from '#administration/moving/moved-message.ts';
import { MAIL_FLAGS } from '#domain/mail/mail-flags.ts';
import { MESSAGE_MAX_BYTES } from '#domain/mail/mail-limits.ts';
import { HARD_MESSAGES } from './moving-world.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'mbox-'));
after(() => rmSync(folder, { recursive: true, force: true }));

async function all(items: AsyncIterable<SourceItem>) {
  const read: SourceItem[] = [];
  for await (const item of items) read.push(item);
  return {
    messages: read.filter((item): item is MovedMessage => item.kind === 'message'),
    problems: read.filter((item): item is Problem => item.kind === 'problem').map(({ problem }) => problem),
    folders: read.flatMap((item) => (item.kind === 'folder' ? [item.name] : [])),
  };
}

let number = 0;
function read(text: string | Buffer, variant: MboxVariant = 'mbox') {
  const file = path.join(folder, `${++number}.mbox`);
  writeFileSync(file, text);
  return all(readMboxFile(() => openOnDisk(file), path.basename(file), variant));
}
const textsOf = ({ messages }: { messages: readonly MovedMessage[] }) =>
  messages.map(({ bytes }) => bytes.toString('latin1'));

test('what is written comes back byte for byte, whatever the message contains', async () => {
  const contents = Object.values(HARD_MESSAGES).map((content) => Buffer.from(content));
  const entries = contents.map((bytes, i) =>
    mboxEntry({
      ...{ bytes, uid: i, messageId: '', threadId: '', blob: Buffer.alloc(0), size: bytes.length, flags: i % 32 },
      ...{
        keywords: i % 2 === 0 ? ['a', '$b'] : [],
        internalDate: new Date(i * 86_400_123),
        internalOffsetMinutes: -i,
      },
      ...{ receivedAt: new Date(), origin: 'smtp', envelopeFrom: null, deliveredTo: null, auth: null },
    }),
  );
  const { messages, problems } = await read(Buffer.concat(entries));
  assert.deepEqual(problems, []);
  assert.deepEqual(
    messages.map(({ bytes, flags, keywords, date, offsetMinutes }) => [
      ...[bytes.toString('latin1'), flags, keywords.length],
      ...[date.getTime(), offsetMinutes === 0 ? 0 : -offsetMinutes],
    ]),
    contents.map((bytes, i) => [bytes.toString('latin1'), i % 32, i % 2 === 0 ? 2 : 0, i * 86_400_123, i]),
  );
});

test('dates of separators in forms that programs write, and none', async () => {
  const separators: Readonly<Record<string, string>> = {
    'From ada@example.org Sat Nov 28 12:00:01 2026': '2026-11-28T12:00:01.000Z',
    'From MAILER-DAEMON Fri Jul  8 12:08:34 2011': '2011-07-08T12:08:34.000Z',
    'From - Sat Nov 28 12:00:01 2026': '2026-11-28T12:00:01.000Z',
    'From ???@??? Sat Nov 28 12:00:01 2026': '2026-11-28T12:00:01.000Z',
    'From ada@example.org Sat Nov 28 12:00:01 +0100 2026': '2026-11-28T11:00:01.000Z',
    'From ada@example.org  Sat, 28 Nov 2026 12:00:01 -0500': '2026-11-28T17:00:01.000Z',
    'From ada Xxx Foo 99 99:99:99 2026': '2001-02-03T04:05:06.000Z',
  };
  const file = Object.keys(separators)
    .map((line) => `${line}\nDate: Sat, 3 Feb 2001 04:05:06 +0000\nSubject: x\n\nbody\n\n`)
    .join('');
  const { messages, problems } = await read(file);
  assert.deepEqual([problems, messages.map(({ date }) => date.toISOString())], [[], Object.values(separators)]);
  assert.deepEqual(
    new Set(textsOf({ messages })),
    new Set(['Date: Sat, 3 Feb 2001 04:05:06 +0000\r\nSubject: x\r\n\r\nbody\r\n']),
  );
});

test('each variant has its quotes removed, and only its own', async () => {
  const head = 'From a Sat Nov 28 12:00:01 2026\nSubject: x\n';
  const quoted = `${head}\n>From me\n>>From you\n> From them\n\n${head}\nsecond\n`;
  const bodies = async (text: string, variant: MboxVariant) =>
    textsOf(await read(text, variant)).map((each) => each.slice(each.indexOf('\r\n\r\n') + 4));
  assert.deepEqual(await bodies(quoted, 'mboxrd'), ['From me\r\n>From you\r\n> From them\r\n', 'second\r\n']);
  assert.deepEqual(await bodies(quoted, 'mbox'), ['From me\r\n>From you\r\n> From them\r\n', 'second\r\n']);
  assert.deepEqual(await bodies(quoted, 'mboxo'), ['From me\r\n>>From you\r\n> From them\r\n', 'second\r\n']);
  const body = '\nFrom b Sat Nov 28 12:00:01 2026\n>From here\n';
  const counted = `${head}Content-Length: ${body.length}\n\n${body}\n${head}Content-Length: 7\n\nsecond\n`;
  for (const variant of ['mboxcl2', 'mbox'] as const)
    assert.deepEqual(await bodies(counted, variant), [body.replaceAll('\n', '\r\n'), 'second\r\n'], variant);
  // A wrong length is not believed.
  assert.equal((await read(counted.replace(`Content-Length: ${body.length}`, 'Content-Length: 9'))).messages.length, 3);
});

test('status fields of other programs are flags, and stay in the message', async () => {
  const { messages } = await read(
    'From a Sat Nov 28 12:00:01 2026\nStatus: RO\nX-Status: AF\nX-Keywords: work later\nSubject: x\n\nbody\n',
  );
  const { seen, answered, flagged } = MAIL_FLAGS;
  assert.deepEqual([messages[0]?.flags, messages[0]?.keywords], [seen | answered | flagged, ['work', 'later']]);
  assert.match(textsOf({ messages })[0] ?? '', /^Status: RO\r\n/);
});

test('lines of text that begin with From do not divide a message', async () => {
  const { messages } = await read(
    'From a Sat Nov 28 12:00:01 2026\nSubject: x\n\nHello\n\nFrom here on all is well.\n',
  );
  assert.equal(messages.length, 1);
});

test('a message above the limit is named and skipped, with a line of any length, and memory does not grow', async () => {
  const file = path.join(folder, 'large.mbox');
  const stream = createWriteStream(file);
  stream.write(
    'From a Sat Nov 28 12:00:01 2026\nSubject: first\n\nbody\n\nFrom a Sat Nov 28 12:00:01 2026\nSubject: large\n\n',
  );
  const portion = Buffer.alloc(1_048_576, 'x');
  for (let written = 0; written < 4 * MESSAGE_MAX_BYTES; written += portion.length)
    if (!stream.write(portion)) await new Promise<void>((resolve) => stream.once('drain', () => resolve()));
  stream.end('\n\nFrom a Sat Nov 28 12:00:01 2026\nSubject: last\n\nbody\n');
  await finished(stream);
  const before = process.memoryUsage().arrayBuffers;
  let highest = 0;
  const watching = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage().arrayBuffers);
  }, 5);
  const { messages, problems } = await all(readMboxFile(() => openOnDisk(file), path.basename(file), 'mbox'));
  clearInterval(watching);
  assert.deepEqual(
    messages.map(({ bytes }) => /Subject: (\w+)/.exec(bytes.toString())?.[1]),
    ['first', 'last'],
  );
  assert.match(problems.join(), /^has \d{8,9} bytes; a message has at most \d+: not imported$/);
  assert.ok(highest - before < 3 * MESSAGE_MAX_BYTES, `${highest - before} bytes`);
});

test('links are not followed, and what is no mbox file is named', async () => {
  const tree = path.join(folder, 'tree');
  mkdirSync(path.join(tree, 'Work.sbd'), { recursive: true });
  const message = 'From a Sat Nov 28 12:00:01 2026\nSubject: x\n\nbody\n';
  writeFileSync(path.join(tree, 'Inbox'), message);
  writeFileSync(path.join(tree, 'Work.sbd', '2026'), message);
  writeFileSync(path.join(tree, 'Empty.mbox'), '');
  writeFileSync(path.join(tree, 'notes'), 'no mail');
  symlinkSync('/etc/passwd', path.join(tree, 'passwd'));
  symlinkSync('/', path.join(tree, 'root'));
  // Its names are compared with those of files that are there; none is a path.
  const names = [
    { file: '../../etc/passwd.mbox', name: 'x', subscribed: false },
    { file: 'Inbox', name: 'INBOX', subscribed: true },
  ];
  writeFileSync(path.join(tree, 'agent-mailbox-folders.json'), JSON.stringify(names));
  const { messages, problems, folders } = await all(readMbox(filesOnDisk(tree), 'mbox'));
  assert.deepEqual(
    messages.map((each) => each.folder),
    ['INBOX', 'Work/2026'],
  );
  assert.deepEqual(folders, ['x', 'Empty', 'INBOX', 'Work/2026']);
  assert.deepEqual(
    problems,
    [
      'does not begin as an mbox file does: not read',
      'is a symbolic link: not followed',
      'is a symbolic link: not followed',
    ].toSorted((a, b) => Number(a.startsWith('is')) - Number(b.startsWith('is'))),
  );
});
