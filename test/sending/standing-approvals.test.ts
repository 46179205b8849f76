/** Approvals given in advance: what they cover, how often, until when, and what they never cover. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type Answer,
  type ApiWorld,
  apiWorld,
  at,
  errorCode,
  type TestOrganization,
  textAt,
} from '#test/support/api-world.ts';

const HOUR_MS = 3_600_000;

let world: ApiWorld;
before(async () => {
  world = await apiWorld();
});
after(() => world?.close());

const inAnHour = () => new Date(Date.now() + HOUR_MS).toISOString();

async function approve(of: TestOrganization, body: object): Promise<string> {
  const answer = await world.call('POST', '/api/standing-approvals', {
    as: of.member.session,
    body: { mailboxId: of.mailbox.id, endsAt: inAnHour(), messagesMax: 100, ...body },
  });
  assert.equal(answer.status, 201, answer.text);
  return textAt(answer.body, 'id');
}

const send = (of: TestOrganization, body: object): Promise<Answer> =>
  world.call('POST', '/api/mailbox/messages', { as: of.mailbox.token, body: { subject: 'Hello', text: 'x', ...body } });

const stateOf = async (of: TestOrganization, id: string): Promise<unknown> => {
  const listed = await world.call('GET', `/api/standing-approvals?mailboxId=${of.mailbox.id}`, { as: of.key });
  return Object.values(Object(at(listed.body, 'data'))).find((each) => at(each, 'id') === id);
};

test('messages to its addresses and domains need no request, others do, and so do those of other mailboxes', async () => {
  const of = await world.newOrganization('unlimited');
  const id = await approve(of, { recipients: ['Ann@One.example', 'two.example'] });
  for (const [to, status] of [
    [['ann@one.example'], 201],
    [['ANN@one.example', 'anybody@Two.example'], 201],
    [['bob@one.example'], 202],
    [['x@sub.two.example'], 202],
    [['x@nottwo.example'], 202],
    [['ann@one.example', 'bob@one.example'], 202],
  ] as const)
    assert.equal((await send(of, { to })).status, status, String(to));
  assert.equal((await send(of, { to: ['ann@one.example'], bcc: ['secret@other.example'] })).status, 202);
  const mailbox = await world.newMailbox(of);
  assert.equal((await send({ ...of, mailbox }, { to: ['ann@one.example'] })).status, 202);
  const shown = await stateOf(of, id);
  assert.deepEqual([at(shown, 'messagesUsed'), at(shown, 'state')], [2, 'active']);
  const [sent] = await world.sql(
    `select count(*)::int as n from outbound_message where standing_approval_id = $1 and consent_id is null`,
    [id],
  );
  assert.equal(sent?.['n'], 2);
  assert.deepEqual(
    await world.sql(`select 1 from known_recipient where organization_id = $1 and source = 'approved'`, [of.id]),
    [],
    'nothing is approved for ever',
  );
});

test('of many at the same time exactly its number are sent, the others are held', async () => {
  const of = await world.newOrganization('unlimited');
  const id = await approve(of, { recipients: ['many.example'], messagesMax: 5 });
  const answers = await Promise.all(Array.from({ length: 14 }, (_, n) => send(of, { to: [`p${n}@many.example`] })));
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
  assert.deepEqual(statuses, [...Array(5).fill(201), ...Array(9).fill(202)]);
  const shown = await stateOf(of, id);
  assert.deepEqual([at(shown, 'messagesUsed'), at(shown, 'state')], [5, 'used_up']);
});

test('the one that ends first is used first, and none after its time or when it is revoked', async () => {
  const of = await world.newOrganization('unlimited');
  const later = await approve(of, { recipients: ['a.example'] });
  const sooner = await approve(of, {
    recipients: ['a.example'],
    messagesMax: 1,
    endsAt: new Date(Date.now() + HOUR_MS / 2).toISOString(),
  });
  assert.equal((await send(of, { to: ['x@a.example'] })).status, 201);
  assert.deepEqual(
    [at(await stateOf(of, sooner), 'state'), at(await stateOf(of, later), 'messagesUsed')],
    ['used_up', 0],
  );
  assert.equal((await send(of, { to: ['x@a.example'] })).status, 201);
  const revoke = () => world.call('DELETE', `/api/standing-approvals/${later}`, { as: of.member.session });
  assert.equal((await revoke()).status, 204);
  assert.equal((await revoke()).status, 204, 'twice changes nothing');
  assert.equal((await send(of, { to: ['x@a.example'] })).status, 202);
  const shown = await stateOf(of, later);
  assert.deepEqual([at(shown, 'state'), at(shown, 'revokedBy', 'id')], ['revoked', of.member.userId]);
  const third = await approve(of, { recipients: ['b.example'] });
  await world.sql(`update standing_approval set ends_at = now() - interval '1 second' where id = $1`, [third]);
  assert.equal((await send(of, { to: ['x@b.example'] })).status, 202);
  assert.equal(at(await stateOf(of, third), 'state'), 'ended');
  const audit = await world.call('GET', '/api/audit?limit=50', { as: of.owner.session });
  const actions = Object.values(Object(at(audit.body, 'data'))).map((each) => [
    at(each, 'action'),
    at(each, 'targetId'),
  ]);
  assert.ok(actions.some(([action, target]) => action === 'standing_approval.created' && target === later));
  assert.equal(actions.filter(([action]) => action === 'standing_approval.revoked').length, 1);
});

test('a message over a budget is held and takes none of it; one that was sent back is held all the same', async () => {
  const of = await world.newOrganization('unlimited');
  const id = await approve(of, { recipients: ['a.example'] });
  const returned = await send(of, { to: ['stranger@elsewhere.example'] });
  const consentId = textAt(returned.body, 'consentId');
  await world.call('POST', `/api/consents/${consentId}/return`, { as: of.member.session, body: { comment: 'No' } });
  assert.equal((await send(of, { to: ['x@a.example'], resubmits: consentId })).status, 202);
  const limited = await world.call('PATCH', `/api/mailboxes/${of.mailbox.id}`, {
    as: of.owner.session,
    body: { budgets: { messagesPerDay: 1 } },
  });
  assert.equal(limited.status, 200, limited.text);
  assert.equal((await send(of, { to: ['x@a.example'] })).status, 201);
  const over = await send(of, { to: ['x@a.example'] });
  assert.equal(over.status, 202);
  assert.equal(at(await stateOf(of, id), 'messagesUsed'), 1);
});

test('what is no address, no time ahead or no number is refused, and other organizations see none', async () => {
  const of = world.organization;
  const create = (body: object) =>
    world.call('POST', '/api/standing-approvals', {
      as: of.member.session,
      body: { mailboxId: of.mailbox.id, recipients: ['a.example'], endsAt: inAnHour(), messagesMax: 1, ...body },
    });
  for (const body of [
    { recipients: [] },
    { recipients: ['com'] },
    { recipients: ['*@a.example '] },
    { recipients: ['a@b@c.example'] },
    { recipients: ['%'] },
    { endsAt: '2001-01-01T00:00:00Z' },
    { endsAt: '2999-01-01T00:00:00Z' },
    { messagesMax: 0 },
    { messagesMax: 10_001 },
  ])
    assert.equal(errorCode(await create(body)), 'invalid_request', JSON.stringify(body));
  const id = await approve(of, { recipients: ['a.example'] });
  const foreign = await world.call('GET', '/api/standing-approvals', { as: world.other.key });
  assert.deepEqual(at(foreign.body, 'data'), []);
  const revoked = await world.call('DELETE', `/api/standing-approvals/${id}`, { as: world.other.owner.session });
  assert.equal(errorCode(revoked), 'not_found');
  const byKey = await world.call('POST', '/api/standing-approvals', {
    as: of.key,
    body: { mailboxId: of.mailbox.id, recipients: ['a.example'], endsAt: inAnHour(), messagesMax: 1 },
  });
  assert.equal(byKey.status, 403);
});
