/**
 * Whether the database accepts writes: a row is written and committed, and the disk has room for new pages.
 *
 * Updating an existing row needs no room on a full disk; only a growing table does. So the probe also fills some pages
 * of a temporary table, which are released at the commit and are not logged. A read-only transaction may write to
 * temporary tables, therefore the real row comes first.
 */
import type { Database } from './database.ts';

const PROBE_ROWS = 600;
const PROBE_ROW_BYTES = 100;

const TOUCH = `
  insert into readiness_probe as probe (process, written_at) values ($1, now())
  on conflict (process) do update set written_at = excluded.written_at`;
const GROW = `insert into pg_temp.readiness_space select repeat('x', $1) from generate_series(1, $2::int)`;

/**
 * @param process kind of process; each has a row of its own
 * @param withinMs after which PostgreSQL gives the statement up, and we the connection
 * @throws the error of PostgreSQL (see `db/infrastructure-error.ts`), or a timeout
 */
export async function probeWrites(db: Pick<Database, 'pool'>, process: string, withinMs: number): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(Object.assign(new Error(`no answer within ${withinMs} ms`), { code: 'ETIMEDOUT' })),
    withinMs,
  );
  const connecting = db.pool.connect();
  let client: Awaited<typeof connecting> | undefined;
  let broken: Error | boolean = false;
  try {
    client = await Promise.race([connecting, late.promise]);
    const taken = client;
    const probe = async (): Promise<void> => {
      await taken.query('begin');
      await taken.query(`set local statement_timeout = ${Math.ceil(withinMs)}`);
      await taken.query(TOUCH, [process]);
      await taken.query('create temp table if not exists readiness_space (filling text) on commit delete rows');
      await taken.query(GROW, [PROBE_ROW_BYTES, PROBE_ROWS]);
      await taken.query('commit');
    };
    await Promise.race([probe(), late.promise]);
  } catch (error) {
    // Not asked to roll back: a connection in doubt is closed, which does.
    broken = error instanceof Error ? error : true;
    throw error;
  } finally {
    clearTimeout(timer);
    if (client === undefined)
      connecting.then(
        (each) => each.release(),
        () => {},
      );
    else client.release(broken);
  }
}
