/** A held message is sent back with a comment, and the changed one is shown with what it was before. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { NativeConnection } from '@temporalio/worker';
import { approvalLink } from '#test/api/approval-link-world.ts';
import { type Answer, type ApiWorld, apiWorld, at, errorCode, textAt } from '#test/support/api-world.ts';
import { temporalConnection } from '#test/support/temporal-connection.ts';
import { startTestWorker } from '#test/support/test-worker.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import type { RunningWorker } from '#worker/start.ts';

const COMMENT = 'Please leave out the price.';

let world: ApiWorld;
let worker: RunningWorker;
let connection: NativeConnection;
before(async () => {
  world = await apiWorld();
  connection = await temporalConnection();
  worker = await startTestWorker(world.services, connection);
});
after(async () => {
  await worker?.close();
  await connection?.close();
  await world?.close();
});

let number = 0;

const send = (body: object): Promise<Answer> =>
  world.call('POST', '/api/mailbox/messages', {
    as: world.organization.mailbox.token,
    body: { subject: 'Offer', text: 'Dear Ada,\n\nit costs 5 EUR.\n', ...body },
  });

interface Held {
  readonly id: string;
  readonly consentId: string;
  readonly to: string;
}

async function held(body: object = {}): Promise<Held> {
  const to = `p${++number}@d${number}.example`;
  const answer = await send({ to: [to], ...body });
  assert.equal(answer.status, 202, answer.text);
  return { id: textAt(answer.body, 'id'), consentId: textAt(answer.body, 'consentId'), to };
}

const person = () => world.organization.member.session;
const agent = () => world.organization.mailbox.token;
const decide = (consentId: string, verb: string, body: object) =>
  world.call('POST', `/api/consents/${consentId}/${verb}`, { as: person(), body });
const shown = async (consentId: string): Promise<unknown> => {
  const answer = await world.call('GET', `/api/consents/${consentId}/message`, { as: person() });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
};
const statusOf = async (id: string) =>
  (await world.call('GET', `/api/mailbox/messages/${id}/status`, { as: agent() })).body;

test('the agent gets the comment wherever it looks for the decision, and nothing is sent', async () => {
  const { id, consentId } = await held();
  const returned = await decide(consentId, 'return', { comment: COMMENT });
  assert.equal(returned.status, 200, returned.text);
  assert.deepEqual(
    [at(returned.body, 'status'), at(returned.body, 'decision', 'returned'), at(returned.body, 'decision', 'reason')],
    ['denied', true, COMMENT],
  );
  const status = await statusOf(id);
  assert.deepEqual(
    [at(status, 'status'), at(status, 'decision', 'outcome'), at(status, 'decision', 'reason')],
    ['denied', 'returned', COMMENT],
  );
  const outbox = await world.call('GET', '/api/mailbox/messages/outbox', { as: agent() });
  const entry = Object.values(Object(at(outbox.body, 'data'))).find((each) => at(each, 'id') === id);
  assert.equal(at(entry, 'decision', 'outcome'), 'returned');
  assert.match(textAt(entry, 'reason'), /sent it back with a comment: Please leave out the price\..*resubmits/);
  const waited = await world.call('GET', `/api/mailbox/messages/wait?consentId=${consentId}`, { as: agent() });
  assert.deepEqual(
    [at(waited.body, 'consent', 'decision', 'outcome'), at(waited.body, 'consent', 'decision', 'reason')],
    ['returned', COMMENT],
  );
  // Old receivers go on: the type, and the reason at its place.
  const [event] = await world.sql(
    `select payload from events where type = 'outbound_consent_denied' and payload like $1`,
    [`%${consentId}%`],
  );
  const data: unknown = JSON.parse(String(event?.['payload']));
  assert.deepEqual([at(data, 'data', 'decision', 'reason'), at(data, 'data', 'decision', 'returned')], [COMMENT, true]);
  const audit = await world.call('GET', '/api/audit?action=consent.returned', { as: world.organization.owner.session });
  assert.equal(at(audit.body, 'data', 0, 'details', 'reason'), COMMENT);
  assert.deepEqual(await world.sql(`select 1 from outbound_attempt where message_id = $1`, [id]), []);
});

test('it takes a comment and the message that was shown; a second decision is a conflict', async () => {
  const { consentId } = await held();
  for (const body of [{}, { comment: '' }]) assert.equal((await decide(consentId, 'return', body)).status, 400);
  const other = 'a'.repeat(64);
  for (const [verb, body] of [
    ['return', { comment: COMMENT, sha256: other }],
    ['deny', { sha256: other }],
  ] as const) {
    const refused = await decide(consentId, verb, body);
    assert.equal(errorCode(refused), 'conflict');
    assert.match(refused.text, /has changed since it was shown/);
  }
  const sha256 = textAt(await shown(consentId), 'sha256');
  assert.equal((await decide(consentId, 'return', { comment: COMMENT, sha256 })).status, 200);
  for (const [verb, body] of [
    ['return', { comment: COMMENT }],
    ['approve', { scope: 'message' }],
    ['deny', {}],
  ] as const) {
    const again = await decide(consentId, verb, body);
    assert.equal(errorCode(again), 'conflict');
    assert.match(again.text, /already sent back/);
  }
});

test('a changed message is held under it, shows each version with its comment, and is sent when approved', async () => {
  const first = await held();
  await decide(first.consentId, 'return', { comment: COMMENT });
  const second = await send({ to: [first.to], text: 'Dear Ada,\n\nask us.\n', resubmits: first.consentId });
  assert.equal(second.status, 202, second.text);
  const secondId = textAt(second.body, 'consentId');
  await decide(secondId, 'return', { comment: 'Kinder.' });
  const third = await send({ to: [first.to], text: 'Dear Ada,\n\nplease ask us.\n', resubmits: secondId });
  const thirdId = textAt(third.body, 'consentId');
  const message = await shown(thirdId);
  assert.equal(at(message, 'consent', 'resubmits'), secondId);
  const versions = at(message, 'earlierVersions') as readonly Record<string, unknown>[];
  assert.deepEqual(
    versions.map(({ consentId, comment, text, returnedBy, to }) => [
      consentId,
      comment,
      String(text).replaceAll('\r\n', '\n').trimEnd(),
      returnedBy,
      to,
    ]),
    [
      [secondId, 'Kinder.', 'Dear Ada,\n\nask us.', 'A member', [first.to]],
      [first.consentId, COMMENT, 'Dear Ada,\n\nit costs 5 EUR.', 'A member', [first.to]],
    ],
  );
  assert.equal((await decide(thirdId, 'approve', { scope: 'message' })).status, 200);
  await waitUntil('it is sent', async () => at(await statusOf(textAt(third.body, 'id')), 'status') === 'captured');
  for (const id of [first.id, textAt(second.body, 'id')]) assert.equal(at(await statusOf(id), 'status'), 'denied');
});

test('it is held although its recipients need no approval, and an approval of others does not release it', async () => {
  const first = await held();
  await decide(first.consentId, 'return', { comment: COMMENT });
  const other = await send({ to: [first.to], subject: 'Another' });
  const resubmitted = await send({ to: [first.to], resubmits: first.consentId });
  await decide(textAt(other.body, 'consentId'), 'approve', { scope: 'address' });
  const stillHeld = await world.call('GET', `/api/consents/${textAt(resubmitted.body, 'consentId')}`, { as: person() });
  assert.equal(at(stillHeld.body, 'status'), 'pending');
  await decide(textAt(resubmitted.body, 'consentId'), 'return', { comment: 'Again.' });
  const again = await send({ to: [first.to], resubmits: textAt(resubmitted.body, 'consentId') });
  assert.equal(again.status, 202, 'although the address is approved');
  const consent = await world.call('GET', `/api/consents/${textAt(again.body, 'consentId')}`, { as: person() });
  assert.equal(at(consent.body, 'heldBecause'), 'resubmitted');
});

test('only a message of this mailbox that was sent back is continued, and once', async () => {
  const pending = await held();
  const denied = await held();
  await decide(denied.consentId, 'deny', {});
  const returned = await held();
  await decide(returned.consentId, 'return', { comment: COMMENT });
  for (const resubmits of [pending.consentId, denied.consentId]) {
    const refused = await send({ to: ['x@y.example'], resubmits });
    assert.deepEqual([refused.status, errorCode(refused)], [409, 'conflict']);
  }
  const stranger = await world.call('POST', '/api/mailbox/messages', {
    as: world.other.mailbox.token,
    body: { to: ['x@y.example'], subject: 'Mine', text: 'No.', resubmits: returned.consentId },
  });
  assert.equal(errorCode(stranger), 'conflict');
  const body = { to: [returned.to], resubmits: returned.consentId };
  const answers = await Promise.all([send(body), send(body), send(body)]);
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [202, 409, 409],
  );
});

test('the link of a notice sends back too, once, and says so afterwards', async () => {
  const message = await held();
  const link = await approvalLink(world, world.organization, message);
  const back = (comment: string) => world.call('POST', '/api/approval/return', { as: link, body: { comment } });
  const done = await back(COMMENT);
  assert.equal(done.status, 200, done.text);
  // The answer may have been lost.
  assert.equal((await back(COMMENT)).status, 200);
  const denied = await world.call('POST', '/api/approval/deny', { as: link, body: {} });
  assert.equal(denied.status, 401);
  assert.match(denied.text, /the message was sent back/);
});
