/** An approval is taken back while its message waits; afterwards it is final. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { NativeConnection } from '@temporalio/worker';
import { passConsentGate } from '#sending/consent/consent-gate.ts';
import { takeBackApproval } from '#sending/consent/take-back.ts';
import { approvalLink } from '#test/api/approval-link-world.ts';
import {
  type Answer,
  type ApiWorld,
  apiWorld,
  at,
  errorCode,
  type TestOrganization,
  textAt,
} from '#test/support/api-world.ts';
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

interface Held {
  readonly id: string;
  readonly consentId: string;
}

const send = (of: TestOrganization, to: string): Promise<Answer> =>
  world.call('POST', '/api/mailbox/messages', {
    as: of.mailbox.token,
    body: { to: [to], subject: 'Hello', text: 'Some words.' },
  });

async function hold(of: TestOrganization, to: string): Promise<Held> {
  const answer = await send(of, to);
  assert.equal(answer.status, 202, answer.text);
  return { id: textAt(answer.body, 'id'), consentId: textAt(answer.body, 'consentId') };
}

async function undo(of: TestOrganization, undoSeconds: number): Promise<void> {
  const answer = await world.call('PATCH', '/api/organization', {
    as: of.owner.session,
    body: { settings: { undoSeconds } },
  });
  assert.equal(answer.status, 200, answer.text);
}

const decide = (of: TestOrganization, { consentId }: Held, verb: string, body?: object) =>
  world.call('POST', `/api/consents/${consentId}/${verb}`, {
    as: of.member.session,
    ...(body === undefined ? {} : { body }),
  });

const statusOf = async (of: TestOrganization, { id }: Held) =>
  at((await world.call('GET', `/api/mailbox/messages/${id}/status`, { as: of.mailbox.token })).body, 'status');

/** Waits until the workflow has looked at the rows as they are. */
const looked = (held: Held, until: 'undo_until' | 'expires_at') =>
  waitUntil(`the gate to wait for ${until}`, async () => {
    const [row] = await world.sql(
      `select o.due_at >= c.${until} as looked from outbound_message o join consent c on c.id = o.consent_id where o.id = $1`,
      [held.id],
    );
    return row?.['looked'] === true;
  });

test('an approval by address waits, and is taken back with all that it released and remembered', async () => {
  const of = await world.newOrganization('unlimited');
  await undo(of, 60);
  const [first, second] = [await hold(of, 'ann@undo.example'), await hold(of, 'ann@undo.example')];
  const approved = await decide(of, first, 'approve', { scope: 'address' });
  assert.equal(approved.status, 200, approved.text);
  const waitsMs =
    Date.parse(textAt(approved.body, 'undoUntil')) - Date.parse(textAt(approved.body, 'decision', 'decidedAt'));
  assert.equal(waitsMs, 60_000);
  for (const held of [first, second]) await looked(held, 'undo_until');
  assert.deepEqual([await statusOf(of, first), await statusOf(of, second)], ['queued', 'queued']);

  const back = await decide(of, first, 'take-back');
  assert.equal(back.status, 200, back.text);
  assert.deepEqual(
    [at(back.body, 'status'), at(back.body, 'decision'), at(back.body, 'undoUntil')],
    ['pending', null, null],
  );
  for (const held of [first, second]) {
    await looked(held, 'expires_at');
    assert.equal(await statusOf(of, held), 'consent_pending');
  }
  assert.equal((await send(of, 'ann@undo.example')).status, 202, 'the address is not remembered');
  const events = await world.sql(`select type from events where organization_id = $1 and payload like $2 order by id`, [
    of.id,
    `%${first.consentId}%`,
  ]);
  assert.deepEqual(
    events.map(({ type }) => type),
    ['outbound_consent_requested', 'outbound_consent_approved', 'outbound_consent_requested'],
  );
  const audit = await world.call('GET', '/api/audit?action=consent.taken_back', { as: of.owner.session });
  assert.equal(Object.values(Object(at(audit.body, 'data'))).length, 2);
  assert.equal(errorCode(await decide(of, first, 'take-back')), 'conflict');

  await undo(of, 0);
  assert.equal((await decide(of, first, 'approve', { scope: 'message' })).status, 200);
  await waitUntil('it is sent', async () => (await statusOf(of, first)) === 'captured');
  assert.equal(await statusOf(of, second), 'consent_pending');
  assert.equal(errorCode(await decide(of, first, 'take-back')), 'conflict');
});

test('the message is sent when the time is over, and not before', async () => {
  const of = await world.newOrganization('unlimited');
  await undo(of, 1);
  const held = await hold(of, 'bob@undo.example');
  await decide(of, held, 'approve', { scope: 'message' });
  await waitUntil('it is sent', async () => (await statusOf(of, held)) === 'captured');
  const [row] = await world.sql(
    `select o.first_sent_at >= c.undo_until as waited from outbound_message o join consent c on c.id = o.consent_id
      where o.id = $1`,
    [held.id],
  );
  assert.equal(row?.['waited'], true);
  assert.equal(errorCode(await decide(of, held, 'take-back')), 'conflict');
});

test('of a release and taking back at the same time exactly one happens', async () => {
  const of = await world.newOrganization('unlimited');
  await undo(of, 60);
  const { services } = world;
  const later = { ...services, now: () => Date.now() + 61_000 };
  const actor = { type: 'user', id: of.member.userId, name: 'A member', email: null, address: null } as const;
  for (let n = 0; n < 6; n++) {
    const held = await hold(of, `race${n}@undo.example`);
    await decide(of, held, 'approve', { scope: 'message' });
    await looked(held, 'undo_until');
    const [taken] = await Promise.allSettled([
      takeBackApproval(services, of.id, held.consentId, { actor, ipAddress: null, requestId: null }),
      passConsentGate(later, held.id),
    ]);
    const [row] = await world.sql(
      `select o.state, c.status from outbound_message o join consent c on c.id = o.consent_id where o.id = $1`,
      [held.id],
    );
    if (taken.status === 'fulfilled') assert.deepEqual([row?.['state'], row?.['status']], ['held', 'pending']);
    else assert.equal(row?.['status'], 'approved');
    assert.notDeepEqual([row?.['state'], row?.['status']], ['sending', 'pending']);
  }
});

test('the link of a notice takes its own approval back, and is open again', async () => {
  const of = await world.newOrganization('unlimited');
  await undo(of, 60);
  const held = await hold(of, 'eve@undo.example');
  const link = await approvalLink(world, of, held);
  const call = (verb: string, body?: object) =>
    world.call('POST', `/api/approval/${verb}`, { as: link, ...(body === undefined ? {} : { body }) });
  assert.equal((await call('approve', { scope: 'message' })).status, 200);
  assert.equal((await world.call('GET', '/api/approval', { as: link })).status, 401);
  const back = await call('take-back');
  assert.equal(back.status, 200, back.text);
  assert.equal((await world.call('GET', '/api/approval', { as: link })).status, 200);
  assert.equal((await call('deny', {})).status, 200);
});
