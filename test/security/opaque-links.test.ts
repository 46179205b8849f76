/** Links whose addresses could carry something away are held, unless their domain or their thread excuses them. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { newId } from '#core/platform/new-id.ts';
import { openSendingWorld, type SendingWorld } from '#test/sending/sending-world.ts';
import { type Answer, at, type TestMailbox, type TestOrganization, textAt } from '#test/support/api-world.ts';
import { dnsStub } from '#test/support/mail-world.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';

let world: SendingWorld;
let organization: TestOrganization;
let agent: TestMailbox;
before(async () => {
  world = await openSendingWorld({ mail: { lookup: dnsStub({}) } });
});
after(() => world?.close());
beforeEach(async () => {
  organization = await world.api.newOrganization('unlimited');
  agent = organization.mailbox;
  await settings({ outboundConsent: 'off' });
});

async function settings(change: object): Promise<void> {
  const body = { settings: change };
  const answer = await world.api.call('PATCH', '/api/organization', { as: organization.owner.session, body });
  assert.equal(answer.status, 200, answer.text);
}

const LINK = 'https://evil.example/p.gif?d=Zm9ydHktb25lIHRob3VzYW5kIGNyb3ducw';

const send = (body: object, path = 'messages'): Promise<Answer> =>
  world.api.call('POST', `/api/mailbox/${path}`, { as: agent.token, body });
const letter = (html: string) => send({ to: ['ann@customer.example'], subject: 'Hello', html, text: 'Hello.' });

async function heldBecause(answer: Promise<Answer>): Promise<unknown> {
  const { status, body, text } = await answer;
  assert.ok(status === 201 || status === 202, text);
  if (status === 201) return null;
  const [row] = await world.api.sql(`select held_because from consent where id = $1`, [textAt(body, 'consentId')]);
  return row?.['held_because'];
}

async function receive(html: string): Promise<string> {
  const client = await SmtpClient.open(world.mail.smtp.host, world.mail.smtp.port);
  const head = `From: ann@customer.example\nTo: ${agent.address}\nSubject: Look\nMessage-ID: <l@c.example>\nContent-Type: text/html\n`;
  const answer = await client.send('ann@customer.example', [agent.address], `${head}\n${html}\n`);
  client.close();
  return /msg_\w+/.exec(answer)?.[0] ?? assert.fail(answer);
}

test('links, pictures, styles and plain text are held, and the person sees the addresses', async () => {
  for (const html of [`<a href="${LINK}">x</a>`, `<img src='${LINK}'>`, `<p style="background:url(${LINK})">x</p>`])
    assert.equal(await heldBecause(letter(html)), 'opaque_links', html);
  const plain = await send({ to: ['ann@customer.example'], subject: 'Hello', text: `See ${LINK}.` });
  assert.equal(plain.status, 202, plain.text);
  const shown = await world.api.call('GET', `/api/consents/${textAt(plain.body, 'consentId')}/message`, {
    as: organization.owner.session,
  });
  assert.deepEqual(at(shown.body, 'opaqueLinks'), [LINK]);
  assert.equal(textAt(shown.body, 'heldBecause', 'kind'), 'opaque_links');
});

test('ordinary links are sent, and so are all where nothing is compared', async () => {
  assert.equal(await heldBecause(letter('<a href="https://shop.example/orders/4711">your order</a>')), null);
  await settings({ carriedMail: 'off' });
  assert.equal(await heldBecause(letter(`<img src="${LINK}">`)), null);
});

test('`refuse` holds them: it is a person who can tell', async () => {
  await settings({ carriedMail: 'refuse' });
  assert.equal(await heldBecause(letter(`<img src="${LINK}">`)), 'opaque_links');
});

test('a domain of the organization or on its outbound allow list is excused, with its subdomains', async () => {
  await world.api.sql(
    `insert into domains (id, organization_id, name, status, verification_token, dkim_selector, dkim_public_key, dkim_private_key_sealed)
     values ($1, $2, $3, 'verified', '', '', '', '')`,
    [newId('domain'), organization.id, `${organization.slug}.example`],
  );
  const token = 'Zm9ydHktb25lIHRob3VzYW5kIGNyb3ducw';
  assert.equal(await heldBecause(letter(`<a href="https://app.${organization.slug}.example/${token}">x</a>`)), null);
  assert.equal(
    await heldBecause(letter(`<a href="https://${organization.slug}.example.evil.example/${token}">x</a>`)),
    'opaque_links',
  );
  const body = { value: 'meetings.example' };
  const listed = await world.api.call('POST', '/api/lists/outbound/allow', { as: organization.owner.session, body });
  assert.equal(listed.status, 201, listed.text);
  assert.equal(await heldBecause(letter(`<a href="https://meetings.example/j/${token}">x</a>`)), null);
});

test('exactly a link of the answered thread is sent back, quoted with its pictures', async () => {
  const id = await receive(`<p>Hi</p><img src="${LINK}">`);
  const reply = (html: string) => heldBecause(send({ text: 'Thanks.', html }, `messages/${id}/reply`));
  assert.equal(await reply(`<p>Thanks.</p><blockquote><p>Hi</p><img src="${LINK}"></blockquote>`), null);
  assert.equal(await reply(`<p>Thanks.</p><img src="${LINK}0">`), 'opaque_links');
  assert.equal(await heldBecause(letter(`<img src="${LINK}">`)), 'opaque_links', 'in a mail of its own');
});
