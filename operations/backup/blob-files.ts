/**
 * The contents of mail in a backup: a compressed file for each, under the SHA-256 of its bytes, and the list of them.
 *
 * Files are made durable all at once at the end: `fsync` for each allows some hundred a second on usual disks, where
 * thousands are written. A file under its name is whole after a killed process, but perhaps not after a power failure, so
 * what an interrupted backup left is read before it is kept.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, link, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { createZstdDecompress, zstdCompress, zstdDecompress } from 'node:zlib';
import { type BackedUpTable, BackupError, COMPRESSION, flushFolder, linesOf } from './backup-folder.ts';

const [compress, decompress, run] = [promisify(zstdCompress), promisify(zstdDecompress), promisify(execFile)];
const FLUSHED_AT_ONCE = 4;

/** @param sha256 hexadecimal */
export const blobPath = (folder: string, sha256: string): string =>
  path.join(folder, 'blobs', sha256.slice(0, 2), `${sha256.slice(2)}.zst`);

export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** A stored content that is listed: SHA-256 in hexadecimal, and size. */
export interface ListedBlob {
  readonly sha256: string;
  readonly size: number;
}

/** @param columns of the list; the first is the hash */
export async function* listedBlobs(
  content: AsyncIterable<Buffer>,
  columns: readonly string[],
): AsyncGenerator<ListedBlob & { readonly line: string }> {
  const sizeAt = columns.indexOf('size');
  for await (const line of linesOf(content)) {
    const fields = line.split('\t');
    // bytea, of which COPY writes the backslash twice
    yield { sha256: (fields[0] ?? '').slice(3), size: Number(fields[sizeAt]), line };
  }
}

/** The list that was just written. */
export const listOf = (folder: string, list: BackedUpTable): AsyncIterable<Buffer> =>
  createReadStream(path.join(folder, list.file)).pipe(createZstdDecompress());

export async function writeBlob(folder: string, sha256: string, bytes: Uint8Array): Promise<void> {
  const file = blobPath(folder, sha256);
  await writeFile(`${file}.part`, await compress(bytes, COMPRESSION), { mode: 0o600 });
  await rename(`${file}.part`, file);
}

/** @throws {BackupError} if the file is missing, or its bytes have another hash than its name says */
export async function readBlob(folder: string, sha256: string, isKnownDamaged = false): Promise<Buffer> {
  const file = blobPath(folder, sha256);
  const failed = (why: string) => new BackupError(`${file} ${why}. Use another backup, or a copy of this one`);
  const compressed = await readFile(file).catch(() => {
    throw failed('is missing');
  });
  const bytes = await decompress(compressed).catch(() => {
    throw failed('is damaged');
  });
  if (!isKnownDamaged && sha256Of(bytes) !== sha256)
    throw failed('is damaged: its content has another hash than its name says');
  return bytes;
}

/** Whether an interrupted backup left this file whole. */
export const isKept = (folder: string, sha256: string): Promise<boolean> =>
  readBlob(folder, sha256).then(
    () => true,
    () => false,
  );

/** A further name of the file in an older backup; a copy where the file system has no such thing. @returns whether it has it */
export async function shareBlob(older: string, folder: string, sha256: string): Promise<boolean> {
  const [from, file] = [blobPath(older, sha256), blobPath(folder, sha256)];
  try {
    await rm(file, { force: true }); // what was left is not whole
    await link(from, file);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
  }
  await copyFile(from, `${file}.part`);
  await rename(`${file}.part`, file);
  return true;
}

/** Makes all contents durable. */
export async function flushBlobs(folder: string): Promise<void> {
  const blobs = path.join(folder, 'blobs');
  if (process.platform === 'linux')
    try {
      // syncfs, which Node does not have
      await run('sync', ['--file-system', blobs]);
      return;
    } catch {
      // Each file on its own, then.
    }
  for (const prefix of await readdir(blobs)) {
    const names = (await readdir(path.join(blobs, prefix))).values();
    const flush = async () => {
      for (const name of names) {
        const handle = await open(path.join(blobs, prefix, name), 'r+');
        await handle.sync().finally(() => handle.close());
      }
    };
    await Promise.all(Array.from({ length: FLUSHED_AT_ONCE }, flush));
    await flushFolder(path.join(blobs, prefix));
  }
  await flushFolder(blobs);
}

/** Removes what an interrupted backup left and this one does not list: mail that was deleted meanwhile, parts of files. */
export async function removeOtherBlobs(folder: string, list: BackedUpTable): Promise<void> {
  const listed = listedBlobs(listOf(folder, list), list.columns);
  let next = await listed.next();
  for (const prefix of (await readdir(path.join(folder, 'blobs'))).toSorted()) {
    const wanted = new Set<string>();
    while (next.done !== true && next.value.sha256.slice(0, 2) <= prefix) {
      wanted.add(path.basename(blobPath(folder, next.value.sha256)));
      next = await listed.next();
    }
    for (const name of await readdir(path.join(folder, 'blobs', prefix)))
      if (!wanted.has(name)) await rm(path.join(folder, 'blobs', prefix, name), { force: true });
  }
}
