/**
 * `npm run bench:cluster`: two of each process under constant load, while each part in turn is killed, paused, or
 * loses its disk or its state; then counts what was lost. Method and figures: `bench/README.md`.
 */
import { copyFileSync, globSync, mkdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { machineCpuSeconds, visibleCpuSeconds } from '#bench/cpu-time.ts';
import { machineAndDatabase } from '#bench/machine.ts';
import { memoryMegabytes } from '#bench/memory.ts';
import { account, duplicatesBySpan } from './accounting.ts';
import { type Cluster, openCluster, SERVICE_DATABASE } from './cluster.ts';
import { type FaultFigures, runFault } from './fault-run.ts';
import { FAULTS, type Fault } from './faults.ts';
import { IDLE_ENDPOINTS, idleReport } from './idle.ts';
import { watchLogs } from './log-watch.ts';
import { loneMailReport, RATIO_MAX } from './lone-mails.ts';
import { folderInNamespace, leaveNamespace, runInNamespace } from './own-namespace.ts';
import { readFacts } from './read-facts.ts';
import { watchReadiness } from './readiness-watch.ts';
import { type ClusterReport, failures, reportText } from './report.ts';
import { TEMPORAL_VERSION } from './temporal-programs.ts';

const RATE = 8;
/** Before the first fault: everything has started and is warm. */
const WARM_UP_MS = 15_000;
const FINISH_WITHIN_MS = 240_000;
const INTERRUPTED = 130;

const USAGE = `Usage: npm run bench:cluster -- [options]

Options
  --minutes <n>   rounds of all faults begin until so much time has passed; default: one round, about 15 minutes
  --only <text>   only faults whose name has this text in it; may be given several times
  --rate <n>      operations that begin in a second (${RATE})
  --idle <n>      instead of load and faults: so many events one after another, how soon each arrives
  --jit <n>       instead of faults: so many lone mails with 100,000 deliveries in the tables, with jit on and off in turn,
                  first quiet and then beside the load; fails if jit makes them more than ${RATIO_MAX} times as slow
  --json <file>   the report as JSON
  --logs <folder> keeps the logs of all processes there

Faults
${FAULTS.map(({ name }) => `  ${name}`).join('\n')}`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '0' },
    only: { type: 'string', multiple: true, default: [] },
    rate: { type: 'string', default: String(RATE) },
    idle: { type: 'string' },
    jit: { type: 'string' },
    json: { type: 'string' },
    logs: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const say = (text: string) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);

function wanted(): Fault[] {
  const faults = FAULTS.filter(
    ({ name }) => values.only.length === 0 || values.only.some((text) => name.includes(text)),
  );
  if (faults.length === 0) throw new Error(`--only takes a part of the name of a fault\n${USAGE}`);
  return faults;
}

function number(name: 'minutes' | 'rate' | 'idle' | 'jit', least: number): number {
  const value = Number(values[name]);
  if (!Number.isFinite(value) || value < least) throw new Error(`--${name} takes a number from ${least}`);
  return value;
}

const megabytes = ({ service, postgres, enginePostgres, temporal }: Cluster) =>
  [...service.all, postgres, enginePostgres, temporal.program()].map((program) => ({
    program: program.name,
    restarts: program.restarts(),
    megabytes: memoryMegabytes(program.pid()),
  }));

/** Share of the machine that others have used since. */
function watchOthers(): () => number {
  const othersSeconds = () => machineCpuSeconds() - visibleCpuSeconds();
  const [before, beganMs] = [othersSeconds(), performance.now()];
  return () => {
    const seconds = (performance.now() - beganMs) / 1_000;
    return Math.max(0, othersSeconds() - before) / (seconds * os.availableParallelism());
  };
}

const databaseOf = ({ postgres }: Cluster) => ({
  query: <Row>(text: string, parameters?: readonly unknown[]) =>
    postgres.query(SERVICE_DATABASE, text, parameters) as Promise<Row[]>,
});

async function measure(cluster: Cluster, faults: readonly Fault[]): Promise<ClusterReport> {
  const { service, ledger, load } = cluster;
  const minutes = number('minutes', 0);
  const machine = await machineAndDatabase(databaseOf(cluster));
  const othersRatio = watchOthers();
  const readiness = watchReadiness(service.all);
  const logs = watchLogs(service.all);
  try {
    await delay(WARM_UP_MS);
    const memoryBefore = new Map(megabytes(cluster).map((each) => [each.program, each.megabytes]));
    const figures: FaultFigures[] = [];
    do
      for (const fault of faults) {
        say(`${fault.name} …`);
        const of = await runFault(cluster, fault, { readiness, logs });
        figures.push(of);
        say(
          `${fault.name}: ready ${of.readySeconds ?? 'not'} s, accepted ${of.acceptedSeconds ?? 'not'} s, delivered ${of.deliveredSeconds ?? 'not'} s`,
        );
      }
    while (Date.now() - cluster.loadBeganMs < minutes * 60_000);
    say('finishing');
    await load.finish(FINISH_WITHIN_MS);
    await allFinal(cluster);
    const facts = await readFacts(cluster);
    const deferrals = new Map<string, number>();
    for (const [by, count] of ledger.operations.flatMap((operation) => [...operation.deferrals]))
      deferrals.set(by, (deferrals.get(by) ?? 0) + count);
    for (const { mark, refused } of ledger.operations) if (refused !== undefined) say(`refused: ${mark} ${refused}`);
    return {
      machine: [
        ...machine,
        `Temporal ${TEMPORAL_VERSION} on PostgreSQL`,
        `${Math.round(othersRatio() * 100)} % of the machine used by others`,
      ],
      perSecond: number('rate', 0.1),
      minutes: (Date.now() - cluster.loadBeganMs) / 60_000,
      faults: figures,
      duplicates: duplicatesBySpan(
        facts.receipts,
        figures.map(({ beganMs }) => beganMs),
      ),
      account: account(facts),
      memory: megabytes(cluster).map(({ program, restarts, megabytes: endMegabytes }) => ({
        program,
        restarts,
        startMegabytes: memoryBefore.get(program) ?? 0,
        endMegabytes,
      })),
      deferrals,
      skipped: load.skipped,
    };
  } finally {
    readiness.stop();
  }
}

/** Until no delivery is open, for some minutes at most: deliveries still open after that are counted. */
async function allFinal({ postgres, subscriber }: Cluster): Promise<void> {
  const deadline = Date.now() + FINISH_WITHIN_MS;
  while (Date.now() < deadline) {
    const [row] = await postgres.query<{ open: number }>(
      SERVICE_DATABASE,
      `select (select count(*)::int from deliveries where organization_id = $1 and status in ('pending', 'failed'))
            + (select count(*)::int from outbound_message where organization_id = $1 and state <> 'done') as open`,
      [subscriber.organizationId],
    );
    if (row?.open === 0) return;
    await delay(500);
  }
}

const asJson = (_key: string, value: unknown): unknown => (value instanceof Map ? Object.fromEntries(value) : value);

/** The logs of all programs, each as a file of its own. */
function keepLogs(folder: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const log of globSync('*/{log,server.log}', { cwd: folder }))
    copyFileSync(path.join(folder, log), path.join(to, `${path.dirname(log)}.log`));
}

async function runHere(folder: string): Promise<void> {
  // Ctrl-C reaches this process directly; for any other end the outer process closes its standard input.
  const interrupt = () => leaveNamespace(folder, INTERRUPTED);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupt);
  process.stdin.once('end', interrupt).resume();
  let code = 1;
  try {
    const faults = wanted();
    const idle = values.idle === undefined ? undefined : number('idle', 1);
    const jit = values.jit === undefined ? undefined : number('jit', 1);
    const cluster = await openCluster({
      folder,
      perSecond: idle === undefined && jit === undefined ? number('rate', 0.1) : 0,
      endpoints: idle === undefined ? undefined : IDLE_ENDPOINTS,
      say,
    });
    try {
      if (idle !== undefined) {
        console.log(await idleReport(cluster, idle));
        code = 0;
        return;
      }
      if (jit !== undefined) {
        const machine = await machineAndDatabase(databaseOf(cluster));
        const others = watchOthers();
        const { text, passed } = await loneMailReport(cluster, jit, number('rate', 0.1), say);
        console.log(`${text}\n\n${machine.join('; ')}; ${Math.round(others() * 100)} % of the machine used by others`);
        code = passed ? 0 : 1;
        return;
      }
      const report = await measure(cluster, faults);
      if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(report, asJson, 2));
      console.log(reportText(report));
      code = failures(report).length === 0 ? 0 : 1;
    } finally {
      await cluster.close();
    }
  } catch (error) {
    say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    if (values.logs !== undefined) keepLogs(folder, values.logs);
    leaveNamespace(folder, code);
  }
}

const folder = folderInNamespace();
if (values.help) console.log(USAGE);
else if (folder === undefined) {
  wanted();
  process.exitCode = await runInNamespace(fileURLToPath(import.meta.url), process.argv.slice(2));
} else await runHere(folder);
