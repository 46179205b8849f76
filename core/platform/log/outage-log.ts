/**
 * Log of outages: one line when a dependency fails, one when it is back, and a reminder every five minutes in between,
 * whatever the number of failing calls.
 *
 *   up ──failed──▶ away (warn, with the reason) ──recovered──▶ up (info, with duration and number of failures)
 *
 * Several parts of a process use the same dependency. They share its state: `outageLog` with the same logger and name
 * returns reporters of one outage, which ends when every reporter that failed has recovered. A reporter that has not
 * failed for 30 s no longer counts: it may have made no calls.
 */
import { reasonOf } from './error-reason.ts';
import type { Logger } from './logger.ts';

const REMINDER_MS = 5 * 60_000;
const FORGET_REPORTER_MS = 30_000;

export interface OutageLog {
  /** Call it for each failure that the dependency is to blame for. Logs the first one, and a reminder every 5 minutes. */
  failed(error: unknown): void;
  /**
   * The same for a caller that never reports success, such as a single request: counted, but it does not keep the
   * outage open. The readiness check of the process (`core/process/readiness.ts`) says when the dependency is back.
   */
  noticed(error: unknown): void;
  /** Call it for each success, cheap while nothing has failed. Logs the end of an outage. */
  recovered(): void;
}

interface Outage {
  readonly sinceMs: number;
  failures: number;
  loggedAtMs: number;
  /** Reporters that failed, with the time of the last failure. */
  readonly reporters: Map<object, number>;
}

/** Current outages of each log, by dependency. */
const outagesOf = new WeakMap<Logger, Map<string, Outage>>();

/**
 * A reporter of the outages of one dependency.
 *
 * @param dependency its name in the log, e.g. `PostgreSQL`
 * @param now milliseconds since 1970; tests change it
 */
export function outageLog(log: Logger, dependency: string, now: () => number = Date.now): OutageLog {
  const outages = outagesOf.get(log) ?? new Map<string, Outage>();
  outagesOf.set(log, outages);
  const reporter = {};
  function note(error: unknown): Outage {
    const nowMs = now();
    const reason = reasonOf(error);
    let outage = outages.get(dependency);
    if (outage === undefined) {
      outage = { sinceMs: nowMs, failures: 1, loggedAtMs: nowMs, reporters: new Map() };
      outages.set(dependency, outage);
      log.warn({ dependency, reason }, `${dependency} is away`);
      return outage;
    }
    outage.failures++;
    if (nowMs - outage.loggedAtMs < REMINDER_MS) return outage;
    outage.loggedAtMs = nowMs;
    const seconds = secondsBetween(outage.sinceMs, nowMs);
    log.warn({ dependency, reason, seconds, failures: outage.failures }, `${dependency} is still away`);
    return outage;
  }
  return {
    failed(error) {
      note(error).reporters.set(reporter, now());
    },
    noticed(error) {
      note(error);
    },
    recovered() {
      const outage = outages.get(dependency);
      if (outage === undefined) return;
      const nowMs = now();
      outage.reporters.delete(reporter);
      for (const [other, failedAtMs] of outage.reporters)
        if (nowMs - failedAtMs > FORGET_REPORTER_MS) outage.reporters.delete(other);
      if (outage.reporters.size > 0) return;
      outages.delete(dependency);
      const seconds = secondsBetween(outage.sinceMs, nowMs);
      log.info({ dependency, seconds, failures: outage.failures }, `${dependency} is back`);
    },
  };
}

const secondsBetween = (fromMs: number, toMs: number): number => Math.round((toMs - fromMs) / 100) / 10;
