/** Files that an import reads: on a disk, or in a tar file that was uploaded. No name of an entry is used as a path. */
import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import path from 'node:path';

export interface OpenFile {
  /** Bytes. */
  readonly size: number;
  readonly modifiedAt: Date;
  /** Fewer bytes at the end of the file. */
  read(at: number, length: number): Promise<Buffer>;
  close(): Promise<void>;
}

export interface FoundEntry {
  /** Below the source, with `/`. */
  readonly relative: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
}

export interface MailFiles {
  /** Entries of a folder by name, never through links. */
  entriesOf(relative: string): Promise<FoundEntry[]>;
  /** A regular file, not through a link. @throws {Error} */
  open(relative: string): Promise<OpenFile>;
}

/** A regular file, not through a link. @throws {Error} */
export async function openOnDisk(file: string): Promise<OpenFile> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const facts = await handle.stat();
    if (!facts.isFile()) throw new Error('it is no regular file');
    return {
      size: facts.size,
      modifiedAt: facts.mtime,
      async read(at, length) {
        const bytes = Buffer.alloc(Math.max(0, Math.min(length, facts.size - at)));
        let filled = 0;
        while (filled < bytes.length) {
          const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, at + filled);
          if (bytesRead === 0) break;
          filled += bytesRead;
        }
        return bytes.subarray(0, filled);
      },
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

export const filesOnDisk = (source: string): MailFiles => ({
  async entriesOf(relative) {
    const entries = await readdir(path.join(source, relative), { withFileTypes: true });
    return inOrder(
      entries.map((entry) => ({
        relative: relative === '' ? entry.name : `${relative}/${entry.name}`,
        kind: entry.isSymbolicLink() ? 'link' : entry.isDirectory() ? 'folder' : entry.isFile() ? 'file' : 'other',
      })),
    );
  },
  open: (relative) => openOnDisk(path.join(source, relative)),
});

export const inOrder = (entries: readonly FoundEntry[]): FoundEntry[] =>
  entries.toSorted((a, b) => (a.relative < b.relative ? -1 : 1));

/** At most so many bytes of it. @throws {Error} */
export async function readWhole(file: OpenFile, maxBytes: number): Promise<Buffer> {
  try {
    if (file.size > maxBytes) throw new Error(`it has ${file.size} bytes, and at most ${maxBytes} are read`);
    return await file.read(0, file.size);
  } finally {
    await file.close();
  }
}
