/**
 * Records the histories that `replay.test.ts` replays, by really running each workflow through its states. To be run
 * when the commands of a workflow change (then with a version or patch, and beside the old histories):
 *
 *   npm test -- test/workflows/record-histories.ts
 */
import { writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { mailboxTarget } from '#administration/erasure/erase.ts';
import { eraseInBackground } from '#administration/erasure/erase-in-background.ts';
import { requireMailbox } from '#administration/moving/find-mailbox.ts';
import { beginExport, startMove } from '#administration/moving/moves.ts';
import { createMailbox } from '#core/mailboxes/create-mailbox.ts';
import { sendNotices } from '#core/organizations/member-notices.ts';
import { newId } from '#core/platform/new-id.ts';
import { startEndpointDelivery } from '#core/webhooks/dispatcher/start-deliveries.ts';
import { moveRecovery, startRecovery } from '#core/webhooks/endpoints/recover-deliveries.ts';
import { signalStop } from '#core/webhooks/endpoints/stop-deliveries.ts';
import { erasureWorkflowId } from '#domain/erasure-workflow.ts';
import { moveWorkflowId } from '#domain/mailbox-moves.ts';
import { memberNoticeWorkflowId } from '#domain/organizations/member-notices.ts';
import {
  ATTEMPT_NOW_SIGNAL,
  DELETE_HISTORY,
  endpointDeliveryId,
  STOP_DELIVERIES_SIGNAL,
} from '#domain/webhooks/delivery-workflows.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { recoveryWorkflowId } from '#domain/webhooks/recovery.ts';
import { type DeliveryState, type DeliveryWorld, deliveryWorld, waitsForRetry } from '#test/support/delivery-world.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: DeliveryWorld;
let receiver: Receiver;
before(async () => {
  // Long enough a first wait for a signal to come in between; timers of the engine have a resolution of a second.
  [world, receiver] = await Promise.all([
    deliveryWorld({ WEBHOOK_RETRY_DELAYS_MS: '3000,50,50,50', OUTBOUND_RETRY_DELAYS_MS: '2000' }),
    startReceiver(),
  ]);
});
after(async () => {
  await world?.close();
  await receiver?.close();
});

async function save(name: string, workflowId: string | null): Promise<void> {
  const handle = world.temporal.client.workflow.getHandle(workflowId ?? '');
  await handle.result();
  const history = historyToJSON(await handle.fetchHistory());
  writeFileSync(new URL(`../histories/${name}.json`, import.meta.url), `${history}\n`);
}

const isFinal = ({ status }: DeliveryState) => status === 'success' || status === 'exhausted';

async function delivery(answers: readonly number[], during?: (delivery: DeliveryState) => Promise<unknown>) {
  receiver.answer(...answers);
  const organization = await world.organization('team');
  const endpoint = await world.endpoint(organization, { url: receiver.url });
  await world.happen({ organization });
  if (during !== undefined) await during(await world.delivery(endpoint.id, waitsForRetry));
  return world.delivery(endpoint.id, isFinal);
}

test('fan-out, acknowledged', async () => save('event-fan-out.acknowledged', (await delivery([200])).fanOutId));

test('fan-out with an endpoint in trouble; success at the third attempt', async () => {
  const { fanOutId, workflowId } = await delivery([500, 500, 200]);
  await save('event-fan-out.unacknowledged', fanOutId);
  await save('endpoint-delivery.third-attempt', workflowId);
});

test('exhausted', async () => save('endpoint-delivery.exhausted', (await delivery([500])).workflowId));

test('stopped while waiting', async () => {
  const { workflowId } = await delivery([500], async ({ endpointId }) => {
    await world.sql('update webhook_endpoints set active = false where id = $1', [endpointId]);
    await signalStop(world.services, world.temporal, { endpointIds: [endpointId] }, 'endpoint_inactive');
  });
  await save('endpoint-delivery.stopped', workflowId);
});

test('resent while waiting', async () => {
  const { workflowId } = await delivery([500, 200], async ({ id, workflowId: waits }) => {
    const handle = world.temporal.client.workflow.getHandle(waits ?? '');
    await waitUntil('the workflow to be there', () => handle.describe().catch(() => undefined));
    await handle.signal(ATTEMPT_NOW_SIGNAL, { deliveryId: id });
  });
  await save('endpoint-delivery.resent', workflowId);
});

test('handed over to a workflow that the sweep has started', async () => {
  const held: (() => void)[] = [];
  receiver.answer((response) => held.push(() => response.writeHead(500).end()));
  const organization = await world.organization('team');
  const endpoint = await world.endpoint(organization, { url: receiver.url });
  await world.happen({ organization });
  const { fanOutId, ...first } = await world.delivery(endpoint.id, ({ fanOutId }) => fanOutId !== null);
  await waitUntil('the request', () => held.length === 1);
  const workflowId = endpointDeliveryId(endpoint.id, fanOutId ?? '');
  const swept = { ...first, id: newId('delivery'), organizationId: organization.id, mailboxId: null };
  const due = { ...swept, eventType: 'email_received', dueAtMs: Date.now() + 60_000 };
  const ladderMs = [3_000, 50, 50, 50];
  await startEndpointDelivery(world.temporal, { workflowId, endpointId: endpoint.id, deliveries: [due], ladderMs });
  receiver.answer(200);
  for (const letGo of held) letGo();
  await save('event-fan-out.handed-over', fanOutId);
  await world.delivery(endpoint.id, isFinal);
  await world.temporal.client.workflow.getHandle(workflowId).signal(STOP_DELIVERIES_SIGNAL, {
    reason: 'endpoint_inactive',
  });
  await save('endpoint-delivery.carries-more', workflowId);
});

test('retention', async () => {
  const { client, taskQueue } = world.temporal;
  await client.workflow.execute(DELETE_HISTORY, { workflowId: 'delete-history', taskQueue });
  await save('delete-history.with-mail-retention', 'delete-history');
});

test('recovery: completed, and paused then resumed', async () => {
  const caller = { actor: SYSTEM_ACTOR, ipAddress: null, requestId: null };
  for (const name of ['completed', 'resumed'] as const) {
    receiver.answer(200);
    const organization = await world.organization('team');
    const endpoint = await world.endpoint(organization, { url: receiver.url });
    for (let i = 0; i < 8; i++) await world.happen({ organization });
    await waitUntil('deliveries', async () => (await world.deliveries(endpoint.id)).filter(isFinal).length === 8);
    await world.sql(
      `update deliveries set status = 'exhausted', reason = 'attempts_exhausted' where endpoint_id = $1`,
      [endpoint.id],
    );
    const held: (() => void)[] = [];
    if (name === 'resumed') receiver.answer((response) => held.push(() => response.end()));
    const of = { organizationId: organization.id, endpointId: endpoint.id };
    const range = { since: new Date(Date.now() - 3_600_000) };
    const active = { ...organization, plan: 'team' as const };
    const { id } = await startRecovery(world.services, world.temporal, active, endpoint.id, caller, range);
    const workflowId = recoveryWorkflowId(endpoint.id, id);
    if (name === 'resumed') {
      await waitUntil('requests', () => held.length > 0);
      await moveRecovery(world.services, world.temporal, of, id, caller, 'paused');
      receiver.answer(200);
      for (const letGo of held) letGo();
      const handle = world.temporal.client.workflow.getHandle(workflowId);
      await waitUntil(
        'it to wait',
        async () => (await handle.query<{ state: string } | null>('progress'))?.state === 'paused',
      );
      await moveRecovery(world.services, world.temporal, of, id, caller, 'running');
    }
    await save(`recover-deliveries.${name}`, workflowId);
  }
});

test('a notice that is sent at the second attempt', async () => {
  const organization = { ...(await world.organization('team')), plan: 'team' as const };
  const caller = { actor: SYSTEM_ACTOR, ipAddress: null, requestId: null };
  const { mailbox } = await createMailbox(world.services, organization, caller, {});
  await world.sql(`update mailboxes set status = 'suspended' where id = $1`, [mailbox.id]);
  const notice = { id: newId('notice'), organizationId: organization.id, kind: 'webhook_failing' as const };
  await world.sql(
    `insert into member_notices (id, organization_id, kind, target_id, recipient, subject, body, created_at, due_at)
     values ($1, $2, $3, 'whe_x', $4, 'S', 'B', now(), now())`,
    [notice.id, organization.id, notice.kind, mailbox.address],
  );
  await sendNotices(world.services, world.temporal, [notice]);
  await waitUntil('a first attempt', async () => {
    const [row] = await world.sql(`select attempts, state from member_notices where id = $1`, [notice.id]);
    return row?.['attempts'] === 1 && row['state'] === 'waiting';
  });
  await world.sql(`update mailboxes set status = 'active' where id = $1`, [mailbox.id]);
  await save('member-notice.second-attempt', memberNoticeWorkflowId(notice.id));
});

test('an erasure', async () => {
  const organization = { ...(await world.organization('team')), plan: 'team' as const };
  const caller = { actor: SYSTEM_ACTOR, ipAddress: null, requestId: null };
  const { mailbox } = await createMailbox(world.services, organization, caller, {});
  const target = await mailboxTarget(world.services.db, mailbox.id);
  const { id } = await eraseInBackground(world.services, world.temporal, target);
  await save('erase-content.finished', erasureWorkflowId(id));
});

test('an export of a mailbox', async () => {
  const organization = { ...(await world.organization('team')), plan: 'team' as const };
  const caller = { actor: SYSTEM_ACTOR, ipAddress: null, requestId: null };
  const { mailbox } = await createMailbox(world.services, organization, caller, {});
  const { id } = await beginExport(
    world.services,
    await requireMailbox(world.services.db, mailbox.id),
    'archive',
    caller,
  );
  await startMove(world.services, world.temporal, id);
  await save('move-mailbox.finished', moveWorkflowId(id));
});
