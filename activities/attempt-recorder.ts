/**
 * Writes results as they arrive, many in one commit: what comes in while a write is under way, and within ten
 * milliseconds of the first, goes together. So a hanging neighbour delays no result, and a thousand results a second
 * cost a hundred commits.
 *
 * While the database is away results are kept and written again: forgotten ones would be sent twice.
 */

import type { Sql } from '../db/database.ts';
import { isDatabaseAway } from '../db/database-away.ts';
import { type AttemptRecord, recordAttempts } from '../db/queries/attempts.ts';

export interface AttemptRecorder {
  /**
   * Resolves when few results wait to be written. Awaited before sending: what was sent and not yet recorded is what a
   * crash sends twice, so a slow database must slow the sending.
   */
  ready(): Promise<void>;
  /** Resolves when the record is committed. */
  record(record: AttemptRecord): Promise<void>;
}

const GATHER_MS = 10;
const RECORDS_PER_WRITE = 200;
/** Longer than a restart or failover takes, shorter than the engine waits for an activity. */
const KEEP_MS = 300_000;
const WRITE_AGAIN_MS = 500;
/** Results that may wait to be written before sending pauses. */
const UNWRITTEN_MAX = 48;

interface Waiting {
  readonly record: AttemptRecord;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

export function attemptRecorder(sql: Sql): AttemptRecorder {
  let waiting: Waiting[] = [];
  let writing = false;
  /** Results handed in and not yet committed. */
  let unwritten = 0;
  let pausing: (() => void)[] = [];

  function written(count: number): void {
    unwritten -= count;
    if (unwritten >= UNWRITTEN_MAX) return;
    const resumed = pausing;
    pausing = [];
    for (const resume of resumed) resume();
  }

  /** A write that was committed although its answer was lost does no harm when it is repeated. */
  async function write(records: readonly AttemptRecord[]): Promise<void> {
    const giveUpAtMs = performance.now() + KEEP_MS;
    for (;;) {
      try {
        return await recordAttempts(sql, records);
      } catch (error) {
        if (!isDatabaseAway(error) || performance.now() > giveUpAtMs) throw error;
        await new Promise((resolve) => setTimeout(resolve, WRITE_AGAIN_MS));
      }
    }
  }

  async function writeWaiting(): Promise<void> {
    const batch = waiting.slice(0, RECORDS_PER_WRITE);
    waiting = waiting.slice(RECORDS_PER_WRITE);
    try {
      await write(batch.map(({ record }) => record));
      for (const { done } of batch) done();
    } catch (error) {
      for (const { failed } of batch) failed(error);
    }
    writing = false;
    written(batch.length);
    gather();
  }

  function gather(): void {
    if (writing || waiting.length === 0) return;
    writing = true;
    setTimeout(() => void writeWaiting(), waiting.length >= RECORDS_PER_WRITE ? 0 : GATHER_MS);
  }

  return {
    async ready() {
      while (unwritten >= UNWRITTEN_MAX) await new Promise<void>((resume) => pausing.push(resume));
    },
    record: (record) =>
      new Promise((done, failed) => {
        unwritten++;
        waiting.push({ record, done, failed });
        gather();
      }),
  };
}
