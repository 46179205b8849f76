/** Backups that were made before the end of an erasure, and so may contain what was erased. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { KnownBackup } from '#administration/erasure/receipt.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { BackupError, readManifest } from '#operations/backup/backup-folder.ts';
import { CommandError } from '#operations/command.ts';

/**
 * @param folder a backup, or a folder of backups
 * @throws {CommandError} if it cannot be read
 */
export async function backupsIn(folder: string): Promise<KnownBackup[]> {
  const names = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw new CommandError(`--backups: ${folder} cannot be read: ${reasonOf(error)}`);
  });
  const candidates = [folder, ...names.filter((each) => each.isDirectory()).map(({ name }) => path.join(folder, name))];
  const found: KnownBackup[] = [];
  for (const candidate of candidates)
    try {
      const { id, takenAt } = await readManifest(candidate);
      found.push({ id, takenAt, folder: candidate });
    } catch (error) {
      // Not a backup, or one that cannot be restored either.
      if (!(error instanceof BackupError)) throw error;
    }
  return found.toSorted((a, b) => a.takenAt.localeCompare(b.takenAt));
}
