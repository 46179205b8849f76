/**
 * Connections for statements that are repeated hundreds of times a second on partitioned tables.
 *
 * PostgreSQL would plan such a statement anew each time, because a plan for its values leaves out most partitions: that
 * takes several times as long as running it. Here it plans each once per connection, and leaves partitions out when it
 * runs. Joins are by indexes only, so that a plan made without the values is right for any number of rows.
 */
import pg from 'pg';
import { onConnect } from './connections.ts';
import { type Sql, sqlOfPool } from './database.ts';

export interface SteadyPlans extends Sql {
  /** Calls after the first have no effect. */
  close(): Promise<void>;
}

const SETTINGS = {
  plan_cache_mode: 'force_generic_plan',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_seqscan: 'off',
};

/** @param connections at most; they are opened when they are needed */
export function openSteadyPlans(url: string, connections: number, onError: (error: Error) => void): SteadyPlans {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    idleTimeoutMillis: 0, // a new connection would plan everything again
    application_name: 'agent-mailbox lane',
    onConnect: onConnect(SETTINGS),
  });
  pool.on('error', onError);
  let closed: Promise<void> | undefined;
  return {
    ...sqlOfPool(pool),
    close() {
      closed ??= pool.end();
      return closed;
    },
  };
}
