/**
 * Runs the benchmark in its own mount and process namespace (Linux, root): however it ends, its small disks are
 * unmounted and its processes are ended by the kernel. The network stays that of the machine; only loopback is used.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER_VARIABLE = 'BENCH_CLUSTER_FOLDER';

/** Working folder of the run, in memory and only there inside the namespace; undefined outside of it. */
export function folderInNamespace(): string | undefined {
  const folder = process.env[FOLDER_VARIABLE];
  if (folder !== undefined) execFileSync('mount', ['-t', 'tmpfs', '-o', 'mode=0755', 'bench-cluster', folder]);
  return folder;
}

/** Ends the run and every process of the namespace with it: this process is its first. */
export function leaveNamespace(folder: string, code: number): never {
  execFileSync('umount', ['--lazy', folder]); // with the disks inside
  rmSync(folder, { recursive: true, force: true });
  process.exit(code);
}

/**
 * Starts the script again inside a namespace and waits for its end. SIGINT and SIGTERM let it end in good order.
 *
 * @returns its exit code
 * @throws when this machine does not let us
 */
export async function runInNamespace(script: string, args: readonly string[]): Promise<number> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new Error(
      'this benchmark fills disks: it mounts small file systems in a namespace of its own, which needs Linux and root. ' +
        'Run it as root, for example in a container with --privileged',
    );
  const folder = mkdtempSync(path.join(tmpdir(), 'agent-mailbox-cluster-'));
  const start = fileURLToPath(new URL('../../dev/start.mjs', import.meta.url));
  const child = spawn(
    'unshare',
    [
      ...['--mount', '--pid', '--fork', '--mount-proc', '--kill-child=SIGKILL'],
      ...[process.execPath, start, script, ...args],
    ],
    // Standard input is how the child notices our end: it closes with us, even by SIGKILL.
    { stdio: ['pipe', 'inherit', 'inherit'], env: { ...process.env, [FOLDER_VARIABLE]: folder } },
  );
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.stdin?.end());
  try {
    const [code, signal] = await once(child, 'exit');
    if (signal !== null) throw new Error(`the benchmark ended by ${signal}`);
    return Number(code);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
