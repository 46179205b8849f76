import type { Database } from './database.ts';
import { createPartitions } from './partitions.ts';

/**
 * Brings the database to the newest schema and makes the partitions of the coming days.
 *
 * @returns names of the migrations that were carried out
 */
export async function migrate(db: Database, nowMs: number = Date.now()): Promise<string[]> {
  const done = await db.orm.migrator.up();
  await createPartitions(db, nowMs);
  return done.map(({ name }) => name);
}

/** Whether the database has every migration this code knows. */
export async function isMigrated(db: Database): Promise<boolean> {
  return (await db.orm.migrator.getPending()).length === 0;
}
