/** What lanes may send after they could show no sign of life: nothing that another one may have taken over. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { waitForLanes } from '#activities/attempt-deliveries.ts';
import { signOfLife } from '#activities/sign-of-life.ts';
import { recordEvents } from '#core/events/record-event.ts';
import { destinationPolicy } from '#core/webhooks/requests/destination-guard.ts';
import { createWebhookSender } from '#core/webhooks/requests/webhook-sender.ts';
import { carriedDeliveries, reserveAttempts } from '#db/queries/deliveries/attempts.ts';
import { leaseLeftBehind } from '#db/queries/deliveries/claim-deliveries.ts';
import { laneIsDead, showLife } from '#db/queries/deliveries/lane-life.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { deliveryWorld, rowsOf } from '#test/support/delivery-world.ts';
import { startReceiver } from '#test/support/receiver.ts';
import { createTestDatabase, openTestServices, testLog, testSettings, testTls } from '#test/support/services.ts';
import { tcpProxy } from '#test/support/tcp-proxy.ts';
import { temporalConnection } from '#test/support/temporal-connection.ts';
import { startTestWorker } from '#test/support/test-worker.ts';
import { waitUntil } from '#test/support/wait-until.ts';

test('a lane that could not write its signs for a while has lost its earlier leases', async () => {
  let away = false;
  const sql = {
    async query() {
      if (away) throw new Error('away');
      return [];
    },
  };
  const life = signOfLife(sql, randomUUID(), testLog());
  try {
    const claimedAtMs = await waitUntil('it to be sure', () => life.isSure && performance.now());
    await waitUntil('what is claimed now to be leased', () => life.leasesValidSince(claimedAtMs));
    away = true;
    await waitUntil('it to be unsure', () => !life.isSure);
    away = false;
    await waitUntil('it to be sure again', () => life.leasesValidSince(performance.now()));
    assert.equal(life.leasesValidSince(claimedAtMs), false);
  } finally {
    await life.end();
  }
});

test('a lane on a machine that was suspended is not sure of what it had taken', async (context) => {
  context.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const life = signOfLife({ query: async () => [] }, randomUUID(), testLog());
  try {
    const claimedAtMs = await waitUntil('it to be sure', () => life.isSure && performance.now());
    await waitUntil('what is claimed now to be leased', () => life.leasesValidSince(claimedAtMs));
    // The clock that goes on while it is suspended.
    context.mock.timers.setTime(Date.now() + 60_000);
    assert.equal(life.leasesValidSince(claimedAtMs), false);
    await waitUntil('it to be sure again', () => life.leasesValidSince(performance.now()));
    assert.equal(life.leasesValidSince(claimedAtMs), false);
  } finally {
    await life.end();
  }
});

/** A look of a workflow at one delivery that a lane of another process has. */
const heldByAnother = { id: 'dlv_1', lane: randomUUID(), pending: true };

test('the time in which the database could not be read is no time that a lane had', async () => {
  const looks = [[heldByAnother], []];
  const attempted: string[] = [];
  const found = await waitForLanes({
    ids: [heldByAnother.id],
    db: {
      async query<Row extends object>() {
        await delay(150); // away
        return (looks.shift() ?? []) as Row[];
      },
    },
    lane: undefined,
    patienceMs: 50,
    goOn: () => true,
    attempt: async (ids) => void attempted.push(...ids),
  });
  assert.deepEqual(found, [heldByAnother.id]);
  assert.deepEqual(attempted, [], 'it was acknowledged, and recorded as soon as that was possible');
});

test('a workflow waits for attempts in flight in its own process as long as they take, and for others for a limited time', async () => {
  const own = { ...heldByAnother, id: 'dlv_2' };
  const { promise, resolve } = Promise.withResolvers<void>();
  const attempted: string[] = [];
  let done = false;
  await waitForLanes({
    ids: [heldByAnother.id, own.id],
    db: { query: async <Row extends object>() => (done ? [] : [heldByAnother, own]) as Row[] },
    lane: { id: own.lane, mayHaveLeasedMore: false, inFlight: (id) => (id === own.id ? promise : undefined) },
    patienceMs: 50,
    goOn: () => true,
    async attempt(ids, againstLeases) {
      assert.equal(againstLeases, true);
      attempted.push(...ids);
      done = true;
      resolve();
    },
  });
  assert.deepEqual(attempted, [heldByAnother.id]);
});

test('a lane is dead when another one has written its signs without a gap since', async () => {
  const services = await openTestServices();
  try {
    const rows = rowsOf(services);
    const organization = await rows.organization();
    const endpoint = await rows.endpoint(organization, { url: 'https://hooks.example/' });
    await recordEvents(services.db, [
      { type: 'email_received', organization, mailbox: null, actor: SYSTEM_ACTOR, data: {} },
    ]);
    const [delivery] = await rows.deliveries(endpoint.id);
    const ids = [delivery?.id ?? ''];
    const [silent, witness] = [randomUUID(), randomUUID()];
    await rows.sql(`update deliveries set lease = $2, attempt_count = 1 where endpoint_id = $1`, [endpoint.id, silent]);
    await rows.sql(
      `insert into delivery_lanes (id, seen_at, unbroken_since)
       values ($1, now() - interval '10 seconds', now() - interval '1 hour'), ($2, now(), now() - interval '1 second')`,
      [silent, witness],
    );
    const bounds = { room: 10, nowMs: Date.now(), everything: true };
    const takenOver = () =>
      leaseLeftBehind(services.db, { lane: witness, reservation: randomUUID(), fanOutId: null }, bounds);
    const leasedBy = async () => (await carriedDeliveries(services.db, ids))[0]?.lane;
    assert.equal(await leasedBy(), silent, 'the database was away until a second ago');
    assert.deepEqual(await reserveAttempts(services.db, ids, randomUUID(), new Date()), []);
    assert.deepEqual(await takenOver(), []);
    await rows.sql(`update delivery_lanes set unbroken_since = now() - interval '1 minute' where id = $1`, [witness]);
    assert.equal(await leasedBy(), null);
    assert.deepEqual(
      (await takenOver()).map(({ id, number, leased }) => [id, number, leased]),
      [[ids[0], 2, true]],
    );
    assert.equal(await leasedBy(), witness);
  } finally {
    await services.close();
  }
});

test('after a gap, the signs of a lane count from the next one', async () => {
  const services = await openTestServices();
  const { db } = services;
  const [broken, unbroken] = [randomUUID(), randomUUID()];
  try {
    // In one transaction, so that all is at the same time.
    const seen = await db.transaction(async (sql) => {
      await sql.query(
        `insert into delivery_lanes (id, seen_at, unbroken_since)
         values ($1, now() - interval '5 seconds', now() - interval '1 hour'),
                ($2, now() - interval '1 second', now() - interval '1 hour')`,
        [broken, unbroken],
      );
      for (const lane of [broken, unbroken]) await showLife(sql, lane);
      return sql.query<{ id: string; anew: boolean }>(
        `select id, unbroken_since = seen_at as anew from delivery_lanes where id = any($1) and seen_at = now()`,
        [[broken, unbroken]],
      );
    });
    assert.deepEqual(
      new Map(seen.map(({ id, anew }) => [id, anew])),
      new Map([
        [broken, true],
        [unbroken, false],
      ]),
    );
  } finally {
    await services.close();
  }
});

test('only dead lanes are forgotten, and signs from the future prove nothing', async () => {
  const services = await openTestServices();
  const [own, other, future] = [randomUUID(), randomUUID(), randomUUID()];
  await services.db
    .transaction(async (sql) => {
      const lanes = async (condition: string) => {
        const rows = await sql.query<{ id: string }>(`select id from delivery_lanes lane where ${condition}`);
        return new Set(rows.map(({ id }) => id));
      };
      await sql.query(`delete from delivery_lanes`);
      await sql.query(
        `insert into delivery_lanes (id, seen_at, unbroken_since)
         select id, now() - interval '2 hours', now() - interval '1 day' from unnest($1::uuid[]) id`,
        [[own, other]],
      );
      await showLife(sql, own);
      assert.deepEqual(await lanes('true'), new Set([own, other]), 'the database was away for two hours');
      await sql.query(`update delivery_lanes set unbroken_since = now() - interval '1 minute' where id = $1`, [own]);
      await showLife(sql, own);
      assert.deepEqual(await lanes('true'), new Set([own]));
      // Shown before the clock was set back.
      await sql.query(
        `insert into delivery_lanes (id, seen_at, unbroken_since)
         values ($1, now() + interval '1 hour', now() - interval '1 hour')`,
        [future],
      );
      assert.deepEqual(await lanes(laneIsDead('lane')), new Set());
      await showLife(sql, future);
      assert.deepEqual(await lanes('unbroken_since = now()'), new Set([future]), 'it begins anew');
      throw new Error('roll back');
    })
    .catch((error: Error) => assert.equal(error.message, 'roll back'))
    .finally(() => services.close());
});

test('after an outage of the database no worker repeats attempts of another one', async () => {
  const database = await createTestDatabase();
  const address = new URL(database.url);
  const proxy = await tcpProxy({ host: address.hostname, port: Number(address.port) });
  address.port = String(proxy.port);
  // Requests that the test holds must not run into their time limit, however slow the machine.
  const patientSender = () =>
    createWebhookSender({
      policy: destinationPolicy(testSettings()),
      extraCa: [readFileSync(testTls().caFile, 'utf8')],
      timeoutMs: 170_000,
    });
  const world = await deliveryWorld(
    { DATABASE_URL: address.href, WEBHOOK_FAST_LANE: 'on', WEBHOOK_RETRY_DELAYS_MS: '3600000,3600000,3600000,3600000' },
    { sender: patientSender() },
  );
  const connection = await temporalConnection();
  const other = await startTestWorker(world.services, connection, { sender: patientSender() });
  const receiver = await startReceiver();
  const direct = new pg.Client({ connectionString: database.url });
  const lanes = (condition: string) => async () => {
    const { rows } = await direct.query<{ all: boolean }>(
      `select count(*) filter (where ${condition}) = 2 as all from delivery_lanes`,
    );
    return rows[0]?.all === true;
  };
  try {
    await direct.connect();
    await waitUntil('both lanes', lanes(`seen_at > now() - interval '2 seconds'`));
    const held: ServerResponse[] = [];
    receiver.answer((response) => void held.push(response));
    const organization = await world.organization();
    const endpoint = await world.endpoint(organization, { url: receiver.url });
    const events = 8;
    await Promise.all(Array.from({ length: events }, () => world.happen({ organization })));
    await waitUntil('all to be sent', () => held.length === events);
    proxy.cut();
    await waitUntil('all signs of life to be old', lanes(`seen_at < now() - interval '4 seconds'`));
    proxy.restore();
    await waitUntil('new signs', lanes(`seen_at > now() - interval '2 seconds'`));
    // By then each lane has looked several times for what others may have left behind.
    const backAtMs = performance.now();
    await waitUntil('five seconds to pass', () => performance.now() - backAtMs > 5_000);
    assert.equal(receiver.requests.length, events, 'sent again while it was in flight');
    receiver.answer(200);
    for (const response of held) response.writeHead(200).end();
    const rows = await waitUntil('all to be recorded', async () => {
      const all = await world.deliveries(endpoint.id);
      return all.every(({ status }) => status === 'success') && all;
    });
    assert.deepEqual(
      rows.map(({ attemptCount }) => attemptCount),
      Array(events).fill(1),
    );
    assert.equal(receiver.requests.length, events);
  } finally {
    await direct.end();
    await other.close();
    await connection.close();
    await world.close();
    await receiver.close();
    await proxy.close();
    await database.drop();
  }
});
