/** Options that the three commands share, and how they say sizes and times. */

import { readFile } from 'node:fs/promises';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { text } from '#core/platform/settings/setting-forms.ts';
import type { CommandContext } from '#operations/command.ts';
import { BackupError, type BackupManifest } from './backup-folder.ts';

export const passphraseOption = {
  text: 'file with the passphrase that seals the secrets of the backup',
  value: 'file',
  form: text,
} as const;

/** @throws {BackupError} if the file cannot be read or is empty */
export async function readPassphrase(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const content = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new BackupError(`--passphrase-file: ${file} cannot be read: ${reasonOf(error)}`);
  });
  const passphrase = content.replace(/\r?\n$/, '');
  if (passphrase === '') throw new BackupError(`--passphrase-file: ${file} is empty`);
  return passphrase;
}

/** A step whose notes replace each other, and that ends at one of them after SIGINT or SIGTERM. */
export const passingStep = <Result>(
  { progress, signal }: Pick<CommandContext, 'progress' | 'signal'>,
  title: string,
  work: (onProgress: (text: string) => void) => Promise<Result>,
): Promise<Result> =>
  progress.step(title, (note) =>
    work((passing) => {
      signal.throwIfAborted();
      note(passing, { passing: true });
    }),
  );

const MIB = 1024 * 1024;
export const asMib = (bytes: number): string => `${(bytes / MIB).toFixed(bytes < 10 * MIB ? 1 : 0)} MiB`;

const MINUTE_MS = 60_000;
/** An age in the largest unit of which there are two. */
export function asAge(ms: number): string {
  const minutes = Math.round(ms / MINUTE_MS);
  if (minutes < 120) return minutes === 1 ? 'a minute' : `${minutes} minutes`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`;
}

export const sizeOf = ({ tables }: BackupManifest): number => tables.reduce((sum, { bytes }) => sum + bytes, 0);
