/** Folders of the cache that are made once per user: programs built with Go, runtimes, environments. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';

const BUILD_MAX_MS = 1_800_000;

/** Fills a new folder and gives it its name at the end, so that an interrupted one is never used. */
export function makeFolder(target: string, fill: (folder: string) => void): void {
  mkdirSync(path.dirname(target), { recursive: true });
  const unfinished = mkdtempSync(`${target}.`);
  try {
    fill(unfinished);
    try {
      renameSync(unfinished, target);
    } catch (error) {
      // Another process made it meanwhile.
      if (!existsSync(target)) throw error;
    }
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** The file of a program on PATH. */
export const onPath = (program: string): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .map((folder) => path.join(folder, program))
    .find(existsSync);

/**
 * Builds programs with Go into a folder of their own.
 *
 * @param packages as `go install` takes them, with their versions
 * @throws {Error} there is no Go on this machine, or it cannot build them
 */
export function buildWithGo(target: string, packages: readonly string[]): void {
  const go = onPath('go') ?? ['/usr/local/go/bin/go'].find(existsSync);
  if (go === undefined) throw new Error('there is no Go on this machine');
  process.stderr.write(`building ${path.basename(target)} with Go\n`);
  makeFolder(target, (folder) =>
    execFileSync('nice', [go, 'install', ...packages], {
      env: { ...process.env, GOBIN: folder, GOFLAGS: '' },
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: BUILD_MAX_MS,
    }),
  );
}
