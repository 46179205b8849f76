import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { NativeConnection } from '@temporalio/worker';
import { HELD_SENTENCE } from '#domain/sending/consent.ts';
import { type Answer, type ApiWorld, apiWorld, at, errorCode, textAt } from '#test/support/api-world.ts';
import { temporalConnection } from '#test/support/temporal-connection.ts';
import { startTestWorker } from '#test/support/test-worker.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import type { RunningWorker } from '#worker/start.ts';

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
const stranger = () => `p${++number}@d${number}.example`;

const send = (body: object): Promise<Answer> =>
  world.call('POST', '/api/mailbox/messages', {
    as: world.organization.mailbox.token,
    body: { subject: 'Hello', text: 'Some words.', ...body },
  });

const statusOf = async (id: string) => {
  const as = world.organization.mailbox.token;
  return textAt((await world.call('GET', `/api/mailbox/messages/${id}/status`, { as })).body, 'status');
};

const reaches = (id: string, status: string) => waitUntil(status, async () => (await statusOf(id)) === status);

async function held(to = stranger()): Promise<{ id: string; consentId: string; to: string }> {
  const answer = await send({ to: [to] });
  assert.equal(answer.status, 202, answer.text);
  return { id: textAt(answer.body, 'id'), consentId: textAt(answer.body, 'consentId'), to };
}

const decide = (consentId: string, verb: 'approve' | 'deny', body: object, as = world.organization.member.session) =>
  world.call('POST', `/api/consents/${consentId}/${verb}`, { as, body });

describe('sending to a stranger', () => {
  test('answers 202 with the sentence that says it is no failure', async () => {
    const answer = await send({ to: [stranger()] });
    assert.equal(answer.status, 202);
    assert.equal(at(answer.body, 'status'), 'consent_pending');
    assert.equal(at(answer.body, 'message'), HELD_SENTENCE);
    assert.equal(HELD_SENTENCE, 'Held for approval. This is not a failure; do not send it again.');
    assert.equal(await statusOf(textAt(answer.body, 'id')), 'consent_pending');
  });

  test('is shown to members, and not to other organizations', async () => {
    const { id, consentId, to } = await held();
    const listed = await world.call('GET', '/api/consents?status=pending&limit=1', { as: world.organization.key });
    assert.equal(at(listed.body, 'data', 0, 'id'), consentId);
    const shown = await world.call('GET', `/api/consents/${consentId}`, { as: world.organization.member.session });
    assert.deepEqual([at(shown.body, 'messageId'), at(shown.body, 'recipients')], [id, [to]]);
    assert.equal((await world.call('GET', `/api/consents/${consentId}`, { as: world.other.key })).status, 404);
    const message = await world.call('GET', `/api/mailbox/messages/${id}`, { as: world.organization.mailbox.token });
    assert.equal(message.status, 404, 'a held message is in no folder');
  });

  test('is sent when a member approves; an approval of the address also releases other messages to it', async () => {
    const first = await held();
    const second = await held(first.to);
    const approved = await decide(first.consentId, 'approve', { scope: 'address' });
    assert.deepEqual([approved.status, at(approved.body, 'decision', 'scope')], [200, 'address']);
    await reaches(first.id, 'captured');
    await reaches(second.id, 'captured');
    const message = await world.call('GET', `/api/mailbox/messages/${first.id}`, {
      as: world.organization.mailbox.token,
    });
    assert.deepEqual(at(message.body, 'folders'), ['Sent']);
    assert.equal((await send({ to: [first.to] })).status, 201);
  });

  test('ends when a member denies; a second decision is a conflict', async () => {
    const { id, consentId } = await held();
    const denied = await decide(consentId, 'deny', { reason: 'No' });
    assert.equal(at(denied.body, 'decision', 'reason'), 'No');
    await reaches(id, 'denied');
    for (const [verb, body] of [
      ['approve', { scope: 'message' }],
      ['deny', {}],
    ] as const)
      assert.equal(errorCode(await decide(consentId, verb, body)), 'conflict');
  });

  test('is not found by a decision of another organization, nor is one that does not exist', async () => {
    const { id, consentId } = await held();
    for (const [request, as] of [
      [consentId, world.other.owner.session],
      [consentId.slice(0, -1), world.organization.owner.session],
    ] as const)
      for (const [verb, body] of [
        ['approve', { scope: 'message' }],
        ['deny', {}],
      ] as const)
        assert.equal(errorCode(await decide(request, verb, body, as)), 'not_found');
    const shown = await world.call('GET', `/api/consents/${consentId}`, { as: world.organization.member.session });
    assert.deepEqual([at(shown.body, 'status'), await statusOf(id)], ['pending', 'consent_pending']);
  });

  test('is never decided by a mailbox token, whatever other credentials are sent', async () => {
    const { id, consentId } = await held();
    const { organization } = world;
    const both = { ...organization.key, ...organization.mailbox.token };
    await world.call('PATCH', '/api/organization', {
      as: organization.owner.session,
      body: { settings: { consentByApiKey: true } },
    });
    const alone = await decide(consentId, 'approve', { scope: 'message' }, organization.mailbox.token);
    assert.deepEqual([alone.status, errorCode(alone)], [403, 'forbidden']);
    const together = await decide(consentId, 'approve', { scope: 'message' }, both);
    assert.deepEqual([together.status, errorCode(together)], [400, 'invalid_request']);
    const allow = { as: both, body: { value: 'by-both.example' } };
    assert.equal(errorCode(await world.call('POST', '/api/lists/outbound/allow', allow)), 'invalid_request');
    assert.equal(await statusOf(id), 'consent_pending');
    await world.call('PATCH', '/api/organization', {
      as: organization.owner.session,
      body: { settings: { consentByApiKey: false } },
    });
  });

  test('is decided by an API key only where the organization says so, outbound allow lists too', async () => {
    const { id, consentId } = await held();
    const { key, owner } = world.organization;
    assert.equal((await decide(consentId, 'approve', { scope: 'message' }, key)).status, 403);
    const allow = () => world.call('POST', '/api/lists/outbound/allow', { as: key, body: { value: 'by-key.example' } });
    assert.equal((await allow()).status, 403);
    await world.call('PATCH', '/api/organization', {
      as: owner.session,
      body: { settings: { consentByApiKey: true } },
    });
    assert.equal((await allow()).status, 201);
    assert.equal((await decide(consentId, 'approve', { scope: 'message' }, key)).status, 200);
    await reaches(id, 'captured');
    await world.call('PATCH', '/api/organization', {
      as: owner.session,
      body: { settings: { consentByApiKey: false } },
    });
  });
});

test('the allow list accepts, the block list refuses, and the test call shows both', async () => {
  const as = world.organization.owner.session;
  await world.call('POST', '/api/lists/outbound/allow', { as, body: { value: 'friend.example' } });
  await world.call('POST', '/api/lists/outbound/block', { as, body: { value: 'foe@friend.example' } });
  assert.equal((await send({ to: ['ann@friend.example'] })).status, 201);
  assert.equal(errorCode(await send({ to: ['foe@friend.example'] })), 'recipient_blocked');
  for (const [address, expected] of [
    ['Ann@friend.example', { action: 'allow', rule: 'friend.example' }],
    ['foe@friend.example', { action: 'block', rule: 'foe@friend.example' }],
    ['ann@nobody.example', { action: null, rule: null }],
  ] as const) {
    const answer = await world.call('POST', '/api/lists/test', { as, body: { direction: 'outbound', address } });
    assert.deepEqual(answer.body, expected);
  }
});
