import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { createTransport } from 'nodemailer';
import { startOutbound } from '../../../core/start-outbound.ts';
import { testTls } from '../../support/services.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { SmtpClient } from '../mail-world.ts';
import { type OutboundWorld, openOutboundWorld } from './outbound-world.ts';

let world: OutboundWorld;
const ca = () => readFileSync(testTls().caFile);
before(async () => {
  world = await openOutboundWorld();
});
after(() => world?.close());

type Door = 'submission' | 'submissionStarttls';

async function submit(
  door: Door,
  message: { to: string; bcc?: string; from?: string; subject?: string },
  auth: object = {},
) {
  const { host, port } = world.mail.mail[door];
  const { address, token } = world.sender;
  const transport = createTransport({
    host,
    port,
    secure: door === 'submission',
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

for (const door of ['submission', 'submissionStarttls'] as const)
  test(`${door} takes mail of the mailbox, files one copy and sends without Bcc`, async () => {
    const reply = await submit(door, { to: 'ann@example.com', bcc: 'ben@example.com', subject: door });
    assert.match(reply, /^250 2\.0\.0 accepted msg_/);
    const [row] = await world.mail.services.db.query<{ id: string; organization_id: string; mailbox_id: string }>(
      `select id, organization_id, mailbox_id from outbound_message where id = $1`,
      [messageOf(reply)],
    );
    assert.ok(row);
    const about = { messageId: row.id, organizationId: row.organization_id, mailboxId: row.mailbox_id };
    await startOutbound(world.mail.services, world.temporal, about);
    assert.equal(await world.finished(row.id), 'sent');
    assert.equal((await world.folder(world.sender, '\\Sent')).filter((subject) => subject === door).length, 1);
    const mail = await waitUntil('the mail', () =>
      world.peer.received.find(({ bytes }) => bytes.includes(`Subject: ${door}`)),
    );
    assert.doesNotMatch(mail.bytes.toString(), /ben@/);
    assert.deepEqual(mail.to.toSorted(), ['ann@example.com', 'ben@example.com']);
  });

test('what is held is answered 250 with the consent', async () => {
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

test('without TLS there is no AUTH, and without AUTH no mail', async () => {
  const { host, port } = world.mail.mail.submissionStarttls;
  const client = await SmtpClient.open(host, port);
  const features = await client.command('EHLO client.test');
  assert.match(features, /STARTTLS/);
  assert.doesNotMatch(features, /AUTH/);
  assert.match(await client.command('AUTH PLAIN AGEAYg=='), /^538/);
  await client.startTls(ca());
  assert.match(await client.command('EHLO client.test'), /AUTH PLAIN LOGIN XOAUTH2/);
  assert.match(await client.command(`MAIL FROM:<${world.sender.address}>`), /^530/);
  client.close();
});
