/** `agent-mailbox-admin erase`: planted words are found everywhere before, and nowhere after. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { type Dispatcher, startDispatcher } from '#core/webhooks/dispatcher/dispatcher.ts';
import { connect, newConnection } from '#db/connections.ts';
import { checkMailStore } from '#mailstore/upkeep/invariants.ts';
import { ERASED_TABLES } from '#operations/erasure/erased-tables.ts';
import { openSendingWorld, passwordOf, type SendingWorld } from '#test/sending/sending-world.ts';
import { at, type Credential, type TestMailbox, type TestOrganization, textAt } from '#test/support/api-world.ts';
import { holdMailOf } from '#test/support/held-mail.ts';
import { LineClient } from '#test/support/line-client.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { type AdminRun, runAdmin } from '#test/support/run-admin.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const PATIENCE_MS = 60_000;
const LONG_WAITS = '3600000,3600000,3600000,3600000';

let world: SendingWorld;
let receiver: Receiver;
let dispatcher: Dispatcher;
let environment: Record<string, string>;
before(async () => {
  const secrets = {
    SECRETS_KEYS: `test:${randomBytes(32).toString('base64')}`,
    CREDENTIAL_PEPPER: randomBytes(32).toString('base64'),
  };
  // Deferred mail waits for its second attempt for longer than any test takes.
  world = await openSendingWorld({
    settings: { ...secrets, OUTBOUND_RETRY_DELAYS_MS: '3600000', WEBHOOK_RETRY_DELAYS_MS: LONG_WAITS },
  });
  receiver = await startReceiver();
  const { services } = world.api;
  dispatcher = startDispatcher(services, world.api.temporal);
  const {
    DATABASE_URL = '',
    DATA_DIR,
    TEMPORAL_ADDRESS = '',
    TEMPORAL_NAMESPACE,
    TEMPORAL_TASK_QUEUE,
  } = services.settings;
  environment = { ...secrets, DATABASE_URL, DATA_DIR, TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_TASK_QUEUE };
});
after(async () => {
  await dispatcher?.close();
  await receiver?.close();
  await world?.close();
});

const admin = (...args: string[]): Promise<AdminRun> => runAdmin(args, { environment });

async function done(...args: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await admin(...args, '--json');
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

const newWord = (): string => `zq${randomBytes(6).toString('hex')}`;

async function tables(): Promise<string[]> {
  const rows = await world.api.sql(
    `select relname as name from pg_class
      where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace order by 1`,
  );
  return rows.map(({ name }) => String(name));
}

/** Tables that have a row with the word, in a text, as JSON, or in bytes. */
async function tablesWith(word: string): Promise<string[]> {
  const parts = (await tables()).map(
    (name) =>
      `select '${name}' as name where exists (select from ${name} t
         where position($1 in lower(t::text)) > 0 or position($2 in t::text) > 0)`,
  );
  const rows = await world.api.sql(parts.join(' union all '), [word, Buffer.from(word).toString('hex')]);
  return rows.map(({ name }) => String(name));
}

function filesWith(word: string): string[] {
  const { DATA_DIR } = world.api.services.settings;
  return readdirSync(DATA_DIR, { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(DATA_DIR, name))
    .filter((file) => statSync(file).isFile() && readFileSync(file).toString('latin1').toLowerCase().includes(word));
}

async function countAll(): Promise<Record<string, number>> {
  const parts = (await tables()).map((name) => `select '${name}' as name, count(*)::int as count from ${name}`);
  const rows = await world.api.sql(parts.join(' union all '));
  return Object.fromEntries(rows.map(({ name, count }) => [String(name), Number(count)]));
}

/** Rows of a mailbox or organization in every table that names it, as hashes. */
async function fingerprint(column: 'mailbox_id' | 'organization_id', id: string): Promise<Record<string, string>> {
  const columns = await world.api.sql(
    `select c.table_name as name from information_schema.columns c
      where c.table_schema = 'public' and c.column_name = $1 and c.table_name <> 'organization_change' order by 1`,
    [column],
  );
  const prints: Record<string, string> = {};
  for (const { name } of columns) {
    const table = String(name);
    const [row] = await world.api.sql(
      `select md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as hash from ${table} t where t.${column} = $1`,
      [id],
    );
    prints[table] = String(row?.['hash']);
  }
  return prints;
}

async function newOrganization(): Promise<TestOrganization> {
  const organization = await world.api.newOrganization('business');
  // The word is in each text: they would wait for a person.
  await settings(organization, { outboundConsent: 'off', carriedMail: 'off' });
  return organization;
}

async function settings({ owner }: TestOrganization, values: object): Promise<void> {
  const answer = await world.api.call('PATCH', '/api/organization', { as: owner.session, body: { settings: values } });
  assert.equal(answer.status, 200, answer.text);
}

async function made(as: Credential, route: string, body: object, headers: Record<string, string> = {}) {
  const answer = await world.api.call('POST', route, { as, body, headers });
  assert.ok(answer.status < 300, `${route}: ${answer.text}`);
  return answer;
}

async function mailIn(to: string, from: string, subject: string, body: string): Promise<void> {
  const client = await SmtpClient.open(world.mail.smtp.host, world.mail.smtp.port);
  const id = randomBytes(6).toString('hex');
  const reply = await client.send(
    from,
    [to],
    [
      ...[`From: ${from}`, `To: ${to}`, `Subject: ${subject}`, `Message-ID: <${id}@outside.test>`, 'MIME-Version: 1.0'],
      ...['Content-Type: multipart/mixed; boundary=b', '', '--b', 'Content-Type: text/plain', '', body, '--b'],
      ...[
        'Content-Type: text/plain',
        `Content-Disposition: attachment; filename="${subject}.txt"`,
        '',
        body,
        '--b--',
        '',
      ],
    ].join('\n'),
  );
  client.close();
  assert.match(reply, /^250/);
}

/** Until nothing is to be done any more but what waits for hours. */
const quiet = (organizationId: string): Promise<unknown> =>
  waitUntil(
    'deliveries to end and attempts to be recorded',
    async () =>
      (
        await world.api.sql(
          `select 1 from deliveries where organization_id = $1 and status in ('pending', 'failed') union all
           select 1 from outbound_recipient r join outbound_message o on o.id = r.message_id
            where o.organization_id = $1 and (r.status = 'sending' or r.status = 'queued' and r.reply is null and o.state = 'sending')
           union all
           select 1 from member_notices n where organization_id = $1 and state = 'waiting'
              and not exists (select from approval_notices a where a.notice_id = n.id and a.send_at > now()) union all
           select 1 from message m join mailboxes x on x.id = m.mailbox_id
            where x.organization_id = $1
              and (m.text_status = 'due' or not exists (select from message_text t where t.message_id = m.id))
           union all select 1 from carried_due where organization_id = $1`,
          [organizationId],
        )
      ).length === 0,
    PATIENCE_MS,
  );

interface Planted {
  readonly mailbox: TestMailbox;
  readonly heldId: string;
  readonly waitingId: string;
}

/** A mailbox with a word in each place that takes one. */
async function plant(organization: TestOrganization, word: string): Promise<Planted> {
  const { key } = organization;
  // The word is in each text: they would wait for a person.
  await settings(organization, { outboundConsent: 'off', carriedMail: 'off' });
  const created = await made(key, '/api/mailboxes', {
    localPart: word,
    name: `Name ${word}`,
    purpose: `Purpose ${word}`,
    metadata: { word },
  });
  const mailbox: TestMailbox = {
    id: textAt(created.body, 'id'),
    address: textAt(created.body, 'address'),
    token: { authorization: `Bearer ${textAt(created.body, 'token')}` },
  };
  await made(key, '/api/webhooks', {
    url: receiver.url,
    mailboxId: mailbox.id,
    eventTypes: ['email_received', 'email_sent'],
    description: word,
  });
  const stranger = `${word}@outside.test`;
  await mailIn(mailbox.address, stranger, `Subject ${word}`, `Body ${word}`);
  await holdMailOf(world.api, organization.id, mailbox, `kept-${word}@outside.test`, `Kept ${word}`);
  await made(organization.owner.session, '/api/standing-approvals', {
    mailboxId: mailbox.id,
    recipients: [`standing-${word}@outside.test`],
    endsAt: new Date(Date.now() + 3_600_000).toISOString(),
    messagesMax: 1,
  });
  await made(mailbox.token, '/api/mailbox/drafts', { to: [stranger], subject: `Draft ${word}`, text: word });
  const file = await fetch(new URL(`/api/mailbox/files?filename=${word}.txt`, world.api.api.url), {
    method: 'POST',
    headers: { ...mailbox.token, 'content-type': 'text/plain' },
    body: `File ${word}`,
  });
  assert.equal(file.status, 201, await file.text());
  const sent = await made(
    mailbox.token,
    '/api/mailbox/messages',
    { to: [`sent-${word}@outside.test`], subject: `Sent ${word}`, text: word },
    { 'idempotency-key': `key-${word}` },
  );
  await world.reaches(mailbox, textAt(sent.body, 'id'), 'sent');
  world.peer.faults = [
    { at: 'rcpt', reply: 451, for: `later-${word}@outside.test`, words: `later ${word}`, times: 1_000 },
  ];
  const waiting = await world.send('REST', mailbox, {
    to: [`later-${word}@outside.test`],
    subject: `Waiting ${word}`,
    text: word,
  });
  await settings(organization, { outboundConsent: 'first_contact' });
  const held = await world.send('REST', mailbox, {
    to: [`held-${word}@outside.test`],
    subject: `Held ${word}`,
    text: word,
  });
  assert.equal(held.kind, 'held', held.words);
  const refusing = await SmtpClient.open(world.mail.smtp.host, world.mail.smtp.port);
  await refusing.command('EHLO outside.test');
  await refusing.command('MAIL FROM:<x@outside.test> SIZE=999999999');
  refusing.close();
  const imap = await LineClient.open(world.mail.imap.port, { secure: true });
  await imap.line();
  await imap.command(`a LOGIN ${mailbox.address} wrong-token`);
  await imap.command(`b LOGIN ${mailbox.address} ${passwordOf(mailbox)}`);
  await imap.command(`c CREATE Folder-${word}`);
  await imap.command(`d LOGOUT`);
  await made(key, `/api/mailboxes/${mailbox.id}/tokens`, { name: `Token ${word}` });
  await quiet(organization.id);
  return { mailbox, heldId: held.id, waitingId: waiting.id };
}

const workflowEnded = (id: string): Promise<unknown> =>
  waitUntil(
    `${id} to end`,
    async () => (await world.api.temporal.client.workflow.getHandle(id).describe()).status.name === 'COMPLETED',
    PATIENCE_MS,
  );

/** A delivery of this mailbox that waits for its next attempt. @returns its workflow */
async function failingDelivery(organization: TestOrganization, { id, address }: TestMailbox): Promise<string> {
  const failing = await startReceiver();
  failing.answer(500);
  await made(organization.key, '/api/webhooks', { url: failing.url, mailboxId: id, eventTypes: ['email_received'] });
  await mailIn(address, 'someone@outside.test', 'Failing', 'x');
  const find = async (): Promise<unknown> =>
    (
      await world.api.sql(
        `select workflow_id as id from deliveries where mailbox_id = $1 and status = 'failed' and workflow_id like 'delivery/%'`,
        [id],
      )
    )[0]?.['id'];
  try {
    await waitUntil('its retry to wait', async () => (await find()) !== undefined, PATIENCE_MS);
  } finally {
    await failing.close();
  }
  await waitUntil(
    'the search text',
    async () => (await world.api.sql(UNREAD, [organization.id])).length === 0,
    PATIENCE_MS,
  );
  return String(await find());
}

const UNREAD = `
  select 1 from message m join mailboxes x on x.id = m.mailbox_id
   where x.organization_id = $1
     and (m.text_status = 'due' or not exists (select from message_text t where t.message_id = m.id))
  union all select 1 from carried_due where organization_id = $1`;

/** Tables in which a planted mailbox has its word. */
const PLANTED_IN = [
  ...['mailboxes', 'message', 'message_text', 'message_content', 'placement', 'blob', 'folder', 'webhook_endpoints'],
  ...['events', 'outbound_message', 'outbound_recipient', 'outbound_attempt', 'consent', 'member_notices'],
  ...['mailbox_token', 'mailbox_file', 'mailbox_file_chunk', 'audit_entries', 'mail_refusal', 'idempotency_keys'],
  ...['held_arrival', 'standing_approval'],
];
/** Written by running processes beside. */
const MOVING = ['rate_limits', 'organization_change', 'readiness_probe', 'delivery_lanes', 'sweeps', 'erasure'];
/** Of these rows are cleared, and stay. */
const CLEARED = ['audit_entries', 'suppression', 'decision_rule'];

function assertCounts(counts: unknown, before: Record<string, number>, now: Record<string, number>): void {
  const gone = Object.fromEntries(
    Object.entries(before).flatMap(([name, count]) => {
      const difference = count - (now[name] ?? 0);
      return difference === 0 || MOVING.includes(name) || CLEARED.includes(name) ? [] : [[name, difference]];
    }),
  );
  const said = Object.fromEntries(
    Object.entries(Object(counts)).filter(([name]) => !MOVING.includes(name) && !CLEARED.includes(name)),
  );
  assert.deepEqual(said, gone);
}

test('every table is listed with what erasures do to it', async () => {
  assert.deepEqual(Object.keys(ERASED_TABLES).toSorted(), (await tables()).toSorted());
});

test('a mailbox: its words are gone everywhere, other mailboxes do not change, and the receipt counts right', async () => {
  const organization = await newOrganization();
  const word = newWord();
  const { mailbox, heldId, waitingId } = await plant(organization, word);
  const beside = await plant(organization, newWord());
  const carrying = await failingDelivery(organization, mailbox);
  const planted = await tablesWith(word);
  assert.deepEqual(
    PLANTED_IN.filter((name) => !planted.includes(name)),
    [],
  );
  const untouched = await fingerprint('mailbox_id', beside.mailbox.id);
  const before = await countAll();
  const rehearsal = await done('erase', 'mailbox', mailbox.id, '--dry-run');
  assert.deepEqual(await fingerprint('mailbox_id', beside.mailbox.id), untouched);

  const refused = await admin('erase', 'mailbox', mailbox.id);
  assert.equal(refused.code, 2);
  const erased = await done('erase', 'mailbox', mailbox.address, '--yes');

  assert.deepEqual(await tablesWith(word), []);
  assert.deepEqual(filesWith(word), []);
  assert.deepEqual(await fingerprint('mailbox_id', beside.mailbox.id), untouched);
  assertCounts(at(erased, 'counts'), before, await countAll());
  assert.deepEqual(at(rehearsal, 'counts'), at(erased, 'counts'));
  for (const id of [`outbound/${heldId}`, `outbound/${waitingId}`, carrying]) await workflowEnded(id);
  assert.equal(at(erased, 'workflows', 'left'), null);
  const rules = await checkMailStore(world.api.services.db, { all: true });
  assert.deepEqual(
    rules.filter(({ atFault }) => atFault > 0),
    [],
  );

  const again = await done('erase', 'mailbox', mailbox.id, '--yes');
  assert.deepEqual([at(again, 'before'), at(again, 'id')], [true, at(erased, 'id')]);
  const file = textAt(erased, 'receipt');
  assert.equal(at(await done('erase', 'verify', file), 'receipts', 0, 'signed'), 'own');
  const forged = path.join(path.dirname(file), '..', 'forged.json');
  writeFileSync(
    forged,
    readFileSync(file, 'utf8').replace('\\"message\\":1', '\\"message\\":9').replace('ers_', 'ers_0'),
  );
  assert.equal((await admin('erase', 'verify', forged)).code, 3);
});

test('killed in between and run again, an erasure ends with the same counts', async () => {
  const organization = await newOrganization();
  const word = newWord();
  const { mailbox } = await plant(organization, word);
  const rehearsal = await done('erase', 'mailbox', mailbox.id, '--dry-run');
  const lock = newConnection(environment['DATABASE_URL'] ?? '', 'agent-mailbox test');
  await connect(lock);
  await lock.query('begin');
  // It comes after the mail, and waits here.
  await lock.query('select 1 from thread_ref where mailbox_id = $1 for update', [mailbox.id]);
  let kill = () => {};
  const killed = runAdmin(['erase', 'mailbox', mailbox.id, '--yes'], {
    environment,
    onProgress: (_, end) => {
      kill = () => end('SIGKILL');
    },
  });
  await waitUntil(
    'its mail to be gone',
    async () => (await world.api.sql(`select 1 from message where mailbox_id = $1`, [mailbox.id])).length === 0,
    PATIENCE_MS,
  );
  kill();
  assert.equal((await killed).code, null);
  await lock.query('rollback');
  await lock.end();
  assert.notDeepEqual(await tablesWith(word), []);

  const erased = await done('erase', 'mailbox', mailbox.id, '--yes');
  assert.deepEqual(await tablesWith(word), []);
  assert.deepEqual(at(erased, 'counts'), at(rehearsal, 'counts'));
});

test('an organization: nothing of it is left, and others do not change', async () => {
  const organization = await newOrganization();
  const other = await newOrganization();
  const [word, otherWord] = [newWord(), newWord()];
  await plant(organization, word);
  const { mailbox } = await plant(other, otherWord);
  await world.api.sql(`update organizations set name = $2, slug = $2 where id = $1`, [organization.id, word]);
  await world.api.sql(`update users set name = $2 where id = $1`, [organization.owner.userId, word]);
  // A person who is a member elsewhere stays.
  await world.api.sql(
    `insert into members (id, organization_id, user_id, role) select 'mem_' || substr($2, 5), $1, $2, 'member'`,
    [other.id, organization.admin.userId],
  );
  const untouched = [await fingerprint('organization_id', other.id), await fingerprint('mailbox_id', mailbox.id)];

  const erased = await done('organizations', 'delete', word, '--yes');

  assert.deepEqual(await tablesWith(word), []);
  assert.deepEqual(await tablesWith(organization.id), ['erasure']);
  assert.deepEqual(await tablesWith(organization.owner.userId), []);
  assert.ok((await tablesWith(organization.admin.userId)).includes('users'));
  assert.deepEqual(
    [await fingerprint('organization_id', other.id), await fingerprint('mailbox_id', mailbox.id)],
    untouched,
  );
  assert.equal(at(erased, 'counts', 'organizations'), 1);
  assert.equal((await world.api.call('GET', '/api/mailboxes', { as: organization.key })).status, 401);
  const again = await done('erase', 'organization', organization.id, '--yes');
  assert.equal(at(again, 'before'), true);
});

test('a correspondent: their mail and address are gone, the rest of the mailbox stays right, nothing is sent to them', async () => {
  const organization = await newOrganization();
  const { mailbox } = organization;
  const word = newWord();
  const address = `${word}@outside.test`;
  const kept = `other-${word}@elsewhere.test`;
  await mailIn(mailbox.address, address, `From them`, 'Their words');
  await mailIn(mailbox.address, `not${address}`, 'From a longer address', 'Other words');
  await world.send('REST', mailbox, { to: [kept], subject: 'To another', text: 'x' });
  await made(organization.key, '/api/webhooks', { url: receiver.url, eventTypes: ['email_received', 'email_sent'] });
  await mailIn(mailbox.address, address, 'From them again', 'More of their words');
  const sent = await world.send('REST', mailbox, { to: [address], subject: 'To them', text: 'x' });
  await world.reaches(mailbox, sent.id, 'sent');
  // Its copy in Sent does not name them.
  const blind = { to: [kept], bcc: [address], subject: 'With a blind copy', text: 'x' };
  await world.reaches(mailbox, textAt((await made(mailbox.token, '/api/mailbox/messages', blind)).body, 'id'), 'sent');
  await holdMailOf(world.api, organization.id, mailbox, address, 'Held words');
  await made(organization.owner.session, '/api/lists/outbound/allow', { value: address });
  await world.api.sql(
    `insert into suppression (id, organization_id, address, reason) values ('sup_' || $1, $2, $3, 'complaint')`,
    [word, organization.id, address],
  );
  await quiet(organization.id);
  const backups = path.join(environment['DATA_DIR'] ?? '', 'no-backups');
  assert.equal((await admin('erase', 'correspondent', address, '--yes', '--backups', backups)).code, 1);
  const before = (await tablesWith(address)).filter((name) => name !== 'message');
  assert.deepEqual(
    ['events', 'outbound_recipient', 'sender_list', 'suppression', 'audit_entries', 'blob'].filter(
      (name) => !before.includes(name),
    ),
    [],
  );

  const within = ['--organization', organization.slug];
  const rehearsal = await done('erase', 'correspondent', address, ...within, '--dry-run');
  const erased = await done('erase', 'correspondent', address.toUpperCase(), ...within, '--yes');

  const [rows] = [await world.api.sql(`select subject from message where mailbox_id = $1 order by id`, [mailbox.id])];
  assert.deepEqual(
    rows.map(({ subject }) => subject),
    ['From a longer address', 'To another'],
  );
  // The longer address has the other one in it.
  await done('erase', 'correspondent', `not${address}`, '--yes');
  assert.deepEqual(await tablesWith(address), []);
  assert.deepEqual(filesWith(address), []);
  const rules = await checkMailStore(world.api.services.db, { all: true });
  assert.deepEqual(
    rules.filter(({ atFault }) => atFault > 0),
    [],
  );
  assert.equal(at(erased, 'counts', 'message'), 4);
  assert.equal(at(erased, 'counts', 'held_arrival'), 1);
  const counted = ['message', 'placement', 'outbound_message', 'outbound_recipient', 'blob', 'events', 'deliveries'];
  for (const name of [...counted, 'sender_list', 'suppression', 'audit_entries'])
    assert.equal(at(rehearsal, 'counts', name), at(erased, 'counts', name), name);
  const suppressed = await world.send('REST', mailbox, { to: [address], subject: 'Once more', text: 'x' });
  await world.reaches(mailbox, suppressed.id, 'suppressed');

  // As after the restore of a backup: it is there again, and the receipt knows the address as a hash only.
  const again = await done('erase', 'again', textAt(erased, 'receipt'), '--yes');
  assert.equal(Object.values(Object(at(again, 'again'))).length, 1);
  assert.deepEqual(await tablesWith(address), []);
  assert.deepEqual(
    Object.values(Object(at(await done('erase', 'again', textAt(erased, 'receipt'), '--yes'), 'again'))),
    [],
  );
});
