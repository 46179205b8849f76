/** Every writer of the delivery path meets every infrastructure fault: nothing is blamed on a delivery. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { recordEvents } from '#core/events/record-event.ts';
import { releaseAttempts, reserveAttempts } from '#db/queries/deliveries/attempts.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { databaseFault, INFRASTRUCTURE_SQLSTATES } from '#test/support/database-fault.ts';
import { type DeliveryState, type DeliveryWorld, deliveryWorld, withoutLeases } from '#test/support/delivery-world.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { waitUntil } from '#test/support/wait-until.ts';

/** A short ladder: if the fault consumed attempts, all five would be used up during the fault. */
const LADDER_MS = '50,50,50,50';
const EVENTS = 6;

let world: DeliveryWorld;
let receiver: Receiver;
before(async () => {
  [world, receiver] = await Promise.all([deliveryWorld({ WEBHOOK_RETRY_DELAYS_MS: LADDER_MS }), startReceiver()]);
});
after(async () => {
  await world?.close();
  await receiver?.close();
});

/** What is written, and whether requests may have begun by the time it fails. */
const WRITERS = [
  {
    name: 'a claim',
    on: 'update',
    table: 'deliveries',
    when: 'new.fan_out_id is distinct from old.fan_out_id',
    sent: 0,
    elsewhere: true,
  },
  {
    name: 'a reservation',
    on: 'update',
    table: 'deliveries',
    when: 'new.attempt_count > old.attempt_count',
    sent: 0,
    elsewhere: true,
  },
  { name: 'a result', on: 'insert', table: 'delivery_attempts', sent: EVENTS },
  { name: 'a status', on: 'update', table: 'deliveries', when: 'new.status <> old.status', sent: EVENTS },
  { name: 'the health of an endpoint', on: 'update', table: 'webhook_endpoints', sent: EVENTS },
] as const;

async function endpointWith(answer: number) {
  receiver.answer(answer);
  const organization = await world.organization();
  const endpoint = await world.endpoint(organization, { url: receiver.url });
  return { organization, endpoint };
}

const requestsOf = async (endpointId: string): Promise<number> => {
  const ids = new Set((await world.deliveries(endpointId)).map(({ id }) => id));
  return receiver.requests.filter(({ headers }) => ids.has(String(headers['webhook-id']))).length;
};

/** Whether the engine gave up an activity of these fan-outs because it heard nothing from it, and began it again. */
async function anyTimedOut(rows: readonly DeliveryState[]): Promise<boolean> {
  const fanOuts = new Set(rows.map(({ fanOutId }) => fanOutId ?? ''));
  for (const id of fanOuts) {
    // One that was claimed and is not started yet has had no activity.
    const { events } = (await world.temporal.client.workflow
      .getHandle(id)
      .fetchHistory()
      .catch(() => undefined)) ?? { events: undefined };
    if (events?.some((event) => event.activityTaskStartedEventAttributes?.lastFailure?.timeoutFailureInfo)) return true;
  }
  return false;
}

/** Waits until the fault was met that many times more. */
async function metAgain(hits: () => Promise<number>, more: number): Promise<void> {
  const from = await hits();
  await waitUntil('the fault to be met again', async () => (await hits()) >= from + more, 60_000);
}

for (const writer of WRITERS)
  for (const sqlState of INFRASTRUCTURE_SQLSTATES)
    test(`${writer.name} fails with ${sqlState}: no attempt is lost, nothing is sent twice, all is delivered after it`, async () => {
      const { on, table, sent } = writer;
      const fault = databaseFault(world.services.db);
      const { organization, endpoint } = await endpointWith(200);
      await fault.begin(on, table, sqlState, 'when' in writer ? writer.when : undefined);
      try {
        for (let i = 0; i < EVENTS; i++)
          await ('elsewhere' in writer ? world.happenElsewhere : world.happen)({ organization });
        await metAgain(fault.hits, 2);
        const before = await requestsOf(endpoint.id);
        assert.ok(before <= sent, `${before} requests`);
        await metAgain(fault.hits, 2);
        // Requests in flight at the start of the fault may have arrived since; no others start.
        assert.ok((await requestsOf(endpoint.id)) <= sent);
      } finally {
        await fault.end();
      }
      const rows = await waitUntil(
        'all to be delivered',
        async () => {
          const deliveries = await world.deliveries(endpoint.id);
          return deliveries.every(({ status, fanOutId }) => status !== 'pending' && fanOutId !== null) && deliveries;
        },
        60_000,
      );
      assert.ok(rows.every(({ status }) => status === 'success'));
      // Where this whole process stood still for the engine's heartbeat timeout, a delivery may be sent twice.
      if (await anyTimedOut(rows)) return;
      assert.deepEqual(
        rows.map(({ attemptCount }) => attemptCount),
        Array.from({ length: EVENTS }, () => 1),
      );
      assert.equal(await requestsOf(endpoint.id), EVENTS);
    });

test('a delivery that is refused while its results cannot be written keeps its ladder, attempt for attempt', async () => {
  const fault = databaseFault(world.services.db);
  const { organization, endpoint } = await endpointWith(500);
  await fault.begin('insert', 'delivery_attempts', '53100');
  try {
    await world.happen({ organization });
    await metAgain(fault.hits, 4);
    assert.equal(await requestsOf(endpoint.id), 1);
  } finally {
    await fault.end();
  }
  const delivery = await world.delivery(endpoint.id, ({ status }) => status === 'exhausted');
  assert.equal(delivery.attemptCount, 5);
  assert.equal(await requestsOf(endpoint.id), 5);
  assert.equal((await world.attempts(delivery.id)).length, 5);
});

test('a reservation that cannot be released during a database failure is released later: no attempt is used up', async () => {
  const { organization, endpoint } = await endpointWith(200);
  const [row] = await world.sql('select secret_sealed from webhook_endpoints where id = $1', [endpoint.id]);
  await world.sql(`update webhook_endpoints set secret_sealed = 'v1.lost.a.b.c' where id = $1`, [endpoint.id]);
  const fault = databaseFault(world.services.db);
  await fault.begin('update', 'deliveries', '53100', 'new.attempt_count < old.attempt_count');
  try {
    await world.happen({ organization });
    await metAgain(fault.hits, 3);
    await world.sql('update webhook_endpoints set secret_sealed = $2 where id = $1', [
      endpoint.id,
      row?.['secret_sealed'],
    ]);
  } finally {
    await fault.end();
  }
  const delivery = await world.delivery(endpoint.id, ({ status }) => status !== 'pending');
  assert.deepEqual([delivery.status, delivery.attemptCount], ['success', 1]);
});

test('a reservation whose answer is lost is not counted twice', async () => {
  const { services } = world;
  const { organization, endpoint } = await endpointWith(200);
  // Claimed by nobody else.
  await services.db.transaction(async (sql) => {
    await recordEvents(withoutLeases(sql), [
      { type: 'email_received', organization, mailbox: null, actor: SYSTEM_ACTOR, data: {} },
    ]);
    await sql.query(`update deliveries set fan_out_id = 'test', workflow_id = 'test' where endpoint_id = $1`, [
      endpoint.id,
    ]);
  });
  const [delivery] = await world.deliveries(endpoint.id);
  const ids = [delivery?.id ?? ''];
  const reservation = randomUUID();
  for (let time = 0; time < 2; time++) {
    const [reserved] = await reserveAttempts(services.db, ids, reservation, new Date());
    assert.equal(reserved?.number, 1);
  }
  // Given back twice, too: the second time somebody else has reserved it.
  const unused = ids.map((id) => ({ id, reservation }));
  await releaseAttempts(services.db, unused);
  const [other] = await reserveAttempts(services.db, ids, randomUUID(), new Date());
  assert.equal(other?.number, 1);
  await releaseAttempts(services.db, unused);
  assert.equal((await world.deliveries(endpoint.id))[0]?.attemptCount, 1);
});

test('a database that is read-only for a while: results are kept, nothing is sent, sessions are renewed', async () => {
  const { organization, endpoint } = await endpointWith(200);
  const held: (() => void)[] = [];
  receiver.answer((response) => held.push(() => response.writeHead(200).end()));
  const url = new URL(world.services.settings.DATABASE_URL ?? '');
  const database = url.pathname.slice(1);
  url.pathname = '/postgres';
  const admin = new pg.Client({ connectionString: url.href });
  await admin.connect();
  try {
    for (let i = 0; i < EVENTS; i++) await world.happen({ organization });
    await waitUntil('all to be sent', () => held.length === EVENTS);
    await admin.query(`alter database ${database} set default_transaction_read_only = on`);
    await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = $1`, [database]);
    for (const answer of held) answer();
    await waitUntil('writes to be refused', async () => {
      const { rows } = await admin.query(
        `select count(*)::int as aborted from pg_stat_activity where datname = $1 and query like '%delivery_attempts%'`,
        [database],
      );
      return rows[0]?.aborted > 0;
    });
    await admin.query(`alter database ${database} reset default_transaction_read_only`);
    await waitUntil('all to be recorded', async () =>
      (await world.deliveries(endpoint.id)).every(
        ({ status, attemptCount }) => status === 'success' && attemptCount === 1,
      ),
    );
    assert.equal(held.length, EVENTS);
  } finally {
    await admin.query(`alter database ${database} reset default_transaction_read_only`);
    await admin.end();
  }
});
