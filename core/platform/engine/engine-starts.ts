/**
 * Starts of workflows by one dispatcher. Each is repeated until the engine accepts it. While the engine accepts none,
 * only one start is tried (`core/platform/batching/circuit.ts`) and the dispatcher claims nothing, so that waiting
 * deliveries are put into few workflows afterwards. Failures of Temporal differ from errors of the call itself, and are
 * logged as one outage.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { isGrpcServiceError, ServiceError } from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';
import { circuit } from '#core/platform/batching/circuit.ts';
import type { Logger } from '#core/platform/log/logger.ts';
import { outageLog } from '#core/platform/log/outage-log.ts';
import { infrastructureFault } from '#db/infrastructure-error.ts';
import { ENGINE } from './temporal-client.ts';

const CAUSES_MAX = 5;
/** google.rpc.Code: the request itself is wrong. */
const INVALID_ARGUMENT = 3;
/** An engine that has lost its state refuses every request with a search attribute, until they are made again. */
const SEARCH_ATTRIBUTE_MISSING = /no mapping defined for search attribute|search attribute \S+ is not defined/i;

/**
 * Whether the engine, its state or the connection to it failed, so that the same call may succeed later: it is
 * unreachable, slow or overloaded, or its namespace or search attributes are missing. A workflow that does not exist is
 * not such a failure.
 */
export function isEngineFault(error: unknown): boolean {
  let each = error;
  for (let depth = 0; each instanceof Error && depth < CAUSES_MAX; depth++) {
    if (each instanceof NamespaceNotFoundError) return true;
    if (isGrpcServiceError(each))
      return Number(each.code) !== INVALID_ARGUMENT || SEARCH_ATTRIBUTE_MISSING.test(each.details);
    each = each.cause;
  }
  return error instanceof ServiceError;
}

/**
 * Logs an error that PostgreSQL or Temporal is to blame for as part of their outage: one line for all of them.
 *
 * @returns whether it was one; anything else is for the caller to log
 */
export function noticeOutage(log: Logger, error: unknown): boolean {
  const dependency = isEngineFault(error)
    ? 'Temporal'
    : infrastructureFault(error) === undefined || infrastructureFault(error) === 'conflict'
      ? undefined
      : 'PostgreSQL';
  if (dependency === undefined) return false;
  outageLog(log, dependency).noticed(error);
  return true;
}

export interface EngineStarts {
  /** No further start should be added: the engine accepts none, or is slow. */
  readonly areStuck: boolean;
  /** Resolves when `areStuck` may have changed. */
  changed(): Promise<void>;
  /**
   * Runs a start, which must be idempotent, until it succeeds.
   *
   * @throws what the engine answers, when it refuses this start alone several times
   * @returns undefined when the dispatcher was closed before
   */
  run<Result>(start: () => Promise<Result>): Promise<Result | undefined>;
  /** Ends repetitions; waits some seconds for starts in flight. The sweep does the rest. */
  close(): Promise<void>;
}

/** Maximum starts in flight, above which nothing is claimed. */
const IN_FLIGHT_MAX = 16;
/** After a failure that is not an outage, the start is repeated after this time; others are not delayed. */
const RETRY_MS = 1_000;
/** A start that the engine refuses this often is given up, so that its caller does not wait forever. */
const REFUSALS_MAX = 5;
const CLOSE_GRACE_MS = 3_000;

export function engineStarts(log: Logger): EngineStarts {
  const outage = outageLog(log, ENGINE);
  const engine = circuit({ isFault: isEngineFault, outage });
  const inFlight = new Set<Promise<unknown>>();
  let closed = false;
  let waiting: (() => void)[] = [];
  const goOn = () => !closed;

  function wakeWaiting(): void {
    const woken = waiting;
    waiting = [];
    for (const resolve of woken) resolve();
  }

  async function repeat<Result>(start: () => Promise<Result>): Promise<Result | undefined> {
    for (let failures = 1; !closed; failures++) {
      try {
        return await engine.run(start, goOn);
      } catch (error) {
        if (closed) return undefined;
        if (failures === REFUSALS_MAX) throw error;
        if (failures === 1) log.warn({ error: messageOf(error) }, 'a workflow could not be started; trying again');
        await delay(RETRY_MS);
      }
    }
    return undefined;
  }

  return {
    get areStuck() {
      return !closed && (engine.isOpen || inFlight.size >= IN_FLIGHT_MAX);
    },
    changed: () => (engine.isOpen ? engine.closed() : new Promise((resolve) => waiting.push(resolve))),
    async run(start) {
      const running = repeat(start);
      inFlight.add(running);
      try {
        return await running;
      } finally {
        inFlight.delete(running);
        wakeWaiting();
      }
    },
    async close() {
      closed = true;
      engine.wake();
      wakeWaiting();
      let timer: NodeJS.Timeout | undefined;
      const grace = new Promise((resolve) => {
        timer = setTimeout(resolve, CLOSE_GRACE_MS);
      });
      await Promise.race([Promise.allSettled(inFlight), grace]);
      clearTimeout(timer);
    },
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
