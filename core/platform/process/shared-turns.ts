/**
 * Work that any process may do, and that one of them does at a time. The turn is a row of `sweeps`: it ends by itself, so
 * a process that dies delays the next turn, and nothing else.
 *
 * - `startSharedTurns`: at most so often.
 * - `startSharedPortions`: as long as something is due, in portions bounded in time; requests run in between.
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

export interface SharedPortions {
  /** Of the row, and in the log. */
  readonly name: string;
  /** A query whose one row has `due`: cheap, asked each time. */
  readonly anyDue: string;
  /** Between looks when nothing is due. */
  readonly lookMs: number;
  /** Between portions while there is more. */
  readonly pauseMs: number;
  /** Another process continues this long after one that died; longer than any portion with its last step. */
  readonly lostAfterMs: number;
  /**
   * Does one portion.
   *
   * @param goesOn false when the time of the portion is over, or the process stops
   * @returns how much was done
   */
  readonly work: (services: PortionServices, goesOn: () => boolean) => Promise<number>;
}

type PortionServices = Pick<Services, 'db' | 'log'>;

/** Between looks at the turn. */
const LOOK_MS = 5_000;
const PORTION_MS = 5_000;

/** @returns false: another process took it less than `everyMs` ago */
export async function takeTurn(sql: Sql, name: string, everyMs: number): Promise<boolean> {
  const taken = await sql.query(
    `insert into sweeps (name, next_at) values ($1, now() + make_interval(secs => $2))
     on conflict (name) do update set next_at = excluded.next_at where sweeps.next_at <= now() returning 1`,
    [name, everyMs / 1_000],
  );
  return taken.length > 0;
}

/** Looks again and again. An error is logged, and ends nothing. @param look returns when it looks next, in milliseconds */
function startLooking(
  { log }: Pick<Services, 'log'>,
  { name, firstMs, lookMs }: { readonly name: string; readonly firstMs: number; readonly lookMs: number },
  look: (stopping: AbortSignal) => Promise<number>,
): SharedTurns {
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  async function lookOnce(): Promise<void> {
    let nextMs = lookMs;
    try {
      nextMs = await look(stopping.signal);
    } catch (error) {
      const level = isInfrastructureError(error) || stopping.signal.aborted ? 'debug' : 'warn';
      log[level]({ work: name, reason: reasonOf(error) }, 'regular work failed; it is tried again');
    }
    if (!stopping.signal.aborted) schedule(nextMs);
  }
  function schedule(afterMs: number): void {
    timer = setTimeout(() => {
      running = lookOnce();
    }, afterMs).unref();
  }
  schedule(firstMs);
  return {
    async close() {
      stopping.abort();
      clearTimeout(timer);
      await running;
    },
  };
}

/** Does the work as often as it is this process's turn. */
export const startSharedTurns = (
  services: Pick<Services, 'db' | 'log'>,
  { name, everyMs, work }: SharedTurnOptions,
): SharedTurns =>
  startLooking(services, { name, firstMs: LOOK_MS, lookMs: LOOK_MS }, async (stopping) => {
    if (await takeTurn(services.db, name, everyMs)) await work(stopping);
    return LOOK_MS;
  });

/** Does portions as long as the process runs: during a rolling upgrade an earlier version still makes work. */
export const startSharedPortions = (services: PortionServices, portions: SharedPortions): SharedTurns =>
  startLooking(services, { ...portions, firstMs: portions.pauseMs }, async (stopping) =>
    (await doPortion(services, portions, stopping)) > 0 ? portions.pauseMs : portions.lookMs,
  );

/** Does one portion, unless another process does so. @returns how much was done; 0 does not mean that nobody works */
export async function doPortion(
  services: PortionServices,
  { name, anyDue, lostAfterMs, work }: SharedPortions,
  stopping?: AbortSignal,
): Promise<number> {
  const { db } = services;
  const [look] = await db.query<{ due: boolean }>(anyDue);
  if (look?.due !== true || !(await takeTurn(db, name, lostAfterMs))) return 0;
  const until = performance.now() + PORTION_MS;
  try {
    return await work(services, () => stopping?.aborted !== true && performance.now() < until);
  } finally {
    await db.query(`update sweeps set next_at = now() where name = $1`, [name]);
  }
}
