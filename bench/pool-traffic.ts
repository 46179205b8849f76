/** What passes between a process and PostgreSQL: counted on the connections of a pool, so that nothing is left out. */
import type { EventEmitter } from 'node:events';
import type pg from 'pg';

export interface Traffic {
  /** Statements that PostgreSQL completed, begin and commit included. */
  readonly statements: number;
  /** Messages that were sent and waited for. */
  readonly roundTrips: number;
}

export interface PoolTraffic {
  /** Since the counting began. */
  soFar(): Traffic;
  close(): void;
}

export function countTraffic(pool: pg.Pool): PoolTraffic {
  let statements = 0;
  let roundTrips = 0;
  const counted = new WeakSet<object>();
  const count = (client: pg.PoolClient): void => {
    if (counted.has(client)) return;
    counted.add(client);
    const connection = Reflect.get(client, 'connection') as EventEmitter;
    connection.on('commandComplete', () => {
      statements++;
    });
    // One for each message that PostgreSQL has answered in full.
    connection.on('readyForQuery', () => {
      roundTrips++;
    });
  };
  pool.on('acquire', count);
  return {
    soFar: () => ({ statements, roundTrips }),
    close: () => void pool.off('acquire', count),
  };
}
