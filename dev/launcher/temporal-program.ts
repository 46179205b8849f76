/**
 * The Temporal of `npm start`: TEMPORAL_ADDRESS; else a server that already answers on TEMPORAL_PORT; else an own
 * development server, which is the only one that is stopped at the end.
 *
 * Its program is found or downloaded in this order: TEMPORAL_CLI, `temporal` on PATH, our cache, the download of
 * Temporal's SDK, `go install` if Go is installed.
 */
import { type ExecFileException, execFile, execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporalConnectionOptions } from '#core/platform/engine/temporal-client.ts';
import { requireTemporal } from '#core/platform/engine/temporal-setup.ts';
import { type AgreedTemporal, otherTemporal } from '#core/platform/settings/agreed-settings.ts';
import { type Settings, SettingsError } from '#core/platform/settings/settings.ts';
import { temporalProblem } from '#core/process/dependencies.ts';
import { cacheFolder } from '#dev/cache-folder.ts';
import type { ChildEvents } from './child-process.ts';
import { accepts } from './free-port.ts';
import { startTemporalServer, type TemporalServer } from './temporal-server.ts';

/** Newest version that `go install` can build: later ones have a replace directive in their go.mod. Server 1.29.1. */
const VERSION = 'v1.5.1';
const GO_PACKAGE = `github.com/temporalio/cli/cmd/temporal@${VERSION}`;
/** It is written for Go 1.25; since 1.21 Go downloads the toolchain that a module needs. */
const GO_MINIMUM = { major: 1, minor: 21 };
const PROGRAM = process.platform === 'win32' ? 'temporal.exe' : 'temporal';
const DOWNLOAD_WITHIN_MS = 600_000;
const PROGRESS_EVERY_MS = 10_000;

interface TemporalProgramOptions {
  /** The setting TEMPORAL_CLI. */
  readonly configured: string | undefined;
  /** Breaks off a download or build. */
  readonly signal?: AbortSignal;
  onProgress?(text: string): void;
}

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
};

function onPath(program: string): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => path.join(folder, program))
    .find(isExecutable);
}

/** The Go program, if it is new enough. */
function findGo(): string | undefined {
  const go = onPath('go') ?? ['/usr/local/go/bin/go'].find(isExecutable);
  if (go === undefined) return undefined;
  try {
    const [, major, minor] = /go(\d+)\.(\d+)/.exec(execFileSync(go, ['version']).toString()) ?? [];
    const newEnough =
      Number(major) > GO_MINIMUM.major || (Number(major) === GO_MINIMUM.major && Number(minor) >= GO_MINIMUM.minor);
    return newEnough ? go : undefined;
  } catch {
    return undefined;
  }
}

/** Runs a slow program; reports progress every ten seconds. Rejects with the end of its output. */
async function runLong(
  what: string,
  command: string,
  args: readonly string[],
  options: { env: NodeJS.ProcessEnv; timeout?: number; signal?: AbortSignal },
  onProgress: (text: string) => void,
): Promise<void> {
  const startedAt = Date.now();
  const timer = setInterval(
    () => onProgress(`${what}: ${Math.round((Date.now() - startedAt) / 1000)} s so far`),
    PROGRESS_EVERY_MS,
  );
  try {
    await new Promise<void>((resolve, reject) => {
      execFile(
        command,
        args,
        { ...options, maxBuffer: 64 * 1024 * 1024 },
        (error: ExecFileException | null, _, stderr) => {
          if (error === null) resolve();
          else reject(new Error(lastWords(stderr) || error.message));
        },
      );
    });
  } finally {
    clearInterval(timer);
  }
}

/** The line of an error output that says most: the last one that names an error, else the last one. */
function lastWords(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  return (lines.findLast((line) => /error|fail|denied|no such/i.test(line)) ?? lines.at(-1) ?? '').trim().slice(0, 300);
}

/**
 * Path of a runnable `temporal` program; downloaded or built if necessary.
 *
 * @throws with three solutions if there is none and none can be obtained
 */
export async function temporalProgram(options: TemporalProgramOptions): Promise<string> {
  const onProgress = options.onProgress ?? (() => {});
  if (options.configured !== undefined) {
    if (isExecutable(options.configured)) return options.configured;
    throw new Error(
      `TEMPORAL_CLI is "${options.configured}", but this is not a program that can be run. Correct it, or unset it.`,
    );
  }
  const folder = path.join(cacheFolder(), `temporal-${VERSION.slice(1)}`);
  const cached = path.join(folder, PROGRAM);
  const found = onPath(PROGRAM) ?? (isExecutable(cached) ? cached : undefined);
  if (found !== undefined) return found;

  mkdirSync(folder, { recursive: true });
  // Downloaded to a temporary name and then renamed, so that an interrupted download is never run.
  const unfinished = mkdtempSync(path.join(folder, 'fetch-'));
  const problems: string[] = [];
  const breakOff = options.signal === undefined ? {} : { signal: options.signal };
  try {
    onProgress('downloading the Temporal server (about 100 MB, once per user)');
    try {
      const script = fileURLToPath(new URL('./download-temporal.ts', import.meta.url));
      await runLong(
        'downloading',
        process.execPath,
        [script, unfinished, VERSION],
        { env: process.env, timeout: DOWNLOAD_WITHIN_MS, ...breakOff },
        onProgress,
      );
      renameSync(path.join(unfinished, `temporal-${VERSION}${path.extname(PROGRAM)}`), cached);
      return cached;
    } catch (error) {
      problems.push(`download: ${error instanceof Error ? error.message : error}`);
    }
    options.signal?.throwIfAborted();
    const go = findGo();
    if (go === undefined)
      problems.push(`go install: no Go ${GO_MINIMUM.major}.${GO_MINIMUM.minor} or later on this machine`);
    else {
      onProgress('the download did not work; building the Temporal server with Go (2 to 5 minutes, once per user)');
      try {
        const env = { ...process.env, GOBIN: unfinished, GOFLAGS: '' };
        await runLong('building', go, ['install', GO_PACKAGE], { env, ...breakOff }, onProgress);
        renameSync(path.join(unfinished, PROGRAM), cached);
        return cached;
      } catch (error) {
        problems.push(`go install: ${error instanceof Error ? error.message : error}`);
      }
    }
  } finally {
    if (existsSync(unfinished)) rmSync(unfinished, { recursive: true, force: true });
  }
  throw new Error(
    `There is no Temporal server, and none could be downloaded:\n${problems.map((each) => `  - ${each}`).join('\n')}\n` +
      'Do one of these:\n' +
      '  1. set TEMPORAL_ADDRESS=host:port to your own Temporal server;\n' +
      '  2. install the `temporal` program (https://docs.temporal.io/cli) on PATH, or set TEMPORAL_CLI to it;\n' +
      '  3. allow this machine to reach https://temporal.download (or the Go module proxy) and start again.',
  );
}

const HOST = '127.0.0.1';
/** An own server may have got another port since its data were deleted. */
const ON_THIS_MACHINE = /^(?:127\.|localhost:|\[::1\])/;

interface ChosenTemporal {
  readonly origin: 'configured' | 'found' | 'started';
  readonly address: string;
  readonly uiUrl: string | undefined;
  /** What was missing on the server and was created, in words. */
  readonly added: readonly string[];
  /** Only for one we started. */
  readonly server: TemporalServer | undefined;
}

interface TemporalChoiceOptions {
  readonly settings: Settings;
  /** What the server must be; undefined: any. */
  readonly agreed: AgreedTemporal | undefined;
  /** State of an own server. */
  readonly folder: string;
  /** Settles when a server that an earlier start left behind has ended. */
  readonly leftover: Promise<void>;
  readonly signal: AbortSignal;
  readonly events: ChildEvents;
  onProgress(text: string): void;
}

/** @throws with instructions: wrong address, port in use by another program, no server available */
export async function chooseTemporal(options: TemporalChoiceOptions): Promise<ChosenTemporal> {
  const { settings, folder, onProgress, agreed } = options;
  const namespace = settings.TEMPORAL_NAMESPACE;
  await options.leftover;
  if (settings.TEMPORAL_ADDRESS !== undefined) {
    const connection = temporalConnectionOptions(settings);
    const { made: added } = await requireTemporal(connection, namespace, { mayCreateNamespace: true, agreed });
    return {
      origin: 'configured',
      address: connection.address,
      uiUrl: settings.TEMPORAL_UI_URL,
      added,
      server: undefined,
    };
  }
  const address = `${HOST}:${settings.TEMPORAL_PORT}`;
  if (settings.TEMPORAL_PORT !== 0 && (await accepts(HOST, settings.TEMPORAL_PORT))) {
    const problem = await temporalProblem({ address }, namespace);
    if (problem !== undefined)
      throw new Error(
        `The program that listens on ${address} is not a Temporal with namespace "${namespace}" (${problem}). ` +
          'Stop it, set TEMPORAL_PORT to another port, or set TEMPORAL_ADDRESS to the Temporal you want to use.',
      );
    const { made: added } = await requireTemporal({ address }, namespace, { mayCreateNamespace: true, agreed });
    return { origin: 'found', address, uiUrl: settings.TEMPORAL_UI_URL, added, server: undefined };
  }
  const other = otherTemporal(agreed, { namespaceId: undefined, address });
  if (other !== undefined && !ON_THIS_MACHINE.test(agreed?.address ?? '')) throw new SettingsError([other]);
  const program = await temporalProgram({ configured: settings.TEMPORAL_CLI, signal: options.signal, onProgress });
  const server = await startTemporalServer({
    program,
    folder: path.resolve(folder),
    port: settings.TEMPORAL_PORT,
    namespace,
    events: options.events,
    onProgress,
  });
  return {
    origin: 'started',
    address: server.address,
    uiUrl: settings.TEMPORAL_UI_URL ?? server.uiUrl,
    added: [],
    server,
  };
}
