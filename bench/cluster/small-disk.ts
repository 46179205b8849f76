/**
 * A file system of limited size in memory (tmpfs), which can be made full at once: its size is set to its current
 * content.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, statfsSync } from 'node:fs';

const REFILL_EVERY_MS = 200;
const SHRINK_TRIES = 20;

export interface SmallDisk {
  readonly folder: string;
  /** No byte can be added until `free`; space that its user releases is removed as well. */
  fill(): void;
  free(): void;
  unmount(): void;
}

/** Mounts the file system. Needs root. */
export function mountSmallDisk(folder: string, sizeMegabytes: number): SmallDisk {
  mkdirSync(folder, { recursive: true });
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMegabytes}m,mode=0755`, 'bench-cluster', folder]);
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
    folder,
    fill() {
      shrink();
      refill ??= setInterval(shrink, REFILL_EVERY_MS);
    },
    free() {
      clearInterval(refill);
      refill = undefined;
      resize(`${sizeMegabytes}m`);
    },
    unmount() {
      clearInterval(refill);
      execFileSync('umount', ['--lazy', folder]);
    },
  };
}
