/**
 * Whether a process can do its work, check by check: at `/readyz`, as metrics, and in the log when a check changes.
 *
 * Each process checks only what it needs. `mail` and `api` store what they accept, so they stay ready while only
 * Temporal is unreachable; `worker` and `all` do not. A check that is not `ok` either makes the process not ready, or
 * is a warning in the answer (`BLOCKING`).
 *
 * The checks run every five seconds, and for a request when the last run is older than two; requests share a run. Each
 * check has its own limit of time.
 */
import path from 'node:path';
import { findOtherTemporal, type TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { certificateExpiry, readinessCheck, readyGauge } from '#core/platform/log/metrics.ts';
import { type OutageLog, outageLog } from '#core/platform/log/outage-log.ts';
import type { ProcessName } from '#core/platform/process/database-connections.ts';
import type { Services } from '#core/platform/process/services.ts';
import { infrastructureFault } from '#db/infrastructure-error.ts';
import { pendingMigrations } from '#db/migrate.ts';
import { probeWrites } from '#db/write-probe.ts';
import { type DatabaseProblem, watchDatabaseSettings } from './check-database.ts';
import {
  type CertificateState,
  checkCertificate,
  checkDisk,
  checkSecretsKeys,
  type DiskState,
  type SecretsKeysState,
} from './start-checks.ts';

const CHECK_TIMEOUT_MS = 2_000;
const CHECK_EVERY_MS = 5_000;
const FRESH_MS = 2_000;
/** It reads every sealed value. */
const SECRETS_EVERY_MS = 60_000;

/**
 * Possible results of each check. `unknown`: it could not run, because something else is unavailable or not started.
 */
export const CHECK_STATES = {
  postgresql: ['ok', 'unreachable', 'read_only', 'out_of_resources', 'failing'],
  migrations: ['ok', 'pending', 'unknown'],
  temporal: ['ok', 'unreachable', 'other_server', 'unknown'],
  worker: ['ok', 'not_running', 'unknown'],
  secretsKeys: ['ok', 'missing_some', 'missing', 'unknown'],
  databaseSettings: ['ok', 'harmful', 'unknown'],
  dataFolder: ['ok', 'full', 'unwritable'],
  certificate: ['ok', 'expiring', 'expired', 'untrusted', 'wrong_name', 'unreadable'],
} as const satisfies Record<string, readonly string[]>;
export type CheckName = keyof typeof CHECK_STATES;

interface CheckStates {
  readonly postgresql: (typeof CHECK_STATES.postgresql)[number];
  readonly migrations: (typeof CHECK_STATES.migrations)[number];
  readonly temporal: (typeof CHECK_STATES.temporal)[number];
  readonly worker?: (typeof CHECK_STATES.worker)[number];
  readonly secretsKeys: SecretsKeysState | 'unknown';
  readonly databaseSettings: (typeof CHECK_STATES.databaseSettings)[number];
  readonly dataFolder?: DiskState;
  readonly certificate?: CertificateState;
}

/** A check that is not `ok`. */
export interface ReadinessProblem {
  readonly check: CheckName;
  readonly state: string;
  /** Whether it makes the process not ready; otherwise it is a warning. */
  readonly blocking: boolean;
  /** Its meaning and what to do. */
  readonly message: string;
}

/** Whether the process can do its work. */
export interface Readiness {
  readonly status: 'ready' | 'not_ready';
  readonly process: ProcessName;
  readonly checks: CheckStates;
  readonly problems: readonly ReadinessProblem[];
}

export interface ReadinessMonitor {
  /** The result of the last run, or of a new one if that is older than two seconds. Never throws. */
  current(): Promise<Readiness>;
  /** Temporal's client, once there is one. */
  useTemporal(temporal: TemporalClient): void;
  /** The worker of this process, once it was started. */
  useWorker(worker: { isRunning(): boolean }): void;
  close(): Promise<void>;
}

/** Checks of each process beside those that all have (PostgreSQL, migrations, Temporal, secrets keys). */
const FURTHER_CHECKS: Readonly<Record<ProcessName, { worker: boolean; dataFolder: boolean; certificate: boolean }>> = {
  api: { worker: false, dataFolder: false, certificate: false },
  worker: { worker: true, dataFolder: false, certificate: false },
  mail: { worker: false, dataFolder: true, certificate: true },
  all: { worker: true, dataFolder: true, certificate: true },
};

/**
 * Whether a state makes a process not ready. An expired certificate does not: other mail hosts still deliver mail, most
 * of them without checking it, and a host out of service would get none. Some secrets that cannot be opened do not
 * either: operations that need them fail and are retried, everything else works.
 */
function isBlocking(process: ProcessName, check: CheckName, state: string): boolean {
  switch (check) {
    case 'postgresql':
    case 'migrations':
    case 'worker':
    case 'dataFolder':
      return true;
    case 'temporal':
      return state === 'other_server' || process === 'worker' || process === 'all';
    case 'secretsKeys':
      return state === 'missing' && process !== 'mail';
    case 'certificate':
    case 'databaseSettings':
      return false;
  }
}

/** Meaning of each state that is not `ok`, and what to do. */
export const MESSAGES: Readonly<Record<CheckName, Readonly<Record<string, string>>>> = {
  postgresql: {
    unreachable: 'PostgreSQL does not answer: check that it runs, and DATABASE_URL.',
    read_only:
      'PostgreSQL accepts no writes: it is read-only or a standby. Point DATABASE_URL at the primary, or make it writable.',
    out_of_resources: 'PostgreSQL has used up its disk, memory or connections: give it more; the log has the reason.',
    failing: 'PostgreSQL refuses a small write; the log has its reason.',
  },
  migrations: {
    pending: 'The database lacks migrations of this version: run `npm run migrate`.',
    unknown: 'Not known while PostgreSQL does not answer.',
  },
  temporal: {
    unreachable:
      'Temporal does not answer: check that it runs, and TEMPORAL_ADDRESS. New mail and events are stored; deliveries, sending and retention continue when it is back.',
    other_server: 'TEMPORAL_ADDRESS is not the Temporal that this database was set up with.',
    unknown: 'The process is still starting.',
  },
  worker: {
    not_running: 'The Temporal worker takes no tasks; the process ends if that lasts for ten seconds.',
    unknown: 'The process is still starting.',
  },
  secretsKeys: {
    missing:
      'No secret in the database was sealed with a key of SECRETS_KEYS: these keys belong to another installation. Set the keys of this one.',
    missing_some: 'Some secrets were sealed with a key that SECRETS_KEYS lacks: add it after the first.',
    unknown: 'Not known while PostgreSQL does not answer.',
  },
  databaseSettings: {
    unknown: 'Not known while PostgreSQL does not answer.',
  },
  dataFolder: {
    full: 'The disk of DATA_DIR has no room for another message: free some space.',
    unwritable: 'The spool folder in DATA_DIR cannot be written; the log has the reason.',
  },
  certificate: {
    expiring: 'The certificate of the mail listeners (TLS_CERT) expires within 14 days: renew it.',
    expired: 'The certificate of the mail listeners (TLS_CERT) has expired: mail clients refuse it. Renew it.',
    untrusted:
      'The certificate of the mail listeners (TLS_CERT) is a development certificate, or one that issued itself: mail clients refuse it. Set TLS_CERT and TLS_KEY to one of a certificate authority.',
    wrong_name:
      'The certificate of the mail listeners (TLS_CERT) is not for MAIL_HOSTNAME: mail clients refuse it. Set the name or the certificate right.',
    unreadable: 'The certificate of the mail listeners (TLS_CERT) cannot be read; the log has the reason.',
  },
};

type Database = Pick<Services, 'db' | 'settings' | 'secrets' | 'log' | 'now'>;

/**
 * Starts checking. The result is not ready until Temporal's client (and the worker) are known and every check passes.
 */
export function openReadiness(services: Database, process: ProcessName): ReadinessMonitor {
  const { db, settings, secrets, log, now } = services;
  const further = FURTHER_CHECKS[process];
  const postgresOutage = outageLog(log, 'PostgreSQL');
  const temporalOutage = outageLog(log, 'Temporal');
  const logged = new Map<CheckName, string>();
  let temporal: TemporalClient | undefined;
  /** What is wrong with the Temporal of this process, which is not that of the installation. */
  let otherTemporal: string | undefined;
  let worker: { isRunning(): boolean } | undefined;
  let secretsKeys: { readonly state: CheckStates['secretsKeys']; readonly checkedAtMs: number } | undefined;
  const serverSettings = watchDatabaseSettings(db, log);
  let last: { readonly result: Readiness; readonly atMs: number } | undefined;
  let run: Promise<Readiness> | undefined;
  let closed = false;

  async function checkDatabase(): Promise<Pick<CheckStates, 'postgresql' | 'migrations'>> {
    let migrations: CheckStates['migrations'] = 'unknown';
    try {
      migrations = (await within(pendingMigrations(db))).length === 0 ? 'ok' : 'pending';
      // A migration creates the probe's own table.
      if (migrations === 'ok') await probeWrites(db, process, CHECK_TIMEOUT_MS);
      postgresOutage.recovered();
      return { postgresql: 'ok', migrations };
    } catch (error) {
      postgresOutage.failed(error);
      const fault = infrastructureFault(error);
      const known = fault === 'read_only' || fault === 'out_of_resources';
      return { postgresql: known ? fault : fault === undefined ? 'failing' : 'unreachable', migrations };
    }
  }

  async function checkTemporal(): Promise<CheckStates['temporal']> {
    if (temporal === undefined) return 'unknown';
    const reachable = await temporal.isReachable(CHECK_TIMEOUT_MS);
    if (reachable) temporalOutage.recovered();
    else temporalOutage.failed(`no answer within ${CHECK_TIMEOUT_MS} ms`);
    if (!reachable) return 'unreachable';
    try {
      otherTemporal = await within(findOtherTemporal(db, temporal.client, settings));
    } catch {
      // What does not answer has a check of its own; until it does, the last finding counts.
    }
    const state = otherTemporal === undefined ? 'ok' : 'other_server';
    changed('temporal', state, otherTemporal);
    return state;
  }

  /** After the database was found to answer. */
  async function checkSecrets(outage: OutageLog): Promise<CheckStates['secretsKeys']> {
    const atMs = performance.now();
    if (secretsKeys !== undefined && atMs - secretsKeys.checkedAtMs < SECRETS_EVERY_MS) return secretsKeys.state;
    try {
      const { state, missingIds } = await within(checkSecretsKeys(db, secrets));
      secretsKeys = { state, checkedAtMs: atMs };
      changed('secretsKeys', state, missingIds.length === 0 ? undefined : `no key ${missingIds.join(', ')}`);
      return state;
    } catch (error) {
      outage.failed(error);
      return secretsKeys?.state ?? 'unknown';
    }
  }

  /** After the database was found to answer. */
  async function checkServer(outage: OutageLog): Promise<void> {
    await within(serverSettings.look()).catch((error: unknown) => outage.failed(error));
  }

  async function checkFolder(): Promise<DiskState | undefined> {
    if (!further.dataFolder) return undefined;
    const { state, error } = await checkDisk(path.join(settings.DATA_DIR, 'spool'));
    changed('dataFolder', state, error);
    return state;
  }

  async function checkTls(): Promise<CertificateState | undefined> {
    if (!further.certificate) return undefined;
    const { state, expiresAtMs, error } = await checkCertificate(settings, now());
    const until = expiresAtMs === undefined ? undefined : new Date(expiresAtMs).toISOString();
    if (expiresAtMs !== undefined) certificateExpiry.set(expiresAtMs / 1_000);
    changed('certificate', state, error ?? (until === undefined ? undefined : `valid until ${until}`));
    return state;
  }

  /** One line when a check changes; outages of PostgreSQL and Temporal have lines of their own. */
  function changed(check: CheckName, state: string, reason?: unknown): void {
    const before = logged.get(check) ?? 'ok';
    logged.set(check, state);
    if (state === before) return;
    const facts = { check, state, ...(reason === undefined ? {} : { reason: reasonOf(reason) }) };
    if (state === 'ok') log.info(facts, 'a readiness check passes again');
    else log.warn(facts, MESSAGES[check][state] ?? 'a readiness check fails');
  }

  async function checkAll(): Promise<Readiness> {
    const [database, temporalState, dataFolder, certificate] = await Promise.all([
      checkDatabase(),
      checkTemporal(),
      checkFolder(),
      checkTls(),
    ]);
    const known = database.postgresql !== 'unreachable' && database.migrations === 'ok';
    const workerState = worker === undefined ? 'unknown' : worker.isRunning() ? 'ok' : 'not_running';
    if (known) await checkServer(postgresOutage);
    const serverProblems = serverSettings.problems();
    const checks: CheckStates = {
      ...database,
      temporal: temporalState,
      ...(further.worker ? { worker: workerState } : {}),
      secretsKeys: known ? await checkSecrets(postgresOutage) : (secretsKeys?.state ?? 'unknown'),
      databaseSettings: serverProblems === undefined ? 'unknown' : serverProblems.length === 0 ? 'ok' : 'harmful',
      ...(dataFolder === undefined ? {} : { dataFolder }),
      ...(certificate === undefined ? {} : { certificate }),
    };
    const result = evaluate(process, checks, serverProblems, otherTemporal);
    for (const [check, state] of Object.entries(checks)) readinessCheck.set({ check }, state === 'ok' ? 1 : 0);
    readyGauge.set(result.status === 'ready' ? 1 : 0);
    return result;
  }

  function refresh(): Promise<Readiness> {
    run ??= checkAll()
      .then((result) => {
        last = { result, atMs: performance.now() };
        return result;
      })
      .finally(() => {
        run = undefined;
      });
    return run;
  }

  const timer = setInterval(() => {
    if (!closed) refresh().catch((error: unknown) => log.error({ reason: reasonOf(error) }, 'readiness failed'));
  }, CHECK_EVERY_MS);
  timer.unref();
  return {
    async current() {
      // After the end nothing is asked any more.
      if (last !== undefined && (closed || performance.now() - last.atMs < FRESH_MS)) return last.result;
      return refresh();
    },
    useTemporal(client) {
      temporal = client;
      last = undefined;
    },
    useWorker(running) {
      worker = running;
      last = undefined;
    },
    async close() {
      closed = true;
      clearInterval(timer);
      await run?.catch(() => {});
    },
  };
}

/** What the states of the checks mean for a process. @param serverProblems one by one, those of `databaseSettings` */
export function evaluate(
  process: ProcessName,
  checks: CheckStates,
  serverProblems: readonly DatabaseProblem[] = [],
  otherTemporal?: string,
): Readiness {
  const problems = Object.entries(checks).flatMap(([name, state]: [string, string]): ReadinessProblem[] => {
    if (state === 'ok') return [];
    const check = name as CheckName; // the keys of CheckStates
    if (check === 'databaseSettings' && state === 'harmful')
      return serverProblems.map((problem) => ({ check, blocking: false, ...problem }));
    // A process that is starting is not ready.
    const blocking = isBlocking(process, check, state) || (check === 'temporal' && state === 'unknown');
    return [
      {
        check,
        state,
        blocking,
        message: (state === 'other_server' && otherTemporal) || (MESSAGES[check][state] ?? ''),
      },
    ];
  });
  return { status: problems.some(({ blocking }) => blocking) ? 'not_ready' : 'ready', process, checks, problems };
}

async function within<Value>(work: Promise<Value>): Promise<Value> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(Object.assign(new Error(`no answer within ${CHECK_TIMEOUT_MS} ms`), { code: 'ETIMEDOUT' })),
    CHECK_TIMEOUT_MS,
  );
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {}); // it may still fail after the limit
  }
}
