import { setTimeout as delay } from 'node:timers/promises';
import { connect, newConnection } from './connections.ts';
import type { Database, Sql } from './database.ts';
import { migrations } from './migrations/index.ts';
import { createPartitions } from './partitions.ts';

const LOCK_POLL_MS = 250;
/** Ends with the statement. */
const LOOK_AT_LOCK = `select pg_try_advisory_xact_lock_shared(hashtext('agent-mailbox'), hashtext('migrate')) as free`;
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
      await delay(LOCK_POLL_MS);
    }
    // Without its connection the lock is released, and another process may start.
    return await Promise.race([work(), lost.promise]);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Whether some process prepares the database now. */
export async function isPreparing(sql: Sql): Promise<boolean> {
  const [lock] = await sql.query<{ free: boolean }>(LOOK_AT_LOCK);
  return lock?.free === false;
}

/** Backups hold it shared, each for the time of its transaction (`operations/backup/write-backup.ts`). */
export const BACKUP_LOCK = `hashtext('agent-mailbox'), hashtext('backup')`;

/** A migration behind the locks of a backup would stop every request behind itself. */
async function waitForBackups(sql: Sql, onWaiting: () => void): Promise<void> {
  for (let waiting = false; ; waiting = true) {
    const [lock] = await sql.query<{ free: boolean }>(`select pg_try_advisory_xact_lock(${BACKUP_LOCK}) as free`);
    if (lock?.free !== false) return;
    if (!waiting) onWaiting();
    await delay(LOCK_POLL_MS);
  }
}

/**
 * Migrates the database to the newest schema and creates the partitions of the coming days. Call it within
 * `preparingAlone`, unless no other process uses the database. Waits for the end of a backup if there is something to
 * migrate.
 *
 * @param onBackup called once if a backup is being made
 * @returns names of the executed migrations
 * @throws {UnknownSchemaError} if no migration leads from the database's schema to this version
 */
export async function migrate(
  db: Database,
  nowMs: number = Date.now(),
  onBackup: () => void = () => {},
): Promise<string[]> {
  await requireKnownSchema(db);
  if ((await pendingMigrations(db)).length > 0) await waitForBackups(db, onBackup);
  const done = await db.orm.migrator.up();
  await createPartitions(db, nowMs);
  return done.map(({ name }) => name);
}

/** A database from whose schema no migration leads to this version. */
export class UnknownSchemaError extends Error {
  override readonly name = 'UnknownSchemaError';
}

/**
 * Version 0.1.0 has the first schema that is upgraded. Databases of earlier development versions have migrations that no
 * release contains; migrations of a later version sort after all that this one knows.
 *
 * @throws {UnknownSchemaError} nothing is changed then
 */
async function requireKnownSchema(sql: Sql): Promise<void> {
  const known = new Set(migrations.map(({ name }) => name));
  const newest = [...known].toSorted().at(-1) ?? '';
  const [unreleased] = (await appliedMigrations(sql)).filter((name) => !known.has(name) && name < newest);
  if (unreleased !== undefined)
    throw new UnknownSchemaError(
      `This database was made by a development version from before 0.1.0: it has ${unreleased}, which no release contains. ` +
        'No upgrade leads from it to this version, and nothing was changed. Set DATABASE_URL to a new, empty database; ' +
        'with `npm start` move its data folder (.data, or DATA_DIR) away. To keep mail, run the code that made this ' +
        'database once more beside the new installation and copy each mailbox by IMAP: docs/upgrading.md has the commands.',
    );
}

/** Names of the migrations in the database, oldest first. */
async function appliedMigrations(sql: Sql): Promise<string[]> {
  const [table] = await sql.query<{ there: boolean }>(`select to_regclass('migrations') is not null as there`);
  if (table?.there !== true) return [];
  const rows = await sql.query<{ name: string }>(`select name from migrations`);
  return rows.map(({ name }) => name.replace(/\.[jt]s$/, '')).toSorted();
}

/** Migrations that this code knows and the database does not have; in a database that was never migrated, all. */
export async function pendingMigrations(sql: Sql): Promise<string[]> {
  const done = new Set(await appliedMigrations(sql));
  return migrations.map(({ name }) => name).filter((name) => !done.has(name));
}

/** Whether the database has every migration this code knows. */
export const isMigrated = async (sql: Sql): Promise<boolean> => (await pendingMigrations(sql)).length === 0;
