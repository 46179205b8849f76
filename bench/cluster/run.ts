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
import { machineAndDatabase } from '#bench/machine.ts';
import { machineCpuSeconds, memoryMegabytes, visibleCpuSeconds } from '#bench/processes.ts';
import { account } from '#operations/prove/account.ts';
import { type ClusterReport, duplicatesBySpan, failures, readFacts, reportText } from './accounting.ts';
import { type Cluster, openCluster, SERVICE_DATABASE } from './cluster.ts';
import { FAULTS, type Fault, type FaultFigures, openBefore, runFault, UPGRADES } from './faults.ts';
import { LOAD_ENDPOINTS, startLoad } from './load.ts';
import { IDLE_ENDPOINTS, idleReport } from './lone.ts';
import { folderInNamespace, leaveNamespace, runInNamespace, TEMPORAL_VERSION } from './servers.ts';

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
  --from <folder> begins with the programs of this checkout, whose packages are installed, and upgrades to this one
                  under load, back, and again, before the faults
  --idle <n>      instead of load and faults: so many events one after another, how soon each arrives
  --json <file>   the report as JSON
  --logs <folder> keeps the logs of all processes there

Faults
${FAULTS.map(({ name }) => `  ${name}`).join('\n')}
with --from
${UPGRADES.map(({ name }) => `  ${name}`).join('\n')}`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '0' },
    only: { type: 'string', multiple: true, default: [] },
    rate: { type: 'string', default: String(RATE) },
    idle: { type: 'string' },
    from: { type: 'string' },
    json: { type: 'string' },
    logs: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const say = (text: string) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);

function wanted(): Fault[] {
  const faults = [...(values.from === undefined ? [] : UPGRADES), ...FAULTS].filter(
    ({ name }) => values.only.length === 0 || values.only.some((text) => name.includes(text)),
  );
  if (faults.length === 0) throw new Error(`--only takes a part of the name of a fault\n${USAGE}`);
  return faults;
}

function number(name: 'minutes' | 'rate' | 'idle', least: number): number {
  const value = Number(values[name]);
  if (!Number.isFinite(value) || value < least) throw new Error(`--${name} takes a number from ${least}`);
  return value;
}

/** Share of the machine that others have used since. */
function watchOthers(): () => number {
  const othersSeconds = () => machineCpuSeconds() - visibleCpuSeconds();
  const [before, beganMs] = [othersSeconds(), performance.now()];
  return () => {
    const seconds = (performance.now() - beganMs) / 1_000;
    return Math.max(0, othersSeconds() - before) / (seconds * os.availableParallelism());
  };
}

async function describeMachine({ postgres }: Cluster): Promise<string[]> {
  const query = (text: string, values?: readonly unknown[]) => postgres.query(SERVICE_DATABASE, text, values);
  return machineAndDatabase({ query } as Parameters<typeof machineAndDatabase>[0]); // it asks for one column of text
}

async function measure(cluster: Cluster, faults: readonly Fault[]): Promise<ClusterReport> {
  const [minutes, perSecond] = [number('minutes', 0), number('rate', 0.1)];
  const machine = await describeMachine(cluster);
  const othersRatio = watchOthers();
  const load = startLoad(cluster, perSecond);
  try {
    await delay(WARM_UP_MS);
    const megabytes = () => cluster.programs().map(({ pid }) => memoryMegabytes(pid()));
    const memoryBefore = megabytes();
    const figures: FaultFigures[] = [];
    do
      for (const fault of faults) {
        say(`${fault.name} …`);
        const of = await runFault(cluster, load, fault);
        figures.push(of);
        say(
          `${fault.name}: ready ${of.readySeconds ?? 'not'} s, accepted ${of.acceptedSeconds ?? 'not'} s, delivered ${of.deliveredSeconds ?? 'not'} s`,
        );
      }
    while (Date.now() - load.beganMs < minutes * 60_000);
    say('finishing');
    await load.finish(FINISH_WITHIN_MS);
    // Deliveries still open after that are counted.
    const deadline = Date.now() + FINISH_WITHIN_MS;
    while ((await openBefore(cluster, Date.now()).catch(() => 1)) > 0 && Date.now() < deadline) await delay(500);
    const facts = await readFacts(cluster, load);
    const deferrals = new Map<string, number>();
    for (const { mark, refused, deferrals: own } of load.operations) {
      for (const [by, count] of own) deferrals.set(by, (deferrals.get(by) ?? 0) + count);
      if (refused !== undefined) say(`refused: ${mark} ${refused}`);
    }
    const memoryAfter = megabytes();
    return {
      machine: [
        ...machine,
        `Temporal ${TEMPORAL_VERSION} on PostgreSQL`,
        `${Math.round(othersRatio() * 100)} % of the machine used by others`,
      ],
      perSecond,
      minutes: (Date.now() - load.beganMs) / 60_000,
      faults: figures,
      duplicates: duplicatesBySpan(
        facts.receipts,
        figures.map(({ beganMs }) => beganMs),
      ),
      account: account(facts),
      memory: cluster.programs().map(({ name, crashes }, n) => ({
        program: name,
        crashes: crashes(),
        startMegabytes: memoryBefore[n] ?? 0,
        endMegabytes: memoryAfter[n] ?? 0,
      })),
      deferrals,
      skipped: load.skipped,
    };
  } finally {
    await load.close();
  }
}

const asJson = (_key: string, value: unknown): unknown => (value instanceof Map ? Object.fromEntries(value) : value);

/** The logs of all programs, each as a file of its own. */
function keepLogs(folder: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const log of globSync('*/server.log', { cwd: folder }))
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
    const older = values.from === undefined ? undefined : path.resolve(values.from);
    const cluster = await openCluster(folder, idle === undefined ? LOAD_ENDPOINTS : IDLE_ENDPOINTS, say, older);
    try {
      if (idle !== undefined) {
        console.log(await idleReport(cluster, idle));
        code = 0;
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
