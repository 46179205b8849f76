/** The faults of a run, in the order in which they happen, and how the cluster recovers from each. */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMs } from '#bench/event-load.ts';
import { signalTree } from '#bench/processes.ts';
import { firstIdAt } from '#domain/ids.ts';
import { isOpen } from '#operations/prove/ledger.ts';
import { type Cluster, SERVICE_DATABASE, type ServiceProcess } from './cluster.ts';
import type { Load } from './load.ts';
import type { Program, SmallDisk } from './servers.ts';

export interface Fault {
  readonly name: string;
  /** Injects the fault from its beginning to its end; recovery is observed afterwards. */
  carryOut(cluster: Cluster): Promise<void>;
  /** What the service must create again and has not created yet. */
  missing?(cluster: Cluster): Promise<readonly string[]>;
}

const PAUSE_MS = 12_000;
/** Longer than the first three waits of a delivery, so that attempts that fail for this reason would show. */
const DISK_FULL_MS = 25_000;
const READ_ONLY_MS = 15_000;
/** Without a namespace: longer than a worker may go on without one. */
const NO_NAMESPACE_MS = 15_000;

const PROGRAMS = [
  ...['api-1', 'api-2', 'worker-1', 'worker-2', 'mail-1', 'mail-2'],
  ...['PostgreSQL', 'PostgreSQL of the engine', 'Temporal'],
];

const ofEachProgram = (verb: string, carryOut: (program: Program) => Promise<void>): Fault[] =>
  PROGRAMS.map((name) => ({
    name: `${verb} ${name.toLowerCase().replace('postgresql of the engine', 'engine-postgresql')}`,
    async carryOut(cluster) {
      const program = cluster.programs().find((each) => each.name === name);
      if (program === undefined) throw new Error(`there is no process ${name}`);
      await carryOut(program);
    },
  }));

const fillDisks = (name: string, disksOf: (cluster: Cluster) => readonly SmallDisk[]): Fault => ({
  name: `fill disk of ${name}`,
  async carryOut(cluster) {
    const disks = disksOf(cluster);
    for (const disk of disks) disk.fill();
    await delay(DISK_FULL_MS);
    for (const disk of disks) disk.free();
  },
});

/** The engine loses all its state; an operator creates its namespace again some time later. */
const dropEngineState = (time: string): Fault => ({
  name: `drop engine state, ${time}`,
  async carryOut({ temporal }) {
    await temporal.dropState();
    await delay(NO_NAMESPACE_MS);
    await temporal.registerNamespace();
  },
  missing: ({ temporal }) => temporal.missing(),
});

/** With another version at the beginning: to this one, back, and to this one again. */
export const UPGRADES: readonly Fault[] = [
  { name: 'upgrade', carryOut: ({ deploy }) => deploy() },
  { name: 'roll back', carryOut: ({ deploy, olderVersion }) => deploy(olderVersion) },
  { name: 'upgrade again', carryOut: ({ deploy }) => deploy() },
];

export const FAULTS: readonly Fault[] = [
  { name: 'deploy process by process', carryOut: ({ deploy }) => deploy() },
  ...ofEachProgram('kill', async ({ pid }) => signalTree(pid(), 'SIGKILL')),
  ...ofEachProgram('pause', async ({ pid }) => {
    const paused = pid();
    signalTree(paused, 'SIGSTOP');
    await delay(PAUSE_MS);
    signalTree(paused, 'SIGCONT');
  }),
  fillDisks('mail', ({ mailDisks }) => mailDisks),
  fillDisks('postgresql', ({ postgres }) => [postgres.dataDisk]),
  fillDisks('postgresql log', ({ postgres }) => [postgres.logDisk]),
  fillDisks('engine', ({ enginePostgres }) => [enginePostgres.dataDisk, enginePostgres.logDisk]),
  fillDisks('both servers', ({ postgres, enginePostgres }) => [postgres.dataDisk, enginePostgres.dataDisk]),
  {
    // As a server that became a standby, or whose operator made it read-only: 25006 for every write.
    name: 'read-only postgresql',
    async carryOut({ postgres }) {
      for (const value of ['on', 'off']) {
        await postgres.query('postgres', `alter system set default_transaction_read_only = ${value}`);
        await postgres.query('postgres', 'select pg_reload_conf()');
        if (value === 'on') await delay(READ_ONLY_MS);
      }
    },
  },
  dropEngineState('first time'),
  dropEngineState('second time'),
];

export interface FaultFigures {
  readonly fault: Fault;
  /** On the monotonic clock. */
  readonly beganMs: number;
  readonly lastedSeconds: number;
  /** From the end of the fault (a kill ends at once), until every process was ready; undefined: not in time. */
  readonly readySeconds: number | undefined;
  /** Until every operation begun before the end of the fault was accepted. */
  readonly acceptedSeconds: number | undefined;
  /** Until all webhooks and mails of everything accepted by then were delivered. */
  readonly deliveredSeconds: number | undefined;
  /** What the service did not create again after the engine's state was dropped. */
  readonly missing: readonly string[];
  readonly openDeliveries: number;
  /** Operations begun before the end of the fault that were not accepted within the time limit, with their last try. */
  readonly openOperations: readonly string[];
  /** New lines in the log of each process, and those of warnings and errors by their text. */
  readonly logs: readonly { process: string; lines: number; problems: ReadonlyMap<string, number> }[];
  /** How often each process said that it is ready, that it is not, or nothing. */
  readonly readiness: ReadonlyMap<string, Readonly<Record<Readiness, number>>>;
  /** Programs that ended, with how often. */
  readonly restarts: ReadonlyMap<string, number>;
}

const POLL_MS = 300;
/** A delivery without its workflow is overdue after 2 minutes, and the sweep runs every half minute. */
const RECOVERED_WITHIN_MS = 240_000;
/** The next fault begins this long after the recovery from the previous one. */
const BETWEEN_MS = 2_000;
const ASK_EVERY_MS = 1_000;
const ANSWER_WITHIN_MS = 3_000;
const WARN = 40;

type Readiness = 'ready' | 'notReady' | 'silent';

/** Asks `/readyz` of every process once a second. */
function watchReadiness(processes: readonly ServiceProcess[]) {
  const last = new Map<string, { askedAtMs: number; answer: Readiness }>();
  const counts = new Map(processes.map(({ name }) => [name, { ready: 0, notReady: 0, silent: 0 }]));
  const timer = setInterval(() => {
    const askedAtMs = Date.now();
    for (const { name, healthUrl } of processes)
      void fetch(`${healthUrl}/readyz`, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })
        .then(
          ({ ok }): Readiness => (ok ? 'ready' : 'notReady'),
          (): Readiness => 'silent',
        )
        .then((answer) => {
          last.set(name, { askedAtMs, answer });
          const of = counts.get(name);
          if (of !== undefined) of[answer]++;
        });
  }, ASK_EVERY_MS);
  return {
    counts,
    allReadySince: (ms: number) =>
      processes.every(({ name }) => last.get(name)?.answer === 'ready' && (last.get(name)?.askedAtMs ?? 0) > ms),
    stop: () => clearInterval(timer),
  };
}

/** Whole lines so far. */
const logLines = ({ logFile }: Program): string[] =>
  existsSync(logFile) ? readFileSync(logFile, 'utf8').split('\n').slice(0, -1) : [];

function problemsOf(lines: readonly string[]): Map<string, number> {
  const problems = new Map<string, number>();
  for (const line of lines) {
    let [level, msg]: [unknown, unknown] = [WARN, `not JSON: ${line.slice(0, 80)}`];
    try {
      ({ level, msg } = JSON.parse(line));
    } catch {
      // What it wrote is not from its logger.
    }
    if (Number(level) >= WARN) problems.set(String(msg), (problems.get(String(msg)) ?? 0) + 1);
  }
  return problems;
}

/** Deliveries and messages to send that are not final, of those made before. */
export async function openBefore({ postgres, customer }: Cluster, beforeMs: number): Promise<number> {
  const [row] = await postgres.ask<{ open: number }>(
    SERVICE_DATABASE,
    `select (select count(*)::int from deliveries where organization_id = $1 and id < $2 and status in ('pending', 'failed'))
          + (select count(*)::int from outbound_message where organization_id = $1 and id < $3 and state <> 'done') as open`,
    [customer.organizationId, firstIdAt('delivery', beforeMs), firstIdAt('message', beforeMs)],
  );
  return row?.open ?? 0;
}

/** Injects a fault under load, and measures until every operation that began before its end is through. */
export async function runFault(cluster: Cluster, load: Load, fault: Fault): Promise<FaultFigures> {
  const before = cluster.processes.map((each) => logLines(each).length);
  const crashesOf = () => new Map(cluster.programs().map(({ name, crashes }) => [name, crashes()]));
  const crashesBefore = crashesOf();
  const readiness = watchReadiness(cluster.processes);
  const [beganMs, beganAtMs] = [monotonicMs(), Date.now()];
  try {
    await fault.carryOut(cluster);
    const endedMs = Date.now();
    const seconds = (ms: number | undefined) => (ms === undefined ? undefined : (ms - endedMs) / 1_000);
    const stillOpen = () => load.operations.filter((each) => isOpen(each) && each.beganAtMs <= endedMs);
    let [readyMs, acceptedMs, deliveredMs]: (number | undefined)[] = [];
    let openDeliveries = 0;
    let missing: readonly string[] = [];
    do {
      await delay(POLL_MS);
      if (fault.missing !== undefined) missing = await fault.missing(cluster).catch(() => ['the namespace']);
      if (readiness.allReadySince(endedMs)) readyMs ??= Date.now();
      if (stillOpen().length === 0) acceptedMs ??= Date.now();
      if (acceptedMs === undefined || deliveredMs !== undefined) continue;
      // Undefined: the database itself is not back yet.
      const open = await openBefore(cluster, acceptedMs).catch(() => undefined);
      openDeliveries = open ?? openDeliveries;
      if (open === 0) deliveredMs = Date.now();
    } while (
      Date.now() < endedMs + RECOVERED_WITHIN_MS &&
      (readyMs === undefined || deliveredMs === undefined || missing.length > 0)
    );
    const restarts = [...crashesOf()].map(
      ([name, count]) => [name, Math.max(0, count - (crashesBefore.get(name) ?? 0))] as const,
    );
    return {
      ...{ fault, beganMs, missing, openDeliveries },
      lastedSeconds: (endedMs - beganAtMs) / 1_000,
      readySeconds: seconds(readyMs),
      acceptedSeconds: seconds(acceptedMs),
      deliveredSeconds: seconds(deliveredMs),
      openOperations: stillOpen().map(({ mark, tries, lastTry }) => `${mark} after ${tries} tries: ${lastTry}`),
      logs: cluster.processes.map((each, n) => {
        const all = logLines(each);
        const from = before[n] ?? 0;
        const lines = all.length < from ? all : all.slice(from); // cut off when it had grown large
        return { process: each.name, lines: lines.length, problems: problemsOf(lines) };
      }),
      readiness: readiness.counts,
      restarts: new Map(restarts.filter(([, count]) => count > 0)),
    };
  } finally {
    readiness.stop();
    await delay(BETWEEN_MS);
  }
}
