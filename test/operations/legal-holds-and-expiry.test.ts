/** A mailbox that expires, and one on legal hold, on every protocol and for operators. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { retentionStep } from '#activities/delete-history.ts';
import type { RetentionStep } from '#domain/retention.ts';
import { openSendingWorld, passwordOf, type SendingWorld } from '#test/sending/sending-world.ts';
import { at, type TestMailbox, textAt } from '#test/support/api-world.ts';
import { LineClient } from '#test/support/line-client.ts';
import { runAdmin } from '#test/support/run-admin.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';
import { logIn } from '#test/support/submission-client.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: SendingWorld;
let environment: Record<string, string>;
before(async () => {
  const secrets = {
    SECRETS_KEYS: `test:${randomBytes(32).toString('base64')}`,
    CREDENTIAL_PEPPER: randomBytes(32).toString('base64'),
  };
  world = await openSendingWorld({ settings: secrets });
  const { DATABASE_URL = '', DATA_DIR, TEMPORAL_ADDRESS = '', TEMPORAL_NAMESPACE } = world.api.services.settings;
  const { TEMPORAL_TASK_QUEUE } = world.api.services.settings;
  environment = { ...secrets, DATABASE_URL, DATA_DIR, TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_TASK_QUEUE };
});
after(() => world?.close());

async function admin(...args: string[]) {
  const { code, stdout, stderr } = await runAdmin([...args, '--json'], { environment });
  return { code, stderr, value: (code === 0 ? JSON.parse(stdout) : undefined) as unknown };
}

async function step(name: RetentionStep): Promise<void> {
  await retentionStep(world.api.services, { step: name }, { heartbeat() {}, isEnding: () => false });
}

async function mailIn(to: string, subject = 'Hello'): Promise<string> {
  const client = await SmtpClient.open(world.mail.smtp.host, world.mail.smtp.port);
  const id = randomBytes(6).toString('hex');
  const reply = await client.send(
    'bob@outside.test',
    [to],
    `From: bob@outside.test\nTo: ${to}\nSubject: ${subject}\nMessage-ID: <${id}@outside.test>\n\nWords.\n`,
  );
  client.close();
  return reply;
}

async function imapLogin(mailbox: TestMailbox): Promise<{ client: LineClient; answer: string }> {
  const client = await LineClient.open(world.mail.imap.port, { secure: true });
  await client.line();
  const lines = await client.tagged('a', `LOGIN ${mailbox.address} ${passwordOf(mailbox)}`);
  return { client, answer: lines.at(-1) ?? '' };
}

test('an expired mailbox is refused on every protocol, opens again with a later time, and is deleted with its mail', async () => {
  const organization = await world.api.newOrganization('business');
  const mailbox = await world.api.newMailbox(organization);
  const owner = organization.owner.session;
  const path = `/api/mailboxes/${mailbox.id}`;
  const expire = (expiresAt: string | null) => world.api.call('PATCH', path, { as: owner, body: { expiresAt } });
  assert.match(await mailIn(mailbox.address), /^250/);
  const open = await imapLogin(mailbox);
  assert.match(open.answer, /^a OK/);

  const past = new Date(Date.now() - 1_000).toISOString();
  const changed = await expire(past);
  assert.equal(changed.status, 200, changed.text);
  assert.equal(at(changed.body, 'status'), 'expired');
  // What is deleted days after the expiry does not go because of a time in the past.
  const longAgo = await expire('2016-01-01T00:00:00.000Z');
  assert.ok(Date.parse(textAt(longAgo.body, 'expiresAt')) >= Date.parse(past), longAgo.text);
  await open.client.ended();
  open.client.close();
  // A process remembers a recipient for some seconds.
  await waitUntil('no such mailbox', async () => (await mailIn(mailbox.address)).startsWith('550 5.1.1'));
  const refused = await imapLogin(mailbox);
  assert.match(refused.answer, /^a NO/);
  refused.client.close();
  const read = await world.api.call('GET', '/api/mailbox/messages', { as: mailbox.token });
  assert.deepEqual([read.status, at(read.body, 'error', 'code')], [403, 'forbidden'], read.text);
  await assert.rejects(() =>
    logIn(world.mail.submissionStarttls, { address: mailbox.address, token: passwordOf(mailbox) }),
  );
  const listed = await world.api.call('GET', '/api/mailboxes?status=expired', { as: owner });
  assert.equal(textAt(listed.body, 'data', 0, 'id'), mailbox.id);

  assert.equal((await expire(null)).status, 200);
  assert.match(await mailIn(mailbox.address), /^250/);
  assert.equal((await world.folder(mailbox, 'INBOX')).length, 2);

  const expiredDaysAgo = (days: number) =>
    world.api.sql(`update mailboxes set expires_at = now() - make_interval(days => $2) where id = $1`, [
      mailbox.id,
      days,
    ]);
  await expiredDaysAgo(13);
  await step('expiredMailboxes');
  assert.equal((await world.api.call('GET', path, { as: owner })).status, 200, 'deleted before its grace time ended');
  await expiredDaysAgo(15);
  await step('expiredMailboxes');
  assert.equal((await world.api.call('GET', path, { as: owner })).status, 404);
  const [event] = await world.api.sql(`select payload from events where type = 'mailbox_deleted' and mailbox_id = $1`, [
    mailbox.id,
  ]);
  assert.match(String(event?.['payload']), /"type":\s*"system"/);
  await step('mailboxFolders');
  await step('folders');
  await world.api.sql(`update unplaced_message set since = since - interval '2 hours'`);
  await step('messages');
  assert.deepEqual(await world.api.sql('select id from message where mailbox_id = $1', [mailbox.id]), []);
});

test('a mailbox can be created with its end and its retention; an end in the past is refused', async () => {
  const { owner, key } = await world.api.newOrganization('business');
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const retention = { allMailDays: 30, trashDays: null, spamDays: 7 };
  const created = await world.api.call('POST', '/api/mailboxes', { as: key, body: { expiresAt, retention } });
  assert.equal(created.status, 201, created.text);
  assert.deepEqual([at(created.body, 'expiresAt'), at(created.body, 'retention')], [expiresAt, retention]);
  const past = await world.api.call('POST', '/api/mailboxes', {
    as: key,
    body: { expiresAt: '2020-01-01T00:00:00.000Z' },
  });
  assert.deepEqual([past.status, textAt(past.body, 'error', 'details', 0, 'path')], [400, '/expiresAt']);
  const set = await world.api.call('PATCH', '/api/organization', {
    as: owner.session,
    body: { settings: { retention } },
  });
  assert.deepEqual(at(set.body, 'settings', 'retention'), retention);
});

test('a session ends when its mailbox expires', async () => {
  const mailbox = await world.api.newMailbox(await world.api.newOrganization('business'));
  await world.api.sql(`update mailboxes set expires_at = now() + interval '2 seconds' where id = $1`, [mailbox.id]);
  const { client, answer } = await imapLogin(mailbox);
  assert.match(answer, /^a OK/);
  await client.ended();
  client.close();
});

test('legal holds are for owners and operators; erasures and deletions leave content until they are lifted', async () => {
  const organization = await world.api.newOrganization('business');
  const mailbox = await world.api.newMailbox(organization);
  const owner = organization.owner.session;
  await mailIn(mailbox.address);
  const body = { mailboxId: mailbox.id, reason: 'Case 7' };
  const byKey = await world.api.call('POST', '/api/legal-holds', { as: organization.key, body });
  assert.equal(byKey.status, 403);
  const set = await world.api.call('POST', '/api/legal-holds', { as: owner, body });
  assert.equal(set.status, 201, set.text);
  const other = await world.api.newOrganization('business');
  const foreign = await world.api.call('POST', '/api/legal-holds', { as: other.owner.session, body });
  assert.equal(foreign.status, 404);
  const notTheirs = await world.api.call('DELETE', `/api/legal-holds/${textAt(set.body, 'id')}`, {
    as: other.owner.session,
  });
  assert.equal(notTheirs.status, 404);

  const operator = await admin('legal-holds', 'set', organization.id, 'Case 8');
  assert.equal(operator.code, 0, operator.stderr);
  await world.api.call('PATCH', '/api/organization', { as: owner, body: { settings: { outboundConsent: 'off' } } });
  const { id: sent } = await world.send('REST', mailbox, { to: ['bob@outside.test'] });
  await world.reaches(mailbox, sent, 'sent');
  await world.api.sql(`update outbound_message set finished_at = now() - interval '2 years' where id = $1`, [sent]);
  for (const name of ['sentContents', 'sentMail'] as const) await step(name);
  const [left] = await world.api.sql('select blob is not null as kept from outbound_message where id = $1', [sent]);
  assert.equal(left?.['kept'], true);
  assert.equal((await world.api.call('DELETE', `/api/mailboxes/${mailbox.id}`, { as: owner })).status, 204);
  await world.api.sql(`update mailboxes set deleted_at = now() - interval '200 days' where id = $1`, [mailbox.id]);
  for (const name of ['mailboxFolders', 'folders', 'messages', 'mailboxes'] as const) await step(name);
  const messages = async () =>
    (await world.api.sql('select id from message where mailbox_id = $1', [mailbox.id])).length;
  assert.equal(await messages(), 2);
  for (const target of [
    ['mailbox', mailbox.id],
    ['organization', organization.id],
    ['correspondent', 'bob@outside.test', '--organization', organization.id],
  ]) {
    const refused = await admin('erase', ...target, '--yes');
    assert.equal(refused.code, 1, String(target));
    assert.match(refused.stderr, /on legal hold: Case/);
  }
  assert.equal(await messages(), 2);

  const held = await admin('legal-holds', 'list', organization.id);
  for (const hold of at(held.value, 'legalHolds') as { id: string }[])
    assert.equal((await admin('legal-holds', 'lift', organization.id, hold.id)).code, 0);
  const actions = await world.api.sql(
    `select action from audit_entries where organization_id = $1 and action like 'legal_hold.%' order by action`,
    [organization.id],
  );
  assert.deepEqual(
    actions.map(({ action }) => action),
    ['legal_hold.lifted', 'legal_hold.lifted', 'legal_hold.set', 'legal_hold.set'],
  );
  const erased = await admin('erase', 'mailbox', mailbox.id, '--yes');
  assert.equal(erased.code, 0, erased.stderr);
  assert.equal(await messages(), 0);
});

test('held mail that a person blocks is kept on legal hold', async () => {
  const organization = await world.api.newOrganization('business');
  const mailbox = await world.api.newMailbox(organization);
  const as = organization.owner.session;
  await world.api.call('PATCH', '/api/organization', { as, body: { settings: { screening: 'first_senders' } } });
  await mailIn(mailbox.address, 'Blocked');
  const id = async () => {
    const answer = await world.api.call('GET', '/api/held-mail', { as });
    return (at(answer.body, 'data') as { id: string }[])[0]?.id;
  };
  const heldId = await waitUntil('the mail is held', id);
  await world.api.call('POST', '/api/legal-holds', { as, body: { reason: 'Case 9' } });
  const decide = () => world.api.call('POST', `/api/held-mail/${heldId}/decide`, { as, body: { decision: 'block' } });
  assert.equal((await decide()).status, 200);
  assert.equal((await decide()).status, 409);
  const [row] = await world.api.sql('select bytes is not null as kept from held_arrival where id = $1', [heldId]);
  assert.equal(row?.['kept'], true);
  await world.api.sql(`update held_arrival set received_at = now() - interval '100 days' where id = $1`, [heldId]);
  await step('roleMail');
  assert.equal((await world.api.sql('select id from held_arrival where id = $1', [heldId])).length, 1);
});
