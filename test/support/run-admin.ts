/** Runs `agent-mailbox-admin` as an operator does, as a program of its own. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface AdminRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface AdminOptions {
  /** Instead of the variables of this process; PATH and HOME stay. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Written to its standard input, which is closed after it. */
  readonly input?: string;
  /** Called at once, for a test that sends a signal when something has happened elsewhere. */
  readonly onStart?: (kill: (signal: NodeJS.Signals) => void) => void;
  /** Called with all of standard error after each part, for example to send a signal. */
  readonly onProgress?: (stderr: string, kill: (signal: NodeJS.Signals) => void) => void;
}

export async function runAdmin(args: readonly string[], options: AdminOptions = {}): Promise<AdminRun> {
  // With the compiled modules of the run, as a second call has them; compiling takes half a second of a processor.
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  const child = spawn(process.execPath, ['operations/agent-mailbox-admin.mjs', ...args], {
    cwd: root,
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...options.environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  options.onStart?.((signal) => child.kill(signal));
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    options.onProgress?.(stderr, (signal) => child.kill(signal));
  });
  child.stdin.on('error', () => {}); // it may end without reading
  child.stdin.end(options.input ?? '');
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, stdout, stderr };
}
