/** A file of this machine that is to be uploaded: streamed, with a type by its name. */
import { openAsBlob } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
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

const refused = (code: string, message: string, fix: string): ApiError =>
  new ApiError({ code, message, fix, status: null });

/**
 * A file that a language model named. Mail may have misled it, so hidden files and folders, where keys and passwords
 * are, are refused, also behind a symbolic link.
 *
 * @throws {ApiError} `file_unreadable`, `file_refused`
 */
export async function fileToUpload(given: string): Promise<FileToUpload> {
  const real = await realpath(given).catch((error: unknown) => {
    throw unreadable(given, error);
  });
  if (real.split(path.sep).some((part) => part.startsWith('.')))
    throw refused(
      'file_refused',
      `${given} is hidden, or in a hidden folder.`,
      'Copy the file to another folder first.',
    );
  return openFile(real, path.basename(given));
}

/** A file that a person named. @throws {ApiError} `file_unreadable` */
export async function openFile(file: string, filename: string = path.basename(file)): Promise<FileToUpload> {
  try {
    if (!(await stat(file)).isFile()) throw new Error('it is not a file');
    const contentType = CONTENT_TYPES[path.extname(filename).toLowerCase()] ?? 'application/octet-stream';
    return { content: await openAsBlob(file), filename, contentType };
  } catch (error) {
    throw unreadable(file, error);
  }
}

const unreadable = (file: string, error: unknown): ApiError =>
  refused(
    'file_unreadable',
    `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    'Check the path.',
  );
