/** Several held messages that were shown together are decided at once: exactly what was shown, each by itself. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ApiWorld, apiWorld, at, errorCode, type TestOrganization, textAt } from '#test/support/api-world.ts';

let world: ApiWorld;
let of: TestOrganization;
before(async () => {
  world = await apiWorld();
  of = world.organization;
});
after(() => world?.close());

interface Shown {
  readonly consentId: string;
  readonly sha256: string;
}

async function hold(organization: TestOrganization, to: string): Promise<Shown> {
  const answer = await world.call('POST', '/api/mailbox/messages', {
    as: organization.mailbox.token,
    body: { to: [to], subject: 'Hello', text: 'Words.' },
  });
  const consentId = textAt(answer.body, 'consentId');
  const message = await world.call('GET', `/api/consents/${consentId}/message`, { as: organization.owner.session });
  return { consentId, sha256: textAt(message.body, 'sha256') };
}

const decide = (body: object, as = of.member.session) => world.call('POST', '/api/consents/decide', { as, body });

const statusOf = async ({ consentId }: Shown): Promise<unknown> =>
  (await world.sql(`select status from consent where id = $1`, [consentId]))[0]?.['status'];

test('what was shown is decided; what changed, was decided or belongs to others is left out with the reason', async () => {
  const [one, two, edited, decided] = [
    await hold(of, 'a@several.example'),
    await hold(of, 'b@several.example'),
    await hold(of, 'c@several.example'),
    await hold(of, 'd@several.example'),
  ];
  const foreign = await hold(world.other, 'e@several.example');
  const changed = { ...edited, sha256: '0'.repeat(64) };
  await world.call('POST', `/api/consents/${decided.consentId}/deny`, { as: of.member.session, body: {} });
  const answer = await decide({ decision: 'approve', shown: [one, changed, decided, foreign, two] });
  assert.equal(answer.status, 200, answer.text);
  const done = Object.values(Object(at(answer.body, 'decided')));
  assert.deepEqual(new Set(done.map((each) => textAt(each, 'id'))), new Set([one.consentId, two.consentId]));
  assert.deepEqual(new Set(done.map((each) => at(each, 'decision', 'scope'))), new Set(['message']));
  const left = Object.values(Object(at(answer.body, 'leftOut')));
  const codes = new Map(left.map((each) => [textAt(each, 'consentId'), textAt(each, 'code')]));
  assert.deepEqual(
    codes,
    new Map([
      [edited.consentId, 'conflict'],
      [decided.consentId, 'conflict'],
      [foreign.consentId, 'not_found'],
    ]),
  );
  assert.match(JSON.stringify(left), /has changed since it was shown/);
  assert.match(JSON.stringify(left), /already denied/);
  assert.deepEqual(await Promise.all([one, two, edited, decided, foreign].map(statusOf)), [
    'approved',
    'approved',
    'pending',
    'denied',
    'pending',
  ]);
});

test('a denial takes the reason to each, also with an Idempotency-Key where one of them is left out', async () => {
  const [one, two] = [await hold(of, 'f@several.example'), await hold(of, 'g@several.example')];
  const body = { decision: 'deny', shown: [one, { ...two, sha256: 'f'.repeat(64) }], reason: 'Too many.' };
  const answer = await world.call('POST', '/api/consents/decide', {
    as: of.member.session,
    body,
    headers: { 'idempotency-key': 'several' },
  });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(at(answer.body, 'decided', 0, 'decision', 'reason'), 'Too many.');
  assert.equal(at(answer.body, 'leftOut', 0, 'consentId'), two.consentId);
  assert.deepEqual(await Promise.all([one, two].map(statusOf)), ['denied', 'pending']);
});

test('at most 20, by a person, and never without the hash of what was shown', async () => {
  const one = await hold(of, 'h@several.example');
  assert.equal(errorCode(await decide({ decision: 'approve', shown: Array(21).fill(one) })), 'invalid_request');
  assert.equal(
    errorCode(await decide({ decision: 'approve', shown: [{ consentId: one.consentId }] })),
    'invalid_request',
  );
  for (const credential of [of.key, of.mailbox.token]) {
    const refused = await decide({ decision: 'approve', shown: [one] }, credential);
    assert.equal(refused.status, 403, refused.text);
  }
  assert.equal(await statusOf(one), 'pending');
});
