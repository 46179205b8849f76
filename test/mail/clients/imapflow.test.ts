import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { ImapFlow, type ImapFlowOptions } from 'imapflow';
import { letter, openMailWorld, type TestMailbox } from '#test/support/mail-world.ts';
import { testTls } from '#test/support/services.ts';
import { storedMail } from '#test/support/stored-mail.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const world = await openMailWorld();
after(() => world.close());
const ca = readFileSync(testTls().caFile);

async function connect(mailbox: TestMailbox, options: Partial<ImapFlowOptions> = {}): Promise<ImapFlow> {
  const client = new ImapFlow({
    host: 'localhost',
    port: world.mail.imap.port,
    secure: true,
    auth: { user: mailbox.address, pass: mailbox.token },
    tls: { ca },
    logger: false,
    ...options,
  });
  await client.connect();
  return client;
}

test('imapflow lists the six folders with their uses', async () => {
  const client = await connect(await world.createMailbox('flow-list'));
  const folders = await client.list();
  assert.deepEqual(
    new Map(folders.map(({ path, specialUse }) => [path, specialUse])),
    new Map([
      ['INBOX', '\\Inbox'],
      ['Sent', '\\Sent'],
      ['Drafts', '\\Drafts'],
      ['Archive', '\\Archive'],
      ['Junk', '\\Junk'],
      ['Trash', '\\Trash'],
    ]),
  );
  await client.logout();
});

test('imapflow fetches envelope, structure, parts, ids and the bytes as they are stored', async () => {
  const mailbox = await world.createMailbox('flow-fetch');
  const attachment = Buffer.from('attached bytes \0 and more').toString('base64');
  await world.send(
    mailbox.address,
    letter(
      '=?utf-8?q?Gr=C3=BC=C3=9Fe?=',
      'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n',
      `--b\nContent-Type: text/plain; charset=utf-8\n\nSome words.\n--b\nContent-Type: application/octet-stream; name=a.bin\nContent-Disposition: attachment; filename=a.bin\nContent-Transfer-Encoding: base64\n\n${attachment}\n--b--\n`,
    ),
  );
  const client = await connect(mailbox);
  await client.mailboxOpen('INBOX');
  const message = await client.fetchOne('1', {
    uid: true,
    envelope: true,
    bodyStructure: true,
    source: true,
    size: true,
    threadId: true,
    internalDate: true,
  });
  assert.ok(message);
  assert.equal(message.envelope?.subject, 'Grüße');
  assert.equal(message.bodyStructure?.childNodes?.length, 2);
  const [stored] = await storedMail(world, mailbox);
  assert.deepEqual(message.source, stored);
  assert.equal(message.size, stored?.length);
  assert.match(message.emailId ?? '', /^msg_/);
  assert.match(message.threadId ?? '', /^thr_/);
  const { content } = await client.download('1', '2');
  const chunks: Buffer[] = [];
  for await (const chunk of content ?? []) chunks.push(chunk as Buffer);
  assert.equal(Buffer.concat(chunks).toString(), 'attached bytes \0 and more');
  await client.logout();
});

test('imapflow appends, searches, flags, copies, moves and deletes', async () => {
  const mailbox = await world.createMailbox('flow-change');
  const client = await connect(mailbox);
  await client.mailboxCreate('Projekte/Süd');
  for (const subject of ['a', 'b', 'c'])
    assert.ok(await client.append('INBOX', letter(subject).replaceAll('\n', '\r\n'), ['\\Seen', 'blue']));
  await client.mailboxOpen('INBOX');
  assert.deepEqual(await client.search({ subject: 'b' }), [2]);
  assert.deepEqual(await client.search({ keyword: 'blue', seen: true }), [1, 2, 3]);
  await client.messageFlagsAdd('1', ['\\Flagged']);
  assert.deepEqual(await client.search({ flagged: true }), [1]);
  const copied = await client.messageCopy('1', 'Projekte/Süd');
  assert.ok(copied && copied.uidMap?.get(1) === 1);
  const moved = await client.messageMove('2', 'Projekte/Süd');
  assert.ok(moved && moved.uidMap?.get(2) === 2);
  await client.messageDelete('3', { uid: true });
  const status = await client.status('Projekte/Süd', { messages: true, unseen: true, uidNext: true });
  assert.ok(status);
  assert.deepEqual([status.messages, status.unseen, status.uidNext], [2, 0, 3]);
  assert.deepEqual(
    (await client.fetchAll('1:*', { uid: true })).map(({ uid }) => uid),
    [1],
  );
  await client.mailboxRename('Projekte/Süd', 'Nord');
  await client.mailboxDelete('Nord');
  const quota = await client.getQuota();
  assert.ok(quota && (quota.storage?.usage ?? 0) >= 0);
  await client.logout();
  assert.deepEqual(await world.faults(), []);
});

test('new mail and the changes of other clients are pushed into IDLE', async () => {
  const mailbox = await world.createMailbox('flow-idle');
  await world.send(mailbox.address, letter('first'));
  const [watcher, other] = [await connect(mailbox), await connect(mailbox)];
  const seen: string[] = [];
  watcher.on('exists', ({ count }) => seen.push(`exists ${count}`));
  watcher.on('expunge', ({ seq, vanished, uid }) => seen.push(`expunge ${vanished ? `uid ${uid}` : seq}`));
  watcher.on('flags', ({ flags }) => seen.push(`flags ${[...flags].join(' ')}`));
  await watcher.mailboxOpen('INBOX');
  void watcher.idle();
  await world.send(mailbox.address, letter('second'));
  await waitUntil('EXISTS', () => seen.includes('exists 2'));
  await other.mailboxOpen('INBOX');
  await other.messageFlagsAdd('1', ['\\Flagged']);
  await waitUntil('FETCH of flags', () => seen.includes('flags \\Flagged'));
  await other.messageDelete('1');
  await waitUntil('EXPUNGE', () => seen.some((each) => each.startsWith('expunge')));
  await Promise.all([watcher.logout(), other.logout()]);
});

test('QRESYNC reports changes to a client that was disconnected', async () => {
  const mailbox = await world.createMailbox('flow-qresync');
  for (const subject of ['a', 'b', 'c', 'd']) await world.send(mailbox.address, letter(subject));
  const first = await connect(mailbox, { qresync: true });
  const { highestModseq, uidValidity } = await first.mailboxOpen('INBOX');
  await first.logout();
  const other = await connect(mailbox);
  await other.mailboxOpen('INBOX');
  await other.messageFlagsAdd('2', ['\\Answered']);
  await other.messageDelete('3');
  await other.logout();
  const back = await connect(mailbox, { qresync: true });
  const vanished: number[] = [];
  back.on('expunge', ({ uid }) => void (uid === undefined || vanished.push(uid)));
  const opened = await back.mailboxOpen('INBOX');
  assert.equal(opened.uidValidity, uidValidity);
  const changed = await back.fetchAll(
    '1:*',
    { uid: true, flags: true },
    { changedSince: highestModseq ?? 0n, uid: true },
  );
  assert.deepEqual(
    changed.map(({ uid, flags }) => [uid, [...(flags ?? [])]]),
    [[2, ['\\Answered']]],
  );
  assert.deepEqual(vanished, [3]);
  await back.logout();
});

test('COMPRESS and STARTTLS carry the same session', async () => {
  const mailbox = await world.createMailbox('flow-compress');
  const body = 'the same line again\n'.repeat(50_000);
  await world.send(mailbox.address, letter('big', '', body));
  for (const options of [
    { secure: false, doSTARTTLS: true, port: world.mail.imapStarttls.port },
    { disableCompression: true },
  ] as const) {
    const client = await connect(mailbox, options);
    await client.mailboxOpen('INBOX');
    const message = await client.fetchOne('1', { source: true });
    assert.ok(message);
    assert.deepEqual(message.source, (await storedMail(world, mailbox))[0]);
    await client.logout();
  }
});

test('a wrong token is reported as such', async () => {
  const mailbox = await world.createMailbox('flow-wrong');
  await assert.rejects(connect({ ...mailbox, token: `${mailbox.token}x` }), { authenticationFailed: true });
});
