/** `agent-mailbox-admin organizations`: tenants seen and suspended by an operator, beside the running service. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type OutboundSweep, startOutboundSweep } from '#sending/submit/start-outbound.ts';
import { openSendingWorld, passwordOf, SENDING_ENTRY_POINTS, type SendingWorld } from '#test/sending/sending-world.ts';
import {
  type Answer,
  at,
  type Credential,
  errorCode,
  TEST_PASSWORD,
  type TestOrganization,
  textAt,
} from '#test/support/api-world.ts';
import { LineClient } from '#test/support/line-client.ts';
import { runAdmin } from '#test/support/run-admin.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';
import { logIn } from '#test/support/submission-client.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const PATIENCE_MS = 60_000;

let world: SendingWorld;
let sweep: OutboundSweep;
let environment: Record<string, string>;
before(async () => {
  const secrets = {
    SECRETS_KEYS: `test:${randomBytes(32).toString('base64')}`,
    CREDENTIAL_PEPPER: randomBytes(32).toString('base64'),
  };
  world = await openSendingWorld({ settings: secrets });
  sweep = startOutboundSweep(world.api.services, world.api.temporal);
  const { DATABASE_URL = '', DATA_DIR } = world.api.services.settings;
  environment = { ...secrets, DATABASE_URL, DATA_DIR };
});
after(async () => {
  await sweep?.close();
  await world?.close();
});

async function admin(...args: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await runAdmin(['organizations', ...args, '--json'], { environment });
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

async function newOrganization(): Promise<TestOrganization> {
  const organization = await world.api.newOrganization('business');
  await world.api.call('PATCH', '/api/organization', {
    as: organization.admin.session,
    body: { settings: { outboundConsent: 'off' } },
  });
  return organization;
}

const stranger = (): string => `${randomBytes(4).toString('hex')}@outside.test`;
const get = (as: Credential, path: string): Promise<Answer> => world.api.call('GET', path, { as });

/** The reply to RCPT of a host outside. */
async function rcpt(address: string): Promise<string> {
  const client = await SmtpClient.open(world.mail.smtp.host, world.mail.smtp.port);
  await client.command('EHLO outside.test');
  await client.command('MAIL FROM:<bob@outside.test>');
  const reply = await client.command(`RCPT TO:<${address}>`);
  client.close();
  return reply;
}

async function pop3(address: string, token: string): Promise<{ client: LineClient; reply: string }> {
  const client = await LineClient.open(world.mail.pop3.port, { secure: true });
  await client.line();
  await client.command(`USER ${address}`);
  return { client, reply: (await client.command(`PASS ${token}`)) ?? 'closed' };
}

async function imap(address: string, token: string): Promise<{ client: LineClient; reply: string }> {
  const client = await LineClient.open(world.mail.imap.port, { secure: true });
  await client.line();
  return { client, reply: (await client.command(`a LOGIN ${address} ${token}`)) ?? 'closed' };
}

test('an organization is created, found by slug, moved to a plan and listed with its figures', async () => {
  const slug = `tenant-${randomBytes(4).toString('hex')}`;
  const created = await admin('create', 'Tenant', 'ada@outside.test', '--slug', slug, '--plan', 'team');
  assert.deepEqual([at(created, 'slug'), at(created, 'plan')], [slug, 'team']);
  const again = await runAdmin(['organizations', 'create', 'Tenant', 'ada@outside.test', '--slug', slug], {
    environment,
  });
  assert.equal(again.code, 1);
  assert.match(again.stderr, /The slug belongs to another organization/);
  await admin('plan', slug, 'business');
  assert.equal(at(await admin('show', slug), 'plan'), 'business');

  const { id, mailbox } = await newOrganization();
  const sent = await world.send('REST', mailbox, { to: [stranger()] });
  await world.reaches(mailbox, sent.id, 'sent');
  await world.api.sql(`update outbound_recipient set status = 'bounced' where message_id = $1`, [sent.id]);
  const shown = await admin('show', id);
  assert.deepEqual(
    ['mailboxes', 'sent', 'handedOver', 'bounced', 'bounceRate', 'complaintRate', 'outgoingWaiting'].map((name) =>
      at(shown, name),
    ),
    [1, 1, 1, 1, 1, 0, 0],
  );
  const listed: unknown[] = [];
  for (let after: string | null = null; ; ) {
    const page = await admin('list', '--limit', '2', ...(after === null ? [] : ['--after', after]));
    listed.push(...Object.values(Object(at(page, 'organizations'))));
    const next = at(page, 'next');
    if (typeof next !== 'string') break;
    after = next;
  }
  assert.deepEqual(
    listed.find((each) => at(each, 'id') === id),
    shown,
  );
  const unknown = await runAdmin(['organizations', 'suspend', 'nobody-here'], { environment });
  assert.equal(unknown.code, 1);
});

test('a suspended organization is refused on every protocol, others are not, and nothing is lost', async () => {
  const organization = await newOrganization();
  const other = await newOrganization();
  const { id, mailbox, key, owner } = organization;
  const token = passwordOf(mailbox);
  const open = [await pop3(mailbox.address, token), await imap(mailbox.address, token)];
  const submission = await logIn(world.mail.submissionStarttls, { address: mailbox.address, token });
  // Waits for the end of the suspension: it is scheduled for a time that is there while it lasts.
  const scheduled = await world.api.call('POST', '/api/mailbox/messages', {
    as: mailbox.token,
    body: { to: [stranger()], subject: 'Later', text: 'x', sendAt: new Date(Date.now() + 60_000).toISOString() },
  });
  const laterId = textAt(scheduled.body, 'id');
  await world.api.call('PATCH', '/api/organization', {
    as: owner.session,
    body: { settings: { outboundConsent: 'first_contact' } },
  });
  const held = await world.send('REST', mailbox, { to: [stranger()], subject: 'Held' });
  assert.equal(held.kind, 'held', held.words);

  await admin('suspend', id, '--receive', 'defer', '--reason', 'Unpaid');
  for (const { client } of open) await client.ended();
  assert.match(await submission.reply(), /^421 4\.7\.0/);
  for (const as of [key, owner.session, mailbox.token]) {
    const refused = await get(as, `/api/mailboxes/${mailbox.id}`);
    assert.deepEqual([refused.status, errorCode(refused)], [403, 'forbidden']);
    assert.match(refused.text, /suspended by the operator/);
  }
  assert.equal((await get(owner.session, '/api/sessions/current')).status, 403);
  const signIn = await world.api.call('POST', '/api/sessions', {
    body: { email: owner.email, password: TEST_PASSWORD },
  });
  assert.deepEqual([signIn.status, errorCode(signIn)], [403, 'forbidden']);
  assert.match((await pop3(mailbox.address, token)).reply, /^-ERR \[AUTH\]/);
  assert.match((await imap(mailbox.address, token)).reply, /^a NO /);
  await assert.rejects(logIn(world.mail.submissionStarttls, { address: mailbox.address, token }), /^Error: 535/);
  assert.match(await rcpt(mailbox.address), /^450 4\.2\.1/);
  await admin('suspend', id, '--receive', 'reject');
  await waitUntil('the other answer', async () => (await rcpt(mailbox.address)).startsWith('550 5.2.1'), PATIENCE_MS);

  for (const entry of SENDING_ENTRY_POINTS) {
    const beside = await world.send(entry, other.mailbox, { to: [stranger()], subject: `Beside ${id}` });
    await world.reaches(other.mailbox, beside.id, 'sent');
  }
  assert.match(await rcpt(other.mailbox.address), /^250/);

  // Both times come while it is suspended.
  await world.api.sql(`update outbound_message set send_at = now() where id = $1`, [laterId]);
  await world.api.sql(
    `update consent set expires_at = now(), created_at = created_at - interval '2 hours' where id = $1`,
    [held.consentId],
  );
  await world.api.sql(`update organizations set suspended_at = suspended_at - interval '1 hour' where id = $1`, [id]);
  for (const messageId of [laterId, held.id])
    await world.api.temporal.client.workflow.getHandle(`outbound/${messageId}`).signal('decide');
  await waitUntil(
    'the scheduled message to wait',
    async () =>
      (await world.api.sql(`select 1 from outbound_message where id = $1 and stopped_at is not null`, [laterId]))
        .length === 1,
    PATIENCE_MS,
  );
  const waiting = await admin('show', id);
  assert.deepEqual([at(waiting, 'outgoingWaiting'), at(waiting, 'suspendedReason')], [2, 'Unpaid']);

  await admin('resume', id);
  await admin('resume', id);
  await world.reaches(mailbox, laterId, 'sent');
  const approved = await world.api.call('POST', `/api/consents/${held.consentId}/approve`, {
    as: owner.session,
    body: { scope: 'message' },
  });
  assert.equal(approved.status, 200, approved.text);
  await world.reaches(mailbox, held.id, 'sent');
  assert.match((await pop3(mailbox.address, token)).reply, /^\+OK/);
  assert.match(await rcpt(mailbox.address), /^250/);
  const audit = await world.api.sql(
    `select action, actor ->> 'name' as actor from audit_entries
      where organization_id = $1 and action in ('organization.suspended', 'organization.resumed') order by id`,
    [id],
  );
  assert.deepEqual(
    audit.map(({ action, actor }) => `${String(action)} by ${String(actor)}`),
    ['organization.suspended by operator', 'organization.suspended by operator', 'organization.resumed by operator'],
  );
});

test('the operator key suspends and resumes; a member of another organization goes on working there', async () => {
  const organization = await newOrganization();
  const other = await newOrganization();
  const { owner } = organization;
  await world.api.sql(
    `insert into members (id, organization_id, user_id, role) select 'mem_' || substr($2, 5), $1, $2, 'owner'`,
    [other.id, owner.userId],
  );
  const suspend = (body: object) =>
    world.api.call('PUT', '/api/organization/suspension', {
      as: { ...world.api.operator, 'x-organization-id': organization.id },
      body,
    });
  const answer = await suspend({ suspended: true, reason: 'Abuse' });
  assert.deepEqual(
    [answer.status, at(answer.body, 'suspension', 'receive'), at(answer.body, 'suspension', 'reason')],
    [200, 'defer', 'Abuse'],
  );
  const inOne = (id: string) => get({ ...owner.session, 'x-organization-id': id }, '/api/organization');
  assert.equal((await inOne(organization.id)).status, 403);
  assert.equal((await inOne(other.id)).status, 200);
  assert.equal((await get(owner.session, '/api/sessions/current')).status, 200);
  assert.equal(at((await suspend({ suspended: false })).body, 'suspension'), null);
  assert.equal((await inOne(organization.id)).status, 200);
});
