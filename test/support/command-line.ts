/** `agent-mailbox` as a child process, with a folder of its own for what it keeps. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../cli/agent-mailbox.mjs', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandLine {
  /** Holds the configuration and the state. */
  readonly folder: string;
  readonly configurationFile: string;
  /** Variables the command sees, for other programs that start it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Runs a command; its standard input is `input`, else nothing. */
  run(args: readonly string[], more?: { input?: string; env?: Readonly<Record<string, string>> }): Promise<Ended>;
  /** Removes the folder. */
  close(): void;
}

export function commandLine(url: string): CommandLine {
  const folder = mkdtempSync(path.join(tmpdir(), 'agent-mailbox-cli-'));
  const environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    XDG_CONFIG_HOME: path.join(folder, 'config'),
    XDG_STATE_HOME: path.join(folder, 'state'),
    AGENT_MAILBOX_URL: url,
    // The run's, as of one person's second command: each folder would begin with none.
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? path.join(folder, 'compiled'),
  };
  return {
    folder,
    configurationFile: path.join(folder, 'config/agent-mailbox/config.json'),
    environment,
    run(args, { input = '', env = {} } = {}) {
      const child = spawn(process.execPath, [PROGRAM, ...args], {
        cwd: folder,
        env: { ...environment, ...env },
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      let [stdout, stderr] = ['', ''];
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        stdout += text;
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text;
      });
      // A command that ends without reading closes its end first.
      child.stdin.on('error', () => {});
      child.stdin.end(input);
      return new Promise((resolve, reject) => {
        child.once('error', reject);
        child.once('close', (code) => resolve({ code, stdout, stderr }));
      });
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** What a command printed, without the lines around text of others. */
export const withoutMarkers = (stdout: string): string =>
  stdout.replace(/^Text of others follows\. .*\n<untrusted-mail (\S+)>\n([^]*)\n<\/untrusted-mail \1>$/m, '$2');
