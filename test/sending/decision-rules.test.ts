/** Rules who decides: groups, two persons, deputies, hours, and that nobody waits for an absent person. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type DecisionRule, isOnDuty, mayAllowAhead, whoDecides } from '#domain/sending/decision-rules.ts';
import { passConsentGate } from '#sending/consent/consent-gate.ts';
import {
  type ApiWorld,
  apiWorld,
  at,
  type Credential,
  errorCode,
  type TestOrganization,
  textAt,
} from '#test/support/api-world.ts';

let world: ApiWorld;
before(async () => {
  world = await apiWorld();
});
after(() => world?.close());

const HOUR_MS = 3_600_000;
const HOURS_AGO = `update consent set created_at = now() - interval '9 hours' where id = $1`;

async function hold(of: TestOrganization, to: string): Promise<string> {
  const body = { to: [to], subject: `For ${to}`, text: 'Words.' };
  const answer = await world.call('POST', '/api/mailbox/messages', { as: of.mailbox.token, body });
  assert.equal(answer.status, 202, answer.text);
  return textAt(answer.body, 'consentId');
}

async function addRule(of: TestOrganization, body: object): Promise<string> {
  const answer = await world.call('POST', '/api/decision-rules', { as: of.owner.session, body });
  assert.equal(answer.status, 201, answer.text);
  return textAt(answer.body, 'id');
}

const approve = (id: string, as: Credential, body: object = { scope: 'message' }) =>
  world.call('POST', `/api/consents/${id}/approve`, { as, body });

const noticed = async (consentId: string): Promise<unknown[]> =>
  (
    await world.sql(
      `select distinct a.member_id from approval_notice_items i join approval_notices a using (notice_id) where i.consent_id = $1`,
      [consentId],
    )
  ).map((row) => row['member_id']);

const RULE: DecisionRule = {
  mailboxGroup: null,
  recipients: [],
  memberIds: [],
  persons: 1,
  hours: null,
  escalatesAfterHours: 8,
};
const request = { mailboxGroup: 'sales', recipients: ['ann@press.example'], createdAtMs: 0 };

test('the most specific rule on duty names who decides; two persons are needed if any rule says so', () => {
  const rules: DecisionRule[] = [
    { ...RULE, memberIds: ['everything'] },
    { ...RULE, mailboxGroup: 'sales', memberIds: ['group'] },
    { ...RULE, mailboxGroup: 'support', memberIds: ['other group'] },
    { ...RULE, recipients: ['press.example'], memberIds: ['press'], escalatesAfterHours: 2 },
    { ...RULE, recipients: ['bob@press.example'], memberIds: ['other address'] },
  ];
  assert.deepEqual(whoDecides(rules, [], request, 0), {
    memberIds: ['press'],
    persons: 1,
    escalatesAtMs: 2 * HOUR_MS,
  });
  const toOthers = { ...request, recipients: ['x@acme.example'] };
  assert.deepEqual(whoDecides(rules, [], toOthers, 0).memberIds, ['group']);
  assert.deepEqual(whoDecides(rules, [], { ...toOthers, mailboxGroup: null }, 0).memberIds, ['everything']);
  const two = [...rules, { ...RULE, mailboxGroup: 'sales', persons: 2 }];
  assert.equal(whoDecides(two, [], request, 0).persons, 2);
  assert.deepEqual(whoDecides(two, [{ memberId: 'press', deputyId: 'deputy' }], request, 0).memberIds, [
    'press',
    'deputy',
  ]);
  assert.deepEqual(whoDecides(two, [], request, 2 * HOUR_MS), { memberIds: null, persons: 2, isEscalated: true });
  // A wider approval is about everybody at the domain, so a rule about one address there counts too.
  assert.equal(mayAllowAhead(rules.slice(4), [], ['press.example'], 'press'), false);
  assert.equal(mayAllowAhead(rules.slice(4), [], ['press.example'], 'other address'), true);
  assert.equal(mayAllowAhead([{ ...RULE, mailboxGroup: 'x', persons: 2 }], [], ['a.example'], 'm', 'y'), true);
  assert.equal(mayAllowAhead([{ ...RULE, mailboxGroup: 'x', persons: 2 }], [], ['a.example'], 'm'), false);
});

test('duty hours are those of their time zone, also over midnight; beyond them every member decides', () => {
  const day = { timeZone: 'Europe/Berlin', days: [1, 2, 3, 4, 5], from: '08:00', to: '18:00' };
  const night = { timeZone: 'Asia/Kolkata', days: [5], from: '22:00', to: '06:00' };
  for (const [hours, time, expected] of [
    [day, '2026-11-27T07:00:00Z', true],
    [day, '2026-11-27T06:59:00Z', false],
    [day, '2026-11-27T17:00:00Z', false],
    [day, '2026-11-28T09:00:00Z', false],
    [day, '2026-07-31T06:00:00Z', true],
    [night, '2026-11-27T16:30:00Z', true],
    [night, '2026-11-28T00:29:00Z', true],
    [night, '2026-11-28T00:30:00Z', false],
    [night, '2026-11-28T17:00:00Z', false],
  ] as const)
    assert.equal(isOnDuty(hours, Date.parse(time)), expected, `${hours.timeZone} ${time}`);
  const rules = [{ ...RULE, memberIds: ['day'], hours: day }];
  assert.equal(whoDecides(rules, [], request, Date.parse('2026-11-28T09:00:00Z')).memberIds, null);
});

test('a group is decided by its members, on every path; they alone are notified, until nobody has decided in time', async () => {
  const of = await world.newOrganization('business');
  await world.call('PATCH', `/api/mailboxes/${of.mailbox.id}`, { as: of.owner.session, body: { group: 'sales' } });
  await addRule(of, { mailboxGroup: 'sales', memberIds: [of.member.memberId] });
  const id = await hold(of, 'a@rules.example');
  assert.deepEqual(await noticed(id), [of.member.memberId]);
  const message = await world.call('GET', `/api/consents/${id}/message`, { as: of.owner.session });
  assert.equal(at(message.body, 'decides', 'persons'), 1);
  assert.equal(Object.values(Object(at(message.body, 'decides', 'names'))).length, 1);
  const shown = [{ consentId: id, sha256: textAt(message.body, 'sha256') }];
  await world.call('PATCH', '/api/organization', {
    as: of.owner.session,
    body: { settings: { consentByApiKey: true } },
  });
  for (const as of [of.owner.session, of.key] as const) {
    for (const [verb, body] of [
      ['approve', { scope: 'message' }],
      ['deny', {}],
      ['return', { comment: 'No.' }],
    ] as const) {
      const refused = await world.call('POST', `/api/consents/${id}/${verb}`, { as, body });
      assert.equal(errorCode(refused), 'forbidden', verb);
    }
    const several = await world.call('POST', '/api/consents/decide', { as, body: { decision: 'approve', shown } });
    assert.equal(at(several.body, 'leftOut', 0, 'code'), 'forbidden');
    const all = await world.call('POST', '/api/consents/deny', { as, body: { consentIds: [id] } });
    assert.deepEqual(at(all.body, 'leftOut'), [id]);
  }
  const ahead = {
    mailboxId: of.mailbox.id,
    recipients: ['rules.example'],
    endsAt: new Date(Date.now() + HOUR_MS).toISOString(),
    messagesMax: 5,
  };
  const paths = [
    ['/api/standing-approvals', ahead],
    ['/api/lists/outbound/allow', { value: 'rules.example' }],
  ] as const;
  for (const [path, body] of paths)
    assert.equal(errorCode(await world.call('POST', path, { as: of.owner.session, body })), 'forbidden', path);
  assert.equal((await approve(id, of.member.session)).status, 200);

  const late = await hold(of, 'b@rules.example');
  assert.equal(errorCode(await approve(late, of.owner.session)), 'forbidden');
  await world.sql(HOURS_AGO, [late]);
  const messageId = (await world.sql(`select message_id from consent where id = $1`, [late]))[0]?.['message_id'];
  assert.equal((await passConsentGate(world.services, String(messageId))).kind, 'held');
  assert.deepEqual(
    new Set(await noticed(late)),
    new Set([of.owner, of.admin, of.member].map(({ memberId }) => memberId)),
  );
  const before = await world.sql(`select count(*)::int as n from approval_notice_items where consent_id = $1`, [late]);
  await passConsentGate(world.services, String(messageId));
  assert.deepEqual(
    await world.sql(`select count(*)::int as n from approval_notice_items where consent_id = $1`, [late]),
    before,
    'all members are asked once',
  );
  assert.equal((await approve(late, of.owner.session)).status, 200);
});

test('a deputy decides within the time, and is notified', async () => {
  const of = await world.newOrganization('business');
  await addRule(of, { memberIds: [of.member.memberId] });
  const deputyOf = (as: Credential, deputy: object | null) =>
    world.call('PUT', '/api/sessions/current/deputy', { as, body: { deputy } });
  const now = Date.now();
  const time = { from: new Date(now - HOUR_MS).toISOString(), until: new Date(now + HOUR_MS).toISOString() };
  for (const wrong of [
    { memberId: of.member.memberId, ...time },
    { memberId: world.other.owner.memberId, ...time },
    { memberId: of.owner.memberId, from: time.until, until: time.from },
  ])
    assert.equal(errorCode(await deputyOf(of.member.session, wrong)), 'invalid_request');
  const named = await deputyOf(of.member.session, { memberId: of.owner.memberId, ...time });
  assert.equal(textAt(named.body, 'deputy', 'memberId'), of.owner.memberId);
  const id = await hold(of, 'c@rules.example');
  assert.deepEqual(new Set(await noticed(id)), new Set([of.member.memberId, of.owner.memberId]));
  assert.equal((await approve(id, of.owner.session)).status, 200);
  await deputyOf(of.member.session, null);
  assert.equal(errorCode(await approve(await hold(of, 'd@rules.example'), of.owner.session)), 'forbidden');
  const audit = await world.call('GET', '/api/audit?action=member.deputy_named', { as: of.owner.session });
  assert.equal(Object.values(Object(at(audit.body, 'data'))).length, 2);
});

test('two persons: the first approval waits, and nothing wider or earlier replaces the second', async () => {
  const of = await world.newOrganization('business');
  const ahead = {
    mailboxId: of.mailbox.id,
    recipients: ['board.example'],
    endsAt: new Date(Date.now() + HOUR_MS).toISOString(),
    messagesMax: 5,
  };
  // Older than the rule.
  await world.call('POST', '/api/standing-approvals', { as: of.owner.session, body: ahead });
  const rule = await addRule(of, { recipients: ['Board.example'], persons: 2 });
  const id = await hold(of, 'ceo@board.example');
  assert.equal(errorCode(await approve(id, of.owner.session, { scope: 'domain' })), 'forbidden');
  assert.equal(
    errorCode(await approve(id, of.owner.session, { scope: 'message', sha256: '0'.repeat(64) })),
    'conflict',
  );
  const edit = { scope: 'message', edit: { subject: 'Other' } };
  assert.equal(errorCode(await approve(id, of.owner.session, edit)), 'conflict');
  // Nor does one person send a message there that was for somebody else.
  const turned = { scope: 'message', edit: { to: ['cto@board.example'] } };
  assert.equal(errorCode(await approve(await hold(of, 'x@other.example'), of.owner.session, turned)), 'conflict');
  const first = await approve(id, of.owner.session);
  assert.deepEqual([first.status, at(first.body, 'status')], [200, 'pending'], first.text);
  assert.equal(at(first.body, 'firstApproval', 'by', 'type'), 'user');
  assert.equal(errorCode(await approve(id, of.owner.session)), 'conflict');
  // What the first person approved is another message by now: it is a first approval again.
  await world.sql(`update consent set content_hash = sha256('other') where id = $1`, [id]);
  assert.equal(at((await approve(id, of.member.session)).body, 'status'), 'pending');
  const second = await approve(id, of.owner.session);
  assert.equal(at(second.body, 'status'), 'approved');
  const actions = await world.call('GET', '/api/audit', { as: of.owner.session });
  const about = Object.values(Object(at(actions.body, 'data'))).filter((each) => at(each, 'targetId') === id);
  assert.deepEqual(about.map((each) => textAt(each, 'action')).toSorted(), [
    'consent.approved',
    'consent.first_approved',
    'consent.first_approved',
  ]);
  // Nor does the approval of somebody who has left since.
  const left = await hold(of, 'coo@board.example');
  const leaving = await world.newPerson(of.id, 'member');
  assert.equal(at((await approve(left, leaving.session)).body, 'status'), 'pending');
  await world.sql(`delete from members where user_id = $1`, [leaving.userId]);
  assert.equal(at((await approve(left, of.owner.session)).body, 'status'), 'pending');
  assert.equal(at((await approve(left, of.member.session)).body, 'status'), 'approved');
  const again = await hold(of, 'cfo@board.example');
  assert.equal(
    (await world.call('POST', `/api/consents/${again}/deny`, { as: of.member.session, body: {} })).status,
    200,
  );
  for (const body of [{}, { memberIds: [world.other.owner.memberId] }, { persons: 2, hours: ZONE }])
    assert.equal(
      errorCode(await world.call('POST', '/api/decision-rules', { as: of.owner.session, body })),
      'invalid_request',
    );
  assert.equal(
    errorCode(await world.call('POST', '/api/decision-rules', { as: of.member.session, body: { persons: 2 } })),
    'forbidden',
  );
  const list = await world.call('GET', '/api/decision-rules', { as: of.member.session });
  assert.deepEqual(at(list.body, 'data', 0, 'recipients'), ['board.example']);
  assert.equal(
    errorCode(await world.call('DELETE', `/api/decision-rules/${rule}`, { as: world.other.owner.session })),
    'not_found',
  );
  assert.equal((await world.call('DELETE', `/api/decision-rules/${rule}`, { as: of.owner.session })).status, 204);
  const free = await world.call('POST', '/api/mailbox/messages', {
    as: of.mailbox.token,
    body: { to: ['new@board.example'], subject: 'Hello', text: 'Words.' },
  });
  assert.equal(free.status, 201, 'the approval in advance counts again');
});

const ZONE = { timeZone: 'Moon/Base', days: [1], from: '08:00', to: '09:00' };
