/**
 * Records the histories of `outboundMessage` that `replay.test.ts` replays, see `record-histories.ts`.
 *
 *   npm test -- test/workflows/record-outbound-histories.ts
 */
import { writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { CANCEL_SIGNAL, outboundWorkflowId } from '#domain/sending/outbound-workflow.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { approveConsent, denyConsent } from '#sending/consent/decide-consent.ts';
import { signalDecided } from '#sending/submit/start-outbound.ts';
import { type OutboundWorld, openOutboundWorld } from '#test/support/outbound-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: OutboundWorld;
before(async () => {
  world = await openOutboundWorld({ settings: { OUTBOUND_RETRY_DELAYS_MS: '2000' } });
});
after(() => world?.close());

const CALLER = { actor: SYSTEM_ACTOR, ipAddress: null, requestId: null };

async function save(name: string, messageId: string): Promise<void> {
  const handle = world.temporal.client.workflow.getHandle(outboundWorkflowId(messageId));
  await handle.result();
  const history = historyToJSON(await handle.fetchHistory());
  writeFileSync(new URL(`../histories/outbound-message.${name}.json`, import.meta.url), `${history}\n`);
}

test('sent at the second attempt', async () => {
  world.peer.faults = [{ at: 'rcpt', reply: 451, times: 1 }];
  await save('second-attempt', (await world.send(['ann@example.com'])).messageId);
});

test('cancelled while waiting', async () => {
  world.peer.faults = [{ at: 'rcpt', reply: 451, times: 1 }];
  const { messageId } = await world.send(['ann@example.com']);
  await waitUntil('a first attempt', async () => (await world.recipients(messageId))[0]?.code === '4.0.0');
  await world.temporal.client.workflow.getHandle(outboundWorkflowId(messageId)).signal(CANCEL_SIGNAL);
  await save('cancelled', messageId);
});

test('scheduled', async () => {
  await save('scheduled', (await world.send(['ann@example.com'], { sendAt: new Date(Date.now() + 2_000) })).messageId);
});

/** Waits until so many timers were started. */
async function timers(messageId: string, count: number): Promise<void> {
  const handle = world.temporal.client.workflow.getHandle(outboundWorkflowId(messageId));
  await waitUntil(`${count} timers`, async () => {
    const { events } = await handle.fetchHistory();
    return (events ?? []).filter((event) => event.timerStartedEventAttributes).length >= count;
  });
}

const stopSending = (stopped: boolean) =>
  world.mail.services.db.query(
    `update organizations set settings = settings || jsonb_build_object('sendingStopped', $2::bool) where id = $1`,
    [world.mail.organizationId, stopped],
  );

test('stopped by a person before its time, and between two attempts', async () => {
  const { services } = world.mail;
  const scheduled = await world.send(['ann@example.com'], { sendAt: new Date(Date.now() + 2_000) });
  world.peer.faults = [{ at: 'rcpt', reply: 451, times: 1 }];
  const refused = await world.send(['ben@example.com']);
  await waitUntil('a first attempt', async () => (await world.recipients(refused.messageId))[0]?.code === '4.0.0');
  await stopSending(true);
  const messageIds = [scheduled.messageId, refused.messageId];
  for (const id of messageIds) await timers(id, 2);
  await stopSending(false);
  await signalDecided(services, world.temporal, messageIds);
  await save('stopped-before-its-time', scheduled.messageId);
  await save('stopped-between-attempts', refused.messageId);
});

test('approved and denied', async () => {
  await world.consentMode('always');
  const { services, organizationId } = world.mail;
  for (const name of ['approved', 'denied'] as const) {
    const { messageId, consentId } = await world.send(['ann@example.com']);
    const handle = world.temporal.client.workflow.getHandle(outboundWorkflowId(messageId));
    await waitUntil('the timer', async () =>
      (await handle.fetchHistory()).events?.some((event) => event.timerStartedEventAttributes),
    );
    if (name === 'approved') await approveConsent(services, organizationId, consentId ?? '', 'message', CALLER);
    else await denyConsent(services, organizationId, consentId ?? '', null, CALLER);
    await signalDecided(services, world.temporal, [messageId]);
    await save(name, messageId);
  }
});
