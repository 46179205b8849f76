import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { approveConsent } from '#sending/consent/decide-consent.ts';
import { signalDecided, startOutboundSweep } from '#sending/submit/start-outbound.ts';
import { withdrawMessage } from '#sending/submit/withdraw-message.ts';
import { type OutboundWorld, openOutboundWorld } from '#test/support/outbound-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const HOUR_MS = 3_600_000;
const CALLER = { actor: SYSTEM_ACTOR, ipAddress: null, requestId: null };

let world: OutboundWorld;
before(async () => {
  world = await openOutboundWorld();
});
after(() => world?.close());

const soon = () => new Date(Date.now() + 1_500);
/** Late enough to be approved before, also on a machine that stalls. */
const afterApproval = () => new Date(Date.now() + 8_000);
const inAnHour = () => new Date(Date.now() + HOUR_MS);
const waits = (id: string) => waitUntil(`${id} to wait`, async () => (await world.status(id)) === 'scheduled');
const reached = (subject: string) =>
  world.peer.received.filter(({ bytes }) => bytes.includes(`Subject: ${subject}\r\n`));

describe('a scheduled message', () => {
  test('is in no folder and reaches nobody before its time, and is sent then, to recipients here and outside', async () => {
    await world.consentMode('off');
    const colleague = await world.mail.createMailbox('colleague');
    const to = ['ann@example.com', colleague.address];
    const { messageId, status } = await world.send(to, { subject: 'Later', sendAt: soon() });
    assert.equal(status, 'scheduled');
    assert.deepEqual(await world.folder(world.sender, '\\Sent'), []);
    assert.deepEqual(await world.folder(colleague, '\\Inbox'), []);
    assert.equal(reached('Later').length, 0);
    assert.equal(await world.finished(messageId), 'sent');
    assert.deepEqual(await world.folder(world.sender, '\\Sent'), ['Later']);
    assert.deepEqual(await world.folder(colleague, '\\Inbox'), ['Later']);
    assert.equal(reached('Later').length, 1);
    assert.deepEqual(await world.mail.faults(), []);
  });

  test('requests consent at once, and is sent at its time if approved before', async () => {
    await world.consentMode('always');
    const { messageId, consentId } = await world.send(['ann@example.com'], {
      subject: 'Asked',
      sendAt: afterApproval(),
    });
    assert.equal(await world.status(messageId), 'consent_pending');
    await approveConsent(world.mail.services, world.mail.organizationId, consentId ?? '', 'message', CALLER);
    await signalDecided(world.mail.services, world.temporal, [messageId]);
    await waits(messageId);
    assert.equal(reached('Asked').length, 0);
    assert.equal(await world.finished(messageId), 'sent');
    assert.deepEqual(await world.mail.faults(), []);
  });

  test('is sent at the approval if that is after its time', async () => {
    await world.consentMode('always');
    const sendAt = soon();
    const { messageId, consentId } = await world.send(['ann@example.com'], { subject: 'Late', sendAt });
    await waitUntil('the time to pass', () => Promise.resolve(Date.now() > sendAt.getTime()));
    assert.equal(await world.status(messageId), 'consent_pending');
    await approveConsent(world.mail.services, world.mail.organizationId, consentId ?? '', 'message', CALLER);
    await signalDecided(world.mail.services, world.temporal, [messageId]);
    assert.equal(await world.finished(messageId), 'sent');
  });

  test('can be withdrawn before its time, once', async () => {
    await world.consentMode('off');
    const { messageId } = await world.send(['ann@example.com'], { subject: 'Never', sendAt: inAnHour() });
    await waits(messageId);
    const withdraw = () => withdrawMessage(world.mail.services, world.sender.id, messageId, SYSTEM_ACTOR);
    const other = await world.mail.createMailbox('other');
    assert.equal((await withdrawMessage(world.mail.services, other.id, messageId, SYSTEM_ACTOR)).kind, 'unknown');
    const done = await Promise.all([withdraw(), withdraw()]);
    assert.equal(done.filter(({ kind }) => kind === 'withdrawn').length, 1);
    await signalDecided(world.mail.services, world.temporal, [messageId]);
    await world.temporal.client.workflow.getHandle(`outbound/${messageId}`).result();
    assert.equal(await world.status(messageId), 'denied');
    assert.equal((await world.recipients(messageId))[0]?.reply, 'cancelled');
    const blocked = (await world.events('email_blocked')).filter(({ data }) => data['messageId'] === messageId);
    assert.deepEqual(
      blocked.map(({ data }) => data['reason']),
      ['cancelled'],
    );
    assert.equal(reached('Never').length, 0);
  });

  test('closes its request for consent when it is withdrawn', async () => {
    await world.consentMode('always');
    const { messageId, consentId } = await world.send(['ann@example.com'], { subject: 'Undone', sendAt: inAnHour() });
    assert.equal(
      (await withdrawMessage(world.mail.services, world.sender.id, messageId, SYSTEM_ACTOR)).kind,
      'withdrawn',
    );
    await signalDecided(world.mail.services, world.temporal, [messageId]);
    assert.equal(await world.status(messageId), 'denied');
    await assert.rejects(
      approveConsent(world.mail.services, world.mail.organizationId, consentId ?? '', 'message', CALLER),
      /already denied/,
    );
    assert.deepEqual(await world.mail.faults(), []);
  });

  test('whose workflow is lost is still sent', async () => {
    await world.consentMode('off');
    const { messageId } = await world.send(['ann@example.com'], { subject: 'Lost', sendAt: inAnHour() });
    await waits(messageId);
    const handle = world.temporal.client.workflow.getHandle(`outbound/${messageId}`);
    await handle.terminate('lost');
    await world.mail.services.db.query(
      `update outbound_message set send_at = now(), due_at = now() - interval '1 second' where id = $1`,
      [messageId],
    );
    const sweep = startOutboundSweep(world.mail.services, world.temporal);
    try {
      assert.equal(await world.finished(messageId), 'sent');
    } finally {
      await sweep.close();
    }
  });

  test('needs room for its copy together with all that waits', async () => {
    await world.consentMode('off');
    const { db } = world.mail.services;
    const from = await world.mail.createMailbox('narrow');
    const send = (subject: string) => world.send(['ann@example.com'], { subject, from, sendAt: inAnHour() });
    const { messageId } = await send('First');
    await db.query(
      `update mailbox_counter set quota_bytes = bytes_used + (select size + 100 from outbound_message where id = $2)
        where mailbox_id = $1`,
      [from.id, messageId],
    );
    await assert.rejects(send('Other'), { code: 'quota_exceeded' });
    await withdrawMessage(world.mail.services, from.id, messageId, SYSTEM_ACTOR);
    assert.equal((await send('Third')).status, 'scheduled');
  });

  test('must lie ahead, and not too far', async () => {
    for (const [sendAt, problem] of [
      [new Date(Date.now() - 1_000), /future/],
      [new Date(Date.now() + 91 * 24 * HOUR_MS), /within 90 days/],
    ] as const)
      await assert.rejects(world.send(['ann@example.com'], { sendAt }), (error: { details?: { message: string }[] }) =>
        problem.test(error.details?.[0]?.message ?? ''),
      );
  });
});
