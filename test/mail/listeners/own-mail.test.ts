/** Changes that sending by one protocol makes in the sender's mail, seen by the others. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { createTransport } from 'nodemailer';
import { KEYWORDS_PER_MAILBOX_MAX } from '#domain/mail/mail-limits.ts';
import { type MailListeners, startMail } from '#mail/start.ts';
import { checkMailStore } from '#mailstore/upkeep/invariants.ts';
import { type ApiWorld, apiWorld, at, type TestMailbox, textAt } from '#test/support/api-world.ts';
import { LineClient } from '#test/support/line-client.ts';
import { dnsStub, letter } from '#test/support/mail-world.ts';
import { testTls } from '#test/support/services.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';

let world: ApiWorld;
let mail: MailListeners;
before(async () => {
  world = await apiWorld();
  mail = await startMail(world.services, { lookup: dnsStub({}) });
  await world.call('PATCH', '/api/organization', {
    as: world.organization.owner.session,
    body: { settings: { outboundConsent: 'off' } },
  });
});
after(async () => {
  const results = await checkMailStore(world.services.db, { all: true });
  assert.deepEqual(
    results.flatMap(({ examples }) => examples),
    [],
  );
  await mail.close();
  await world.close();
});

const passwordOf = ({ token }: TestMailbox): string => (token['authorization'] ?? '').replace('Bearer ', '');

async function deliver(to: string, message: string): Promise<string> {
  const client = await SmtpClient.open(mail.smtp.host, mail.smtp.port);
  const reply = await client.send('bob@example.com', [to], message);
  client.close();
  return /msg_\w+/.exec(reply)?.[0] ?? assert.fail(reply);
}

async function imap(box: TestMailbox) {
  const client = await LineClient.open(mail.imap.port, { secure: true });
  await client.line();
  let count = 0;
  const command = async (text: string) => {
    const tag = `t${++count}`;
    client.send(`${tag} ${text}\r\n`);
    const lines: string[] = [];
    for (let line = await client.line(); line !== undefined; line = await client.line()) {
      lines.push(line);
      if (line.startsWith(`${tag} `)) break;
    }
    return lines;
  };
  await command(`LOGIN ${box.address} "${passwordOf(box)}"`);
  return { client, command };
}

const post = async (box: TestMailbox, path: string, body: object) => {
  const answer = await world.call('POST', `/api/mailbox/messages${path}`, { as: box.token, body });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
};
const get = async (box: TestMailbox, id: string) =>
  (await world.call('GET', `/api/mailbox/messages/${id}`, { as: box.token })).body;

async function submit(box: TestMailbox, message: object): Promise<void> {
  const transport = createTransport({
    host: mail.submission.host,
    port: mail.submission.port,
    secure: true,
    auth: { user: box.address, pass: passwordOf(box) },
    tls: { ca: readFileSync(testTls().caFile), servername: 'localhost' },
  });
  try {
    await transport.sendMail({ from: box.address, to: 'bob@example.com', subject: 'Re: x', text: 'x', ...message });
  } finally {
    transport.close();
  }
}

test('a reply by REST marks the message \\Answered for an open IMAP session, a forward marks it $Forwarded', async () => {
  const box = await world.newMailbox(world.organization);
  const id = await deliver(box.address, letter('A question'));
  const watching = await imap(box);
  await watching.command('SELECT INBOX');
  assert.match((await watching.client.command('i IDLE')) ?? '', /^\+/);
  await post(box, `/${id}/reply`, { text: 'An answer.' });
  assert.match((await watching.client.line()) ?? '', /^\* 1 FETCH \(FLAGS \((?=.*\\Answered).*\)\)$/);
  assert.equal(at(await get(box, id), 'answered'), true);
  await post(box, `/${id}/forward`, { to: ['carl@example.com'] });
  // A keyword that is new is announced before it is used (RFC 9051 §7.3.1).
  assert.match((await watching.client.line()) ?? '', /^\* FLAGS \(.*\$Forwarded.*\)$/);
  assert.match((await watching.client.line()) ?? '', /^\* OK \[PERMANENTFLAGS \(.*\$Forwarded.*\)\]/);
  assert.match((await watching.client.line()) ?? '', /^\* 1 FETCH \(FLAGS \((?=.*\\Answered)(?=.*\$Forwarded).*\)\)$/);
  assert.deepEqual(at(await get(box, id), 'labels'), ['$Forwarded']);
  watching.client.close();
});

test('a forward is sent without its mark if the mailbox has no room for another keyword', async () => {
  const box = await world.newMailbox(world.organization);
  const id = await deliver(box.address, letter('Labels everywhere'));
  await world.sql(
    `insert into mail_keyword (mailbox_id, key, keyword) select $1, 'k' || n, 'k' || n from generate_series(1, $2) as n`,
    [box.id, KEYWORDS_PER_MAILBOX_MAX],
  );
  await post(box, `/${id}/forward`, { to: ['carl@example.com'] });
  assert.deepEqual(at(await get(box, id), 'labels'), []);
});

test('a reply by SMTP marks the message of its In-Reply-To, in any folder', async () => {
  const box = await world.newMailbox(world.organization);
  const [id, other] = [
    await deliver(box.address, letter('Another question')),
    await deliver(box.address, letter('Another question')),
  ];
  await world.call('PATCH', `/api/mailbox/messages/${id}`, { as: box.token, body: { folder: 'Archive' } });
  await submit(box, { inReplyTo: textAt(await get(box, id), 'messageId') });
  assert.equal(at(await get(box, id), 'answered'), true);
  assert.deepEqual(at(await get(box, id), 'folders'), ['Archive']);
  assert.equal(at(await get(box, other), 'answered'), false);
});

test('a waiting reply marks nothing until it is sent', async () => {
  const box = await world.newMailbox(world.organization);
  const id = await deliver(box.address, letter('No hurry'));
  const sendAt = new Date(Date.now() + 3_600_000).toISOString();
  const reply = await post(box, `/${id}/reply`, { text: 'Tomorrow.', sendAt });
  assert.equal(at(reply, 'status'), 'scheduled');
  assert.equal(at(await get(box, id), 'answered'), false);
});

test('the draft that an IMAP client sends by SMTP disappears from Drafts in other sessions', async () => {
  const box = await world.newMailbox(world.organization);
  const session = await imap(box);
  const draft = `From: ${box.address}\r\nTo: bob@example.com\r\nSubject: d\r\nMessage-ID: <draft-1@client.test>\r\n\r\nx\r\n`;
  session.client.send(`a APPEND Drafts (\\Draft \\Seen) {${draft.length}+}\r\n${draft}\r\n`);
  assert.match((await session.client.line()) ?? '', /^a OK/);
  await session.command('SELECT Drafts');
  assert.match((await session.client.command('i IDLE')) ?? '', /^\+/);
  await submit(box, { messageId: '<draft-1@client.test>', subject: 'd' });
  assert.equal(await session.client.line(), '* 1 EXPUNGE');
  session.client.close();
});
