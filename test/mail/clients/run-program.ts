/** Runs mail programs of the system; a test says which it `needs` (`test/support/programs.ts`). */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface ProgramResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const WITHIN_MS = 120_000;

export function runProgram(
  program: string,
  args: readonly string[],
  options: {
    readonly input?: string;
    readonly environment?: Readonly<Record<string, string>>;
    readonly withinMs?: number;
  } = {},
): Promise<ProgramResult> {
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...options.environment },
    timeout: options.withinMs ?? WITHIN_MS,
  });
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  child.stdin.end(options.input ?? '');
  return new Promise((resolve, reject) => {
    child.once('error', (error) => {
      // A child that never started leaves its pipes open.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      reject(new Error(`${program} cannot be run (${error.message})`));
    });
    child.once('close', (code, signal) => {
      const result = { stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() };
      if (code === null) reject(new Error(`${program} ended by ${signal}: ${result.stderr}`));
      else resolve({ code, ...result });
    });
  });
}

/** Runs a Python script of this folder, which writes JSON. */
export async function runPython<Result>(script: string, input: object): Promise<Result> {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const { code, stdout, stderr } = await runProgram('python3', [file], { input: JSON.stringify(input) });
  if (code !== 0) throw new Error(`${script} failed:\n${stderr}`);
  return JSON.parse(stdout) as Result;
}
