/**
 * Files of this machine that are to be attached. A language model may name the path, and a mail may have misled it. So
 * what counts is the file that was opened, not its name: its real place and all folders above it are compared after it was
 * opened, so that a link that is exchanged in between changes nothing, and its bytes are read from the same descriptor.
 *
 * A file with a second name (a hard link) may belong to another folder: nothing tells which of its names came first, so a
 * model gets none of them.
 */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ApiError, type FileToUpload } from '#client/index.ts';

/** Types that mail programs display; everything else is sent as bytes. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  '.eml': 'message/rfc822',
  '.gif': 'image/gif',
  '.html': 'text/html',
  '.ics': 'text/calendar',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.pptx': 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  '.xml': 'application/xml',
  '.zip': 'application/zip',
};
/** The service takes no larger file. */
export const FILE_MAX_BYTES = 30 * 1_048_576;
/** Any credential of this service (`<prefix><43 characters of the secret><6 of the checksum>`). */
const CREDENTIAL = /am[a-z]_[A-Za-z0-9_-]{43}[0-9a-hjkmnp-tv-z]{6}/;
/** Of macOS: no link anywhere in the path is followed. Linux has it only in openat2(2), and says where a file is instead. */
const O_NOFOLLOW_ANY = process.platform === 'darwin' ? 0x2000_0000 : 0;
/** A FIFO does not wait for its writer, and a link that is put in the place of the file is not followed. */
const READ_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0) | O_NOFOLLOW_ANY;

const failure = (code: string, message: string, fix: string): ApiError =>
  new ApiError({ code, message, fix, status: null });

/** It says nothing about the file, and nothing that leads around the rule. */
const refused = (given: string): ApiError =>
  failure(
    'file_refused',
    `${given} may not be attached.`,
    'Do not try another path. Tell the person you work for: only that person decides which files are shared.',
  );

const unreadable = (given: string, reason: string): ApiError =>
  failure('file_unreadable', `${given} cannot be read: ${reason}.`, 'Check the path.');

const isInside = (folder: string, file: string): boolean => {
  const relative = path.relative(folder, file);
  return relative !== '' && relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
};

/** Keys and passwords are in hidden files and folders. */
const isHidden = (folder: string, file: string): boolean =>
  path
    .relative(folder, file)
    .split(path.sep)
    .some((part) => part.startsWith('.'));

/** Real places of the folders that exist. */
async function realFolders(folders: readonly string[]): Promise<string[]> {
  const real: string[] = [];
  for (const folder of folders) {
    const place = await realpath(folder).catch(() => undefined);
    if (place !== undefined) real.push(place);
  }
  return real;
}

/** Folders of a host: its `roots` that are files of this machine. */
export const foldersOfRoots = (roots: readonly { readonly uri: string }[]): string[] =>
  roots.flatMap(({ uri }) => {
    try {
      return [fileURLToPath(uri)];
    } catch {
      return [];
    }
  });

/**
 * A file that a language model named: only of the folders, after links are resolved, and nothing hidden in them.
 *
 * @param given absolute, or relative to one of the folders
 * @param never files and folders that are refused in any case
 * @throws {ApiError} `file_refused`, `file_unreadable`
 */
export async function sharedFile(
  given: string,
  folders: readonly string[],
  never: readonly string[],
): Promise<FileToUpload> {
  const allowed = await realFolders(folders);
  const places = path.isAbsolute(given) ? [given] : allowed.map((folder) => path.join(folder, given));
  for (const place of places) {
    const real = await realpath(place).catch(() => undefined);
    if (real === undefined) continue;
    if (!allowed.some((folder) => isInside(folder, real) && !isHidden(folder, real))) throw refused(given);
    return await read(real, given, never, 'one name');
  }
  // Only inside of the folders is it said that there is no such file.
  const around = await realFolders(places.map((place) => path.dirname(place)));
  if (around.some((place) => allowed.some((folder) => folder === place || isInside(folder, place))))
    throw unreadable(given, 'there is no such file');
  throw refused(given);
}

/**
 * A file that a person named on a command line.
 *
 * @param never files and folders that are refused in any case
 * @throws {ApiError} `file_refused`, `file_unreadable`
 */
export async function namedFile(given: string, never: readonly string[]): Promise<FileToUpload> {
  const real = await realpath(given).catch((error: unknown) => {
    throw unreadable(given, reasonOf(error));
  });
  return read(real, given, never, 'any names');
}

async function read(
  real: string,
  given: string,
  never: readonly string[],
  names: 'one name' | 'any names',
): Promise<FileToUpload> {
  let handle: FileHandle | undefined;
  try {
    // Before it is opened too: opening some devices has effects.
    if (!(await lstat(real)).isFile()) throw unreadable(given, 'it is not a regular file');
    const before = await inodesOf(real);
    handle = await open(real, READ_FLAGS);
    const opened = await handle.stat({ bigint: true });
    if (!opened.isFile()) throw unreadable(given, 'it is not a regular file');
    if (opened.nlink > 1n && names === 'one name') throw refused(given);
    if (!(await isAt(handle, real, opened, before)) || (await isOneOf(never, real, opened))) throw refused(given);
    const content = await contentOf(handle, given, opened.size);
    const filename = path.basename(given);
    const contentType = CONTENT_TYPES[path.extname(filename).toLowerCase()] ?? 'application/octet-stream';
    return { content, filename, contentType };
  } catch (error) {
    throw error instanceof ApiError ? error : unreadable(given, reasonOf(error));
  } finally {
    await handle?.close();
  }
}

async function contentOf(handle: FileHandle, given: string, sizeBytes: bigint): Promise<Buffer<ArrayBuffer>> {
  if (sizeBytes > FILE_MAX_BYTES) throw unreadable(given, 'it is larger than 30 MiB');
  const size = Number(sizeBytes);
  // One byte more: files of /proc have no size, and nevertheless content.
  const bytes = Buffer.alloc(size + 1);
  let filled = 0;
  for (;;) {
    const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, filled);
    filled += bytesRead;
    if (bytesRead === 0 || filled > size) break;
  }
  if (filled !== size)
    throw unreadable(given, size === 0 ? 'it is not a regular file' : 'it changed while it was read');
  const content = bytes.subarray(0, size);
  if (CREDENTIAL.test(content.toString('latin1'))) throw refused(given);
  return content;
}

type Opened = Awaited<ReturnType<typeof bigStat>>;
const bigStat = (file: string) => stat(file, { bigint: true });

/** Of a path and all folders above it, the innermost first; a link has an inode of its own. */
async function inodesOf(real: string): Promise<string[]> {
  const inodes: string[] = [];
  for (let place = real; ; place = path.dirname(place)) {
    const { dev, ino } = await lstat(place, { bigint: true });
    inodes.push(`${dev}:${ino}`);
    if (place === path.dirname(place)) return inodes;
  }
}

/**
 * Whether the opened file is that of the real path, whose folders are the same as before it was opened. On Linux and macOS
 * no timing defeats this; elsewhere a program that exchanges folders without end rarely does.
 */
async function isAt(handle: FileHandle, real: string, opened: Opened, before: readonly string[]): Promise<boolean> {
  // Where Linux says that the open file is: no exchange of links can change that.
  const place = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined);
  if (place !== undefined && place !== real) return false;
  const after = await inodesOf(real);
  const isUnchanged = after.every((inode, index) => inode === before[index]);
  return isUnchanged && after[0] === `${opened.dev}:${opened.ino}` && (await realpath(real)) === real;
}

/** Whether it is one of these files, in one of these folders, or another name (a hard link) of a file of them. */
async function isOneOf(never: readonly string[], real: string, opened: Opened): Promise<boolean> {
  for (const place of await realFolders(never)) {
    if (place === real || isInside(place, real)) return true;
    const inside = await readdir(place).catch(() => []);
    for (const file of [place, ...inside.map((name) => path.join(place, name))]) {
      const other = await bigStat(file).catch(() => undefined);
      if (other?.isFile() === true && other.dev === opened.dev && other.ino === opened.ino) return true;
    }
  }
  return false;
}

const reasonOf = (error: unknown): string => {
  switch (error instanceof Error && 'code' in error ? error.code : undefined) {
    case 'ENOENT':
      return 'there is no such file';
    case 'EACCES':
    case 'EPERM':
      return 'this user may not read it';
    default:
      return error instanceof Error ? error.message : String(error);
  }
};
