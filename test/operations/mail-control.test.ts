/** `agent-mailbox-admin mail hold|release|retry|drop`: outgoing mail that waits, beside the running service. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { openSendingWorld, type SendingWorld } from '#test/sending/sending-world.ts';
import { at, type TestOrganization, textAt } from '#test/support/api-world.ts';
import { type AdminRun, runAdmin } from '#test/support/run-admin.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const PATIENCE_MS = 60_000;

let world: SendingWorld;
let environment: Record<string, string>;
before(async () => {
  const secrets = {
    SECRETS_KEYS: `test:${randomBytes(32).toString('base64')}`,
    CREDENTIAL_PEPPER: randomBytes(32).toString('base64'),
  };
  // By itself no deferred mail is attempted again while a test runs.
  world = await openSendingWorld({ settings: { ...secrets, OUTBOUND_RETRY_DELAYS_MS: '3600000' } });
  const {
    DATABASE_URL = '',
    DATA_DIR,
    TEMPORAL_ADDRESS = '',
    TEMPORAL_NAMESPACE,
    TEMPORAL_TASK_QUEUE,
  } = world.api.services.settings;
  environment = { ...secrets, DATABASE_URL, DATA_DIR, TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_TASK_QUEUE };
});
after(() => world?.close());

const mail = (...args: string[]): Promise<AdminRun> => runAdmin(['mail', ...args, '--json'], { environment });

/** @returns ids of the messages that changed */
async function done(...args: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await mail(...args);
  assert.equal(code, 0, stderr);
  return at(JSON.parse(stdout), 'messages');
}

async function newOrganization(outboundConsent: 'off' | 'first_contact' = 'off'): Promise<TestOrganization> {
  const organization = await world.api.newOrganization('business');
  await world.api.call('PATCH', '/api/organization', {
    as: organization.admin.session,
    body: { settings: { outboundConsent } },
  });
  return organization;
}

const newDomain = (): string => `${randomBytes(4).toString('hex')}.test`;

/** A message whose first attempt was deferred. The other host takes it from now on. */
async function deferred({ mailbox }: TestOrganization, to: string): Promise<string> {
  world.peer.faults = [{ at: 'rcpt', reply: 451, for: to, times: 1 }];
  const { id } = await world.send('REST', mailbox, { to: [to], subject: 'Deferred' });
  await waitUntil(
    'the first attempt to be deferred',
    async () =>
      (
        await world.api.sql(
          `select 1 from outbound_recipient where message_id = $1 and status = 'queued' and reply is not null`,
          [id],
        )
      ).length === 1,
    PATIENCE_MS,
  );
  return id;
}

const actions = async (id: string): Promise<unknown[]> =>
  (
    await world.api.sql(
      `select action, actor ->> 'name' as actor from audit_entries where target_id = $1 order by id`,
      [id],
    )
  ).map(({ action, actor }) => `${String(action)} by ${String(actor)}`);

const stateInQueue = async (id: string): Promise<unknown> => {
  const { stdout } = await mail('queue');
  const messages = Object.values(Object(at(JSON.parse(stdout), 'messages')));
  const found = messages.find((each) => at(each, 'id') === id);
  return found === undefined ? undefined : at(found, 'state');
};

test('mail that waits for its next attempt is attempted now, by the domain of its recipient', async () => {
  const organization = await newOrganization();
  const domain = newDomain();
  const id = await deferred(organization, `ann@${domain}`);
  const other = await deferred(organization, `ann@${newDomain()}`);
  assert.deepEqual(await done('retry', domain), [id]);
  await world.reaches(organization.mailbox, id, 'sent');
  assert.deepEqual(await done('retry', domain), []);
  assert.notEqual(await world.status(organization.mailbox, other), 'sent');
  assert.deepEqual(await actions(id), ['mail.retried by operator']);
});

test('mail on hold is not sent until it is released, then it goes on', async () => {
  const organization = await newOrganization();
  const address = `ann@${newDomain()}`;
  const id = await deferred(organization, address);
  assert.deepEqual(await done('hold', address), [id]);
  assert.deepEqual(await done('hold', id), []);
  assert.equal(await stateInQueue(id), 'on hold');
  assert.deepEqual(await done('retry', id), []);
  // Due, and not sent: its workflow has looked, and waits for the release.
  await world.api.sql(`update outbound_recipient set next_attempt_at = now() where message_id = $1`, [id]);
  await world.api.temporal.client.workflow.getHandle(`outbound/${id}`).signal('decide');
  await waitUntil(
    'the message to wait',
    async () =>
      (await world.api.sql(`select 1 from outbound_message where id = $1 and stopped_at is not null`, [id])).length ===
      1,
    PATIENCE_MS,
  );
  assert.equal(world.peer.received.filter(({ to }) => to.includes(address)).length, 0);
  assert.deepEqual(await done('release', '--organization', organization.slug), [id]);
  await world.reaches(organization.mailbox, id, 'sent');
  assert.deepEqual(await actions(id), ['mail.on_hold by operator', 'mail.released by operator']);
});

test('an approved message on hold is sent when it is released', async () => {
  const organization = await newOrganization('first_contact');
  const { mailbox, owner } = organization;
  const held = await world.send('REST', mailbox, { to: [`ann@${newDomain()}`], subject: 'Held' });
  assert.equal(held.kind, 'held', held.words);
  assert.deepEqual(await done('hold', mailbox.address), [held.id]);
  const approved = await world.api.call('POST', `/api/consents/${held.consentId}/approve`, {
    as: owner.session,
    body: { scope: 'message' },
  });
  assert.equal(approved.status, 200, approved.text);
  await waitUntil(
    'the message to wait',
    async () =>
      (await world.api.sql(`select 1 from outbound_message where id = $1 and stopped_at is not null`, [held.id]))
        .length === 1,
    PATIENCE_MS,
  );
  assert.deepEqual(await done('release', held.id), [held.id]);
  await world.reaches(mailbox, held.id, 'sent');
});

test('dropped mail ends: a held message is withdrawn, of one being sent the open recipients are denied', async () => {
  const organization = await newOrganization();
  const { mailbox } = organization;
  const id = await deferred(organization, `ann@${newDomain()}`);
  await world.api.call('PATCH', '/api/organization', {
    as: organization.owner.session,
    body: { settings: { outboundConsent: 'first_contact' } },
  });
  const draft = await world.api.call('POST', '/api/mailbox/drafts', {
    as: mailbox.token,
    body: { to: [`ben@${newDomain()}`], subject: 'From a draft', text: 'x' },
  });
  const sent = await world.api.call('POST', `/api/mailbox/drafts/${textAt(draft.body, 'id')}/send`, {
    as: mailbox.token,
    body: {},
  });
  assert.equal(sent.status, 202, sent.text);
  const heldId = textAt(sent.body, 'id');
  assert.equal((await mail('drop', id)).code, 2);
  assert.deepEqual(await done('drop', '--organization', organization.id, '--yes'), [id, heldId].toSorted());
  assert.deepEqual(await done('drop', '--organization', organization.id, '--yes'), []);
  const rows = await world.api.sql(`select id, state from outbound_message where mailbox_id = $1 order by id`, [
    mailbox.id,
  ]);
  assert.deepEqual(Object.fromEntries(rows.map((row) => [row['id'], row['state']])), {
    [id]: 'done',
    [heldId]: 'denied',
  });
  assert.equal((await world.events('email_blocked', id)).length, 1);
  assert.deepEqual(await actions(heldId), ['mail.dropped by operator']);
  const drafts = await world.api.call('GET', '/api/mailbox/drafts', { as: mailbox.token });
  assert.match(drafts.text, /From a draft/);
  for (const each of [id, heldId])
    await waitUntil(
      'its workflow to end',
      async () =>
        (await world.api.temporal.client.workflow.getHandle(`outbound/${each}`).describe()).status.name === 'COMPLETED',
      PATIENCE_MS,
    );
});

test('without a selection nothing changes', async () => {
  assert.equal((await mail('hold')).code, 2);
  assert.equal((await mail('hold', '--organization', 'nobody-here')).code, 1);
});
