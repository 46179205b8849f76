import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { createTransport } from 'nodemailer';
import { rotateMailboxToken } from '#core/mailboxes/update-mailbox.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { startOutbound } from '#sending/submit/start-outbound.ts';
import { type OutboundWorld, openOutboundWorld } from '#test/support/outbound-world.ts';
import { testTls } from '#test/support/services.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';
import { openSubmissionClient } from '#test/support/submission-client.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: OutboundWorld;
const ca = () => readFileSync(testTls().caFile);
before(async () => {
  world = await openOutboundWorld();
});
after(() => world?.close());

type Entry = 'submission' | 'submissionStarttls';

async function submit(
  entry: Entry,
  message: { to: string; bcc?: string; from?: string; subject?: string },
  auth: object = {},
) {
  const { host, port } = world.mail.mail[entry];
  const { address, token } = world.sender;
  const transport = createTransport({
    host,
    port,
    secure: entry === 'submission',
    requireTLS: true,
    auth: { user: address, pass: token, ...auth },
    tls: { ca: ca(), servername: 'localhost' },
  });
  try {
    const info = await transport.sendMail({ from: address, subject: 'By SMTP', text: 'Some words.', ...message });
    return String(info.response);
  } finally {
    transport.close();
  }
}

const messageOf = (reply: string) => /msg_\w+/.exec(reply)?.[0] ?? '';

for (const entry of ['submission', 'submissionStarttls'] as const)
  test(`${entry} accepts mail of the mailbox, files one copy and sends without Bcc`, async () => {
    const reply = await submit(entry, { to: 'ann@example.com', bcc: 'ben@example.com', subject: entry });
    assert.match(reply, /^250 2\.0\.0 accepted msg_/);
    const [row] = await world.mail.services.db.query<{ id: string; organization_id: string; mailbox_id: string }>(
      `select id, organization_id, mailbox_id from outbound_message where id = $1`,
      [messageOf(reply)],
    );
    assert.ok(row);
    const about = { messageId: row.id, organizationId: row.organization_id, mailboxId: row.mailbox_id };
    await startOutbound(world.mail.services, world.temporal, about);
    assert.equal(await world.finished(row.id), 'sent');
    assert.equal((await world.folder(world.sender, '\\Sent')).filter((subject) => subject === entry).length, 1);
    const mail = await waitUntil('the mail', () =>
      world.peer.received.find(({ bytes }) => bytes.includes(`Subject: ${entry}`)),
    );
    assert.doesNotMatch(mail.bytes.toString(), /ben@/);
    assert.deepEqual(mail.to.toSorted(), ['ann@example.com', 'ben@example.com']);
  });

test('a held message is answered 250 with the consent', async () => {
  await world.consentMode('first_contact');
  assert.match(await submit('submission', { to: 'stranger@example.org' }), /^250 2\.0\.0 held for consent con_/);
  await world.consentMode('off');
});

test('nobody sends as somebody else, with a wrong token, or to a blocked recipient', async () => {
  await assert.rejects(submit('submission', { to: 'a@example.com', from: 'boss@example.com' }), /553 5\.7\.1/);
  await assert.rejects(submit('submission', { to: 'a@example.com' }, { pass: 'wrong' }), /535 5\.7\.8/);
  await world.mail.services.db.query(
    `insert into sender_list (id, organization_id, direction, action, value) values ('lst_2', $1, 'outbound', 'block', 'foe.example')`,
    [world.mail.organizationId],
  );
  await assert.rejects(submit('submission', { to: 'a@foe.example' }), /550 5\.7\.1/);
});

test('XOAUTH2 logs in with the token', async () => {
  const oauth = { type: 'OAuth2', user: world.sender.address, accessToken: world.sender.token };
  assert.match(await submit('submission', { to: 'ann@example.com' }, oauth), /^250 2\.0\.0/);
});

const base64 = (text: string) => Buffer.from(text).toString('base64');

const greeted = () => openSubmissionClient(world.mail.mail.submissionStarttls);

/** The two ways of RFC 7628 §4.1 and of XOAUTH2 to say who one is. */
const BEARERS = {
  OAUTHBEARER: (address: string, token: string) =>
    `n,a=${address},\x01host=localhost\x01port=587\x01auth=Bearer ${token}\x01\x01`,
  XOAUTH2: (address: string, token: string) => `user=${address}\x01auth=Bearer ${token}\x01\x01`,
};

for (const [mechanism, words] of Object.entries(BEARERS))
  describe(`AUTH ${mechanism}`, () => {
    test('accepts the token at once or after its prompt, and then mail', async () => {
      const { address, token } = world.sender;
      const atOnce = await greeted();
      assert.match(
        await atOnce.command(`auth ${mechanism.toLowerCase()} ${base64(words(address, token))}`),
        /^235 2\.7\.0/,
      );
      assert.match(await atOnce.command(`MAIL FROM:<${address}>`), /^250/);
      assert.match(await atOnce.command(`AUTH ${mechanism} ${base64(words(address, token))}`), /^503/);
      atOnce.close();
      const prompted = await greeted();
      assert.equal(await prompted.command(`AUTH ${mechanism}`), '334 ');
      assert.match(await prompted.command(base64(words(address, token))), /^235/);
      prompted.close();
    });

    test('sends a failure as a challenge, and refuses after the answer to it', async () => {
      const client = await greeted();
      const reply = await client.command(`AUTH ${mechanism} ${base64(words(world.sender.address, 'wrong'))}`);
      assert.match(reply, /^334 /);
      assert.deepEqual(JSON.parse(Buffer.from(reply.slice(4), 'base64').toString()), { status: 'invalid_token' });
      assert.match(await client.command('AQ=='), /^535 5\.7\.8 /);
      assert.match(await client.command(`MAIL FROM:<${world.sender.address}>`), /^530/);
      client.close();
    });

    test('may be cancelled, and cannot be something else', async () => {
      const client = await greeted();
      await client.command(`AUTH ${mechanism}`);
      assert.match(await client.command('*'), /^501 /);
      assert.match(await client.command(`AUTH ${mechanism} =`), /^501 5\.5\.2/);
      assert.match(await client.command(`AUTH ${mechanism} not-base64!`), /^501 5\.5\.2/);
      assert.match(await client.command(`AUTH ${mechanism} AQ== AQ==`), /^501 5\.5\.4/);
      client.close();
    });

    test('is refused before TLS, the token unread', async () => {
      const { host, port } = world.mail.mail.submissionStarttls;
      const client = await SmtpClient.open(host, port);
      await client.command('EHLO client.test');
      const { address, token } = world.sender;
      assert.match(await client.command(`AUTH ${mechanism} ${base64(words(address, token))}`), /^538/);
      assert.match(await client.command(`MAIL FROM:<${address}>`), /^530/);
      client.close();
    });
  });

test('AUTH PLAIN for somebody else is refused', async () => {
  const { address, token } = world.sender;
  const client = await greeted();
  assert.match(await client.command(`AUTH PLAIN ${base64(`boss@agents.test\0${address}\0${token}`)}`), /^535 5\.7\.8/);
  assert.match(await client.command(`AUTH PLAIN ${base64(`${address}\0${address}\0${token}`)}`), /^235/);
  client.close();
});

test('without TLS there is no AUTH, and without AUTH no mail', async () => {
  const { host, port } = world.mail.mail.submissionStarttls;
  const client = await SmtpClient.open(host, port);
  const features = await client.command('EHLO client.test');
  assert.match(features, /STARTTLS/);
  assert.doesNotMatch(features, /AUTH/);
  assert.match(await client.command('AUTH PLAIN AGEAYg=='), /^538/);
  await client.startTls(ca());
  assert.match(await client.command('EHLO client.test'), /AUTH PLAIN LOGIN XOAUTH2 OAUTHBEARER$/m);
  assert.match(await client.command(`MAIL FROM:<${world.sender.address}>`), /^530/);
  client.close();
});

test('ten wrong bearer tokens of a source empty its bucket: 454, without a challenge, for the right one too', async () => {
  const { address, token } = world.sender;
  let reply = '';
  for (let failure = 0; failure < 20 && !reply.startsWith('454'); failure++) {
    const client = await greeted();
    reply = await client.command(`AUTH OAUTHBEARER ${base64(BEARERS.OAUTHBEARER(address, 'wrong'))}`);
    client.close();
  }
  assert.match(reply, /^454 4\.7\.0 /);
  const client = await greeted();
  assert.match(await client.command(`AUTH OAUTHBEARER ${base64(BEARERS.OAUTHBEARER(address, token))}`), /^454 4\.7\.0/);
  client.close();
});

test('connections end when the token is rotated, and a message in transfer is refused', async () => {
  const [mailbox, other] = [await world.mail.createMailbox('rotated'), await world.mail.createMailbox('not-rotated')];
  const { host, port } = world.mail.mail.submissionStarttls;
  const open = async ({ address, token } = mailbox) => {
    const login = Buffer.from(`\0${address}\0${token}`).toString('base64');
    const client = await SmtpClient.open(host, port);
    await client.command('EHLO client.test');
    await client.startTls(ca());
    await client.command('EHLO client.test');
    assert.match(await client.command(`AUTH PLAIN ${login}`), /^235/);
    return client;
  };
  const [idle, sending] = [await open(), await open()];
  for (const line of [`MAIL FROM:<${mailbox.address}>`, 'RCPT TO:<ann@example.com>', 'DATA'])
    assert.match(await sending.command(line), /^[23]5/, line);
  const caller = { actor: SYSTEM_ACTOR, ipAddress: null, requestId: null };
  await rotateMailboxToken(world.mail.services, world.mail.organizationId, mailbox.id, caller);
  assert.match(await idle.reply(), /^421 4\.7\.0/);
  // Another connection's message is answered meanwhile.
  const sender = await open(other);
  const letter = `From: ${other.address}\r\n\r\nhi\r\n`;
  assert.match(await sender.send(other.address, ['ann@example.com'], letter), /^250/);
  sender.close();
  assert.match(await sending.command(`From: ${mailbox.address}\r\n\r\nhi\r\n.`), /^535 5\.7\.8/);
  assert.match(await sending.reply(), /^421 4\.7\.0/);
  idle.close();
  sending.close();
});
