/** What several replicas share, and what must not block them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { type NewEvent, recordEvents } from '#core/events/record-event.ts';
import { engineStarts } from '#core/platform/engine/engine-starts.ts';
import { newId } from '#core/platform/new-id.ts';
import { startDeliverySweep } from '#core/webhooks/dispatcher/sweep-deliveries.ts';
import { takeOverdueWorkflows } from '#db/queries/deliveries/delivery-workflows.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { type DeliveryWorld, deliveryWorld, rowsOf, waitsForRetry } from '#test/support/delivery-world.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { openTestServices, testLog } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: DeliveryWorld;
let receiver: Receiver;
before(async () => {
  [world, receiver] = await Promise.all([
    deliveryWorld({ WEBHOOK_RETRY_DELAYS_MS: '3600000,3600000,3600000,3600000' }),
    startReceiver(),
  ]);
});
after(async () => {
  await world?.close();
  await receiver?.close();
});

test('replicas share a round of the sweep: each overdue workflow is taken by one of them', async () => {
  const services = await openTestServices();
  try {
    const rows = rowsOf(services);
    const organization = await rows.organization();
    await rows.endpoint(organization, { url: receiver.url });
    for (let i = 0; i < 20; i++) await rows.happen({ organization });
    await services.db.query(`update deliveries set fan_out_id = 'fan-out/' || id, workflow_id = 'fan-out/' || id`);
    const pace = { limit: 3, portionMs: 0, roundMs: 60_000 };
    const before = new Date(Date.now() + 1_000);
    const taken: string[] = [];
    const replica = async () => {
      for (let looks = 0; looks < 100; looks++) {
        const portion = await takeOverdueWorkflows(services.db, before, pace);
        taken.push(...(portion ?? []).map(({ workflowId }) => workflowId));
      }
    };
    await Promise.all([replica(), replica(), replica()]);
    assert.equal(taken.length, 20);
    assert.equal(new Set(taken).size, 20);
    const plan = await services.db.transaction(async (sql) => {
      await sql.query('set local enable_seqscan = off');
      return sql.query(
        `explain select id from deliveries where status in ('pending', 'failed') and fan_out_id is not null
            and workflow_id collate "C" = 'x'`,
      );
    });
    assert.match(JSON.stringify(plan), /workflow_id/);
    assert.doesNotMatch(JSON.stringify(plan), /Seq Scan/);
  } finally {
    await services.close();
  }
});

test('a workflow that is started again has the search attributes and the summary of its first start', async () => {
  receiver.answer(500);
  const organization = await world.organization();
  const endpoint = await world.endpoint(organization, { url: receiver.url });
  await world.happen({ organization });
  const delivery = await world.delivery(endpoint.id, waitsForRetry);
  const handle = world.temporal.client.workflow.getHandle(delivery.workflowId ?? '');
  const described = async () => {
    const { typedSearchAttributes, staticSummary, status } = await handle.describe();
    const pairs = typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value] as const);
    return { attributes: new Map(pairs), summary: await staticSummary(), status: status.name };
  };
  const first = await waitUntil('its workflow', () => described().catch(() => undefined));
  await handle.terminate('forgotten');
  await world.sql(`update deliveries set next_attempt_at = now() where id = $1`, [delivery.id]);
  await world.sql(`update sweeps set next_at = now()`);
  const starts = engineStarts(testLog());
  const sweep = startDeliverySweep(world.services, world.temporal, starts);
  try {
    const again = await waitUntil('it to be started again', async () => {
      const now = await described();
      return now.status === 'RUNNING' && now;
    });
    assert.equal(again.summary, first.summary);
    for (const [name, value] of first.attributes) assert.deepEqual(again.attributes.get(name), value, name);
    assert.deepEqual(again.attributes.get('DeliveryIds'), [delivery.id]);
  } finally {
    await sweep.close();
    await starts.close();
    await handle.terminate();
    receiver.answer(200);
  }
});

test('the rows of a deleted organization do not keep others from being delivered, and end', async () => {
  receiver.answer(200);
  const gone = await world.organization();
  const goneEndpoint = await world.endpoint(gone, { url: receiver.url });
  const here = await world.organization();
  const endpoint = await world.endpoint(here, { url: receiver.url });
  const event = (organization: NewEvent['organization']): NewEvent => ({
    type: 'email_received',
    organization,
    mailbox: null,
    actor: SYSTEM_ACTOR,
    data: {},
  });
  await world.services.db.transaction(async (sql) => {
    await recordEvents(
      sql,
      Array.from({ length: 600 }, () => event(gone)),
    );
    await sql.query(`delete from organizations where id = $1`, [gone.id]);
    await recordEvents(sql, [event(here)]);
  });
  world.services.deliveriesDue.wake();
  await world.delivery(endpoint.id, ({ status }) => status === 'success');
  await waitUntil('the others to end', async () =>
    (await world.deliveries(goneEndpoint.id)).every(({ reason }) => reason === 'endpoint_deleted'),
  );
});

test('an endpoint that is added while an event is recorded rolls nothing back', async () => {
  const organization = await world.organization();
  for (let i = 0; i < 5; i++) await world.endpoint(organization, { url: receiver.url });
  const client = new pg.Client({ connectionString: world.services.settings.DATABASE_URL });
  await client.connect();
  try {
    let statements = 0;
    const recorded = await world.services.db.transaction((sql) =>
      recordEvents(
        {
          async query(text, values) {
            // Between the statements somebody else's transaction commits further endpoints.
            if (statements++ === 1)
              await client.query(
                `insert into webhook_endpoints (id, organization_id, url, event_types, secret_sealed, secret_prefix)
                 select unnest($1::text[]), organization_id, url, event_types, secret_sealed, secret_prefix
                   from webhook_endpoints where organization_id = $2 limit 1`,
                [[newId('webhookEndpoint')], organization.id],
              );
            return sql.query(text, values);
          },
        },
        Array.from({ length: 3 }, () => ({
          type: 'email_received' as const,
          organization,
          mailbox: null,
          actor: SYSTEM_ACTOR,
          data: {},
        })),
      ),
    );
    assert.ok(recorded === 15 || recorded === 18, String(recorded));
    const rows = await world.sql(
      `select event_id, count(*)::int as count, count(distinct endpoint_id)::int as endpoints from deliveries
        where organization_id = $1 group by event_id`,
      [organization.id],
    );
    assert.equal(rows.length, 3);
    for (const { count, endpoints } of rows) assert.equal(count, endpoints);
  } finally {
    await client.end();
  }
});
