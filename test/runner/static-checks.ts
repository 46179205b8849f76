/** The checks of `npm test` that run no code: types, format, layers, unused code. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { writeDashboardTypes } from '#dev/generate/dashboard-types.ts';

interface Check {
  readonly name: string;
  /** A program of node_modules with its arguments. */
  readonly command: readonly string[];
  /** Takes seconds, not tens of them. */
  readonly isCheap: boolean;
}

/** Files that did not change since the last check, nor anything that they import, are not checked again. */
const types = (project: string, known: string): readonly string[] => [
  ...['tsc', '-p', project, '--incremental'],
  ...['--tsBuildInfoFile', `node_modules/.cache/agent-mailbox/${known}.tsbuildinfo`],
];

const CHECKS: readonly Check[] = [
  { name: 'types (tsc)', command: types('.', 'types'), isCheap: true },
  { name: 'types of the dashboard (tsc)', command: types('dashboard', 'types-of-dashboard'), isCheap: true },
  { name: 'format (biome)', command: ['biome', 'check', '--error-on-warnings'], isCheap: true },
  { name: 'lint and layers (oxlint)', command: ['oxlint', '--type-aware', '--deny-warnings'], isCheap: false },
  { name: 'unused code (knip)', command: ['knip', '--no-progress'], isCheap: false },
];

interface Ended {
  readonly code: number;
  readonly output: string;
}

function run(root: string, [name = '', ...args]: readonly string[], signal: AbortSignal): Promise<Ended> {
  const child = spawn(path.join(root, 'node_modules/.bin', name), args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: 1, output: error.message }));
    child.once('close', (code) => resolve({ code: code ?? 1, output: Buffer.concat(chunks).toString() }));
  });
}

/**
 * Runs the checks one after another, and says the result of each.
 *
 * @param options.isQuick only the cheap ones
 * @returns names of those that failed; empty is well
 */
export async function staticChecks(
  root: string,
  say: (text: string) => void,
  { isQuick, signal }: { readonly isQuick: boolean; readonly signal: AbortSignal },
): Promise<string[]> {
  writeDashboardTypes();
  const failed: string[] = [];
  for (const { name, command } of CHECKS.filter(({ isCheap }) => isCheap || !isQuick)) {
    if (signal.aborted) return [...failed, name];
    const startedAt = performance.now();
    const { code, output } = await run(root, command, signal);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    say(`${code === 0 ? '✔' : '✖'} ${name} ${seconds} s`);
    if (code === 0) continue;
    say(output);
    failed.push(name);
  }
  return failed;
}
