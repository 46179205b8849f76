/** `npm start` as a child process: with its own folder and ports, to be stopped, killed and started again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { SETTINGS } from '#core/platform/settings/settings.ts';
import { portProblem } from '#dev/launcher/free-port.ts';
import type { ServiceFacts } from '#dev/launcher/service-file.ts';
import { kept } from './kept.ts';
import { testPort } from './test-port.ts';
import { waitUntil } from './wait-until.ts';

const projectFolder = fileURLToPath(new URL('../..', import.meta.url));
const UP_WITHIN_MS = 150_000;
const END_WITHIN_MS = 60_000;

export interface StartedService {
  readonly facts: ServiceFacts;
  readonly process: ChildProcess;
  /** What was written to the terminal so far. */
  output(): string;
  /** Sends a signal and waits for the end. @returns the exit code, or the signal it died of */
  end(signal: NodeJS.Signals): Promise<number | string>;
}

/** Ports nobody listens on, as settings. */
export async function freePorts(): Promise<Record<string, string>> {
  let temporal: number;
  // Its pages are 1000 above.
  do temporal = await testPort();
  while ((await portProblem(temporal + 1_000)) !== undefined);
  // TLS of the API needs an authority for certificates.
  const names = Object.keys(SETTINGS).filter(
    (name) => name.endsWith('_PORT') && !name.startsWith('MAIL_PUBLIC_') && name !== 'API_TLS_PORT',
  );
  const ports = await Promise.all(names.map(async (name) => [name, String(await testPort())] as const));
  return { ...Object.fromEntries(ports), TEMPORAL_PORT: String(temporal) };
}

/** Runs dev/launcher/up.ts. Resolves when it ends, or when it says it is running. */
export function runStart(environment: Readonly<Record<string, string>>): {
  process: ChildProcess;
  output(): string;
  ended: Promise<number | string>;
} {
  const child = spawn(process.execPath, ['dev/start.mjs', 'dev/launcher/up.ts'], {
    cwd: projectFolder,
    env: { ...process.env, NODE_TEST_CONTEXT: '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const collect = (chunk: Buffer): void => {
    text += chunk.toString();
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const ended = new Promise<number | string>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown')),
  );
  return { process: child, output: () => text, ended };
}

export async function startService(environment: Readonly<Record<string, string>>): Promise<StartedService> {
  const { process: child, output, ended } = runStart(environment);
  let over: number | string | undefined;
  void ended.then((how) => {
    over = how;
  });
  const file = path.join(environment['DATA_DIR'] ?? '', 'service.json');
  const isRunning = () => output().includes('Ctrl-C stops') && existsSync(file);
  await waitUntil('npm start to be running', () => over !== undefined || isRunning(), UP_WITHIN_MS);
  if (!isRunning()) throw new Error(`npm start ended with ${over}:\n${output()}`);
  return {
    facts: JSON.parse(readFileSync(file, 'utf8')) as ServiceFacts,
    process: child,
    output,
    async end(signal) {
      child.kill(signal);
      const timer = setTimeout(() => child.kill('SIGKILL'), END_WITHIN_MS);
      const how = await ended;
      clearTimeout(timer);
      return how;
    },
  };
}

/** A service for all files of a process that only use it. It has a first organization, whose key is in its facts. */
export const keptService = kept(
  async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'kept-service-'));
    const environment = { ...(await freePorts()), DATA_DIR: path.join(folder, 'data') };
    return { folder, service: await startService(environment) };
  },
  async ({ folder, service }) => {
    await service.end('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  },
);
