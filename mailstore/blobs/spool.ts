/**
 * Bytes of a message being received (SMTP DATA, APPEND): in memory up to 256 KiB, above that in a file, so that slow
 * uploads cost no memory.
 *
 * A full disk may write a part and report success for that part. So every write continues until all of its bytes are
 * written, and the file must have the received size, when it is complete and when it is read. After a failure the rest
 * of the message is taken and dropped, so that the client can be answered; reading the message fails.
 */
import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, readFile, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { type Spool, type SpooledMessage, StoreUnavailable } from '@agent-mailbox/mail-store';
import { MESSAGE_MEMORY_MAX_BYTES } from '#domain/mail/mail-limits.ts';

/**
 * The spool cannot store a message: the disk is full, over quota or broken. `cause` is the error of the file system.
 */
export class SpoolError extends StoreUnavailable {
  constructor(cause: unknown) {
    super(`the spool cannot be written or read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'SpoolError';
  }
}

/** No upload takes this long: older files were left by a killed process. */
const LEFT_AFTER_MS = 86_400_000;

/** Removes files of killed processes from a spool folder. */
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
 * @param folder for spool files; created when needed
 * @param expectedBytes announced size: a message that will not fit into memory is written to the file from its first
 * byte
 * @returns a spool; if the file system fails, `bytes` of its message throws {@link SpoolError}
 */
export function openSpool(folder: string, expectedBytes: number): Spool {
  let chunks: Uint8Array[] = [];
  let size = 0;
  let file: { handle: FileHandle; path: string } | undefined;
  let failure: SpoolError | undefined;

  async function fail(error: unknown): Promise<void> {
    failure = new SpoolError(error);
    await discard();
  }

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
      if (failure !== undefined) return;
      if (file === undefined && Math.max(size, expectedBytes) <= MESSAGE_MEMORY_MAX_BYTES) {
        chunks.push(Uint8Array.from(chunk)); // the caller's buffer is part of a larger one that it goes on using
        return;
      }
      try {
        await writeWhole(file?.handle ?? (await openFile()), chunk);
      } catch (error) {
        await fail(error);
      }
    },
    async end(): Promise<SpooledMessage> {
      const length = size;
      await file?.handle
        .stat()
        .then((facts) => requireSize(facts.size, length))
        .catch(fail);
      const [failed, spooled] = [failure, file];
      if (failed !== undefined) return { size: length, bytes: () => Promise.reject(failed), discard };
      if (spooled !== undefined) return { size: length, bytes: () => readWhole(spooled.path, length), discard };
      const inMemory = Buffer.concat(chunks, length);
      return { size: length, bytes: async () => inMemory, discard };
    },
    discard,
  };
}

async function writeWhole(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length; ) {
    const { bytesWritten } = await handle.write(chunk, at);
    if (bytesWritten === 0) throw new Error('a write took no bytes');
    at += bytesWritten;
  }
}

/** @throws {SpoolError} */
async function readWhole(path: string, length: number): Promise<Buffer> {
  try {
    const bytes = await readFile(path);
    requireSize(bytes.length, length);
    return bytes;
  } catch (error) {
    throw new SpoolError(error);
  }
}

function requireSize(found: number, received: number): void {
  if (found !== received) throw new Error(`the file has ${found} bytes of the ${received} that were received`);
}
