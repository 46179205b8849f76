import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Services } from '#core/platform/process/services.ts';
import { createPartitions, dropOldPartitions } from '#db/partitions.ts';
import { firstIdAt } from '#domain/ids.ts';
import { openTestServices } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const TABLES = ['events', 'deliveries', 'delivery_attempts'] as const;
/** Far from the days that migrations make partitions of. */
const NOW = Date.UTC(2031, 4, 20, 13);

let services: Services;
before(async () => {
  services = await openTestServices();
});
after(() => services?.close());

/** An event with a delivery and an attempt, made at a time. @returns id of the delivery */
async function history(timeMs: number): Promise<string> {
  const [event, delivery] = [firstIdAt('event', timeMs), firstIdAt('delivery', timeMs)];
  await services.db.query(
    `insert into events (id, organization_id, type, payload, occurred_at) values ($1, 'org_x', 'email_received', '{}', now())`,
    [event],
  );
  await services.db.query(
    `insert into deliveries (id, event_id, endpoint_id, organization_id, event_type)
     values ($1, $2, 'whe_x', 'org_x', 'email_received')`,
    [delivery, event],
  );
  await services.db.query(
    `insert into delivery_attempts (delivery_id, number, trigger, started_at, duration_ms)
     values ($1, 1, 'automatic', now(), 1)`,
    [delivery],
  );
  return delivery;
}

/** The partition in which the row of each table lies. */
async function placesOf(delivery: string): Promise<string[]> {
  const places: string[] = [];
  for (const [table, key, id] of [
    ['events', 'id', delivery.replace('dlv_', 'evt_')],
    ['deliveries', 'id', delivery],
    ['delivery_attempts', 'delivery_id', delivery],
  ] as const)
    places.push(
      ...(
        await services.db.query<{ place: string }>(
          `select tableoid::regclass::text as place from ${table} where ${key} = $1`,
          [id],
        )
      ).map(({ place }) => place),
    );
  return places;
}

const named = (suffix: string) => TABLES.map((table) => `${table}_${suffix}`);

test('rows of a day without a partition wait in the default one and are moved when it is made', async () => {
  const first = await history(Date.UTC(2031, 4, 20));
  const last = await history(Date.UTC(2031, 4, 20, 23, 59, 59, 999));
  const dayAfter = await history(Date.UTC(2031, 4, 29));
  assert.deepEqual(await placesOf(first), named('default'));
  await createPartitions(services.db, NOW);
  assert.deepEqual(await placesOf(first), named('20310520'));
  assert.deepEqual(await placesOf(last), named('20310520'));
  assert.deepEqual(await placesOf(dayAfter), named('default'), 'a day further ahead has no partition yet');
  assert.deepEqual(await placesOf(await history(NOW + 7 * DAY_MS)), named('20310527'));
});

test('partitions are made once, also by two makers at a time', async () => {
  await Promise.all([createPartitions(services.db, NOW + DAY_MS), createPartitions(services.db, NOW + DAY_MS)]);
  assert.deepEqual(await placesOf(await history(NOW + 8 * DAY_MS)), named('20310528'));
});

test('history is kept for 30 days, then its day is dropped', async () => {
  const late = NOW + 200 * DAY_MS;
  await createPartitions(services.db, late);
  const old = await history(late - HOUR_MS);
  const strayed = await history(late - 20 * DAY_MS); // of a day without a partition
  assert.deepEqual(
    (await dropOldPartitions(services.db, late + 29 * DAY_MS)).filter((name) => name.includes('2031120')),
    [],
  );
  assert.equal((await placesOf(old)).length, 3, 'kept for 30 days');
  assert.equal((await placesOf(strayed)).length, 0, 'the default partition is cleared too');
  const dropped = await dropOldPartitions(services.db, late + 32 * DAY_MS);
  const day = new Date(late).toISOString().slice(0, 10).replaceAll('-', '');
  for (const name of named(day)) assert.ok(dropped.includes(name), name);
  assert.equal((await placesOf(old)).length, 0);
});

test('a long reader delays dropping a day, and nothing waits behind it', async () => {
  const late = NOW + 400 * DAY_MS;
  await createPartitions(services.db, late);
  const reader = await services.db.pool.connect();
  try {
    await reader.query('begin');
    await reader.query('select count(*) from deliveries');
    const dropping = dropOldPartitions(services.db, late + 40 * DAY_MS).then(
      () => 'dropped',
      (error: Error) => error.message,
    );
    await waitUntil('the drop to wait for the reader', async () => {
      const waiting = await services.db.query(
        `select 1 from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())`,
      );
      return waiting.length > 0;
    });
    await history(late); // waits behind the drop, until that gives up
    assert.match(await dropping, /lock timeout/);
  } finally {
    await reader.query('rollback');
    reader.release();
  }
  const dropped = await dropOldPartitions(services.db, late + 40 * DAY_MS);
  assert.ok(dropped.length > 0, 'it is dropped when nobody reads any more');
});
