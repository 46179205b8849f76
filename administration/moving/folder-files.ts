/**
 * Names of folders as names of files. A file beside the mail, `agent-mailbox-folders.json`, has the exact names; without
 * it they are read from the names of the files. No name of a source is ever used as a path.
 */
import path from 'node:path';
import { SPECIAL_USES, type SpecialUse } from '@agent-mailbox/mail-store';
import { writeWhole } from '#core/platform/write-file.ts';
import { type MailFiles, readWhole } from './mail-files.ts';

export interface FolderFile {
  /** Below the target, with `/`. */
  readonly file: string;
  readonly name: string;
  readonly specialUse: SpecialUse | null;
  readonly subscribed: boolean;
}

export const FOLDERS_FILE = 'agent-mailbox-folders.json';
const FOLDERS_FILE_MAX_BYTES = 16 * 1_048_576;
/** With room for an ending; file systems take 255 bytes. */
const FILE_NAME_MAX_BYTES = 200;
const DEPTH_MAX = 32;

/** Characters that some file system or Maildir++ does not take, a percent sign, and a dot at the beginning. */
const UNSAFE = /[%/\\:*?"<>|\p{Cc}]|^\./gu;

const escaped = (name: string): string =>
  name.replaceAll(UNSAFE, (each) =>
    [...Buffer.from(each)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );

/** The name of a folder as that of one file, without ending. */
export function fileNameOf(name: string, id: number): string {
  const file = escaped(name);
  return Buffer.byteLength(file) > FILE_NAME_MAX_BYTES ? `folder-${id}` : file;
}

/** Reverses `fileNameOf`; names by other programs stay as they are. */
export function nameOfFile(file: string): string {
  try {
    return /%[0-9A-F]{2}/.test(file) ? decodeURIComponent(file.replaceAll(/%(?![0-9A-F]{2})/g, '%25')) : file;
  } catch {
    return file;
  }
}

export const folderFilesText = (folders: readonly FolderFile[]): Buffer =>
  Buffer.from(`${JSON.stringify(folders, null, 2)}\n`);

export const writeFolderFiles = (target: string, folders: readonly FolderFile[]): void =>
  writeWhole(path.join(target, FOLDERS_FILE), folderFilesText(folders).toString(), 0o600);

/** @returns by file; empty if there is no such list, or one that cannot be read */
export async function readFolderFiles(files: MailFiles): Promise<Map<string, FolderFile>> {
  try {
    const read: unknown = JSON.parse(
      (await readWhole(await files.open(FOLDERS_FILE), FOLDERS_FILE_MAX_BYTES)).toString(),
    );
    const entries = Array.isArray(read) ? read.flatMap((each: unknown) => folderFile(each) ?? []) : [];
    return new Map(entries.map((each) => [each.file, each]));
  } catch {
    return new Map();
  }
}

function folderFile(value: unknown): FolderFile | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { file, name, specialUse, subscribed } = value as Partial<Record<string, unknown>>;
  return typeof file === 'string' && typeof name === 'string'
    ? { file, name, specialUse: asSpecialUse(specialUse) ?? null, subscribed: subscribed === true }
    : undefined;
}

export const asSpecialUse = (value: unknown): SpecialUse | undefined => SPECIAL_USES.find((each) => each === value);

export const isTooDeep = (relative: string): boolean => relative.split('/').length > DEPTH_MAX;
