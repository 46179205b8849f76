/** Deliveries that a process without a lane leases to the lane of another one: what is written, and what gets lost. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, afterEach, before, test } from 'node:test';
import { type NewEvent, recordEvents } from '#core/events/record-event.ts';
import { openLanesElsewhere } from '#core/platform/process/lanes-elsewhere.ts';
import { openServices, type Services } from '#core/platform/process/services.ts';
import type { LeasingLane } from '#db/direct-lease.ts';
import { endLane } from '#db/queries/deliveries/lane-life.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { type DeliveryState, type DeliveryWorld, deliveryWorld } from '#test/support/delivery-world.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { testLog } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';

/** The world has the worker; `api` is a process beside it. */
let world: DeliveryWorld;
let api: Services;
let receiver: Receiver;
let lane: string;
before(async () => {
  [world, receiver] = await Promise.all([
    deliveryWorld({ WEBHOOK_FAST_LANE: 'on', WEBHOOK_RETRY_DELAYS_MS: '600000,600000,600000,600000' }),
    startReceiver(),
  ]);
  api = await openServices(world.services.settings, testLog());
  const rows = await waitUntil('the lane to offer room', async () => {
    const found = await world.sql('select id from delivery_lanes where offer is not null');
    return found.length === 1 && found;
  });
  lane = String(rows[0]?.['id']);
});
after(async () => {
  await api?.close();
  await world?.close();
  await receiver?.close();
});
afterEach(() => receiver.answer(200));

const isSuccess = ({ status }: DeliveryState) => status === 'success';
const eventOf = (organization: NewEvent['organization']): NewEvent => ({
  type: 'email_received',
  organization,
  mailbox: null,
  actor: SYSTEM_ACTOR,
  data: {},
});

async function oneEndpoint() {
  const organization = await world.organization();
  const endpoint = await world.endpoint(organization, { url: receiver.url });
  return { organization, endpoint };
}

/** Records an event in the api process. @returns deliveries that wait for a claim */
async function happenInApi(organization: NewEvent['organization'], events = 1): Promise<number> {
  const all = Array.from({ length: events }, () => eventOf(organization));
  const waiting = await api.db.transaction((sql) => recordEvents(sql, all));
  if (waiting > 0) api.deliveriesDue.wake();
  return waiting;
}

/** What the process knows of lanes is read once a second. */
const leasesElsewhere = () =>
  waitUntil('the api process to know the lane', async () => {
    const { organization } = await oneEndpoint();
    return (await happenInApi(organization)) === 0;
  });

const statusOf = (workflowId: string | null) =>
  world.temporal.client.workflow
    .getHandle(workflowId ?? '')
    .describe()
    .then(({ status }) => status.name)
    .catch(() => 'unknown');

test('a delivery of another process is written twice: when it is recorded, and by its result', async () => {
  const { organization, endpoint } = await oneEndpoint();
  await world.sql('create table written (op text, id text, lease uuid)');
  await world.sql(`
    create function note_write() returns trigger language plpgsql as $$
    begin insert into written values (tg_op, new.id, new.lease); return null; end $$`);
  await world.sql(
    'create trigger note_write after insert or update on deliveries for each row execute function note_write()',
  );
  try {
    await leasesElsewhere();
    assert.equal(await happenInApi(organization), 0);
    const { id, attemptCount, fanOutId, workflowId } = await world.delivery(endpoint.id, isSuccess);
    assert.deepEqual([attemptCount, workflowId], [1, fanOutId]);
    await waitUntil('its fan-out to end', async () => (await statusOf(fanOutId)) === 'COMPLETED');
    const written = await world.sql('select op, lease from written where id = $1 order by op', [id]);
    assert.deepEqual(
      written.map(({ op }) => op),
      ['INSERT', 'UPDATE'],
    );
    assert.equal(written[0]?.['lease'], lane);
    assert.equal(receiver.of(id).length, 1);
  } finally {
    await world.sql('drop function note_write cascade');
    await world.sql('drop table written');
  }
});

test('more deliveries than one message of NOTIFY can name arrive, each once', async () => {
  const { organization, endpoint } = await oneEndpoint();
  await leasesElsewhere();
  assert.equal(await happenInApi(organization, 240), 0);
  const all = await waitUntil('all to be acknowledged', async () => {
    const deliveries = await world.deliveries(endpoint.id);
    return deliveries.length === 240 && deliveries.every(isSuccess) && deliveries;
  });
  for (const { id } of all) assert.equal(receiver.of(id).length, 1);
  assert.deepEqual(
    all.filter(({ attemptCount }) => attemptCount > 2),
    [],
  );
  assert.ok((await happenInApi(organization, 240)) === 0 || (await happenInApi(organization, 240)) === 240);
});

test('a transaction that is rolled back sends nothing', async () => {
  const { organization, endpoint } = await oneEndpoint();
  await leasesElsewhere();
  await assert.rejects(
    api.db.transaction(async (sql) => {
      assert.equal(await recordEvents(sql, [eventOf(organization)]), 0);
      throw new Error('roll back');
    }),
    /roll back/,
  );
  const later = await oneEndpoint();
  await happenInApi(later.organization);
  await world.delivery(later.endpoint.id, isSuccess);
  assert.equal(receiver.requests.filter(({ body }) => body.includes(organization.id)).length, 0);
  assert.deepEqual(await world.deliveries(endpoint.id), []);
});

test('a failed first attempt of another process is carried on by the fan-out that its row names', async () => {
  receiver.answer(500);
  const { organization, endpoint } = await oneEndpoint();
  await leasesElsewhere();
  assert.equal(await happenInApi(organization), 0);
  const failed = await world.delivery(endpoint.id, ({ workflowId, fanOutId }) => workflowId !== fanOutId, 30_000);
  assert.deepEqual(
    [failed.status, failed.attemptCount, failed.workflowId],
    ['failed', 1, `delivery/${endpoint.id}/${failed.fanOutId}`],
  );
  await waitUntil('its retries to wait', async () => (await statusOf(failed.workflowId)) === 'RUNNING');
});

/** Records events while a process leases only by what `handOver` says. */
async function leasingBy(
  handOver: (lane: string) => void,
  during: () => Promise<unknown>,
  ready: () => Promise<unknown> = async () => {},
): Promise<void> {
  const { lanes } = api.db;
  const living = [...lanes];
  lanes.clear();
  const elsewhere = openLanesElsewhere(api.db, { handOver });
  try {
    await ready();
    await during();
  } finally {
    elsewhere.close();
    for (const each of living) lanes.add(each);
  }
}

test('what a lane is not told, it finds by itself, under the same number', async () => {
  const { organization, endpoint } = await oneEndpoint();
  await leasingBy(
    () => {},
    () =>
      waitUntil('a lease elsewhere', () =>
        api.db
          .transaction(async (sql) => {
            if ((await recordEvents(sql, [eventOf(organization)])) > 0) throw new Error('not yet');
            return true;
          })
          .catch(() => false),
      ),
  );
  const done = await world.delivery(endpoint.id, isSuccess, 10_000);
  assert.equal(done.attemptCount, 1);
  assert.equal(receiver.of(done.id).length, 1);
});

/** A lease to a lane, as a process writes it that knows it by its last sign. */
async function leasedTo(dead: string) {
  const { organization, endpoint } = await oneEndpoint();
  const living = [...api.db.lanes];
  api.db.lanes.clear();
  const knowing: LeasingLane = {
    open: () => ({
      lane: dead,
      reservation: randomUUID(),
      fanOutId: null,
      passedOver: { endpointIds: [], organizationIds: [] },
      wrote: () => {},
      ended: () => {},
    }),
  };
  api.db.lanes.add(knowing);
  try {
    assert.equal(await happenInApi(organization), 0);
  } finally {
    api.db.lanes.clear();
    for (const each of living) api.db.lanes.add(each);
  }
  return endpoint;
}

for (const { how, end } of [
  { how: 'was killed', end: async () => {} },
  { how: 'was shut down', end: (id: string) => endLane(world.services.db, id) },
])
  test(`what was leased to a lane that ${how} is taken over`, async () => {
    const dead = randomUUID();
    await world.sql(`insert into delivery_lanes (id, offer) values ($1, '{}')`, [dead]);
    await end(dead);
    const endpoint = await leasedTo(dead);
    const done = await world.delivery(endpoint.id, isSuccess, 10_000);
    assert.equal(done.attemptCount, 2, 'the lane may have sent the first one');
    assert.equal(receiver.of(done.id).length, 1);
    await world.sql(`delete from delivery_lanes where id = $1`, [dead]);
  });

test('nothing is leased to lanes of an older version, to dead ones, and to those without room', async () => {
  const { organization } = await oneEndpoint();
  const others = [randomUUID(), randomUUID(), randomUUID()];
  const offer = (room: number) =>
    JSON.stringify({ room, fanOutId: null, passedOver: { endpointIds: [], organizationIds: [] } });
  await world.sql(
    `insert into delivery_lanes (id, seen_at, offer)
     values ($1, now() + interval '1 hour', null), ($2, now() - interval '2 s', $4), ($3, now(), $5)`,
    [...others, offer(100), offer(0)],
  );
  try {
    await leasesElsewhere();
    for (let i = 0; i < 10; i++) await happenInApi(organization);
    const leased = await world.sql('select count(*)::int as count from deliveries where lease = any($1)', [others]);
    assert.equal(leased[0]?.['count'], 0);
  } finally {
    await world.sql('delete from delivery_lanes where id = any($1)', [others]);
  }
});
