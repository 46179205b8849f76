/** A single process of the service (`api`, `worker`, `mail`) as a child, with its log lines. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly reason?: string;
  readonly dependency?: string;
  readonly failures?: number;
}

export interface PartProcess {
  readonly process: ChildProcess;
  /** Lines of its log so far, the level `info` and above. */
  lines(): LogLine[];
  /** Everything it wrote. */
  output(): string;
  /** Exit code, or the signal it died of. */
  readonly ended: Promise<number | string>;
  /** Answer of `/readyz` on METRICS_PORT; undefined while nobody answers. */
  readiness(): Promise<{ status: string; checks: Record<string, string> } | undefined>;
  /** Asks it to end and waits. Safe to call twice. */
  stop(): Promise<number | string>;
}

/** @param environment complete settings; METRICS_PORT is where it answers */
export function startPart(part: 'api' | 'worker' | 'mail', environment: Readonly<Record<string, string>>): PartProcess {
  const child = spawn(process.execPath, ['dev/start.mjs', `${part}/main.ts`], {
    cwd: root,
    env: { ...process.env, NODE_TEST_CONTEXT: '', LOG_LEVEL: 'info', ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const ended = new Promise<number | string>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal ?? '')),
  );
  return {
    process: child,
    output: () => text,
    lines: () =>
      text
        .split('\n')
        .filter((line) => line.startsWith('{') && line.endsWith('}'))
        .map((line) => JSON.parse(line) as LogLine),
    ended,
    async readiness() {
      const answer = await fetch(`http://127.0.0.1:${environment['METRICS_PORT']}/readyz`).catch(() => undefined);
      return (await answer?.json().catch(() => undefined)) as Awaited<ReturnType<PartProcess['readiness']>>;
    },
    async stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}
