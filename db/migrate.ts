import { adoptEarlierSchema } from './adopt-earlier-schema.ts';
import { connect, newConnection } from './connections.ts';
import type { Database, Sql } from './database.ts';
import { migrations } from './migrations/index.ts';
import { createPartitions } from './partitions.ts';

const LOCK_POLL_MS = 250;
/** Any number will do that nothing else in the database locks. */
const TRY_LOCK = `select pg_try_advisory_lock(hashtext('agent-mailbox'), hashtext('migrate')) as taken`;

/**
 * Runs `work` while no other process of the installation prepares the database. Concurrent processes wait for each
 * other; the lock ends with the connection, so also when a process is killed.
 *
 * @param onWaiting called once if another process holds the lock
 */
export async function preparingAlone<Result>(
  databaseUrl: string,
  work: () => Promise<Result>,
  onWaiting: () => void = () => {},
): Promise<Result> {
  const client = newConnection(databaseUrl, 'agent-mailbox migrate');
  const lost = Promise.withResolvers<never>();
  lost.promise.catch(() => {});
  client.on('error', (error) => lost.reject(error));
  await connect(client);
  try {
    for (let waiting = false; ; waiting = true) {
      const { rows } = await client.query<{ taken: boolean }>(TRY_LOCK);
      if (rows[0]?.taken) break;
      if (!waiting) onWaiting();
      await new Promise((resolve) => setTimeout(resolve, LOCK_POLL_MS));
    }
    // Without its connection the lock is released, and another process may start.
    return await Promise.race([work(), lost.promise]);
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * Migrates the database to the newest schema and creates the partitions of the coming days. Call it within
 * `preparingAlone`, unless no other process uses the database.
 *
 * @returns names of the executed migrations
 * @throws {UnknownSchemaError} if no migration leads from the database's schema to this version
 */
export async function migrate(db: Database, nowMs: number = Date.now()): Promise<string[]> {
  await adoptEarlierSchema(db);
  const done = await db.orm.migrator.up();
  await createPartitions(db, nowMs);
  return done.map(({ name }) => name);
}

/** Migrations that this code knows and the database does not have; in a database that was never migrated, all. */
export async function pendingMigrations(sql: Sql): Promise<string[]> {
  const known = migrations.map(({ name }) => name);
  const [table] = await sql.query<{ there: boolean }>(`select to_regclass('migrations') is not null as there`);
  if (table?.there !== true) return known;
  const rows = await sql.query<{ name: string }>(`select name from migrations`);
  const done = new Set(rows.map(({ name }) => name.replace(/\.[jt]s$/, '')));
  return known.filter((name) => !done.has(name));
}

/** Whether the database has every migration this code knows. */
export const isMigrated = async (sql: Sql): Promise<boolean> => (await pendingMigrations(sql)).length === 0;
