/** Writers of the formats, into a folder or into files of the database. Each can go on where an interrupted export stopped. */
import { hash } from 'node:crypto';
import { mkdir, readFile, rename, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Folder } from '@agent-mailbox/mail-store';
import { writeWhole } from '#core/platform/write-file.ts';
import type { ExportFormat } from '#domain/mailbox-moves.ts';
import type { StoredPlacement } from '#mailstore/messages/stored-placements.ts';
import {
  ARCHIVE_FILE,
  ARCHIVE_FORMAT,
  ARCHIVE_VERSION,
  type ArchivedFacts,
  nextChain,
  TAR_END,
  tarEntry,
} from './archive-format.ts';
import type { ExportedFolder, ExportState } from './export-state.ts';
import { FOLDERS_FILE, type FolderFile, fileNameOf, folderFilesText, writeFolderFiles } from './folder-files.ts';
import { type KeywordLetters, keywordLetters, maildirOf, messageFileName } from './maildir-names.ts';
import { mboxEntry } from './mbox-writer.ts';

/** The one file of a Maildir that is packed. */
export const MAILDIR_TAR = 'maildir.tar';

export type WholePlacement = StoredPlacement & { readonly bytes: Buffer };

export interface ExportWriter {
  /** Called once at the beginning of each run. */
  begin(folders: readonly FolderFile[]): Promise<void>;
  openFolder(folder: ExportedFolder): Promise<void>;
  write(folder: ExportedFolder, message: WholePlacement): Promise<void>;
  /** What was written is on the disk, and the state says how much. */
  sync(): Promise<void>;
  end(): Promise<void>;
  close(): Promise<void>;
}

/** A file that is written at its end; what an interrupted run wrote after its last note is cut off. */
export interface Appending {
  append(bytes: Buffer): Promise<void>;
  /** What was appended is there for good, and the state says how much. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a file of an export for `Appending`. */
export type OpenAppending = (file: string) => Promise<Appending>;

/** Name of the file or folder of each. @param taken names of the others */
export function fileOf(
  format: ExportFormat,
  folder: Pick<Folder, 'id' | 'name'>,
  taken: ReadonlySet<string>,
  maxBytes = Number.POSITIVE_INFINITY,
): string {
  if (format === 'archive') return '';
  const wanted = format === 'mbox' ? `${fileNameOf(folder.name, folder.id)}.mbox` : maildirOf(folder.name, folder.id);
  const lower = new Set([...taken].map((each) => each.toLowerCase()));
  if (!lower.has(wanted.toLowerCase()) && Buffer.byteLength(wanted) <= maxBytes) return wanted;
  return format === 'mbox' ? `folder-${folder.id}.mbox` : `.folder-${folder.id}`;
}

/** @param listFolders writes the list of folders with their exact names */
export function mboxWriter(
  openAppending: OpenAppending,
  listFolders: (folders: readonly FolderFile[]) => void,
): ExportWriter {
  let current: Appending | undefined;
  const close = async () => {
    await current?.close();
    current = undefined;
  };
  return {
    begin: async (folders) => listFolders(folders),
    async openFolder({ file }) {
      await close();
      current = await openAppending(file);
    },
    write: async (_folder, message) => current?.append(mboxEntry(message)),
    sync: async () => current?.sync(),
    end: async () => {},
    close,
  };
}

export function maildirWriter(target: string): ExportWriter {
  const letters = new Map<string, KeywordLetters>();
  const inMaildir = ({ file }: ExportedFolder, ...rest: string[]) => path.join(target, file, ...rest);
  return {
    begin: async (folders) => writeFolderFiles(target, folders),
    async openFolder(folder) {
      for (const name of ['cur', 'new', 'tmp']) await mkdir(inMaildir(folder, name), { recursive: true, mode: 0o700 });
      if (folder.file !== '') await writeFile(inMaildir(folder, 'maildirfolder'), '', { mode: 0o600 });
      const known = await readFile(inMaildir(folder, 'dovecot-keywords'), 'utf8').catch(() => '');
      letters.set(folder.file, keywordLetters(known));
    },
    async write(folder, message) {
      const own = letters.get(folder.file) ?? keywordLetters('');
      const before = own.text();
      const name = nameOf(message, own);
      if (own.text() !== before) writeWhole(inMaildir(folder, 'dovecot-keywords'), own.text(), 0o600);
      const unfinished = inMaildir(folder, 'tmp', `U${message.uid}`);
      await writeFile(unfinished, message.bytes, { mode: 0o600 });
      await utimes(unfinished, message.internalDate, message.internalDate);
      await rename(unfinished, inMaildir(folder, 'cur', name));
    },
    sync: async () => {},
    end: async () => {},
    close: async () => {},
  };
}

const nameOf = (message: StoredPlacement, letters: KeywordLetters): string =>
  messageFileName({
    ...{ uid: message.uid, size: message.size, flags: message.flags },
    ...{ date: message.internalDate, offsetMinutes: message.internalOffsetMinutes },
    letters: message.keywords.flatMap((keyword) => letters.letterOf(keyword) ?? []),
  });

/** A Maildir as one tar file. Its lists, which are known at the end only, are the last entries. */
export function maildirTarWriter(openAppending: OpenAppending, state: ExportState): ExportWriter {
  let tar: Appending | undefined;
  const letters = new Map<string, KeywordLetters>();
  const inFolder = (file: string, name: string) => (file === '' ? name : `${file}/${name}`);
  const add = async (name: string, content: Buffer, time = new Date(state.startedAt)) => {
    for (const part of tarEntry(name, content, time)) await tar?.append(part);
  };
  return {
    async begin(folders) {
      tar ??= await openAppending(MAILDIR_TAR);
      state.listed = folders;
      state.keywords ??= {};
    },
    async openFolder({ file }) {
      letters.set(file, keywordLetters(state.keywords?.[file] ?? ''));
    },
    async write({ file }, message) {
      const own = letters.get(file) ?? keywordLetters('');
      await add(inFolder(file, `cur/${nameOf(message, own)}`), message.bytes, message.internalDate);
      if (state.keywords !== undefined) state.keywords[file] = own.text();
    },
    sync: async () => tar?.sync(),
    async end() {
      for (const { file } of state.folders) {
        // Also of an empty folder: by it a reader sees that the folder is there.
        await add(inFolder(file, 'cur/'), Buffer.alloc(0));
        if (file !== '') await add(inFolder(file, 'maildirfolder'), Buffer.alloc(0));
        const keywords = state.keywords?.[file] ?? '';
        if (keywords !== '') await add(inFolder(file, 'dovecot-keywords'), Buffer.from(keywords));
      }
      await add(FOLDERS_FILE, folderFilesText(state.listed ?? []));
      await tar?.append(TAR_END);
    },
    async close() {
      await tar?.close();
      tar = undefined;
    },
  };
}

export function archiveWriter(openAppending: OpenAppending, state: ExportState): ExportWriter {
  let file: Appending | undefined;
  const add = async (name: string, content: Buffer, time: Date) => {
    for (const part of tarEntry(name, content, time)) await file?.append(part);
  };
  const startedAt = new Date(state.startedAt);
  const counted = () => state.folders.reduce((sum, { messages }) => sum + messages, 0);
  return {
    async begin(folders) {
      if (file !== undefined) return;
      const isNew = (state.files[ARCHIVE_FILE] ?? 0) === 0;
      const handle = await openAppending(ARCHIVE_FILE);
      file = handle;
      if (!isNew) return;
      const head = {
        format: ARCHIVE_FORMAT,
        version: ARCHIVE_VERSION,
        address: state.address,
        exportedAt: state.startedAt,
      };
      const listed = folders.map(({ name, specialUse, subscribed }) => ({ name, specialUse, subscribed }));
      await add('mailbox.json', asJson({ ...head, folders: listed }), startedAt);
    },
    openFolder: async () => {},
    async write(folder, message) {
      const { bytes, uid, flags, keywords, internalOffsetMinutes, origin, messageId, threadId } = message;
      const { envelopeFrom, deliveredTo, auth, size } = message;
      const facts: ArchivedFacts = {
        ...{ folder: folder.name, uid, flags, keywords, internalDate: message.internalDate.toISOString() },
        ...{ internalOffsetMinutes, receivedAt: message.receivedAt.toISOString(), origin, messageId, threadId },
        ...{ envelopeFrom, deliveredTo, auth, size, sha256: hash('sha256', bytes) },
      };
      const described = asJson(facts);
      const number = String(counted() + 1).padStart(9, '0');
      await add(`messages/${number}.json`, described, message.internalDate);
      await add(`messages/${number}.eml`, bytes, message.internalDate);
      state.chain = nextChain(state.chain, described, bytes);
    },
    sync: async () => file?.sync(),
    async end() {
      await add('end.json', asJson({ messages: counted(), sha256: state.chain }), startedAt);
      await file?.append(TAR_END);
    },
    async close() {
      await file?.close();
      file = undefined;
    },
  };
}

const asJson = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value, null, 1)}\n`);
