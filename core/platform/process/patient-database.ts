/**
 * A database whose statements wait while it is unreachable, full or read-only, and are executed afterwards. For callers
 * without a waiting client, such as activities: their statements run later, and no delivery is charged for the outage.
 *
 * A statement may be executed twice, because the first answer can be lost, so each must be idempotent. Statements wait
 * independently: a full disk refuses some and not others.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs, type Circuit, circuit } from '#core/platform/batching/circuit.ts';
import type { Logger } from '#core/platform/log/logger.ts';
import { outageLog } from '#core/platform/log/outage-log.ts';
import type { Sql } from '#db/database.ts';
import { infrastructureFault, isInfrastructureError } from '#db/infrastructure-error.ts';

/** As the log calls the database. */
export const DATABASE = 'PostgreSQL';

export interface PatientDatabase extends Sql {
  /** The same without a time limit, for statements that must not get lost. Ends only with the process. */
  readonly lasting: Sql;
  /**
   * Runs work of several statements again while the infrastructure fails; at most five minutes.
   *
   * @param heartbeat called every two seconds meanwhile
   */
  patiently<Result>(work: () => Promise<Result>, heartbeat?: () => void): Promise<Result>;
}

/** Then the caller gets the error: the engine may already have given the activity up. */
const PATIENCE_MS = 300_000;
const HEARTBEAT_MS = 2_000;
const CONFLICTS_MAX = 20;
const CONFLICT_PAUSE_MS = 20;

/** @param draining aborted when the process shuts down: statements that wait end with their error, except `lasting` ones */
export function patientDatabase(sql: Sql, log: Logger, draining: AbortSignal): PatientDatabase {
  // Texts of statements are constants, so the map is bounded.
  const circuits = new Map<string, Circuit>();
  const circuitOf = (text: string, isFault: (error: unknown) => boolean): Circuit => {
    let found = circuits.get(text);
    if (found === undefined) {
      found = circuit({ isFault, outage: outageLog(log, DATABASE) });
      circuits.set(text, found);
    }
    return found;
  };
  draining.addEventListener('abort', () => {
    for (const each of circuits.values()) each.wake();
  });
  const patience = () => {
    const endAtMs = performance.now() + PATIENCE_MS;
    return () => !draining.aborted && performance.now() < endAtMs;
  };
  const patient: PatientDatabase = {
    query: (text, values) =>
      circuitOf(text, isOutage).run(() => withoutConflict(() => sql.query(text, values)), patience()),
    lasting: {
      query: (text, values) =>
        circuitOf(`lasting ${text}`, isInfrastructureError).run(() => withoutConflict(() => sql.query(text, values))),
    },
    async patiently(work, heartbeat = () => {}) {
      const beat = setInterval(heartbeat, HEARTBEAT_MS);
      const goOn = patience();
      const outage = outageLog(log, DATABASE);
      try {
        // Work can take long, so other callers do not wait for it as for a single statement.
        for (let failures = 1; ; failures++) {
          try {
            return await withoutConflict(work);
          } catch (error) {
            if (!isOutage(error) || !goOn()) throw error;
            outage.failed(error);
            await patient.query('select 1'); // resolves when the database answers again
            await delay(backoffMs(failures, PAUSE_MIN_MS, PAUSE_MAX_MS));
          }
        }
      } finally {
        outage.recovered();
        clearInterval(beat);
      }
    },
  };
  return patient;
}

const isOutage = (error: unknown): boolean => isInfrastructureError(error) && infrastructureFault(error) !== 'conflict';

const PAUSE_MIN_MS = 100;
const PAUSE_MAX_MS = 5_000;

/** Two transactions conflicted: one of them is repeated soon. */
async function withoutConflict<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let conflicts = 1; ; conflicts++) {
    try {
      return await work();
    } catch (error) {
      if (infrastructureFault(error) !== 'conflict' || conflicts >= CONFLICTS_MAX) throw error;
      await delay(CONFLICT_PAUSE_MS * conflicts * Math.random());
    }
  }
}
