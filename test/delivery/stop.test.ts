import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { recordEvents } from '#core/events/record-event.ts';
import { newId } from '#core/platform/new-id.ts';
import { signalStop } from '#core/webhooks/endpoints/stop-deliveries.ts';
import {
  ENDPOINT_DELIVERY,
  type EndpointDeliveryInput,
  type EndpointDeliveryState,
  EVENT_FAN_OUT,
  endpointDeliveryId,
  type FanOutInput,
  type StopReason,
} from '#domain/webhooks/delivery-workflows.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import {
  type DeliveryState,
  type DeliveryWorld,
  deliveryWorld,
  waitsForRetry,
  withoutLeases,
} from '#test/support/delivery-world.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { waitUntil } from '#test/support/wait-until.ts';

/** Waits long enough that only a signal can end them within the test. */
const LONG_LADDER_MS = '3600000,3600000,3600000,3600000';

let world: DeliveryWorld;
let receiver: Receiver;
before(async () => {
  [world, receiver] = await Promise.all([deliveryWorld({ WEBHOOK_RETRY_DELAYS_MS: LONG_LADDER_MS }), startReceiver()]);
});
after(async () => {
  await world?.close();
  await receiver?.close();
});
afterEach(() => receiver.answer(200));

const isFinal = ({ status }: { status: string }) => status === 'success' || status === 'exhausted';

/** A delivery whose first attempt failed and whose workflow waits for the second. */
async function waiting() {
  receiver.answer(500);
  const organization = await world.organization('team');
  const mailbox = await world.mailbox(organization);
  const endpoint = await world.endpoint(organization, { url: receiver.url, mailboxId: mailbox.id });
  await world.happen({ organization, mailbox });
  const delivery = await world.delivery(endpoint.id, waitsForRetry);
  await waitUntil('its workflow to wait', async () => {
    const handle = world.temporal.client.workflow.getHandle(delivery.workflowId ?? '');
    const state = await handle.query<EndpointDeliveryState>('state').catch(() => undefined);
    return state?.phase === 'waiting' && state.waiting.length === 1;
  });
  return { organization, mailbox, endpoint, delivery };
}

async function assertStopped(delivery: DeliveryState, reason: string): Promise<void> {
  const stopped = await world.delivery(delivery.endpointId, isFinal);
  assert.equal(stopped.status, 'exhausted');
  assert.equal(stopped.reason, reason);
  assert.equal(stopped.attemptCount, 1);
  await world.temporal.client.workflow.getHandle(stopped.workflowId ?? '').result();
  assert.equal(receiver.of(delivery.id).length, 1, 'no request is sent');
}

const cases: {
  change: string;
  statement: string;
  of: 'endpoint' | 'organization' | 'mailbox';
  signal: StopReason;
  reason: string;
}[] = [
  {
    change: 'deactivation of the endpoint',
    statement: 'update webhook_endpoints set active = false where id = $1',
    of: 'endpoint',
    signal: 'endpoint_inactive',
    reason: 'endpoint_inactive',
  },
  {
    change: 'deletion of the endpoint',
    statement: 'update webhook_endpoints set deleted_at = now() where id = $1',
    of: 'endpoint',
    signal: 'endpoint_deleted',
    reason: 'endpoint_deleted',
  },
  {
    change: 'a downgrade to a plan without webhooks',
    statement: `update organizations set plan = 'free' where id = $1`,
    of: 'organization',
    signal: 'plan_downgraded',
    reason: 'plan_downgraded',
  },
  {
    change: 'deletion of the mailbox',
    statement: `with m as (update mailboxes set deleted_at = now(), status = 'deleting' where id = $1 returning id)
                update webhook_endpoints e set deleted_at = now() from m where e.mailbox_id = m.id`,
    of: 'mailbox',
    signal: 'mailbox_deleted',
    reason: 'mailbox_deleted',
  },
];
for (const { change, statement, of, signal, reason } of cases)
  test(`${change} ends a wait at once, with its reason and no request`, async () => {
    const rows = await waiting();
    await world.sql(statement, [rows[of].id]);
    const target =
      of === 'organization' ? { organizationId: rows.organization.id } : { endpointIds: [rows.endpoint.id] };
    assert.equal(await signalStop(world.services, world.temporal, target, signal), 1);
    await assertStopped(rows.delivery, reason);
  });

test('a stop signal without a reason in the rows changes nothing: the wait continues', async () => {
  const { delivery, endpoint } = await waiting();
  await signalStop(world.services, world.temporal, { endpointIds: [endpoint.id] }, 'endpoint_inactive');
  const handle = world.temporal.client.workflow.getHandle(delivery.workflowId ?? '');
  await waitUntil('the workflow to wait again', async () => {
    const { phase, stopReason } = await handle.query<EndpointDeliveryState>('state');
    return phase === 'waiting' && stopReason === null;
  });
  const [row] = await world.deliveries(endpoint.id);
  assert.equal(row?.status, 'failed');
  assert.equal(receiver.of(delivery.id).length, 1);
});

test('an endpoint that is inactive before the first attempt gets no request', async () => {
  const organization = await world.organization();
  const endpoint = await world.endpoint(organization, { url: receiver.url });
  await world.services.db.transaction(async (sql) => {
    await recordEvents(withoutLeases(sql), [
      { type: 'email_received', organization, mailbox: null, actor: SYSTEM_ACTOR, data: {} },
    ]);
    await sql.query('update webhook_endpoints set active = false where id = $1', [endpoint.id]);
  });
  world.services.deliveriesDue.wake();
  const delivery = await world.delivery(endpoint.id, isFinal);
  assert.equal(delivery.reason, 'endpoint_inactive');
  assert.equal(delivery.attemptCount, 0);
  assert.equal(receiver.of(delivery.id).length, 0);
});

test('an endpoint set inactive while an attempt is being reserved gets no request', async () => {
  const { delivery, endpoint } = await waiting();
  await world.sql(`
    create function wait_for_test() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(1);
      return new;
    end $$`);
  await world.sql(`
    create trigger wait_for_test before update on deliveries for each row
      when (new.id = '${delivery.id}' and new.attempt_count > old.attempt_count) execute function wait_for_test()`);
  await world.services.db.transaction(async (sql) => {
    await sql.query('select pg_advisory_xact_lock(1)');
    const handle = world.temporal.client.workflow.getHandle(delivery.workflowId ?? '');
    await handle.signal('attemptNow', { deliveryId: delivery.id });
    await waitUntil('the statement to have read the endpoint', async () => {
      const locks = await world.sql(
        `select 1 from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
          where l.locktype = 'advisory' and not l.granted`,
      );
      return locks.length > 0;
    });
    await world.sql('update webhook_endpoints set active = false where id = $1', [endpoint.id]);
  });
  await assertStopped(delivery, 'endpoint_inactive');
});

test('an upgrade resumes new events only', async () => {
  const { organization, endpoint, delivery } = await waiting();
  await world.sql(`update organizations set plan = 'free' where id = $1`, [organization.id]);
  await signalStop(world.services, world.temporal, { organizationId: organization.id }, 'plan_downgraded');
  await assertStopped(delivery, 'plan_downgraded');
  await world.happen({ organization });
  await world.sql(`update organizations set plan = 'team' where id = $1`, [organization.id]);
  receiver.answer(200);
  const other = await world.endpoint(organization, { url: receiver.url });
  await world.happen({ organization });
  await world.delivery(other.id, ({ status }) => status === 'success');
  assert.equal((await world.deliveries(endpoint.id)).length, 1);
});

test('a resend of a waiting delivery ends its wait and attempts now', async () => {
  const { delivery } = await waiting();
  receiver.answer(200);
  await world.temporal.client.workflow
    .getHandle(delivery.workflowId ?? '')
    .signal('attemptNow', { deliveryId: delivery.id });
  const done = await world.delivery(delivery.endpointId, isFinal);
  assert.equal(done.status, 'success');
  assert.equal(done.attemptCount, 2);
  assert.equal((await world.attempts(delivery.id))[1]?.trigger, 'manual');
});

test('a fan-out completes although the workflow of its endpoint runs already', async () => {
  receiver.answer(500);
  const organization = await world.organization();
  const endpoint = await world.endpoint(organization, { url: receiver.url });
  const { client, taskQueue } = world.temporal;
  const fanOutId = newId('event').replace('evt_', 'fan-out/');
  const workflowId = endpointDeliveryId(endpoint.id, fanOutId);
  const input: EndpointDeliveryInput = {
    endpointId: endpoint.id,
    deliveries: [{ id: newId('delivery'), dueAtMs: Date.now() + 3_600_000 }],
    ladderMs: [3_600_000],
  };
  const earlier = await client.workflow.start(ENDPOINT_DELIVERY, { workflowId, taskQueue, args: [input] });
  await world.services.db.transaction((sql) =>
    recordEvents(withoutLeases(sql), [
      { type: 'email_received', organization, mailbox: null, actor: SYSTEM_ACTOR, data: {} },
    ]),
  );
  const [delivery] = await world.sql(
    `update deliveries set fan_out_id = $1, workflow_id = $1 where endpoint_id = $2 returning id`,
    [fanOutId, endpoint.id],
  );
  const fanOut: FanOutInput = { deliveryIds: [String(delivery?.['id'])], ladderMs: [3_600_000] };
  const result = await client.workflow.execute(EVENT_FAN_OUT, { workflowId: fanOutId, taskQueue, args: [fanOut] });
  assert.deepEqual(result, { settled: 0, waiting: 1 });
  await earlier.terminate();
});
