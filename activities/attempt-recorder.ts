/**
 * Writes results as they arrive, many in one commit: those that arrive during a write are written together. Fewer than
 * four wait for more, for ten milliseconds. So a hanging neighbour delays no result, and a busy worker makes few commits.
 *
 *   unproven ──a probe was written──▶ well ──a write failed by the database's fault──▶ failing ──written──▶ well
 *
 * While the database is unreachable, full or read-only, results are kept and written again as long as the process runs:
 * lost ones would be sent twice. Until they are written nothing further is sent. A batch with a row that PostgreSQL
 * refuses is written row by row, that row in a form that PostgreSQL accepts.
 */

import { batcher, inOrder } from '#core/platform/batching/batcher.ts';
import { type Circuit, circuit } from '#core/platform/batching/circuit.ts';
import type { Logger } from '#core/platform/log/logger.ts';
import { outageLog } from '#core/platform/log/outage-log.ts';
import { DATABASE } from '#core/platform/process/patient-database.ts';
import type { Sql } from '#db/database.ts';
import { isInfrastructureError } from '#db/infrastructure-error.ts';
import { type AttemptRecord, recordAttempts } from '#db/queries/deliveries/attempts.ts';
import { storableForms } from './storable-record.ts';

export interface AttemptRecorder {
  /**
   * Resolves when results can be written and few are waiting. Awaited before a number is reserved and before sending: a
   * crash sends unrecorded attempts twice, so a slow database must slow the sending.
   *
   * @param goOn polled during the wait; false ends the wait
   * @param doubtful results may not be writable, as far as the caller knows: tests first
   * @returns false when nothing may be sent: the worker shuts down, or the caller must not go on
   */
  ready(goOn: () => boolean, doubtful?: boolean): Promise<boolean>;
  /** Whether a result could be written when last one was. */
  readonly isWell: boolean;
  /** Resolves when the record is committed. Rejects only for one that PostgreSQL refuses in every form. */
  record(record: AttemptRecord): Promise<void>;
}

export interface RecorderDependencies {
  readonly sql: Sql;
  /** Writes a probe like a result; see `db/queries/platform/probe-writes.ts`. */
  readonly probe: () => Promise<void>;
  /** Aborted when the worker shuts down. */
  readonly draining: AbortSignal;
  readonly log: Logger;
}

const GATHER_MS = 10;
const RECORDS_PER_WRITE = 200;
/** Most results in one write. Results that are not written when the process dies are sent twice. */
const ENOUGH_FOR_WRITE = 4;
/** Results that may wait to be written before sending pauses. */
const UNWRITTEN_MAX = 24;
/** How often a waiting caller polls `goOn`. */
const LOOK_AGAIN_MS = 500;

export function attemptRecorder({ sql, probe, draining, log }: RecorderDependencies): AttemptRecorder {
  // Conflicts too: while a result cannot be written, the next attempt is not sent.
  const writes: Circuit = circuit({ isFault: isInfrastructureError, outage: outageLog(log, DATABASE) });
  let proven = false;
  /** Results not yet committed. */
  let unwritten = 0;
  let pausing: (() => void)[] = [];

  function resume(): void {
    const resumed = pausing;
    pausing = [];
    for (const each of resumed) each();
  }

  draining.addEventListener('abort', () => {
    resume();
    writes.wake();
  });

  /** Written in the first form that PostgreSQL accepts. */
  async function writeAlone(record: AttemptRecord): Promise<void> {
    let refusal: unknown;
    for (const form of [record, ...storableForms(record)]) {
      try {
        await writes.run(() => recordAttempts(sql, [form]));
        if (refusal !== undefined)
          log.warn({ deliveryId: record.deliveryId, error: messageOf(refusal) }, 'a result was stored in part');
        return;
      } catch (error) {
        refusal = error;
      }
    }
    throw refusal;
  }

  const records = batcher<AttemptRecord, 'written'>({
    policy: {
      ...inOrder(RECORDS_PER_WRITE),
      gatherMs: (waiting) => (waiting >= ENOUGH_FOR_WRITE ? undefined : GATHER_MS),
    },
    concurrency: 1,
    async carryOut(batch) {
      const [only, ...others] = batch;
      try {
        if (only !== undefined && others.length === 0) await writeAlone(only);
        else await writes.run(() => recordAttempts(sql, batch));
      } finally {
        proven = true;
      }
      return batch.map(() => 'written');
    },
  });

  const mayGoOn = () => !draining.aborted;

  let proving: Promise<void> | undefined;
  async function probeOnce(): Promise<void> {
    await writes.run(probe, mayGoOn).catch((error: unknown) => {
      // Any error other than an infrastructure error is an error of the probe, not a reason to stop.
      if (isInfrastructureError(error)) throw error;
    });
    proven = true;
  }
  /** Several that doubt at once share a probe. */
  function prove(): Promise<void> {
    proving ??= probeOnce().finally(() => {
      proving = undefined;
    });
    return proving;
  }

  return {
    get isWell() {
      return !writes.isOpen;
    },
    async ready(goOn, doubtful = false) {
      let proof = doubtful || !proven ? prove() : undefined;
      const proved = () => {
        proof = undefined;
      };
      proof?.then(proved, proved); // it fails only when the worker shuts down
      while (mayGoOn() && goOn()) {
        if (proof !== undefined) await settledWithin(proof, LOOK_AGAIN_MS);
        else if (writes.isOpen) await writes.closed();
        else if (unwritten >= UNWRITTEN_MAX) await new Promise<void>((resolve) => pausing.push(resolve));
        else return true;
      }
      return false;
    },
    async record(record) {
      unwritten++;
      try {
        await records.add(record);
      } finally {
        unwritten--;
        if (unwritten < UNWRITTEN_MAX) resume();
      }
    },
  };
}

/** Resolves when a promise is settled, or after the time. */
function settledWithin(promise: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const settled = () => {
      clearTimeout(timer);
      resolve();
    };
    promise.then(settled, settled);
  });
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
