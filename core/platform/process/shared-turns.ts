/**
 * Work that any process may do, and that one of them does at a time and at most so often. The turn is a row of `sweeps`:
 * it ends by itself, so a process that dies delays the next turn, and nothing else.
 */
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Sql } from '#db/database.ts';
import { isInfrastructureError } from '#db/infrastructure-error.ts';
import type { Services } from './services.ts';

export interface SharedTurns {
  /** Resolves when the turn of this process is over. */
  close(): Promise<void>;
}

interface SharedTurnOptions {
  /** Of the row, and in the log. */
  readonly name: string;
  readonly everyMs: number;
  /** @param stopping aborted when the process stops */
  readonly work: (stopping: AbortSignal) => Promise<void>;
}

/** Between looks at the turn. */
const LOOK_MS = 5_000;

/** @returns false: another process took it less than `everyMs` ago */
export async function takeTurn(sql: Sql, name: string, everyMs: number): Promise<boolean> {
  const taken = await sql.query(
    `insert into sweeps (name, next_at) values ($1, now() + make_interval(secs => $2))
     on conflict (name) do update set next_at = excluded.next_at where sweeps.next_at <= now() returning 1`,
    [name, everyMs / 1_000],
  );
  return taken.length > 0;
}

/** Does the work as often as it is this process's turn. An error of it is logged, and ends nothing. */
export function startSharedTurns(
  { db, log }: Pick<Services, 'db' | 'log'>,
  { name, everyMs, work }: SharedTurnOptions,
): SharedTurns {
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  async function look(): Promise<void> {
    try {
      if (await takeTurn(db, name, everyMs)) await work(stopping.signal);
    } catch (error) {
      const level = isInfrastructureError(error) || stopping.signal.aborted ? 'debug' : 'warn';
      log[level]({ work: name, reason: reasonOf(error) }, 'regular work failed; it is tried again');
    }
    if (!stopping.signal.aborted) schedule();
  }
  function schedule(): void {
    timer = setTimeout(() => {
      running = look();
    }, LOOK_MS).unref();
  }
  schedule();
  return {
    async close() {
      stopping.abort();
      clearTimeout(timer);
      await running;
    },
  };
}
