/**
 * The mount and process namespace in which a run lives (Linux, root), with its small disks: however it ends, the kernel
 * unmounts the disks and ends the processes. The network stays that of the machine; only loopback is used.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER_VARIABLE = 'BENCH_CLUSTER_FOLDER';
const REFILL_EVERY_MS = 200;
const SHRINK_TRIES = 20;

const mountMemory = (folder: string, options: string) =>
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'bench-cluster', folder]);

/** Working folder of the run, in memory and only there inside the namespace; undefined outside of it. */
export function folderInNamespace(): string | undefined {
  const folder = process.env[FOLDER_VARIABLE];
  if (folder !== undefined) mountMemory(folder, 'mode=0755');
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

/** A file system of limited size in memory, which is made full at once by setting its size to its present content. */
export interface SmallDisk {
  /** No byte can be added until `free`; space that its user releases is removed as well. */
  fill(): void;
  free(): void;
}

/** @param options further ones of mount(8) for a tmpfs */
export function mountSmallDisk(folder: string, sizeMegabytes: number, options = 'mode=0755'): SmallDisk {
  mkdirSync(folder, { recursive: true });
  mountMemory(folder, `size=${sizeMegabytes}m,${options}`);
  const resize = (size: string) =>
    execFileSync('mount', ['-o', `remount,size=${size}`, folder], { stdio: ['ignore', 'ignore', 'pipe'] });
  let refill: NodeJS.Timeout | undefined;
  function shrink(): void {
    for (let left = SHRINK_TRIES; ; left--) {
      const { blocks, bfree, bsize } = statfsSync(folder);
      if (bfree === 0) return;
      try {
        // Never 0, which would lift the limit for good.
        return void resize(String(Math.max(1, blocks - bfree) * bsize));
      } catch (error) {
        if (left === 0) throw error; // it grew between the two calls
      }
    }
  }
  return {
    fill() {
      shrink();
      refill ??= setInterval(shrink, REFILL_EVERY_MS);
    },
    free() {
      clearInterval(refill);
      refill = undefined;
      resize(`${sizeMegabytes}m`);
    },
  };
}
