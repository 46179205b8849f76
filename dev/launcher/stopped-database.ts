/**
 * The embedded PostgreSQL of `npm start` while that does not run, for commands of operators: a backup of a stopped
 * installation, a restore into a new data folder, a copy to verify a backup. `operations/backup/installation-database.ts`
 * loads it where there is a launcher: the image has none.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CommandError } from '#operations/command.ts';
import { openDataFolder } from './data-folder.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { AlreadyRunningError, takeInstanceLock } from './instance-lock.ts';

const ANY_PORT = 0;

/** @throws {CommandError} if `npm start` runs, begins or ends on this folder */
export async function startStoppedDatabase(dataDir: string, onProgress: (text: string) => void) {
  const folder = openDataFolder(dataDir);
  const unlock = lock(folder);
  try {
    const server = await startEmbeddedPostgres({ folder: path.join(folder, 'postgres'), port: ANY_PORT, onProgress });
    return {
      url: server.url,
      close: () => server.stop().finally(unlock),
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

function lock(folder: string): () => void {
  try {
    return takeInstanceLock(folder);
  } catch (error) {
    throw error instanceof AlreadyRunningError ? new CommandError(error.message) : error;
  }
}

/** A server that is removed afterwards. */
export async function startScratchDatabase(onProgress: (text: string) => void) {
  const folder = mkdtempSync(path.join(tmpdir(), 'agent-mailbox-verify-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const server = await startEmbeddedPostgres({ folder, port: ANY_PORT, disposable: true, onProgress });
    return { url: server.url, close: () => server.stop().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}
