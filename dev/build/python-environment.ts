/**
 * Pythons with the packages that tests need: an environment of each in the cache folder, made from
 * `python/requirements*.txt`, in which every package has its hash.
 *
 *   node dev/start.mjs dev/build/python-environment.ts        makes all of them; a test makes the one that is missing
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '#dev/cache-folder.ts';
import { makeFolder } from './made-folder.ts';

/** Those that the package is for. */
export const PYTHON_VERSIONS = ['3.10', '3.11', '3.12', '3.13'] as const;
const PYTHON_FOLDER = fileURLToPath(new URL('../../python', import.meta.url));
const INSTALL_MAX_MS = 600_000;
const ASK = 'import sys; print("%d.%d" % sys.version_info[:2])';

/** What an environment has: the package’s own needs; with them type checker, builder and generators. */
export type Packages = 'requirements' | 'requirements-tools';

function versionOf(program: string): string | undefined {
  try {
    return execFileSync(program, ['-c', ASK], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}

/** The interpreter of a version; undefined: this machine has none. */
export function pythonOf(version: string): string | undefined {
  const pyenv = path.join(process.env['PYENV_ROOT'] ?? path.join(homedir(), '.pyenv'), 'versions');
  const candidates = [
    `python${version}`,
    'python3',
    ...globSync(`${version}.*/bin/python${version}`, { cwd: pyenv }).map((each) => path.join(pyenv, each)),
    ...globSync(path.join(homedir(), `.local/bin/python${version}`)),
  ];
  return candidates.find((program) => versionOf(program) === version);
}

/** The version of the `python3` of this machine, if the package is for it; else the newest one that is here. */
export function usualPython(): string | undefined {
  const version = versionOf('python3');
  return PYTHON_VERSIONS.find((each) => each === version) ?? PYTHON_VERSIONS.findLast((each) => pythonOf(each));
}

/**
 * The interpreter of an environment, which is made if it is not there yet, for the sources as they are now.
 *
 * @throws {Error} when there is no such Python, or its packages cannot be installed
 */
export function pythonEnvironment(version: string, packages: Packages): string {
  const interpreter = interpreterWith(version, packages);
  // The synchronous client is not committed.
  execFileSync(interpreter, [path.join(PYTHON_FOLDER, 'hatch_build.py')]);
  return interpreter;
}

function interpreterWith(version: string, packages: Packages): string {
  const program = pythonOf(version);
  if (program === undefined) throw new Error(`there is no Python ${version}`);
  const requirements = path.join(PYTHON_FOLDER, `${packages}.txt`);
  const digest = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const folder = path.join(cacheFolder(), `python-${version}-${packages}-${digest}`);
  const interpreter = path.join(folder, 'bin/python');
  if (existsSync(interpreter)) return interpreter;
  makeFolder(folder, (unfinished) => {
    const run = (command: string, ...args: string[]) =>
      execFileSync(command, ['-m', ...args], { stdio: ['ignore', 'ignore', 'inherit'], timeout: INSTALL_MAX_MS });
    run(program, 'venv', unfinished);
    const options = ['--quiet', '--require-hashes', '--only-binary', ':all:'];
    run(path.join(unfinished, 'bin/python'), 'pip', 'install', ...options, '-r', requirements);
  });
  return interpreter;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const usual = usualPython();
  if (usual !== undefined) pythonEnvironment(usual, 'requirements-tools');
  for (const version of PYTHON_VERSIONS)
    if (pythonOf(version) !== undefined) pythonEnvironment(version, 'requirements');
}
