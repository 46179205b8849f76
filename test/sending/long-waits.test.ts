/** Mail that waits as long as it may, on a server whose clock skips what nobody has to see pass. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { createActivities } from '#activities/index.ts';
import { destinationPolicy } from '#core/webhooks/requests/destination-guard.ts';
import { createWebhookSender, type WebhookSender } from '#core/webhooks/requests/webhook-sender.ts';
import { CONSENT_EXPIRES_DAYS_DEFAULT } from '#domain/organizations/plans.ts';
import { SEND_AT_AHEAD_MAX_DAYS } from '#domain/sending/outbound.ts';
import { OUTBOUND_MESSAGE, type OutboundInput, outboundWorkflowId } from '#domain/sending/outbound-workflow.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { prepareMessage } from '#sending/compose/prepare-message.ts';
import { findOutbound, findRecipients } from '#sending/outbox/outbound-message.ts';
import { submitMessage } from '#sending/submit/submit-message.ts';
import { captureTransport } from '#sending/transports/choose-transport.ts';
import { type MailWorld, openMailWorld } from '#test/support/mail-world.ts';
import { testWorkflowBundle } from '#test/support/services.ts';
import { useTemporalRuntime } from '#test/support/temporal-connection.ts';
import { startTimeSkippingServer } from '#test/support/time-skipping-server.ts';

const DAY_MS = 86_400_000;
const TASK_QUEUE = 'long-waits';

let world: MailWorld;
let sender: WebhookSender;
let environment: TestWorkflowEnvironment;
let worker: Worker;
let running: Promise<void>;
/** How far the server's clock is ahead of ours. The activities use the server's clock. */
let aheadMs = 0;
const attemptedAtMs: number[] = [];
const lookedAtMs: number[] = [];

async function onServerTime(): Promise<number> {
  const askedAtMs = Date.now();
  const serverMs = await environment.currentTimeMs();
  // Never behind the server's clock: a timer that has just fired would be found not to be due.
  aheadMs = serverMs - askedAtMs;
  return serverMs;
}

before(async () => {
  world = await openMailWorld();
  useTemporalRuntime();
  sender = createWebhookSender({ policy: destinationPolicy(world.services.settings), extraCa: [] });
  environment = await startTimeSkippingServer();
  const activities = createActivities({
    services: { ...world.services, now: () => Date.now() + aheadMs },
    sender,
    transport: captureTransport,
    draining: new AbortController().signal,
    onEndpointGone: () => {},
    onDisabled: () => {},
    startNotices: async () => {},
  });
  worker = await Worker.create({
    connection: environment.nativeConnection,
    namespace: environment.namespace ?? 'default',
    taskQueue: TASK_QUEUE,
    workflowBundle: testWorkflowBundle(),
    activities: {
      async passConsentGate(messageId: string) {
        lookedAtMs.push(await onServerTime());
        return activities.passConsentGate(messageId);
      },
      async attemptOutbound(messageId: string) {
        attemptedAtMs.push(await onServerTime());
        return activities.attemptOutbound(messageId);
      },
    },
  });
  running = worker.run();
});
after(async () => {
  worker?.shutdown();
  await running;
  await environment?.teardown();
  await sender?.close();
  await world?.close();
});

test('a message scheduled as far ahead as allowed is sent then, not before', async () => {
  const { services, organizationId } = world;
  const mailbox = await world.createMailbox('patient');
  await services.db.query(`update organizations set settings = '{"outboundConsent":"off"}' where id = $1`, [
    organizationId,
  ]);
  const bytes = Buffer.from(`From: ${mailbox.address}\r\nTo: ann@example.com\r\nSubject: Renewal\r\n\r\nx\r\n`);
  const sendAt = new Date(Date.now() + SEND_AT_AHEAD_MAX_DAYS * DAY_MS - 60_000);
  const { messageId } = await submitMessage(services, {
    organizationId,
    mailboxId: mailbox.id,
    prepared: prepareMessage(bytes, mailbox.address, sendAt),
    recipients: ['ann@example.com'],
    via: 'api',
    actor: SYSTEM_ACTOR,
    labels: [],
    clientId: null,
    sendAt,
  });
  const input: OutboundInput = { messageId };
  await environment.client.workflow.execute(OUTBOUND_MESSAGE, {
    workflowId: outboundWorkflowId(messageId),
    taskQueue: TASK_QUEUE,
    args: [input],
    workflowExecutionTimeout: '100 days',
  });
  assert.equal(attemptedAtMs.length, 1);
  const lateMs = (attemptedAtMs[0] ?? 0) - sendAt.getTime();
  assert.ok(lateMs >= 0 && lateMs < 60_000, `sent ${lateMs} ms after its time`);
  assert.equal((await findRecipients(services.db, messageId))[0]?.status, 'captured');
  // Two days of attempts begin with the release, not with the submission.
  const message = await findOutbound(services.db, messageId);
  assert.ok((message?.giveUpAt?.getTime() ?? 0) > sendAt.getTime() + DAY_MS);
});

test('an undecided held message is denied by the system after seven days, not before', async () => {
  const { services, organizationId } = world;
  const mailbox = await world.createMailbox('hopeful');
  await services.db.query(`update organizations set settings = '{}' where id = $1`, [organizationId]);
  const bytes = Buffer.from(`From: ${mailbox.address}\r\nTo: ben@example.com\r\nSubject: May I\r\n\r\nx\r\n`);
  // The server's clock has run ahead in the test before.
  const heldAtMs = await onServerTime();
  const submitted = await submitMessage(
    { ...services, now: () => Date.now() + aheadMs },
    {
      organizationId,
      mailboxId: mailbox.id,
      prepared: prepareMessage(bytes, mailbox.address, new Date()),
      recipients: ['ben@example.com'],
      via: 'smtp',
      actor: SYSTEM_ACTOR,
      labels: [],
      clientId: null,
    },
  );
  assert.equal(submitted.status, 'consent_pending');
  const [attempts, looks] = [attemptedAtMs.length, lookedAtMs.length];
  const input: OutboundInput = { messageId: submitted.messageId };
  await environment.client.workflow.execute(OUTBOUND_MESSAGE, {
    workflowId: outboundWorkflowId(submitted.messageId),
    taskQueue: TASK_QUEUE,
    args: [input],
    workflowExecutionTimeout: '100 days',
  });
  assert.equal(attemptedAtMs.length, attempts, 'nothing was attempted');
  assert.equal(
    lookedAtMs.length,
    looks + 3,
    'one look when it began, one for the reminder, one when the time was over',
  );
  const remindedDays = ((lookedAtMs.at(-2) ?? 0) - heldAtMs) / DAY_MS;
  const reminderDays = CONSENT_EXPIRES_DAYS_DEFAULT - 1;
  assert.ok(remindedDays > reminderDays - 0.01 && remindedDays < reminderDays + 0.01, `reminded after ${remindedDays}`);
  const waitedDays = ((lookedAtMs.at(-1) ?? 0) - heldAtMs) / DAY_MS;
  assert.ok(waitedDays > CONSENT_EXPIRES_DAYS_DEFAULT - 0.01 && waitedDays < CONSENT_EXPIRES_DAYS_DEFAULT + 0.01);
  const [recipient] = await findRecipients(services.db, submitted.messageId);
  assert.deepEqual([recipient?.status, recipient?.reply], ['denied', 'consent_expired']);
  const rows = await services.db.query<{ type: string; payload: string }>(
    `select type, payload from events where mailbox_id = $1 order by id`,
    [mailbox.id],
  );
  const events = rows.map(({ type, payload }) => `${type} by ${JSON.parse(payload).actor.type}`);
  assert.deepEqual(events.toSorted(), [
    'email_blocked by system',
    'outbound_consent_denied by system',
    'outbound_consent_requested by system',
  ]);
  const [consent] = await services.db.query<{ status: string; reason: string }>(
    `select status, reason from consent where id = $1`,
    [submitted.consentId],
  );
  assert.deepEqual(consent, { status: 'denied', reason: 'expired' });
});
