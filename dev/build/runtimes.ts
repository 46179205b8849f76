/**
 * JavaScript runtimes that the published packages are tested with. Each one is looked for in the folder `RUNTIMES_DIR`, in
 * the cache folder and on PATH.
 *
 *   npm run runtimes      puts those that are missing into the cache folder, from the package registry; exit code 1: it
 *                         could not get some of them, and lists them
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '#dev/cache-folder.ts';
import { makeFolder } from './made-folder.ts';

export interface Runtime {
  /** As people name it; also that of its file in `RUNTIMES_DIR`. */
  readonly name: 'node20' | 'node22' | 'node24' | 'bun' | 'deno';
  /** On PATH. */
  readonly program: string;
  /** What `--version` begins with. */
  readonly version: RegExp;
  /** Between the program and the file it runs. */
  readonly args: readonly string[];
  /** The package with its program for this machine. */
  readonly from: { readonly package: string; readonly version: string; readonly file: string };
}

const { platform, arch } = process;
const ASK_MAX_MS = 60_000;
const INSTALL_MAX_MS = 300_000;

const node = (major: 20 | 22 | 24, version: string): Runtime => ({
  name: `node${major}`,
  program: 'node',
  version: new RegExp(`^v${major}\\.`),
  args: [],
  from: { package: `node-${platform}-${arch}`, version, file: 'bin/node' },
});

export const RUNTIMES: readonly Runtime[] = [
  node(20, '20.20.2'),
  node(22, '22.23.3'),
  node(24, '24.21.0'),
  {
    name: 'bun',
    program: 'bun',
    version: /^\d/,
    args: [],
    from: {
      package: `@oven/bun-${platform}-${arch === 'arm64' ? 'aarch64' : arch}`,
      version: '1.4.5',
      file: 'bin/bun',
    },
  },
  {
    name: 'deno',
    program: 'deno',
    version: /^deno /,
    args: ['run', '--allow-all', '--quiet'],
    from: {
      package: `@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}`,
      version: '2.9.6',
      file: 'deno',
    },
  },
];

const cached = ({ name, from }: Runtime): string =>
  path.join(cacheFolder(), `runtime-${name}-${from.version}`, path.basename(from.file));

function isRuntime(program: string, { version }: Runtime): boolean {
  try {
    return version.test(
      execFileSync(program, ['--version'], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
        timeout: ASK_MAX_MS,
      }),
    );
  } catch {
    return false;
  }
}

/** The program of a runtime; undefined: this machine does not have it. */
export function findRuntime(runtime: Runtime, environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const given = environment['RUNTIMES_DIR'];
  const candidates = [
    ...(given ? [path.join(given, runtime.name)] : []),
    cached(runtime),
    // Of Node, this one is often the right version.
    ...(runtime.program === 'node' ? [process.execPath] : []),
    ...(environment['PATH'] ?? '').split(path.delimiter).map((folder) => path.join(folder, runtime.program)),
  ];
  return candidates.find((program) => existsSync(program) && isRuntime(program, runtime));
}

/** @throws {Error} when the registry does not have it, or it does not run here */
function install(runtime: Runtime): void {
  const { from } = runtime;
  makeFolder(path.dirname(cached(runtime)), (folder) => {
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--prefix', folder];
    execFileSync('npm', ['install', ...options, `${from.package}@${from.version}`], {
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: INSTALL_MAX_MS,
    });
    const program = path.join(folder, path.basename(from.file));
    cpSync(path.join(folder, 'node_modules', from.package, from.file), program);
    rmSync(path.join(folder, 'node_modules'), { recursive: true });
    if (!isRuntime(program, runtime)) throw new Error('its program does not run on this machine');
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const runtime of RUNTIMES)
    try {
      if (findRuntime(runtime) === undefined) install(runtime);
      process.stdout.write(`${runtime.name}: ${findRuntime(runtime)}\n`);
    } catch (error) {
      process.stderr.write(`${runtime.name}: ${error instanceof Error ? error.message : error}\n`);
      process.exitCode = 1;
    }
