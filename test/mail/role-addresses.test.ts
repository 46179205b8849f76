/** Mail to postmaster and abuse of every domain served here reaches the owners (RFC 5321 §4.5.1), and cannot run in a circle. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sweepNotices } from '#core/organizations/member-notices.ts';
import { engineStarts } from '#core/platform/engine/engine-starts.ts';
import { newId } from '#core/platform/new-id.ts';
import { localPartProblem, ROLE_MAIL_MAX_BYTES, ROLE_MAIL_PER_HOUR_MAX } from '#domain/mail/mailbox-address.ts';
import { deleteHistory } from '#test/support/delete-history.ts';
import { letter } from '#test/support/mail-world.ts';
import { type OutboundWorld, openOutboundWorld } from '#test/support/outbound-world.ts';
import { storedMail } from '#test/support/stored-mail.ts';
import { logIn } from '#test/support/submission-client.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: OutboundWorld;
let otherOrganization: string;
const sql = (text: string, values: unknown[] = []) =>
  world.mail.services.db.query<Record<string, string>>(text, values);

async function person(organizationId: string, role: 'owner' | 'admin' | 'member', email: string): Promise<void> {
  const userId = newId('user');
  await sql(`insert into users (id, email, name, password_hash) values ($1, $2, 'A person', '')`, [userId, email]);
  await sql(`insert into members (id, organization_id, user_id, role) values ($1, $2, $3, $4)`, [
    newId('member'),
    organizationId,
    userId,
    role,
  ]);
}

/** An organization with a verified domain and an owner outside. */
async function organizationWith(
  domain: string,
  owner: string,
  status: 'verified' | 'pending' = 'verified',
): Promise<string> {
  const id = newId('organization');
  await sql(`insert into organizations (id, name, slug, plan) values ($1, 'Other', $2, 'unlimited')`, [id, domain]);
  await sql(
    `insert into domains (id, organization_id, name, status, verification_token, dkim_selector, dkim_public_key, dkim_private_key_sealed)
     values ($1, $2, $3, $4, 'x', 'x', 'x', 'x')`,
    [newId('domain'), id, domain, status],
  );
  await person(id, 'owner', owner);
  return id;
}

before(async () => {
  world = await openOutboundWorld();
  await person(world.mail.organizationId, 'owner', 'instance-owner@example.com');
  await person(world.mail.organizationId, 'admin', 'instance-admin@example.com');
  otherOrganization = await organizationWith('own.example', 'own-owner@example.com');
});
after(() => world?.close());

interface NoticeOfTest {
  readonly recipient: string;
  readonly subject: string;
  readonly body: string;
  readonly state: string;
}

const noticesAbout = async (subject: string): Promise<NoticeOfTest[]> =>
  (await sql(`select recipient, subject, body, state from member_notices where subject like $1 order by recipient`, [
    `%${subject}`,
  ])) as unknown as NoticeOfTest[];

/** Sends what waits, as the sweep does when a notice was not started. */
async function sent(subject: string): Promise<NoticeOfTest[]> {
  const { services } = world.mail;
  const starts = engineStarts(services.log);
  return waitUntil(`the notice of ${subject}`, async () => {
    await sweepNotices({ ...services, now: () => services.now() + 3_600_000 }, world.temporal, starts);
    const notices = await noticesAbout(subject);
    return notices.length > 0 && notices.every(({ state }) => state !== 'waiting') && notices;
  });
}

for (const [name, recipient, owner] of [
  ['postmaster of the default domain', 'postmaster@agents.test', 'instance-owner@example.com'],
  ['abuse in capitals', 'ABUSE@Agents.Test', 'instance-owner@example.com'],
  ['postmaster without a domain', 'Postmaster', 'instance-owner@example.com'],
  ['postmaster with a plus-tag', 'postmaster+x@agents.test', 'instance-owner@example.com'],
  ['postmaster of an own domain', 'postmaster@own.example', 'own-owner@example.com'],
  ['abuse of an own domain', 'abuse@own.example', 'own-owner@example.com'],
] as const)
  test(`${name} reaches the owners and nobody else, with the message attached`, async () => {
    const message = letter(name, '', 'Please look at this.\n');
    assert.match(await world.mail.send(recipient, message), /^250 .*owners/);
    const notices = await sent(name);
    assert.deepEqual(
      notices.map((notice) => [notice.recipient, notice.state]),
      [[owner, 'sent']],
    );
    assert.match(notices[0]?.body ?? '', /bob@example\.com[^]*Please look at this\./);
    const mail = world.peer.received.find(({ to, bytes }) => to.includes(owner) && bytes.includes(name));
    assert.equal(mail?.from, '');
    const text = mail?.bytes.toString('latin1') ?? '';
    assert.match(text, /^Auto-Submitted: auto-generated\r$/m);
    const attached = /filename=message\.eml[^]*?\r\n\r\n([A-Za-z0-9+/=\r\n]+)/.exec(text)?.[1] ?? '';
    assert.ok(Buffer.from(attached, 'base64').toString().endsWith(message.replace(/\n/g, '\r\n')));
  });

test('an owner whose address is a mailbox here gets it in INBOX', async () => {
  const mailbox = await world.mail.createMailbox('owner-here');
  await organizationWith('here.example', mailbox.address);
  assert.match(await world.mail.send('abuse@here.example', letter('into inbox')), /^250 /);
  await sent('into inbox');
  const [mail] = await storedMail(world.mail, mailbox);
  assert.match(mail?.toString('latin1') ?? '', /^Subject: Mail to abuse@here\.example: into inbox\r$/m);
});

test('a mailbox here reaches them too, by submission', async () => {
  const client = await logIn(world.mail.mail.submissionStarttls, world.sender);
  const message = letter('from an agent').replace('bob@example.com', world.sender.address);
  assert.match(await client.send(world.sender.address, ['postmaster@own.example'], message), /^250 /);
  client.close();
  const notices = await sent('from an agent');
  assert.deepEqual(
    notices.map(({ recipient }) => recipient),
    ['own-owner@example.com'],
  );
  assert.deepEqual(
    (await storedMail(world.mail, world.sender)).filter((bytes) => bytes.includes('from an agent')),
    [],
    'the sender gets no failure notice',
  );
});

test('a mailbox and a role in one transaction both get the message', async () => {
  const mailbox = await world.mail.createMailbox('beside');
  assert.match(await world.mail.send([mailbox.address, 'postmaster@agents.test'], letter('both')), /^250 /);
  assert.equal((await storedMail(world.mail, mailbox)).length, 1);
  assert.equal((await sent('both')).length, 1);
});

test('a repeated message is accepted and recorded once', async () => {
  const message = letter('again');
  for (let count = 0; count < 2; count++) assert.match(await world.mail.send('abuse@own.example', message), /^250 /);
  assert.equal((await sent('again')).length, 1);
});

test('mail that a machine sent is kept for the API and makes no mail', async () => {
  const received = world.peer.received.length;
  for (const [subject, header, from] of [
    ['an automatic answer', 'Auto-Submitted: auto-replied\n', 'bob@example.com'],
    ['a bounce', '', ''],
  ] as const) {
    assert.match(await world.mail.send('postmaster@own.example', letter(subject, header), from), /^250 /);
    assert.deepEqual(
      (await noticesAbout(subject)).map(({ state }) => state),
      ['captured'],
    );
  }
  const circle = letter('a circle', 'Received: from a by b; Sat, 21 Nov 2026 09:15:00 +0000\n'.repeat(51));
  assert.match(await world.mail.send('postmaster@own.example', circle), /^554 5\.4\.6 /);
  assert.equal(world.peer.received.length, received);
});

test('a returned notice creates no other', async () => {
  assert.match(await world.mail.send('postmaster@own.example', letter('there and back')), /^250 /);
  await sent('there and back');
  const notice = world.peer.received.find(({ bytes }) => bytes.includes('there and back'));
  assert.match(await world.mail.send('postmaster@own.example', notice?.bytes ?? '', notice?.from), /^250 /);
  assert.deepEqual((await noticesAbout('there and back')).map(({ state }) => state).toSorted(), ['captured', 'sent']);
});

test('other domains and other names are refused as before', async () => {
  await organizationWith('unverified.example', 'nobody-yet@example.com', 'pending');
  for (const recipient of ['postmaster@unverified.example', 'postmaster@elsewhere.example'])
    assert.match(await world.mail.send(recipient, letter()), /^550 5\.7\.1 /);
  assert.match(await world.mail.send('hostmaster@own.example', letter()), /^550 5\.1\.1 /);
  for (const role of ['postmaster', 'abuse']) assert.match(localPartProblem(role) ?? '', /reserved/);
});

test('there is a largest size, and only so much in an hour is passed on', async () => {
  const large = letter('large', '', `${'x'.repeat(998)}\n`.repeat(Math.ceil(ROLE_MAIL_MAX_BYTES / 998)));
  assert.match(await world.mail.send('abuse@own.example', large), /^552 5\.3\.4 /);
  await organizationWith('flooded.example', 'flooded@example.com');
  const replies: string[] = [];
  for (let count = 0; count <= ROLE_MAIL_PER_HOUR_MAX; count++)
    replies.push(await world.mail.send('postmaster@flooded.example', letter(`flood ${count}`)));
  assert.ok(replies.slice(0, -1).every((reply) => reply.startsWith('250 ')));
  assert.match(replies.at(-1) ?? '', /^451 4\.7\.1 /);
  assert.match(await world.mail.send('postmaster@own.example', letter('not flooded')), /^250 /);
});

test('a forwarded message is deleted with its notices', async () => {
  await sql(`update role_mail set created_at = created_at - interval '91 days' where organization_id = $1`, [
    otherOrganization,
  ]);
  await deleteHistory(world.mail.services);
  assert.deepEqual(await sql(`select id from role_mail where organization_id = $1`, [otherOrganization]), []);
});
