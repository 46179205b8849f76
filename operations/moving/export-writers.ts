/** Writers of the formats. Each can go on where an interrupted export stopped. */
import { hash } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readFile, rename, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Folder } from '@agent-mailbox/mail-store';
import type { StoredPlacement } from '#mailstore/messages/stored-placements.ts';
import { writeWhole } from '#operations/write-file.ts';
import {
  ARCHIVE_FILE,
  ARCHIVE_FORMAT,
  ARCHIVE_VERSION,
  type ArchivedFacts,
  nextChain,
  tarEntry,
} from './archive-format.ts';
import type { ExportedFolder, ExportState } from './export-state.ts';
import { type FolderFile, fileNameOf, writeFolderFiles } from './folder-files.ts';
import { type KeywordLetters, keywordLetters, maildirOf, messageFileName } from './maildir-names.ts';
import { mboxEntry } from './mbox-writer.ts';
import type { ExportFormat } from './moved-message.ts';

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

/** Name of the file or folder of each, unless it has one. */
export function fileOf(format: ExportFormat, folder: Pick<Folder, 'id' | 'name'>, taken: ReadonlySet<string>): string {
  if (format === 'archive') return '';
  const wanted = format === 'mbox' ? `${fileNameOf(folder.name, folder.id)}.mbox` : maildirOf(folder.name, folder.id);
  const lower = new Set([...taken].map((each) => each.toLowerCase()));
  if (!lower.has(wanted.toLowerCase())) return wanted;
  return format === 'mbox' ? `folder-${folder.id}.mbox` : `.folder-${folder.id}`;
}

export function exportWriter(target: string, state: ExportState): ExportWriter {
  if (state.format === 'maildir') return maildirWriter(target);
  return state.format === 'mbox' ? mboxWriter(target, state) : archiveWriter(target, state);
}

/** A file that is written at its end; what an interrupted run wrote after its last note is cut off. */
async function openAppending(target: string, file: string, state: ExportState) {
  const handle = await open(
    path.join(target, file),
    constants.O_CREAT | constants.O_WRONLY | constants.O_NOFOLLOW,
    0o600,
  );
  let at = state.files[file] ?? 0;
  await handle.truncate(at);
  return {
    async append(bytes: Buffer): Promise<void> {
      for (let from = 0; from < bytes.length; ) {
        const { bytesWritten } = await handle.write(bytes, from, bytes.length - from, at);
        from += bytesWritten;
        at += bytesWritten;
      }
    },
    async sync(): Promise<void> {
      await handle.datasync();
      state.files[file] = at;
    },
    close: (): Promise<void> => handle.close(),
  };
}
type Appending = Awaited<ReturnType<typeof openAppending>>;

function mboxWriter(target: string, state: ExportState): ExportWriter {
  let current: Appending | undefined;
  const close = async () => {
    await current?.close();
    current = undefined;
  };
  return {
    begin: async (folders) => writeFolderFiles(target, folders),
    async openFolder({ file }) {
      await close();
      current = await openAppending(target, file, state);
    },
    write: async (_folder, message) => current?.append(mboxEntry(message)),
    sync: async () => current?.sync(),
    end: async () => {},
    close,
  };
}

function maildirWriter(target: string): ExportWriter {
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
      const name = messageFileName({
        ...{ uid: message.uid, size: message.size, flags: message.flags },
        ...{ date: message.internalDate, offsetMinutes: message.internalOffsetMinutes },
        letters: message.keywords.flatMap((keyword) => own.letterOf(keyword) ?? []),
      });
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

function archiveWriter(target: string, state: ExportState): ExportWriter {
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
      const handle = await openAppending(target, ARCHIVE_FILE, state);
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
      await file?.append(Buffer.alloc(1_024));
    },
    async close() {
      await file?.close();
      file = undefined;
    },
  };
}

const asJson = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value, null, 1)}\n`);
