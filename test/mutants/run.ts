/**
 * Mutation probes: `npm run mutants -- <folder or file> […] [--max 60] [--seed 1] [--tests <pattern>]`.
 *
 * 1. The test files of the folder (`probes.json`, or `--tests`) run once, each alone, with V8's coverage.
 * 2. Of all mutants (`make-mutants.ts`) a sample is taken, the same one for the same seed.
 * 3. For each mutant the test files that reach the changed place run, the quickest first, until one fails (killed) or
 *    none has (survived). The working tree never changes: a loader hook gives the module its other source
 *    (`apply-mutant.mjs`). A file that does not end in time has failed.
 *
 * A survivor is a test to write. If no test can notice it, `probes.json` says why. The exit code is 1 if fewer than 90 %
 * were killed of those that are not equivalent.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { makeScratchFolder } from '#test/runner/scratch-folder.ts';
import { modulesOf } from '#test/runner/serverless-files.ts';
import { startTestServers } from '#test/runner/test-servers.ts';
import { type Mutant, mutantsOf } from './make-mutants.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const KILLED_MIN_PERCENT = 90;
/** Of the run without a mutant. With one, a file may take three times as long, and this for a busy machine. */
const FIRST_RUN_MAX_MS = 180_000;
const EXTRA_TIME_MS = 10_000;

type Environment = Readonly<Record<string, string>>;
type State = 'killed' | 'survived' | 'equivalent';
interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly ranges: readonly { startOffset: number; endOffset: number; count: number }[];
    }[];
  }[];
}
/** Folder → its test files; file → change, as it is reported → why no test can notice it. */
const { tests: testsOfFolders, equivalent } = JSON.parse(
  readFileSync(new URL('probes.json', import.meta.url), 'utf8'),
) as { tests: Record<string, readonly string[]>; equivalent: Record<string, Record<string, string>> };

const say = (text: string) => process.stdout.write(`${text}\n`);
const urlOf = (file: string): string => pathToFileURL(path.resolve(root, file)).href;
const interrupted = new AbortController();

/** Ends a test with the programs that it started. */
function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/** Runs a test file until its end, its first failure or the time limit. @returns how it failed, and how long it took */
async function runTest(
  file: string,
  environment: Environment,
  limitMs: number,
): Promise<[failure: string, ms: number]> {
  interrupted.signal.throwIfAborted();
  const startedAt = performance.now();
  const guard = `--import=${urlOf('test/support/leak-guard.ts')}`;
  const child = spawn(process.execPath, [guard, '--test', '--test-reporter=tap', file], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  });
  let output = '';
  const end = () => endGroup(child);
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    if (/^\s*not ok /m.test(output)) end();
  });
  const timer = setTimeout(end, limitMs);
  interrupted.signal.addEventListener('abort', end);
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  interrupted.signal.removeEventListener('abort', end);
  clearTimeout(timer);
  const ms = performance.now() - startedAt;
  return [code === 0 ? '' : `${output}\ncode ${code}, ${ms.toFixed(0)} ms`, ms];
}

/** @returns whether a process of the test ran the place: what V8 says of the smallest range around it */
function reachedIn(folder: string): (mutant: Mutant) => boolean {
  const scripts = readdirSync(folder).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as Coverage;
    return result.map(({ url, functions }) => ({ url, ranges: functions.flatMap(({ ranges }) => ranges) }));
  });
  return ({ file, offset }) =>
    scripts.some(({ url, ranges }) => {
      if (url !== urlOf(file)) return false;
      const around = ranges.filter(({ startOffset, endOffset }) => startOffset <= offset && offset < endOffset);
      const [smallest] = around.toSorted((a, b) => a.endOffset - a.startOffset - (b.endOffset - b.startOffset));
      return smallest !== undefined && smallest.count > 0;
    });
}

/** As many at once as there are processors. */
async function each<Item, Value>(items: readonly Item[], work: (item: Item) => Promise<Value>): Promise<Value[]> {
  const values: Value[] = [];
  const left = items.entries();
  const take = async () => {
    for (const [index, item] of left) values[index] = await work(item);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, take));
  return values;
}

/** @returns whether enough mutants of the folder or file were killed */
async function probe(
  target: string,
  tests: readonly string[],
  options: { max: number; seed: string; folder: string; environment: Environment },
) {
  const { max, seed, folder, environment } = options;
  const sources = target.endsWith('.ts') ? [target] : globSync(`${target}/**/*.ts`, { cwd: root });
  const all = sources
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => mutantsOf(file, readFileSync(path.resolve(root, file), 'utf8')));
  const rank = ({ file, change, line }: Mutant) =>
    createHash('sha256').update(`${seed} ${file} ${change} ${line}`).digest('hex');
  const sample = all.toSorted((one, other) => rank(one).localeCompare(rank(other))).slice(0, max);
  say(`\n${target}: ${sample.length} of ${all.length} mutants, ${tests.length} test files`);
  const files = await each(tests, async (file) => {
    const coverage = path.join(folder, `coverage of ${target} ${file}`.replaceAll('/', '-'));
    mkdirSync(coverage);
    const [failure, ms] = await runTest(file, { ...environment, NODE_V8_COVERAGE: coverage }, FIRST_RUN_MAX_MS);
    if (failure !== '') throw new Error(`${file} fails without any mutant:\n${failure}`);
    return { file, ms, reaches: reachedIn(coverage) };
  });
  files.sort((one, other) => one.ms - other.ms);
  const states = await each(sample, async (mutant): Promise<State> => {
    if (equivalent[mutant.file]?.[mutant.change] !== undefined) return 'equivalent';
    const source = path.join(folder, `mutant-${sample.indexOf(mutant)}.ts`);
    writeFileSync(source, mutant.source);
    const changed = {
      ...environment,
      NODE_OPTIONS: `--import=${urlOf('test/mutants/apply-mutant.mjs')}`,
      MUTANT_OF: urlOf(mutant.file),
      MUTANT_SOURCE: source,
    };
    const reaching = files.filter(({ reaches }) => reaches(mutant));
    for (const { file, ms } of reaching)
      if ((await runTest(file, changed, EXTRA_TIME_MS + 3 * ms))[0] !== '') return 'killed';
    say(`survived  ${mutant.file}:${mutant.line}  ${mutant.change}  (${reaching.length} test files reach it)`);
    return 'survived';
  });
  const count = (file: string, state: State) =>
    sample.filter((mutant, index) => mutant.file.startsWith(file) && states[index] === state).length;
  const row = (file: string) =>
    (['killed', 'survived', 'equivalent'] as const).map((state) => String(count(file, state)).padStart(9)).join(' ');
  say('   killed  survived equivalent');
  for (const file of [...new Set(sample.map(({ file }) => file))].toSorted()) say(`${row(file)}  ${file}`);
  const percent = (100 * count('', 'killed')) / Math.max(1, count('', 'killed') + count('', 'survived'));
  say(`${row('')}  ${target}: ${percent.toFixed(0)} %`);
  return percent >= KILLED_MIN_PERCENT;
}

/** @returns the exit code */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: {
      max: { type: 'string', default: '60' },
      seed: { type: 'string', default: '1' },
      tests: { type: 'string', multiple: true },
    },
    allowPositionals: true,
  });
  if (positionals.length === 0) throw new Error('Name a folder or file: npm run mutants -- sending/consent');
  const targets = positionals.map((name) => {
    const target = name.replace(/\/$/, '');
    const known = Object.keys(testsOfFolders).find((each) => `${target}/`.startsWith(`${each}/`));
    const patterns = values.tests ?? testsOfFolders[known ?? ''] ?? [];
    const tests = globSync(patterns, { cwd: root });
    if (tests.length === 0) throw new Error(`Name the tests of ${target} by --tests or in test/mutants/probes.json`);
    return { target, tests };
  });
  const { folder, temporary } = makeScratchFolder();
  const modules = modulesOf(root);
  const services = path.join(root, 'test/support/services.ts');
  const needServers = targets.some(({ tests }) => tests.some((file) => modules(file).has(services)));
  const servers = needServers ? await startTestServers(folder, say) : undefined;
  try {
    const options = {
      max: Number(values.max),
      seed: values.seed,
      folder,
      environment: { TMPDIR: temporary, ...servers?.environment },
    };
    let isEnough = true;
    for (const { target, tests } of targets) isEnough = (await probe(target, tests, options)) && isEnough;
    return isEnough ? 0 : 1;
  } finally {
    await servers?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

process.on('SIGINT', () => interrupted.abort());
process.on('SIGTERM', () => interrupted.abort());
process.exitCode = await main();
