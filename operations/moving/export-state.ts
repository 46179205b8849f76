/** How far an export is, in a file beside what it wrote: an interrupted one goes on from there. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { CommandError } from '#operations/command.ts';
import { writeWhole } from '#operations/write-file.ts';
import type { ExportFormat } from './moved-message.ts';

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
}

type Identity = Pick<ExportState, 'format' | 'mailboxId' | 'address'>;

/** @throws {CommandError} if the folder has something else, or a whole export */
export function openState(target: string, identity: Identity, now: Date): { state: ExportState; continued: boolean } {
  const file = path.join(target, STATE_FILE);
  if (!existsSync(file)) {
    mkdirSync(target, { recursive: true, mode: 0o700 });
    if (readdirSync(target).length > 0)
      throw new CommandError(`${target} is not empty, and has no interrupted export: choose a new folder`);
    const rest = { completedAt: null, folders: [], files: {}, bytes: 0, chain: '' };
    return { state: { version: STATE_VERSION, ...identity, startedAt: now.toISOString(), ...rest }, continued: false };
  }
  const state = JSON.parse(readFileSync(file, 'utf8')) as ExportState; // written by `saveState`
  if (state.version !== STATE_VERSION || state.format !== identity.format || state.mailboxId !== identity.mailboxId)
    throw new CommandError(
      `${target} has an export of ${state.address} as ${state.format}: choose a new folder, or the same address and format`,
    );
  if (state.completedAt !== null)
    throw new CommandError(`${target} has the whole export of ${state.completedAt}: choose a new folder`);
  return { state, continued: true };
}

export const saveState = (target: string, state: ExportState): void =>
  writeWhole(path.join(target, STATE_FILE), `${JSON.stringify(state, null, 2)}\n`, 0o600);
