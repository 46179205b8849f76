/** Who gets the link of an invitation: the invited person by mail, or the inviter; never a mailbox of this instance. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sendMemberNotice } from '#sending/notices/send-member-notice.ts';
import { relayTransport } from '#sending/transports/choose-transport.ts';
import { type Answer, type ApiWorld, apiWorld, at, errorCode, TEST_PASSWORD, textAt } from '#test/support/api-world.ts';
import { type Peer, startPeer } from '#test/support/outbound-world.ts';

let peer: Peer;
/** Sends mail by a relay. */
let world: ApiWorld;
/** Sends none. */
let silent: ApiWorld;
before(async () => {
  peer = await startPeer({});
  world = await apiWorld({ OUTBOUND_TRANSPORT: 'relay', OUTBOUND_RELAY_URL: peer.url });
  silent = await apiWorld();
});
after(async () => {
  await world.close();
  await silent.close();
  await peer.close();
});

const invite = (of: ApiWorld, email: string, role = 'member'): Promise<Answer> =>
  of.call('POST', '/api/members', { as: of.organization.owner.session, body: { email, role } });

const noticesFor = (of: ApiWorld, recipient: string) =>
  of.sql(`select id, state, reply, body, credential_sealed from member_notices where recipient = $1`, [recipient]);

const chat = { send: () => Promise.reject(new Error('an invitation is no message for a chat')) };

/** As the workflow does. */
async function send(of: ApiWorld, recipient: string): Promise<void> {
  const transport = relayTransport({ url: peer.url, hostname: 'mail.test' });
  for (const { id } of await noticesFor(of, recipient))
    await sendMemberNotice(of.services, { transport, chat }, String(id), { heartbeat() {}, mayBegin: () => true });
}

const mailsTo = (recipient: string) => peer.received.filter(({ to }) => to.includes(recipient));

/** The token of the link in a mail, whose lines may be folded by quoted-printable. */
const tokenOf = (bytes: Buffer | undefined): string =>
  /accept-invitation#([A-Za-z0-9_-]{43})/.exec((bytes ?? Buffer.alloc(0)).toString().replaceAll('=\r\n', ''))?.[1] ??
  '';

const accept = (of: ApiWorld, token: string): Promise<Answer> =>
  of.call('POST', '/api/invitations/accept', { body: { token, name: 'New', password: TEST_PASSWORD } });

test('the link is in the mail and nowhere else, and makes a member', async () => {
  const email = 'grace@outside.example';
  const answer = await invite(world, email);
  assert.equal(answer.status, 201);
  assert.deepEqual(
    [at(answer.body, 'delivery'), at(answer.body, 'token'), at(answer.body, 'acceptUrl')],
    ['mail', null, null],
  );
  await send(world, email);
  const [mail, another] = mailsTo(email);
  assert.equal(another, undefined);
  const token = tokenOf(mail?.bytes);
  const notices = await world.call('GET', '/api/notices', { as: world.organization.owner.session });
  assert.match(textAt(notices.body, 'data', 0, 'text'), /accept-invitation#\[credential\]/);
  assert.ok(!notices.text.includes(token));
  const [row] = await noticesFor(world, email);
  assert.deepEqual([row?.['state'], row?.['credential_sealed']], ['sent', null]);
  assert.equal((await accept(world, token)).status, 201);
});

test('no mail is sent to an address this instance hosts: the inviter gets the link', async () => {
  const { id } = world.organization;
  await world.sql(
    `insert into domains (id, organization_id, name, status, verification_token, dkim_selector, dkim_public_key,
                          dkim_private_key_sealed, records)
     values ('dom_1', $1, 'verified.example', 'verified', '', '', '', '', '[]'),
            ('dom_2', $1, 'pending.example', 'pending', '', '', '', '', '[]')`,
    [id],
  );
  for (const email of [
    world.organization.mailbox.address,
    'nobody-yet@agents.test',
    'x@sub.AGENTS.test',
    'x@verified.example',
    'x@deep.sub.verified.example',
    'x@pending.example',
  ]) {
    const answer = await invite(world, email);
    assert.equal(at(answer.body, 'delivery'), 'by_inviter', email);
    assert.ok(textAt(answer.body, 'acceptUrl').endsWith(`#${textAt(answer.body, 'token')}`));
    assert.deepEqual(await noticesFor(world, email.toLowerCase()), []);
  }
});

test('an address that is hosted by the time the mail is to be sent does not get it', async () => {
  const email = 'later@moving.example';
  assert.equal(at((await invite(world, email)).body, 'delivery'), 'mail');
  await world.sql(
    `insert into domains (id, organization_id, name, status, verification_token, dkim_selector, dkim_public_key,
                          dkim_private_key_sealed, records)
     values ('dom_3', $1, 'moving.example', 'verified', '', '', '', '', '[]')`,
    [world.other.id],
  );
  const created = await world.call('POST', '/api/mailboxes', {
    as: world.other.key,
    body: { localPart: 'later', domain: 'moving.example' },
  });
  assert.equal(created.status, 201, created.text);
  await send(world, email);
  const [row] = await noticesFor(world, email);
  assert.deepEqual([row?.['state'], row?.['credential_sealed']], ['failed', null]);
  assert.match(String(row?.['reply']), /hosted/);
  const mail = await world.sql(`select count(*)::int as count from message where mailbox_id = $1`, [
    textAt(created.body, 'id'),
  ]);
  assert.deepEqual([mail[0]?.['count'], mailsTo(email).length], [0, 0]);
});

test('a mail that waits is not sent once its invitation is withdrawn or replaced', async () => {
  const email = 'withdrawn@outside.example';
  await invite(world, email);
  await invite(world, email);
  await send(world, email);
  assert.equal(mailsTo(email).length, 1);
  assert.equal((await accept(world, tokenOf(mailsTo(email)[0]?.bytes))).status, 201);
});

test('where the instance sends no mail the inviter gets the link, and the notice shows without it', async () => {
  const answer = await invite(silent, 'ann@outside.example');
  assert.equal(at(answer.body, 'delivery'), 'by_inviter');
  const notices = await silent.call('GET', '/api/notices', { as: silent.organization.owner.session });
  assert.ok(!notices.text.includes(textAt(answer.body, 'token')));
  const byKey = await silent.call('GET', '/api/notices', { as: silent.organization.key });
  assert.equal(errorCode(byKey), 'forbidden');
  assert.equal((await accept(silent, textAt(answer.body, 'token'))).status, 201);
});

test('the first owner of an organization is invited the same way', async () => {
  const make = (ownerEmail: string, slug: string) =>
    world.call('POST', '/api/organizations', { as: world.operator, body: { name: 'Made\u00a0One', slug, ownerEmail } });
  const outside = await make('owner@outside.example', 'made-outside');
  assert.equal(at(outside.body, 'invitation', 'token'), null);
  await send(world, 'owner@outside.example');
  assert.equal((await accept(world, tokenOf(mailsTo('owner@outside.example')[0]?.bytes))).status, 201);
  const hosted = await make('owner@agents.test', 'made-hosted');
  assert.ok(textAt(hosted.body, 'invitation', 'token').length > 40);
});
