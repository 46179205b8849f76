import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { SettingsError } from '#core/platform/settings/settings.ts';

/**
 * The folder that keeps everything, made if absent.
 *
 * @returns its absolute path
 * @throws {SettingsError} when it cannot be made or written to
 */
export function openDataFolder(setting: string): string {
  const folder = path.resolve(setting);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return folder;
  } catch (error) {
    const owner = statSync(folder, { throwIfNoEntry: false })?.uid;
    const whose = owner === undefined || owner === process.getuid?.() ? '' : ` It belongs to user id ${owner}.`;
    throw new SettingsError([
      `DATA_DIR: ${folder} cannot be written to (${error instanceof Error ? error.message : error}).${whose} ` +
        'Start as its owner, give it to yourself (chown -R), or set DATA_DIR to another folder',
    ]);
  }
}
