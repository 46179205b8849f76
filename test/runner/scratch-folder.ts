/**
 * The folder of a run: the data of its servers and all temporary files. It is in memory where there is enough of it:
 * each test file copies a database of 900 files and drops it again, which costs 35 ms there and, on a file system that
 * is slow to reuse what was deleted, more than 400.
 */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isAlive } from '#dev/launcher/instance-lock.ts';

const PREFIX = 'agent-mailbox-test-';
/** Linux only. */
const MEMORY = '/dev/shm';
/** A run of everything keeps half a GiB there; its processes need the rest. */
const MEMORY_MIN_BYTES = 4 * 1024 ** 3;
/** No run takes as long. */
const ABANDONED_AFTER_MS = 3_600_000;

/** Whether programs in the folder in memory can be started, which some tests write. @param mounts as /proc/mounts */
export const allowsPrograms = (mounts: string): boolean =>
  mounts.split('\n').some((line) => {
    const [, folder, type, options = ''] = line.split(' ');
    return folder === MEMORY && type === 'tmpfs' && !options.split(',').includes('noexec');
  });

/** @returns the folder in which a run makes its own */
function parentFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    const free = Math.min(bavail * bsize, process.availableMemory());
    if (free >= MEMORY_MIN_BYTES && allowsPrograms(readFileSync('/proc/mounts', 'utf8'))) return MEMORY;
  } catch {
    // Another system, or a container without it.
  }
  return tmpdir();
}

/** Removes the folders of runs that were killed: memory is not given back by itself. */
function removeAbandoned(parent: string): void {
  for (const name of readdirSync(parent)) {
    const [, pid] = name.startsWith(PREFIX) ? (/^(\d+)-/.exec(name.slice(PREFIX.length)) ?? []) : [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const folder = path.join(parent, name);
    try {
      // The number says nothing about a run in another container that has the same folder.
      if (Date.now() - statSync(folder).mtimeMs > ABANDONED_AFTER_MS)
        rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    } catch {
      // Another user's, or removed by another run meanwhile.
    }
  }
}

/**
 * @returns an empty folder, which the caller removes, and the one in it for temporary files. Another user can enter
 *   both: PostgreSQL does not run as root
 */
export function makeScratchFolder(parent = parentFolder()): { readonly folder: string; readonly temporary: string } {
  removeAbandoned(parent);
  const folder = mkdtempSync(path.join(parent, `${PREFIX}${process.pid}-`));
  const temporary = path.join(folder, 'tmp');
  mkdirSync(temporary);
  for (const each of [folder, temporary]) chmodSync(each, 0o711);
  return { folder, temporary };
}
