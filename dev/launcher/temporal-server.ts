/**
 * Temporal's development server, with its UI and with state in a file, for `npm start` and for tests.
 *
 * It is a tool: SQLite with one connection. Its rate limits are lifted, because they only cause latency, and the
 * features that the service needs are enabled (eager activities, priority and fairness). A server that survived a
 * killed launcher is recognized by temporal.pid and its working directory, and stopped.
 */
import { existsSync, mkdirSync, readFileSync, readlinkSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporalProblem } from '#core/process/dependencies.ts';
import { SEARCH_ATTRIBUTES } from '#domain/webhooks/delivery-status.ts';
import { type ChildEvents, startWatched } from './child-process.ts';
import { accepts, freePort, portProblem } from './free-port.ts';
import { commandLine, endProcess, isAlive } from './instance-lock.ts';

const HOST = '127.0.0.1';
const UI_PORT_OFFSET = 1_000;
const READY_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 15_000;

export const DYNAMIC_CONFIG: Readonly<Record<string, string>> = {
  'system.enableActivityEagerExecution': 'true',
  'matching.rps': '50000',
  'history.rps': '50000',
  'frontend.rps': '50000',
  'frontend.namespaceRPS': '50000',
  'matching.useNewMatcher': 'true',
  'matching.enableFairness': 'true',
};

interface TemporalServerOptions {
  /** Path of the `temporal` program. */
  readonly program: string;
  /** Contains database and log. Created if missing. */
  readonly folder: string;
  /** 0 chooses a free port, and starts no UI. */
  readonly port: number;
  /** Whether the UI listens on this port plus 1000. Default: true. */
  readonly ui?: boolean;
  readonly namespace: string;
  readonly events?: ChildEvents;
  onProgress?(text: string): void;
}

export interface TemporalServer {
  /** `host:port` of the frontend. */
  readonly address: string;
  readonly uiUrl: string | undefined;
  readonly logFile: string;
  pid(): number;
  stop(): Promise<void>;
  /** Ends it at once; committed data is kept. */
  kill(): void;
}

const portOfUi = ({ port, ui = true }: TemporalServerOptions): number | undefined =>
  ui && port !== 0 ? port + UI_PORT_OFFSET : undefined;

/** Whether this process is the server of that folder. */
function servesFolder(pid: number, folder: string): boolean {
  if (!isAlive(pid) || !commandLine(pid).includes('start-dev')) return false;
  try {
    return !existsSync('/proc/self/cwd') || readlinkSync(`/proc/${pid}/cwd`) === realpathSync(folder);
  } catch {
    return false;
  }
}

/** Ends a server of this folder that outlived its launcher. Its port is free afterwards. */
export async function endLeftoverTemporal(folder: string, onProgress: (text: string) => void): Promise<void> {
  const pidFile = path.join(folder, 'temporal.pid');
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, 'utf8'));
  if (servesFolder(pid, folder)) {
    onProgress(`stopping the server that an earlier start left behind (process ${pid})`);
    await endProcess(pid, 'SIGTERM', STOP_WITHIN_MS);
  }
  rmSync(pidFile, { force: true });
}

async function requireFreePort(port: number, use: string): Promise<void> {
  const problem = await portProblem(port, HOST);
  if (problem === undefined) return;
  throw new Error(
    `Port ${port} on ${HOST} ${problem}; ${use} cannot listen there. ` +
      'Set TEMPORAL_PORT to a free port whose successor by 1000 is free too, or set TEMPORAL_ADDRESS to your own Temporal.',
  );
}

/** @throws with instructions: port in use, server does not start */
export async function startTemporalServer(options: TemporalServerOptions): Promise<TemporalServer> {
  const { folder, namespace } = options;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const pidFile = path.join(folder, 'temporal.pid');
  const logFile = path.join(folder, 'server.log');
  const port = options.port === 0 ? await freePort(HOST) : options.port;
  const uiPort = portOfUi(options);
  await requireFreePort(port, 'the Temporal server');
  if (uiPort !== undefined) await requireFreePort(uiPort, 'the Temporal UI');
  const address = `${HOST}:${port}`;
  let answered = 0;
  const server = await startWatched(
    {
      name: 'Temporal',
      command: options.program,
      args: [
        ...['server', 'start-dev', '--ip', HOST, '--port', String(port), '--namespace', namespace],
        ...(uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort)]),
        // A name relative to the working directory: the path becomes part of a URL, where spaces and special characters
        // would break it.
        ...['--db-filename', 'temporal.db'],
        ...['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
        ...['--log-level', 'error', '--log-format', 'json', '--color', 'never'],
        ...Object.entries(SEARCH_ATTRIBUTES).flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]),
        ...Object.entries(DYNAMIC_CONFIG).flatMap(([key, value]) => ['--dynamic-config-value', `${key}=${value}`]),
      ],
      cwd: folder,
      logFile,
      stopSignal: 'SIGTERM',
      stopWithinMs: STOP_WITHIN_MS,
      readyWithinMs: READY_WITHIN_MS,
      async isReady(pid) {
        if (pid !== answered) writeFileSync(pidFile, String(pid));
        answered = pid;
        return (await accepts(HOST, port)) && (await temporalProblem({ address }, namespace)) === undefined;
      },
    },
    options.events,
  );
  return {
    address,
    uiUrl: uiPort === undefined ? undefined : `http://${HOST}:${uiPort}`,
    logFile,
    pid: server.pid,
    async stop() {
      await server.stop();
      rmSync(pidFile, { force: true });
    },
    kill: server.kill,
  };
}
