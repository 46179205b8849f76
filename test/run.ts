/**
 * `npm test`: runs the tests, and beside them checks types, style and layers.
 *
 * One PostgreSQL and one Temporal server on free ports, in a folder that is removed at the end, serve all test files; a
 * migrated template database, the bundled workflows and a certificate are made once. The files that need no server run
 * while it starts. Then files of one kind share processes, a few processes at a time; last begin the files that kill,
 * measure or put load on the machine, each in a process of its own (`runner/plan.ts`). A run of everything runs the few
 * files that failed once more, alone, and names those that pass then.
 *
 * Tests whose programs the machine lacks are skipped, counted and listed (`runner/missing-programs.ts`).
 *
 * `npm test -- test/api/x.test.ts` runs single files without the checks, each in a process of its own, and so does a
 * `--test-name-pattern` without files. `npm test -- test/api` runs a folder in shared processes. `--quick` runs what `npm run test:quick` promises, `--times` lists the time of
 * each file, longest first, and the time of processors by program; further options are passed to node's test runner.
 */
import { spawn } from 'node:child_process';
import { existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ProcessorTimes, watchProcessorTimes } from './runner/cpu-by-process.ts';
import type { FileResult, SkippedTest } from './runner/file-results.ts';
import { skippedSummary, withoutMissing } from './runner/missing-programs.ts';
import { isQuickFile, namesWithoutFile, type Plan, planFiles, writeShares } from './runner/plan.ts';
import { filesToRunAgain, joinRuns, type Run } from './runner/run-again.ts';
import { makeScratchFolder } from './runner/scratch-folder.ts';
import { modulesOf, needsNoServer } from './runner/serverless-files.ts';
import { staticChecks } from './runner/static-checks.ts';
import { startTestServers } from './runner/test-servers.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const CACHE = path.join(root, 'node_modules/.cache/agent-mailbox');
/** Modules as V8 compiled them: most of the time of a short test file would be their compilation. */
const COMPILE_CACHE = path.join(CACHE, 'compiled');
/** Processes: more than processors, because tests wait as often as they work; each takes connections of the one PostgreSQL. */
const AT_ONCE = Math.min(6, availableParallelism() + 2);
/** Waits in tests have limits of their own. This one ends what hangs, and no test on a machine that is merely busy. */
const TEST_TIMEOUT_MS = 300_000;
const MS_PER_SECOND = 1_000;
const say = (text: string) => process.stderr.write(`${text}\n`);
const interrupted = new AbortController();

const given = process.argv.slice(2);
const OWN_OPTIONS = ['--times', '--quick'];
const showTimes = given.includes('--times');
const isQuick = given.includes('--quick');
const options = given.filter((argument) => argument.startsWith('-') && !OWN_OPTIONS.includes(argument));
const named = given.filter((argument) => !argument.startsWith('-'));

let runs = 0;
const processorTimes: ProcessorTimes | undefined = showTimes ? watchProcessorTimes() : undefined;
/** Of the whole run; those of files that are run again stand in it twice. */
const skippedTests: SkippedTest[] = [];

/** Runs test files by node's test runner. @param environment of the servers @param atOnce number of processes */
async function runFiles(
  folder: string,
  files: readonly string[],
  environment: Readonly<Record<string, string>>,
  atOnce: number,
): Promise<Run> {
  if (files.length === 0 || interrupted.signal.aborted) return { code: 0, results: [] };
  const resultsFile = path.join(folder, `results-${++runs}.jsonl`);
  const child = spawn(
    process.execPath,
    [
      `--import=${new URL('./support/leak-guard.ts', import.meta.url).href}`,
      '--test',
      `--test-concurrency=${atOnce}`,
      `--test-timeout=${TEST_TIMEOUT_MS}`,
      '--test-reporter=spec',
      '--test-reporter-destination=stdout',
      '--test-reporter=./test/runner/file-results.ts',
      `--test-reporter-destination=${resultsFile}`,
      ...options,
      ...files,
    ],
    { cwd: root, stdio: 'inherit', env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE, ...environment } },
  );
  const onAbort = () => child.kill('SIGTERM');
  interrupted.signal.addEventListener('abort', onAbort);
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (ended) => resolve(ended ?? 1));
  });
  interrupted.signal.removeEventListener('abort', onAbort);
  const lines = existsSync(resultsFile) ? readFileSync(resultsFile, 'utf8').trim().split('\n') : [];
  const said = lines.filter(Boolean).map((line) => JSON.parse(line) as FileResult | SkippedTest);
  skippedTests.push(...said.filter((each) => 'skipped' in each));
  const results = said.filter((each) => 'end' in each);
  return { code, results: [...new Map(results.map((result) => [result.file, result])).values()] };
}

/** Runs the few files that failed once more, and says which they were in any case (`runner/run-again.ts`). */
async function runFailedAgain(folder: string, first: Run, environment: Readonly<Record<string, string>>): Promise<Run> {
  const files = filesToRunAgain(first);
  if (files.length === 0 || interrupted.signal.aborted) return first;
  say(`\nfailed beside others, run again alone:\n  ${files.join('\n  ')}`);
  const { run, unsteady } = joinRuns(first, await runFiles(folder, files, environment, 1), files);
  if (unsteady.length > 0) say(`⚠ unsteady, failed at first and passed alone:\n  ${unsteady.join('\n  ')}`);
  return run;
}

/** Runs a plan. The servers start beside the files that need none. */
async function runPlan({ pure, shared, alone }: Plan, { isWhole }: { isWhole: boolean }): Promise<Run> {
  // Everything was left out.
  if (pure.length + shared.length + alone.length === 0) return { code: 0, results: [] };
  const { folder, temporary } = makeScratchFolder();
  const servers = startTestServers(folder, say);
  // Awaited below.
  servers.catch(() => {});
  try {
    const runsOfPlan = [await runFiles(folder, writeShares(folder, root, pure), { TMPDIR: temporary }, AT_ONCE)];
    const environment = { ...(await servers).environment, TMPDIR: temporary };
    runsOfPlan.push(await runFiles(folder, [...writeShares(folder, root, shared), ...alone], environment, AT_ONCE));
    const run = {
      code: Math.max(...runsOfPlan.map(({ code }) => code)),
      results: runsOfPlan.flatMap(({ results }) => results),
    };
    return isWhole ? await runFailedAgain(folder, run, environment) : run;
  } finally {
    const started = await servers.catch(() => undefined);
    await started?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function sayTimes(results: readonly FileResult[]): void {
  const inAll = results.reduce((sum, { ms }) => sum + ms, 0) / MS_PER_SECOND;
  const seconds = (ms: number | undefined) => (ms === undefined ? '' : (ms / MS_PER_SECOND).toFixed(1)).padStart(7);
  say(`\n${inAll.toFixed(0)} s in ${results.length} files, of each: seconds, of processors in its process, tests`);
  for (const { file, ms, tests, processorMs } of results.toSorted((one, other) => other.ms - one.ms))
    say(`${seconds(ms)} ${seconds(processorMs)} ${String(tests).padStart(5)}  ${file}`);
}

function sayProcessorTimes(times: ProcessorTimes): void {
  const listed = times.read();
  times.close();
  const inAll = listed.reduce((sum, [, seconds]) => sum + seconds, 0);
  say(`\n${inAll.toFixed(0)} s of processors, by program:`);
  for (const [kind, seconds] of listed) if (seconds > 0) say(`${seconds.toFixed(1).padStart(7)}  ${kind}`);
}

/** Says which files failed or did not run. @returns whether all is well */
function sayFiles(files: readonly string[], results: readonly FileResult[]): boolean {
  if (interrupted.signal.aborted) {
    say('✖ interrupted');
    return false;
  }
  const ends = new Map(results.map(({ file, end }) => [file, end]));
  const failed = files.filter((file) => ends.get(file) === 'failed');
  const lost = files.filter((file) => !ends.has(file) || ends.get(file) === 'started');
  if (failed.length > 0) say(`✖ ${failed.length} of ${files.length} files failed:\n  ${failed.join('\n  ')}`);
  for (const { file } of results.filter(({ isShare }) => isShare === true))
    say(`✖ the process of ${path.basename(file)} failed, although its files ended; see above`);
  if (lost.length > 0) say(`✖ ${lost.length} of ${files.length} files did not end:\n  ${lost.join('\n  ')}`);
  if (failed.length + lost.length === 0) say(`✔ ${files.length} files passed`);
  return failed.length + lost.length === 0;
}

/** Lists what was skipped. @returns whether that is in order: CI installs every program, so nothing may be missing there */
function saySkipped(): boolean {
  const once = new Map(skippedTests.map((each) => [`${each.file}: ${each.skipped}: ${each.reason}`, each]));
  const { lines, isLacking } = skippedSummary([...once.values()]);
  for (const line of lines) say(line);
  if (isLacking) say('  `.ci/run --install` installs what is missing.');
  if (isLacking && process.env['CI'] === 'true') {
    say('✖ CI is "true", where no test may be skipped for want of a program');
    return false;
  }
  return true;
}

/** Files in processes of their own, without checks. @returns the exit code */
async function runAlone(files: readonly string[]): Promise<number> {
  const { code, results } = await runPlan({ pure: [], shared: [], alone: files }, { isWhole: false });
  if (showTimes) sayTimes(results);
  return code;
}

/** Files in shared processes. @returns whether all passed */
async function runShared(
  files: readonly string[],
  isPure: (file: string) => boolean,
  isWhole: boolean,
): Promise<boolean> {
  const { code, results } = await runPlan(planFiles(files, isPure), { isWhole });
  if (showTimes) sayTimes(results);
  return sayFiles(files, results) && code === 0;
}

/** @returns the exit code */
async function main(): Promise<number> {
  const modules = modulesOf(root);
  const isPure = needsNoServer(modules);
  const here = (files: readonly string[]): string[] => {
    const { files: runnable, skipped } = withoutMissing(root, files, modules);
    skippedTests.push(...skipped);
    return runnable;
  };
  const all = globSync('{test,packages/*/test}/**/*.test.ts', {
    cwd: root,
    exclude: ['**/node_modules/**'],
  }).toSorted();
  // The names of files that share a process are names of tests, too: a pattern would leave them out.
  const hasPattern = options.some((option) => option.startsWith('--test-name-pattern'));
  const folders = named.filter((name) => !name.endsWith('.ts')).map((name) => `${name.replace(/\/$/, '')}/`);
  const inFolders = all.filter((file) => folders.some((folder) => file.startsWith(folder)));
  if (hasPattern || named.length > folders.length)
    return runAlone(here(named.length === 0 ? all : [...inFolders, ...named.filter((name) => name.endsWith('.ts'))]));
  if (folders.length > 0) return (await runShared(here(inFolders), isPure, false)) ? 0 : 1;
  const gone = namesWithoutFile(all);
  if (gone.length > 0) say(`✖ test/runner/plan.ts names files that do not exist: ${gone.join(', ')}`);
  const [failedChecks, passed] = await Promise.all([
    staticChecks(root, say, { isQuick, signal: interrupted.signal }),
    runShared(here(isQuick ? all.filter(isQuickFile(isPure)) : all), isPure, !isQuick),
  ]);
  for (const name of failedChecks) say(`✖ ${name}: failed, see above`);
  return passed && failedChecks.length === 0 && gone.length === 0 ? 0 : 1;
}

// Ctrl-C arrives twice, from the terminal and from npm: the second one must not end this process before the servers.
const onSignal = () => interrupted.abort();
process.on('SIGINT', onSignal);
process.on('SIGTERM', onSignal);
const code = await main();
if (processorTimes !== undefined) sayProcessorTimes(processorTimes);
process.exitCode = saySkipped() ? code : 1;
process.off('SIGINT', onSignal);
process.off('SIGTERM', onSignal);
