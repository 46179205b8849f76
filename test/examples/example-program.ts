/** A program of examples/ as a child process. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { waitUntil } from '#test/support/wait-until.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface ExampleProgram {
  /** What it wrote so far. */
  output(): string;
  /** Waits for words of its output. @returns what they captured */
  wrote(words: RegExp): Promise<string>;
  /** Resolves with its exit code. */
  readonly ended: Promise<number | null>;
  /** Ends it, if it has not ended. */
  close(): Promise<void>;
}

export function startExample(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): ExampleProgram {
  const child = spawn(program, args, {
    cwd: root,
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const collect = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  let hasEnded = false;
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      hasEnded = true;
      resolve(code);
    });
  });
  return {
    output: () => output,
    ended,
    async wrote(words) {
      await waitUntil(`${program} to write ${words}`, () => hasEnded || words.test(output));
      const found = words.exec(output);
      if (found === null) throw new Error(`${program} ended without writing ${words}:\n${output}`);
      return found[1] ?? found[0];
    },
    async close() {
      if (!hasEnded) child.kill('SIGTERM');
      await ended;
    },
  };
}
