/**
 * Runs test files one after another in this process. Each is a test named by its path, whose subtests and hooks are the
 * file's, so that the world of one is closed before the next begins.
 */
import { test } from 'node:test';
import { keptCount } from '#test/support/kept.ts';
import { waitUntil } from '#test/support/wait-until.ts';

/** A file may end this long after its last test; then something was forgotten. */
const RELEASED_WITHIN_MS = 30_000;
/** Each test has its own limit. This one is for a file that hangs while it is loaded. */
const FILE_TIMEOUT_MS = 1_800_000;

/** What keeps the process running, counted by type. */
function held(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1);
  return counts;
}

/** Fails when the file still holds a worker, socket, timer or child that was not there before. */
async function assertReleased(before: ReadonlyMap<string, number>): Promise<void> {
  const more = () => [...held()].filter(([type, count]) => count > (before.get(type) ?? 0)).map(([type]) => type);
  try {
    await waitUntil('the file to release what it opened', () => more().length === 0, RELEASED_WITHIN_MS);
  } catch (error) {
    throw new Error(`Leaked: after the last test of the file the process is still held by: ${more().join(', ')}`, {
      cause: error,
    });
  }
}

/** @param files paths relative to the project's folder */
export function filesInTurn(files: readonly string[]): void {
  // Opened at the first use, and never closed: they belong to no file.
  for (const stream of [process.stdin, process.stdout, process.stderr]) stream.on('error', () => {});
  for (const file of files)
    test(file, { timeout: FILE_TIMEOUT_MS }, async (context) => {
      const [before, keptBefore] = [held(), keptCount()];
      const atStart = process.cpuUsage();
      await import(new URL(`../../${file}`, import.meta.url).href);
      // Behind the hooks of the file, which its import added.
      context.after(async () => {
        // What this file opened for the next ones too is held from now on.
        if (keptCount() === keptBefore) await assertReleased(before);
        const { user, system } = process.cpuUsage(atStart);
        context.diagnostic(`processors ${Math.round((user + system) / 1_000)} ms ${file}`);
      });
    });
}
