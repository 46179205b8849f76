/** One mailbox behind REST, IMAP, POP3 and SMTP: a change by one protocol is visible in the others at once. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, test } from 'node:test';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
import { startMail } from '#mail/start.ts';
import { apiWorld, asBearer, at, type TestMailbox, textAt } from '#test/support/api-world.ts';
import { LineClient } from '#test/support/line-client.ts';
import { dnsStub, letter } from '#test/support/mail-world.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const lookup = dnsStub({ 's1._domainkey.example.com': `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}` });
const world = await apiWorld();
const mail = await startMail(world.services, { lookup });
after(async () => {
  await mail.close();
  await world.close();
});

async function deliver(to: string, message: string | Buffer): Promise<string> {
  const client = await SmtpClient.open(mail.smtp.host, mail.smtp.port);
  const reply = await client.send('bob@example.com', [to], message);
  client.close();
  return reply;
}

interface Imap {
  readonly client: LineClient;
  /** All lines of the answer, the tagged one last. */
  command(text: string): Promise<string[]>;
}

/** The bearer of REST is the password of mail clients. */
const passwordOf = ({ token }: Pick<TestMailbox, 'token'>): string =>
  (token['authorization'] ?? '').replace('Bearer ', '');

async function imap(box: Pick<TestMailbox, 'address' | 'token'>): Promise<Imap> {
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
  assert.match((await command(`LOGIN ${box.address} "${passwordOf(box)}"`)).at(-1) ?? '', / OK /);
  return { client, command };
}

async function pop3(box: Pick<TestMailbox, 'address' | 'token'>): Promise<LineClient> {
  const client = await LineClient.open(mail.pop3.port, { secure: true });
  await client.line();
  await client.command(`USER ${box.address}`);
  assert.match((await client.command(`PASS ${passwordOf(box)}`)) ?? '', /^\+OK/);
  return client;
}

const rest = async (box: Pick<TestMailbox, 'token'>, method: string, path: string, body?: object) => {
  const answer = await world.call(method, `/api/mailbox/messages${path}`, {
    as: box.token,
    ...(body === undefined ? {} : { body }),
  });
  assert.ok(answer.status < 300, answer.text);
  return answer;
};

const idOf = (reply: string): string => /msg_\w+/.exec(reply)?.[0] ?? assert.fail(reply);

test('one message has one id, one thread and one position in every protocol', async () => {
  const box = await world.newMailbox(world.organization);
  const id = idOf(await deliver(box.address, letter('identity')));
  const { body } = await rest(box, 'GET', `/${id}`);
  const session = await imap(box);
  await session.command('SELECT INBOX');
  const fetched = (await session.command('FETCH 1 (EMAILID THREADID RFC822.SIZE)'))[0] ?? '';
  assert.ok(fetched.includes(`EMAILID (${id})`), fetched);
  assert.ok(fetched.includes(`THREADID (${textAt(body, 'threadId')})`), fetched);
  const raw = await rest(box, 'GET', `/${id}/raw`);
  assert.ok(fetched.includes(`RFC822.SIZE ${Buffer.byteLength(raw.text)}`), fetched);
  const status = (await session.command('STATUS INBOX (UIDVALIDITY)'))[0] ?? '';
  const popper = await pop3(box);
  assert.equal(await popper.command('UIDL 1'), `+OK 1 ${/UIDVALIDITY (\d+)/.exec(status)?.[1]}.1`);
  popper.close();
  session.client.close();
});

test('flags and moves by REST show in IDLE; flags, moves and removals by IMAP show in REST', async () => {
  const box = await world.newMailbox(world.organization);
  const id = idOf(await deliver(box.address, letter('to and fro')));
  const [watching, acting] = [await imap(box), await imap(box)];
  await watching.command('SELECT INBOX');
  assert.match((await watching.client.command('i IDLE')) ?? '', /^\+/);
  await rest(box, 'PATCH', `/${id}`, { seen: true, labels: ['Invoice'] });
  // A keyword that is new is announced before it is used (RFC 9051 §7.3.1).
  assert.match((await watching.client.line()) ?? '', /^\* FLAGS \(.*Invoice.*\)$/);
  assert.match((await watching.client.line()) ?? '', /^\* OK \[PERMANENTFLAGS \(.*Invoice.*\)\]/);
  assert.match((await watching.client.line()) ?? '', /^\* 1 FETCH \(FLAGS \((?=.*\\Seen)(?=.*Invoice).*\)\)$/);
  await rest(box, 'PATCH', `/${id}`, { folder: 'Archive' });
  assert.equal(await watching.client.line(), '* 1 EXPUNGE');

  await acting.command('SELECT Archive');
  await acting.command('STORE 1 -FLAGS (\\Seen Invoice)');
  await acting.command('STORE 1 +FLAGS (\\Flagged Urgent)');
  const changed = (await rest(box, 'GET', `/${id}`)).body;
  assert.deepEqual([at(changed, 'seen'), at(changed, 'flagged'), at(changed, 'labels')], [false, true, ['Urgent']]);
  await acting.command('MOVE 1 INBOX');
  assert.deepEqual(at((await rest(box, 'GET', `/${id}`)).body, 'folders'), ['INBOX']);
  let line = await watching.client.line();
  while (line !== undefined && /^\* (?:FLAGS|OK \[PERMANENTFLAGS) .*Urgent/.test(line))
    line = await watching.client.line();
  assert.equal(line, '* 1 EXISTS');

  const popper = await pop3(box);
  await popper.command('DELE 1');
  await popper.command('QUIT');
  const gone = await world.call('GET', `/api/mailbox/messages/${id}`, { as: box.token });
  assert.equal(gone.status, 404);
  while (line !== '* 1 EXPUNGE') {
    line = await watching.client.line();
    assert.ok(line !== undefined);
  }
  watching.client.close();
  acting.client.close();
});

test('a client that appends what it has sent finds the copy that is there, in Sent and within the hour only', async () => {
  const [box, other] = [await world.newMailbox(world.organization), await world.newMailbox(world.organization)];
  const answer = await rest(box, 'POST', '', { to: [other.address], subject: 'filed once', text: 'words' });
  const raw = (await rest(box, 'GET', `/${textAt(answer.body, 'id')}/raw`)).text;
  const session = await imap(box);
  const append = async (folder: string) => {
    session.client.send(`a APPEND ${folder} (\\Seen) {${Buffer.byteLength(raw)}+}\r\n${raw}\r\n`);
    return /APPENDUID \d+ (\d+)/.exec((await session.client.line()) ?? '')?.[1];
  };
  const count = async (folder: string) => (await session.command(`STATUS ${folder} (MESSAGES)`))[0];
  assert.equal(await append('Sent'), '1');
  assert.equal(await count('Sent'), '* STATUS Sent (MESSAGES 1)');
  assert.equal(await append('Archive'), '1');
  assert.equal(await count('Archive'), '* STATUS Archive (MESSAGES 1)');
  await world.sql(`update placement set save_date = save_date - interval '61 minutes'`);
  assert.equal(await append('Sent'), '2');
  session.client.close();
});

test('a full mailbox refuses APPEND, COPY, SMTP and REST alike, and MOVE and removal still work', async () => {
  const box = await world.newMailbox(world.organization);
  const id = idOf(await deliver(box.address, letter('fills it')));
  await world.sql(`update mailbox_counter set quota_bytes = bytes_used + 100 where mailbox_id = $1`, [box.id]);
  const session = await imap(box);
  await session.command('SELECT INBOX');
  const message = letter('too much').replaceAll('\n', '\r\n');
  session.client.send(`a APPEND INBOX {${message.length}+}\r\n${message}\r\n`);
  assert.match((await session.client.line()) ?? '', /^a NO \[OVERQUOTA\]/);
  assert.match((await session.command('COPY 1 Archive')).at(-1) ?? '', / NO \[OVERQUOTA\]/);
  await waitUntil('SMTP to see it: mailboxes are remembered for seconds', async () =>
    /^(552 5\.2\.2|452 4\.2\.2) /.test(await deliver(box.address, letter('too much'))),
  );
  const sent = await world.call('POST', `/api/mailbox/messages`, {
    as: box.token,
    body: { to: [(await world.newMailbox(world.organization)).address], subject: 'too much', text: 'words' },
  });
  assert.deepEqual([sent.status >= 400, at(sent.body, 'error', 'code')], [true, 'quota_exceeded'], sent.text);
  assert.match((await session.command('MOVE 1 Archive')).at(-1) ?? '', / OK /);
  await rest(box, 'DELETE', `/${id}?permanent=true`);
  assert.match((await session.command('GETQUOTA ""'))[0] ?? '', /STORAGE 0 /);
  session.client.close();
});

test('rotating a token by REST ends the sessions of IMAP and POP3, and the old token opens none', async () => {
  const box = await world.newMailbox(world.organization);
  const [session, popper] = [await imap(box), await pop3(box)];
  await session.command('SELECT INBOX');
  assert.match((await session.client.command('i IDLE')) ?? '', /^\+/);
  const answer = await world.call('POST', `/api/mailboxes/${box.id}/rotate-token`, { as: world.organization.key });
  assert.equal(answer.status, 200, answer.text);
  let last = '';
  for (let line = await session.client.line(); line !== undefined; line = await session.client.line()) last = line;
  assert.match(last, /^\* BYE /);
  await popper.ended();
  const client = await LineClient.open(mail.imap.port, { secure: true });
  await client.line();
  assert.match(
    (await client.command(`a LOGIN ${box.address} "${passwordOf(box)}"`)) ?? '',
    /^a NO \[AUTHENTICATIONFAILED\]/,
  );
  client.close();
  const renewed = await imap({ address: box.address, token: asBearer(textAt(answer.body, 'token')) });
  renewed.client.close();
});

test('a signature verifies on messages from REST, and a bad one is reported as bad', async () => {
  const box = await world.newMailbox(world.organization);
  const message = Buffer.from(letter('Signed', '', 'Words  with spaces \n.dot\n').replaceAll('\n', '\r\n'));
  const key = { signingDomain: 'example.com', selector: 's1', privateKey };
  const { signatures } = await dkimSign(message, { ...key, signatureData: [key] });
  const signed = Buffer.concat([Buffer.from(signatures), message]);
  const id = idOf(await deliver(box.address, signed));
  assert.equal(at((await rest(box, 'GET', `/${id}`)).body, 'authentication', 'dkim', 'result'), 'pass');
  const raw = Buffer.from((await rest(box, 'GET', `/${id}/raw`)).text, 'utf8');
  assert.ok(raw.subarray(raw.length - signed.length).equals(signed), 'what was signed is given out byte for byte');
  const forged = idOf(await deliver(box.address, Buffer.from(signed.toString().replace('Words', 'Wards'))));
  assert.notEqual(at((await rest(box, 'GET', `/${forged}`)).body, 'authentication', 'dkim', 'result'), 'pass');
});
