/**
 * Sizes of the published packages, and how long the command takes to start.
 *
 *   npm run bench:packages                     about two minutes
 *   npm run bench:packages -- --starts 5       starts of each; 0: only sizes
 *
 * The kinds of starts take turns, so that what else the machine does meets all of them alike. CPU is user and system time
 * of the process.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { packPackages } from '#dev/build/packed-packages.ts';
import { findRuntime, RUNTIMES } from '#dev/build/runtimes.ts';
import { textTable } from './measure.ts';
import { cpuSeconds } from './processes.ts';

const STARTS = 20;
const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({ options: { starts: { type: 'string', default: String(STARTS) } } });
const starts = Number(values.starts);
const kb = (bytes: number): string => (bytes / 1_000).toFixed(1);
const say = (text: string): void => void process.stdout.write(`${text}\n`);

const bytesIn = (folder: string): { files: number; bytes: number } => {
  const files = globSync('**/*', { cwd: folder }).map((name) => statSync(path.join(folder, name)));
  return {
    files: files.filter((each) => each.isFile()).length,
    bytes: files.reduce((sum, each) => sum + (each.isFile() ? each.size : 0), 0),
  };
};

/** One file for browsers and edge runtimes, of what a program imports. */
async function bundled(project: string, program: string): Promise<Buffer> {
  const { build } = await import('vite');
  const entry = path.join(project, 'bundled.js');
  writeFileSync(entry, program);
  const built = await build({
    root: project,
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      target: 'es2022',
      minify: true,
      lib: { entry, formats: ['es'], fileName: 'bundled' },
    },
  });
  const [first] = Array.isArray(built) ? built : [built];
  const chunk = first !== undefined && 'output' in first ? first.output[0] : undefined;
  if (chunk?.type !== 'chunk') throw new Error('nothing was built');
  return Buffer.from(chunk.code);
}

interface Starter {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
}

/** Milliseconds by the clock. */
function startOnce({ program, args }: Starter, environment: NodeJS.ProcessEnv): number {
  const before = process.hrtime.bigint();
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8', env: environment });
  if (status !== 0) throw error ?? new Error(`${program} ${args.join(' ')}: ${stderr}`);
  return Number(process.hrtime.bigint() - before) / 1e6;
}

const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;

function startTimes(starters: readonly Starter[], folder: string): string[][] {
  const environment = { PATH: process.env['PATH'], HOME: folder, NO_COLOR: '1' };
  const measured = starters.map((starter) => ({ starter, clock: [] as number[], cpu: 0 }));
  // The first start fills the caches of compiled code.
  for (const { starter } of measured) startOnce(starter, environment);
  for (let round = 0; round < starts; round++)
    for (const each of measured) {
      const before = cpuSeconds(process.pid);
      each.clock.push(startOnce(each.starter, environment));
      each.cpu += cpuSeconds(process.pid) - before;
    }
  return measured.map(({ starter, clock, cpu }) => [
    starter.name,
    median(clock).toFixed(0),
    Math.min(...clock).toFixed(0),
    ((cpu / starts) * 1_000).toFixed(0),
  ]);
}

const folder = mkdtempSync(path.join(os.tmpdir(), 'agent-mailbox-sizes-'));
try {
  const packed = await packPackages(folder);
  const rows = [['package', 'packed kB', 'unpacked kB', 'files']];
  for (const [name, built] of packed.built) {
    const [tarball = ''] = execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], {
      cwd: built,
      encoding: 'utf8',
    })
      .trim()
      .split('\n')
      .slice(-1);
    const { files, bytes } = bytesIn(built);
    rows.push([name, kb(statSync(path.join(folder, tarball)).size), kb(bytes), String(files)]);
  }
  const project = await packed.install(path.join(folder, 'project'), ['agent-mailbox']);
  const installed = bytesIn(path.join(project, 'node_modules'));
  rows.push(['agent-mailbox, installed with all it needs', '', kb(installed.bytes), String(installed.files)]);
  say(`${textTable(rows)}\n`);

  const bundles = [['client in one file for browsers and edge runtimes', 'kB', 'gzip kB', 'brotli kB']];
  for (const [name, names] of [
    ['all of it', '*'],
    ['`OrganizationClient` and `verifyWebhook`', '{ OrganizationClient, verifyWebhook }'],
    ['`verifyWebhook` alone', '{ verifyWebhook }'],
  ] as const) {
    const code = await bundled(project, `export ${names} from '@agent-mailbox/client';\n`);
    bundles.push([name, kb(code.length), kb(gzipSync(code).length), kb(brotliCompressSync(code).length)]);
  }
  say(`${textTable(bundles)}\n`);

  if (starts > 0) {
    const command = path.join(project, 'node_modules/agent-mailbox/cli/main.js');
    const empty = path.join(folder, 'empty.mjs');
    writeFileSync(empty, '');
    const found = RUNTIMES.flatMap((runtime) => {
      const program = findRuntime(runtime);
      // The command needs a later one.
      if (program === undefined || runtime.name === 'node20') return [];
      return [
        { name: `${runtime.name}, empty program`, program, args: [...runtime.args, empty] },
        { name: `${runtime.name}, package, --version`, program, args: [...runtime.args, command, '--version'] },
        { name: `${runtime.name}, package, mail --help`, program, args: [...runtime.args, command, 'mail', '--help'] },
      ];
    });
    const clone = path.join(root, 'cli/agent-mailbox.mjs');
    const fromClone = [
      { name: 'clone, --version', program: process.execPath, args: [clone, '--version'] },
      { name: 'clone, mail --help', program: process.execPath, args: [clone, 'mail', '--help'] },
    ];
    const header = ['start', 'median ms', 'least ms', 'CPU ms'];
    say(textTable([header, ...startTimes([...fromClone, ...found], folder)]));
  }
  const [cpu] = os.cpus();
  say(
    `\n${cpu?.model.trim()}, ${os.availableParallelism()} cores; Node ${process.versions.node}; load average ${os.loadavg()[0]?.toFixed(1)}; ${starts} starts of each`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
