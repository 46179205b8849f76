/**
 * Daily partitions of events, deliveries and delivery attempts.
 *
 * Bounds are ids: the smallest id of a kind at 00:00 UTC (see `domain/ids.ts`). Partitions are made some days ahead by
 * migrations and by the retention workflow; should that fail for long, rows land in the default partition and are moved
 * out of it here.
 *
 * Attaching and dropping need a lock that waits for every running statement, and lets no new one pass meanwhile. They
 * give up soon, so that a long report or backup never stops the service; the retention workflow tries again.
 */

import { firstIdAt, type IdKind } from '#domain/ids.ts';
import { DELIVERY_RETENTION_DAYS } from '#domain/webhooks/delivery-limits.ts';
import type { Database, Sql } from './database.ts';
import { allPortions, deletePortion } from './delete-portion.ts';

const DAY_MS = 86_400_000;
const DAYS_AHEAD = 7;
const DEFAULT_PORTION_ROWS = 5_000;
const LIMIT_LOCK_WAIT = `set local lock_timeout = '2s'`;

const PARTITIONED: readonly { table: string; key: string; kind: IdKind }[] = [
  { table: 'events', key: 'id', kind: 'event' },
  { table: 'deliveries', key: 'id', kind: 'delivery' },
  { table: 'delivery_attempts', key: 'delivery_id', kind: 'delivery' },
];

const dayStart = (timeMs: number): number => Math.floor(timeMs / DAY_MS) * DAY_MS;
const dayName = (timeMs: number): string => new Date(timeMs).toISOString().slice(0, 10).replaceAll('-', '');

async function partitionNames(sql: Sql, table: string): Promise<Set<string>> {
  const rows = await sql.query<{ name: string }>(
    `select child.relname as name from pg_inherits
       join pg_class child on child.oid = inhrelid join pg_class parent on parent.oid = inhparent
      where parent.relname = $1 and pg_table_is_visible(parent.oid)`,
    [table],
  );
  return new Set(rows.map(({ name }) => name));
}

/** Makes the partitions from yesterday to a week ahead. Safe to run at any time, from several processes at once. */
export async function createPartitions(db: Database, nowMs: number): Promise<void> {
  for (const { table, key, kind } of PARTITIONED) {
    const present = await partitionNames(db, table);
    for (let day = -1; day <= DAYS_AHEAD; day++) {
      const from = dayStart(nowMs) + day * DAY_MS;
      const partition = `${table}_${dayName(from)}`;
      if (!present.has(partition)) await createPartition(db, table, key, partition, kind, from);
    }
  }
}

async function createPartition(db: Database, table: string, key: string, name: string, kind: IdKind, from: number) {
  const [lower, upper] = [firstIdAt(kind, from), firstIdAt(kind, from + DAY_MS)];
  await db.transaction(async (sql) => {
    // One process at a time; the second one finds the partition.
    await sql.query(`select pg_advisory_xact_lock(hashtext('daily partitions'))`);
    const [there] = await sql.query(`select 1 as there from pg_class where relname = $1`, [name]);
    if (there !== undefined) return;
    await sql.query(LIMIT_LOCK_WAIT);
    await sql.query(`create table ${name} (like ${table} including all)`);
    await sql.query(
      `with moved as (delete from ${table}_default where ${key} >= '${lower}' and ${key} < '${upper}' returning *)
       insert into ${name} select * from moved`,
    );
    await sql.query(`alter table ${table} attach partition ${name} for values from ('${lower}') to ('${upper}')`);
  });
}

/**
 * Drops the partitions whose every row is older than the retention, and such rows of the default partition.
 *
 * @returns names of the dropped partitions
 */
export async function dropOldPartitions(db: Database, nowMs: number): Promise<string[]> {
  const keepFrom = dayStart(nowMs - DELIVERY_RETENTION_DAYS * DAY_MS);
  const dropped: string[] = [];
  for (const { table, key, kind } of PARTITIONED) {
    for (const name of await partitionNames(db, table)) {
      const day = name.slice(table.length + 1);
      if (!/^\d{8}$/.test(day) || day >= dayName(keepFrom)) continue;
      await db.transaction(async (sql) => {
        await sql.query(LIMIT_LOCK_WAIT);
        await sql.query(`drop table ${name}`);
      });
      dropped.push(name);
    }
    const before = firstIdAt(kind, keepFrom);
    await allPortions(() => deletePortion(db, `${table}_default`, `${key} < '${before}'`, [], DEFAULT_PORTION_ROWS));
  }
  return dropped;
}
