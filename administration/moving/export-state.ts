/** How far an export is: an interrupted one goes on from there. In a folder it is a file beside what was written. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { writeWhole } from '#core/platform/write-file.ts';
import type { ExportFormat } from '#domain/mailbox-moves.ts';
import type { FolderFile } from './folder-files.ts';
import { MovingError } from './moving-error.ts';

export const STATE_FILE = 'agent-mailbox-export.json';
const STATE_VERSION = 1;

export interface ExportedFolder {
  readonly id: number;
  readonly name: string;
  readonly file: string;
  readonly uidValidity: number;
  lastUid: number;
  messages: number;
}

export interface ExportState {
  readonly version: typeof STATE_VERSION;
  readonly format: ExportFormat;
  readonly mailboxId: string;
  readonly address: string;
  readonly startedAt: string;
  completedAt: string | null;
  readonly folders: ExportedFolder[];
  /** Bytes of each file that are written for good. */
  readonly files: Record<string, number>;
  bytes: number;
  /** Of an archive. */
  chain: string;
  /** The files `dovecot-keywords` of a Maildir in one file, by folder. */
  keywords?: Record<string, string>;
  /** The list of folders of mbox files that are packed together. */
  listed?: readonly FolderFile[];
}

export type ExportIdentity = Pick<ExportState, 'format' | 'mailboxId' | 'address'>;

export const newState = (identity: ExportIdentity, now: Date): ExportState => ({
  ...{ version: STATE_VERSION, ...identity, startedAt: now.toISOString() },
  ...{ completedAt: null, folders: [], files: {}, bytes: 0, chain: '' },
});

/** @throws {MovingError} if the folder has something else, or a whole export */
export function openState(
  target: string,
  identity: ExportIdentity,
  now: Date,
): { state: ExportState; continued: boolean } {
  const file = path.join(target, STATE_FILE);
  if (!existsSync(file)) {
    mkdirSync(target, { recursive: true, mode: 0o700 });
    if (readdirSync(target).length > 0)
      throw new MovingError(`${target} is not empty, and has no interrupted export: choose a new folder`);
    return { state: newState(identity, now), continued: false };
  }
  const state = JSON.parse(readFileSync(file, 'utf8')) as ExportState; // written by `saveState`
  if (state.version !== STATE_VERSION || state.format !== identity.format || state.mailboxId !== identity.mailboxId)
    throw new MovingError(
      `${target} has an export of ${state.address} as ${state.format}: choose a new folder, or the same address and format`,
    );
  if (state.completedAt !== null)
    throw new MovingError(`${target} has the whole export of ${state.completedAt}: choose a new folder`);
  return { state, continued: true };
}

export const saveState = (target: string, state: ExportState): void =>
  writeWhole(path.join(target, STATE_FILE), `${JSON.stringify(state, null, 2)}\n`, 0o600);
