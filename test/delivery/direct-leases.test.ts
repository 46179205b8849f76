/**
 * Deliveries that a lane takes in the statement that records them: what is written, and what happens when the transaction,
 * the lane, the process or the endpoint ends in between.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { after, afterEach, before, test } from 'node:test';
import { type NewEvent, recordEvents } from '#core/events/record-event.ts';
import { newFanOutId } from '#core/webhooks/dispatcher/start-deliveries.ts';
import type { Sql } from '#db/database.ts';
import type { LeasingLane } from '#db/direct-lease.ts';
import type { TransactionEnd } from '#db/transaction-connection.ts';
import { openUnitOfWork } from '#db/unit-of-work.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { type DeliveryState, type DeliveryWorld, deliveryWorld } from '#test/support/delivery-world.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { testWorkflowBundle } from '#test/support/services.ts';
import { temporalConnection } from '#test/support/temporal-connection.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { startWorker } from '#worker/start.ts';

/** No retry comes within a test. */
const LONG_LADDER_MS = '600000,600000,600000,600000';

let world: DeliveryWorld;
let receiver: Receiver;
before(async () => {
  [world, receiver] = await Promise.all([
    deliveryWorld({ WEBHOOK_FAST_LANE: 'on', WEBHOOK_RETRY_DELAYS_MS: LONG_LADDER_MS }),
    startReceiver(),
  ]);
});
after(async () => {
  await world?.close();
  await receiver?.close();
});
afterEach(() => receiver.answer(200));

const isSuccess = ({ status }: DeliveryState) => status === 'success';
const eventOf = (organization: NewEvent['organization'], data: object = {}): NewEvent => ({
  type: 'email_received',
  organization,
  mailbox: null,
  actor: SYSTEM_ACTOR,
  data,
});

async function oneEndpoint() {
  const organization = await world.organization();
  const endpoint = await world.endpoint(organization, { url: receiver.url });
  return { organization, endpoint };
}

/** A lane takes none while it has shown no sign of life for some time, on a busy machine. */
const takesDeliveries = () =>
  waitUntil('a lane that takes deliveries', async () => {
    const { organization } = await oneEndpoint();
    return (await world.happen({ organization })) === 0;
  });

const requestsOf = ({ id }: NewEvent['organization']): number =>
  receiver.requests.filter(({ body }) => body.includes(id)).length;

const statusOf = (workflowId: string | null) =>
  world.temporal.client.workflow
    .getHandle(workflowId ?? '')
    .describe()
    .then(({ status }) => status.name)
    .catch(() => 'unknown');

const fanOutEnded = (fanOutId: string | null) =>
  waitUntil('its fan-out to end', async () => (await statusOf(fanOutId)) === 'COMPLETED');

/** The lease, number and workflow of an endpoint's deliveries, as others see them. */
const leasesOf = (endpointId: string) =>
  world.sql(
    `select lease, attempt_count as number, fan_out_id as "fanOutId" from deliveries where endpoint_id = $1 order by id`,
    [endpointId],
  );

/** Records an event in a transaction that ends when the test wants. */
async function openTransaction(organization: NewEvent['organization']) {
  await takesDeliveries();
  const [recorded, end] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()];
  const ended = world.services.db.transaction(async (sql) => {
    recorded.resolve(await recordEvents(sql, [eventOf(organization)]));
    await end.promise;
  });
  assert.equal(await recorded.promise, 0, 'a lane has it');
  return {
    async commit() {
      end.resolve();
      await ended;
    },
    async fail() {
      end.reject(new Error('roll back'));
      await assert.rejects(ended, /roll back/);
    },
  };
}

test('an acknowledged delivery is written twice: when it is recorded, and by its result', async () => {
  const { organization, endpoint } = await oneEndpoint();
  await world.sql('create table written (op text, id text)');
  await world.sql(`
    create function note_write() returns trigger language plpgsql as $$
    begin insert into written values (tg_op, new.id); return null; end $$`);
  await world.sql(
    'create trigger note_write after insert or update on deliveries for each row execute function note_write()',
  );
  try {
    await takesDeliveries();
    for (let i = 0; i < 5; i++) assert.equal(await world.happen({ organization }), 0);
    const all = await waitUntil('all to be acknowledged', async () => {
      const deliveries = await world.deliveries(endpoint.id);
      return deliveries.length === 5 && deliveries.every(isSuccess) && deliveries;
    });
    for (const { fanOutId, workflowId, attemptCount } of all) {
      assert.deepEqual([attemptCount, workflowId], [1, fanOutId]);
      await fanOutEnded(fanOutId);
    }
    const writes = await world.sql(
      `select id, array_agg(op order by op) as ops from written where id = any($1) group by id`,
      [all.map(({ id }) => id)],
    );
    assert.deepEqual(
      writes.map(({ ops }) => ops),
      Array.from({ length: 5 }, () => ['INSERT', 'UPDATE']),
    );
    for (const { id } of all) assert.equal(receiver.of(id).length, 1);
  } finally {
    await world.sql('drop function note_write cascade');
    await world.sql('drop table written');
  }
});

test('events of several organizations and endpoints in one statement each reach their endpoints once', async () => {
  const [first, second] = [await oneEndpoint(), await oneEndpoint()];
  const beside = await world.endpoint(first.organization, { url: receiver.url, includeExtracts: true });
  const waiting = await world.services.db.transaction((sql) =>
    recordEvents(sql, [
      { ...eventOf(first.organization, { n: 1 }), extracts: { otp: '4711' } },
      eventOf(second.organization, { n: 2, text: 'ü'.repeat(20_000) }),
    ]),
  );
  assert.equal(waiting, 0);
  for (const [endpoint, data] of [
    [first.endpoint, { n: 1 }],
    [beside, { n: 1, extracts: { otp: '4711' } }],
    [second.endpoint, { n: 2, text: 'ü'.repeat(20_000) }],
  ] as const) {
    const { id } = await world.delivery(endpoint.id, isSuccess);
    assert.deepEqual(
      receiver.of(id).map(({ body }) => JSON.parse(body).data),
      [data],
    );
  }
});

test('a transaction that is rolled back sends nothing and starts nothing', async () => {
  const { organization, endpoint } = await oneEndpoint();
  const open = await openTransaction(organization);
  await open.fail();
  const { endpoint: later } = await oneEndpoint().then(async (other) => {
    await world.happen({ organization: other.organization });
    return other;
  });
  const { fanOutId } = await world.delivery(later.id, isSuccess);
  await fanOutEnded(fanOutId);
  assert.equal(requestsOf(organization), 0);
  assert.deepEqual(await world.deliveries(endpoint.id), []);
});

test('a transaction whose connection is lost before its commit sends nothing', async () => {
  const { organization, endpoint } = await oneEndpoint();
  await assert.rejects(
    world.services.db.transaction(async (sql) => {
      await recordEvents(sql, [eventOf(organization)]);
      const [own] = await sql.query<{ pid: number }>('select pg_backend_pid() as pid');
      await world.sql('select pg_terminate_backend($1, 5000)', [own?.pid]);
    }),
  );
  await world.happen({ organization });
  const { id } = await world.delivery(endpoint.id, isSuccess);
  assert.equal(receiver.of(id).length, 1);
  assert.equal(requestsOf(organization), 1);
  assert.equal((await world.deliveries(endpoint.id)).length, 1);
});

test('a part of a request that is rolled back sends nothing, the other parts are sent after its commit', async () => {
  const [failed, kept] = [await oneEndpoint(), await oneEndpoint()];
  const unit = openUnitOfWork(world.services.db, async () => {});
  await assert.rejects(
    unit.db.transaction(async (sql) => {
      await recordEvents(sql, [eventOf(failed.organization)]);
      throw new Error('not this one');
    }),
    /not this one/,
  );
  await unit.db.transaction((sql) => recordEvents(sql, [eventOf(kept.organization)]));
  assert.equal(requestsOf(kept.organization), 0, 'it is not committed');
  await unit.commit();
  const { fanOutId } = await world.delivery(kept.endpoint.id, isSuccess);
  await fanOutEnded(fanOutId);
  assert.deepEqual([requestsOf(failed.organization), requestsOf(kept.organization)], [0, 1]);
  assert.deepEqual(await world.deliveries(failed.endpoint.id), []);
});

/** Lets the lanes of the process hear another end of their transactions, and name no fan-out. */
async function hearing(end: TransactionEnd, during: () => Promise<unknown>): Promise<void> {
  const { lanes } = world.services.db;
  const living = [...lanes];
  lanes.clear();
  for (const lane of living)
    lanes.add({
      open(organizationIds) {
        const lease = lane.open(organizationIds);
        if (lease === undefined) return undefined;
        return { ...lease, fanOutId: null, ended: () => lease.ended(end) };
      },
    });
  try {
    await during();
  } finally {
    lanes.clear();
    for (const each of living) lanes.add(each);
  }
}

test('a commit whose answer was lost: the lane finds its deliveries at once, under the same number', async () => {
  const { organization, endpoint } = await oneEndpoint();
  await takesDeliveries();
  await hearing('unknown', async () => assert.equal(await world.happen({ organization }), 0));
  const done = await world.delivery(endpoint.id, isSuccess, 10_000);
  assert.equal(done.attemptCount, 1, 'no workflow took it for lost');
  assert.equal(receiver.of(done.id).length, 1);
});

test('deliveries of a transaction count for the share of their organization before it ends, and not after a rollback', async () => {
  await takesDeliveries();
  const { organization } = await oneEndpoint();
  const events = (count: number) => Array.from({ length: count }, () => eventOf(organization));
  const end = Promise.withResolvers<void>();
  const filled = Promise.withResolvers<void>();
  const open = world.services.db.transaction(async (sql) => {
    for (let i = 0; i < 10; i++) assert.equal(await recordEvents(sql, events(100)), 0);
    filled.resolve();
    await end.promise;
  });
  await Promise.race([filled.promise, open]);
  const waiting = () =>
    world.services.db
      .transaction(async (sql) => {
        throw new Error(String(await recordEvents(sql, events(1))));
      })
      .catch(({ message }: Error) => message);
  assert.equal(await waiting(), '1', 'its share is used up');
  end.reject(new Error('roll back'));
  await assert.rejects(open, /roll back/);
  await waitUntil('its share to be free', async () => (await waiting()) === '0');
});

/** A lane of a process that dies before it learns of the commit: alive when it takes the delivery. */
async function dyingLane(
  during: (organization: NewEvent['organization']) => Promise<unknown>,
  passesOver: 'all organizations' | 'none' = 'none',
) {
  const { lanes } = world.services.db;
  const living = [...lanes];
  const [lane, fanOutId] = [randomUUID(), newFanOutId(Date.now())];
  const dying: LeasingLane = {
    open: (organizationIds) => ({
      lane,
      reservation: randomUUID(),
      fanOutId,
      passedOver: { endpointIds: [], organizationIds: passesOver === 'none' ? [] : organizationIds },
      wrote: () => {},
      ended: () => {},
    }),
  };
  const { organization, endpoint } = await oneEndpoint();
  await world.sql('insert into delivery_lanes (id) values ($1)', [lane]);
  lanes.clear();
  lanes.add(dying);
  try {
    await during(organization);
  } finally {
    lanes.clear();
    for (const each of living) lanes.add(each);
  }
  return { endpoint, lane, fanOutId };
}

test('a process that dies after the commit: another lane makes the attempt, and starts the fan-out of the row', async () => {
  const { endpoint, lane, fanOutId } = await dyingLane((organization) => world.happen({ organization }));
  assert.deepEqual(await leasesOf(endpoint.id), [{ lease: lane, number: 1, fanOutId }]);
  const done = await world.delivery(endpoint.id, isSuccess);
  assert.deepEqual([done.attemptCount, done.fanOutId, done.workflowId], [2, fanOutId, fanOutId]);
  assert.equal(receiver.of(done.id).length, 1);
  await fanOutEnded(fanOutId);
});

for (const events of [1, 2])
  test(`an organization that the lane passes over has its deliveries claimed: ${events} events`, async () => {
    const { endpoint, lane } = await dyingLane(
      (organization) =>
        world.services.db.transaction(async (sql) => {
          const all = Array.from({ length: events }, () => eventOf(organization));
          assert.equal(await recordEvents(sql, all), events);
        }),
      'all organizations',
    );
    assert.ok((await leasesOf(endpoint.id)).every((row) => row.lease !== lane));
  });

test('a fan-out that was started without a delivery carries it when it is added', async () => {
  receiver.answer(500);
  const { endpoint, fanOutId } = await dyingLane((organization) => world.happen({ organization }));
  // As a sweep might start it, with other deliveries of the same second.
  await world.temporal.client.workflow.start('eventFanOut', {
    workflowId: fanOutId,
    taskQueue: world.temporal.taskQueue,
    args: [{ deliveryIds: ['dlv_of_another_one'], ladderMs: [600_000] }],
  });
  const failed = await world.delivery(endpoint.id, ({ workflowId }) => workflowId !== fanOutId);
  assert.deepEqual([failed.status, failed.workflowId], ['failed', `delivery/${endpoint.id}/${fanOutId}`]);
  await waitUntil('its retries to wait', async () => (await statusOf(failed.workflowId)) === 'RUNNING');
});

test('a delivery whose transaction outlasts its batch is carried when it has ended', async () => {
  receiver.answer(500);
  const [late, early] = [await oneEndpoint(), await oneEndpoint()];
  const open = await openTransaction(late.organization);
  await world.happen({ organization: early.organization });
  const carried = await world.delivery(
    early.endpoint.id,
    ({ workflowId, fanOutId }) => workflowId !== fanOutId,
    30_000,
  );
  await open.commit();
  const failed = await world.delivery(late.endpoint.id, ({ workflowId, fanOutId }) => workflowId !== fanOutId, 30_000);
  assert.equal(failed.status, 'failed');
  assert.equal(failed.workflowId, `delivery/${late.endpoint.id}/${failed.fanOutId}`);
  assert.equal(carried.fanOutId, failed.fanOutId, 'they are of the same batch');
  await waitUntil('its retries to wait', async () => (await statusOf(failed.workflowId)) === 'RUNNING');
});

/** What must stop a delivery that is recorded and not committed yet. */
const stops: readonly { readonly change: string; readonly reason: string }[] = [
  { change: `update webhook_endpoints set active = false where id = $1`, reason: 'endpoint_inactive' },
  {
    change: `update webhook_endpoints set deleted_at = now(), active = false where id = $1`,
    reason: 'endpoint_deleted',
  },
  {
    change: `update organizations set plan = 'free'
              where id = (select organization_id from webhook_endpoints where id = $1)`,
    reason: 'plan_downgraded',
  },
  {
    change: `update organizations set suspended_at = now(), suspended_receive = 'defer'
              where id = (select organization_id from webhook_endpoints where id = $1)`,
    reason: 'organization_suspended',
  },
];
for (const { change, reason } of stops)
  test(`a stop between record and commit wins: ${reason}`, async () => {
    const { organization, endpoint } = await oneEndpoint();
    const open = await openTransaction(organization);
    // Longer than what was read of the endpoint counts as new.
    await world.sql('select pg_sleep(0.05)');
    await world.sql(change, [endpoint.id]);
    await open.commit();
    const ended = await world.delivery(endpoint.id, ({ status }) => status === 'exhausted');
    assert.equal(ended.reason, reason);
    assert.equal(receiver.of(ended.id).length, 0);
  });

test('deliveries to slow endpoints and of suspended organizations are not taken', async () => {
  const [slow, suspended] = [await oneEndpoint(), await oneEndpoint()];
  await world.sql(`update webhook_endpoints set troubled_until = now() + interval '1 hour' where id = $1`, [
    slow.endpoint.id,
  ]);
  await world.sql(`update organizations set suspended_at = now(), suspended_receive = 'defer' where id = $1`, [
    suspended.organization.id,
  ]);
  for (const { organization, endpoint } of [slow, suspended])
    await world.services.db.transaction(async (sql) => {
      assert.equal(await recordEvents(sql, [eventOf(organization)]), 1);
      const [row] = await sql.query('select lease, attempt_count from deliveries where endpoint_id = $1', [
        endpoint.id,
      ]);
      assert.deepEqual(row, { lease: null, attempt_count: 0 });
    });
});

test('an endpoint of which deliveries wait for a claim is passed over until they are claimed', async () => {
  const { organization, endpoint } = await oneEndpoint();
  const held: ServerResponse[] = [];
  receiver.answer((response) => void held.push(response));
  const waitings: number[] = [];
  // More than the share of an organization.
  for (let i = 0; i < 1_100; i += 25)
    waitings.push(
      await world.services.db.transaction((sql) =>
        recordEvents(
          sql,
          Array.from({ length: 25 }, () => eventOf(organization)),
        ),
      ),
    );
  assert.equal(waitings[0], 0);
  const from = waitings.findIndex((waiting) => waiting > 0);
  assert.notEqual(from, -1, 'some are beyond its share');
  assert.ok(
    waitings.slice(from).every((waiting) => waiting === 25),
    `none passes those that wait: ${waitings}`,
  );
  receiver.answer(200);
  world.services.deliveriesDue.wake();
  for (const response of held) response.writeHead(200).end();
  await waitUntil('all to be delivered', async () => (await world.deliveries(endpoint.id)).every(isSuccess), 60_000);
  assert.equal(await world.happen({ organization }), 0, 'it is taken at once again');
  for (const { id } of await world.deliveries(endpoint.id)) assert.equal(receiver.of(id).length <= 1, true);
});

test('a lane that drains takes nothing, and waits for the transactions that it has deliveries of', async () => {
  const { services } = world;
  const living = [...services.db.lanes];
  const connection = await temporalConnection();
  services.db.lanes.clear();
  const worker = await startWorker(services, connection, { bundle: testWorkflowBundle() });
  try {
    const { organization, endpoint } = await oneEndpoint();
    await waitUntil('the lane to take deliveries', () =>
      services.db
        .transaction(async (sql) => {
          const waiting = await recordEvents(sql, [eventOf(organization)]);
          throw new Error(String(waiting));
        })
        .catch((error: Error) => error.message === '0'),
    );
    const open = await openTransaction(organization);
    const closing = worker.close();
    assert.equal(services.db.lanes.size, 0);
    await open.commit();
    await closing;
    for (const lane of living) services.db.lanes.add(lane);
    const done = await world.delivery(endpoint.id, isSuccess);
    assert.equal(done.attemptCount, 1, 'nothing was sent under the number that was given back');
    assert.equal(receiver.of(done.id).length, 1);
  } finally {
    for (const lane of living) services.db.lanes.add(lane);
    await worker.close().catch(() => {});
    await connection.close();
  }
});

test('a statement outside of a transaction takes nothing at once', async () => {
  const { organization, endpoint } = await oneEndpoint();
  const sql: Sql = world.services.db;
  assert.equal(await recordEvents(sql, [eventOf(organization)]), 1);
  world.services.deliveriesDue.wake();
  await world.delivery(endpoint.id, isSuccess);
});
