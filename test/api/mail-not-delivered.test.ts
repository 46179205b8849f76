/** Why mail did not arrive: one search of a member finds what SMTP and REST refused, for its own organization alone. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newId } from '#core/platform/new-id.ts';
import { MAIL_REFUSAL_RETENTION_DAYS } from '#domain/mail/mail-log.ts';
import { typedPeriod } from '#domain/webhooks/activity-time.ts';
import { at, type TestOrganization, textAt } from '#test/support/api-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { type WholeService, wholeService } from '#test/support/whole-service.ts';

let world: WholeService;
before(async () => {
  world = await wholeService({ WEBHOOK_RETRY_DELAYS_MS: '50,600000,600000,600000' });
});
after(() => world?.close());

interface Mail {
  readonly id: string;
  readonly at: string;
  readonly direction: string;
  readonly outcome: string;
  readonly from: string | null;
  readonly to: readonly string[];
  readonly messageIdHeader: string | null;
  readonly step: string | null;
  readonly answer: string | null;
  readonly client: string | null;
  readonly session: string | null;
  readonly reasons: readonly string[];
}

async function find(organization: TestOrganization, q: string): Promise<{ understoodAs: string; mails: Mail[] }> {
  const answer = await world.call('GET', `/api/activity?q=${encodeURIComponent(q)}`, {
    as: organization.member.session,
  });
  assert.equal(answer.status, 200, answer.text);
  const mails = at(answer.body, 'notDelivered');
  assert.ok(Array.isArray(mails));
  return { understoodAs: textAt(answer.body, 'understoodAs'), mails };
}

/** The only mail that is found, once it is stored: rows are written behind the answer. */
const one = (organization: TestOrganization, q: string): Promise<Mail> =>
  waitUntil(`a mail that did not arrive, by ${q}`, async () => (await find(organization, q)).mails[0]);

const BODY = 'plantedbody';
const letter = (from: string, to: string, id: string) =>
  `From: <${from}>\r\nTo: <${to}>\r\nSubject: plantedsubject\r\nMessage-ID: ${id}\r\n\r\n${BODY}\r\n`;

async function ownDomain(organization: TestOrganization, name: string, status = 'verified'): Promise<void> {
  await world.sql(
    `insert into domains (id, organization_id, name, status, verification_token, dkim_selector, dkim_public_key, dkim_private_key_sealed)
     values ($1, $2, $3, $4, 'x', 'x', 'x', 'x')`,
    [newId('domain'), organization.id, name, status],
  );
}

test('a mail refused at RCPT is found by every name of it, with the answer that its sender got', async () => {
  const organization = await world.newOrganization('business');
  const { id, address } = organization.mailbox;
  await world.sql(`update mailboxes set status = 'suspended' where id = $1`, [id]);
  assert.match(
    await world.deliver(address, letter('rita@rcpt.example', address, '<r@x>'), 'rita@rcpt.example'),
    /^550 5\.2\.1/,
  );
  const mail = await one(organization, address);
  assert.deepEqual(
    [mail.direction, mail.outcome, mail.step, mail.from, mail.to, mail.client],
    ['inbound', 'refused', 'RCPT', 'rita@rcpt.example', [address], '127.0.0.1'],
  );
  assert.match(mail.answer ?? '', /^550 5\.2\.1 The mailbox is suspended$/);
  const minute = mail.at.slice(0, '2026-11-28T09:16'.length);
  for (const [q, understoodAs] of [
    [address.toUpperCase(), 'address'],
    [address.replace('@', '+tag@'), 'address'],
    ['rita@rcpt.example', 'address'],
    [mail.id, 'refusal'],
    [mail.session ?? '', 'words'],
    [minute, 'time'],
    [minute.replace('T', ' '), 'time'],
    [minute.slice(0, '2026-11-28'.length), 'time'],
  ] as const) {
    const found = await find(organization, q);
    assert.equal(found.understoodAs, understoodAs, q);
    assert.deepEqual(found.mails, [mail], q);
  }
  assert.deepEqual((await find(organization, '2020-01-01')).mails, []);
});

test('what is refused behind DATA, such as by a full mailbox, is found by Message-ID, without content', async () => {
  const organization = await world.newOrganization('business');
  const { id, address } = organization.mailbox;
  await world.sql('update mailbox_counter set quota_bytes = 1 where mailbox_id = $1', [id]);
  assert.match(
    await world.deliver(address, letter('q@full.example', address, '<Quota-1@full.example>')),
    /^452 4\.2\.2/,
  );
  const mail = await one(organization, '<Quota-1@full.example>');
  assert.deepEqual([mail.outcome, mail.step, mail.messageIdHeader], ['deferred', 'DATA', '<Quota-1@full.example>']);
  assert.match(mail.answer ?? '', /^452 4\.2\.2 /);
  const all = JSON.stringify(await find(organization, address));
  for (const word of [BODY, 'plantedsubject']) assert.ok(!all.includes(word), 'content is shown');
});

test('mail to an unknown address belongs to the organization of a verified domain; on the shared domain to nobody', async () => {
  const [owner, stranger] = [await world.newOrganization('business'), await world.newOrganization('business')];
  await ownDomain(owner, 'own-part.example');
  await ownDomain(stranger, 'own-part.example', 'pending');
  for (const to of ['nobody@own-part.example', 'nobody@agents.test'])
    assert.match(await world.deliver(to, letter('s@guess.example', to, '<g@x>'), 's@guess.example'), /^550 5\.1\.1/);
  const mail = await one(owner, 'nobody@own-part.example');
  assert.equal(mail.answer, '550 5.1.1 No such mailbox here');
  await waitUntil('both rows', async () => {
    const rows = await world.sql(`select organization_id from mail_refusal where keys @> array['s@guess.example']`);
    return rows.length === 2 && rows.filter(({ organization_id: of }) => of === null).length === 1;
  });
  assert.deepEqual((await find(owner, 's@guess.example')).mails, [mail]);
  assert.deepEqual((await find(owner, 'nobody@agents.test')).mails, []);
  for (const q of ['s@guess.example', 'nobody@own-part.example', 'nobody@agents.test', mail.id, mail.session ?? ''])
    assert.deepEqual((await find(stranger, q)).mails, [], q);
});

test('what was refused for sending is found by recipient and request; nobody writes into the list of another one', async () => {
  const [organization, stranger] = [await world.newOrganization('business'), await world.newOrganization('business')];
  const { id, token, address } = organization.mailbox;
  await world.sql(`update mailboxes set sending_mode = 'stopped' where id = $1`, [id]);
  const refused = await world.call('POST', '/api/mailbox/messages', {
    as: token,
    body: { to: ['Ann@never.example'], subject: 'plantedsubject', text: BODY },
  });
  assert.equal(refused.status, 403, refused.text);
  const mail = await one(organization, 'ann@never.example');
  assert.deepEqual([mail.direction, mail.outcome, mail.from], ['outbound', 'refused', address]);
  assert.match(mail.answer ?? '', /^403 /);
  assert.deepEqual((await find(organization, mail.session ?? '')).mails, [mail]);
  assert.deepEqual((await find(stranger, 'ann@never.example')).mails, []);
  // A sender before a login, and an account that somebody guessed.
  const { mailLog } = world.services;
  const lie = { outcome: 'refused', client: '192.0.2.9' } as const;
  mailLog.refused({ ...lie, mail: 'submission', listener: 'submission', from: address, session: 'lie-one' });
  mailLog.refused({ ...lie, mail: 'login', listener: 'imap', account: address });
  await waitUntil('both rows', async () => {
    const rows = await world.sql(`select 1 from mail_refusal where keys @> array['192.0.2.9']`);
    return rows.length === 2;
  });
  assert.deepEqual((await find(organization, '192.0.2.9')).mails, []);
});

test('mail that another host refuses is a hit with its answer; what screening holds is beside it', async () => {
  const organization = await world.newOrganization('business');
  const { id: mailboxId, token, address } = organization.mailbox;
  world.peer.faults = [
    { at: 'rcpt', for: 'no@refuses.example', reply: 550, words: '5.1.1 nobody of that name', times: 1 },
  ];
  const sent = await world.call('POST', '/api/mailbox/messages', {
    as: token,
    body: { to: ['no@refuses.example'], subject: 'First words', text: 'Hello' },
  });
  const approved = await world.call('POST', `/api/consents/${textAt(sent.body, 'consentId')}/approve`, {
    as: organization.owner.session,
    body: { scope: 'message' },
  });
  assert.equal(approved.status, 200, approved.text);
  await waitUntil('the answer of the other host', async () => {
    const answer = await world.call('GET', '/api/activity?q=no%40refuses.example', { as: organization.member.session });
    return String(at(answer.body, 'hits', 0, 'answer')).includes('5.1.1 nobody of that name');
  });

  await world.sql(`update mailboxes set screening = 'first_senders' where id = $1`, [mailboxId]);
  assert.match(
    await world.deliver(address, letter('new@first.example', address, '<n@x>'), 'new@first.example'),
    /^250/,
  );
  const held = await waitUntil('held mail', async () => {
    const { mails } = await find(organization, 'new@first.example');
    return mails.find(({ outcome }) => outcome === 'held');
  });
  assert.deepEqual([held.to, held.answer, held.reasons.includes('first_sender')], [[address], null, true]);
  assert.deepEqual((await find(organization, held.id)).mails, [held]);
});

test('a refusal older than its retention is not shown, even before it is deleted', async () => {
  const { organization } = world;
  const old = new Date(Date.now() - (MAIL_REFUSAL_RETENTION_DAYS + 1) * 86_400_000);
  await world.sql(
    `insert into mail_refusal (id, at, organization_id, keys, line)
     values ($1, $2, $3, array['old@time.example'], '{"mail": "in", "outcome": "refused"}')`,
    [newId('mailRefusal', old.getTime()), old, organization.id],
  );
  for (const q of ['old@time.example', old.toISOString().slice(0, '2026-11-28'.length)])
    assert.deepEqual((await find(organization, q)).mails, [], q);
});

test('a time is a day, an hour, a minute or a second, with an offset if one is given', () => {
  for (const [text, since, lengthMs] of [
    ['2026-11-28', '2026-11-28T00:00:00.000Z', 86_400_000],
    ['2026-11-28 09', '2026-11-28T09:00:00.000Z', 3_600_000],
    ['2026-11-28T09:16', '2026-11-28T09:16:00.000Z', 60_000],
    ['2026-11-28T09:16:02.481Z', '2026-11-28T09:16:02.000Z', 1_000],
    ['2026-11-28 09:16 +02:00', '2026-11-28T07:16:00.000Z', 60_000],
  ] as const) {
    const period = typedPeriod(text);
    assert.equal(period?.since.toISOString(), since, text);
    assert.equal(period.until.getTime() - period.since.getTime(), lengthMs, text);
  }
  for (const text of ['2026-02-31', '2026-13-01', '2026-11-28T25', '2026', '28.11.2026', '4711', ''])
    assert.equal(typedPeriod(text), undefined, text);
});
