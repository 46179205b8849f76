/** Several held messages are denied at once: those that a person was shown, and no others. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ApiWorld, apiWorld, at, errorCode, type TestOrganization, textAt } from '#test/support/api-world.ts';
import { copyHeld } from '#test/support/many-rows.ts';

const MANY = 200;

let world: ApiWorld;
before(async () => {
  world = await apiWorld();
});
after(() => world?.close());

async function hold(of: TestOrganization, to: string): Promise<string> {
  const answer = await world.call('POST', '/api/mailbox/messages', {
    as: of.mailbox.token,
    body: { to: [to, `copy-${to}`], subject: 'Hello', text: 'Words.' },
  });
  return textAt(answer.body, 'consentId');
}

const deny = (of: TestOrganization, body: object) =>
  world.call('POST', '/api/consents/deny', { as: of.member.session, body });

test('they end with their events, and what was decided before or belongs to others is left out', async () => {
  const of = world.organization;
  const first = await hold(of, 'a@many.example');
  const second = await hold(of, 'b@many.example');
  const decided = await hold(of, 'c@many.example');
  await world.call('POST', `/api/consents/${decided}/approve`, { as: of.member.session, body: { scope: 'message' } });
  const foreign = await hold(world.other, 'd@many.example');
  const answer = await deny(of, { consentIds: [first, second, decided, foreign], reason: 'Enough.' });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(new Set(Object.values(Object(at(answer.body, 'denied')))), new Set([first, second]));
  assert.deepEqual(at(answer.body, 'leftOut'), [decided, foreign]);
  for (const [id, status] of [
    [first, 'denied'],
    [second, 'denied'],
    [decided, 'approved'],
    [foreign, 'pending'],
  ] as const) {
    const [row] = await world.sql(`select status from consent where id = $1`, [id]);
    assert.equal(row?.['status'], status);
  }
  const events = await world.sql(
    `select type, payload from events where organization_id = $1 and type in ('email_blocked', 'outbound_consent_denied')`,
    [of.id],
  );
  const data = events.map(({ type, payload }) => ({ type, data: at(JSON.parse(String(payload)), 'data') }));
  assert.equal(data.filter(({ type }) => type === 'outbound_consent_denied').length, 2);
  const blocked = data.filter(({ type }) => type === 'email_blocked').map((each) => at(each.data, 'to'));
  assert.deepEqual(blocked.map((to) => JSON.stringify(to)).toSorted(), [
    '["a@many.example","copy-a@many.example"]',
    '["b@many.example","copy-b@many.example"]',
  ]);
  const audit = await world.call('GET', '/api/audit?action=consent.denied', { as: of.owner.session });
  assert.deepEqual(
    Object.values(Object(at(audit.body, 'data'))).map((each) => at(each, 'details', 'reason')),
    ['Enough.', 'Enough.'],
  );
  const again = await deny(of, { consentIds: [first] });
  assert.deepEqual([at(again.body, 'denied'), at(again.body, 'leftOut')], [[], [first]]);
});

test(`${MANY} are one call; a token, and a key without the setting, may not`, async () => {
  const of = await world.newOrganization('unlimited');
  const newest = await hold(of, 'z@many.example');
  await copyHeld(world.sql, newest, MANY - 1);
  const rows = await world.sql(`select id from consent where organization_id = $1`, [of.id]);
  const consentIds = rows.map(({ id }) => String(id));
  for (const as of [of.key, of.mailbox.token]) {
    const refused = await world.call('POST', '/api/consents/deny', { as, body: { consentIds } });
    assert.equal(refused.status, 403);
  }
  assert.equal(errorCode(await deny(of, { consentIds: [...consentIds, newest] })), 'invalid_request');
  const answer = await deny(of, { consentIds });
  assert.equal(Object.values(Object(at(answer.body, 'denied'))).length, MANY);
  const [left] = await world.sql(
    `select count(*)::int as n from outbound_message where organization_id = $1 and state = 'held'`,
    [of.id],
  );
  assert.equal(left?.['n'], 0);
});
