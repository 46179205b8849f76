/** Bytes of an APPEND on their way in: in memory up to 256 KiB, beyond that in a file, so that slow uploads cost none. */
import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, readFile, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { MESSAGE_MEMORY_MAX_BYTES } from '../../domain/mail-limits.ts';
import type { Spool, SpooledMessage } from './interface.ts';

/** No upload takes this long: what is older was left by a process that was killed. */
const LEFT_AFTER_MS = 86_400_000;

/** Removes what killed processes left in a spool folder. */
export async function sweepSpool(folder: string, nowMs: number): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const file = path.join(folder, name);
    const facts = await stat(file).catch(() => undefined);
    if (facts?.isFile() && name.endsWith('.eml') && facts.mtimeMs < nowMs - LEFT_AFTER_MS)
      await unlink(file).catch(() => {});
  }
}

/**
 * @param folder where spool files go; made when needed
 * @param expectedBytes announced size: what will not fit into memory goes to the file from its first byte
 */
export function openSpool(folder: string, expectedBytes: number): Spool {
  let chunks: Uint8Array[] = [];
  let size = 0;
  let file: { handle: FileHandle; path: string } | undefined;

  async function discard(): Promise<void> {
    const open = file;
    file = undefined;
    chunks = [];
    if (open === undefined) return;
    await open.handle.close().catch(() => {});
    await unlink(open.path).catch(() => {});
  }

  async function openFile(): Promise<FileHandle> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const name = path.join(folder, `${randomBytes(12).toString('hex')}.eml`);
    file = { handle: await open(name, 'wx', 0o600), path: name };
    for (const chunk of chunks.splice(0)) await writeWhole(file.handle, chunk);
    return file.handle;
  }

  return {
    async write(chunk) {
      size += chunk.length;
      if (file === undefined && Math.max(size, expectedBytes) <= MESSAGE_MEMORY_MAX_BYTES) {
        chunks.push(Uint8Array.from(chunk)); // the caller's buffer is part of a larger one that it goes on using
        return;
      }
      try {
        await writeWhole(file?.handle ?? (await openFile()), chunk);
      } catch (error) {
        await discard();
        throw error;
      }
    },
    async end(): Promise<SpooledMessage> {
      const spooled = file;
      const length = size;
      const inMemory = spooled === undefined ? Buffer.concat(chunks, length) : undefined;
      return {
        size: length,
        bytes: async () => inMemory ?? (spooled === undefined ? Buffer.alloc(0) : readFile(spooled.path)),
        discard,
      };
    },
    discard,
  };
}

async function writeWhole(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length; ) at += (await handle.write(chunk, at)).bytesWritten;
}
