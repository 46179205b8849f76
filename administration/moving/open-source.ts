/** Finds out what a source on disk is, and opens its reader. */
import { lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { ImportFormat } from '#domain/mailbox-moves.ts';
import { ARCHIVE_FILE } from './archive-format.ts';
import { readArchive } from './archive-reader.ts';
import { filesOnDisk, openOnDisk } from './mail-files.ts';
import { readMaildir } from './maildir-reader.ts';
import { type MboxVariant, readMbox, readMboxFile } from './mbox-reader.ts';
import type { Source } from './moved-message.ts';
import { MovingError } from './moving-error.ts';

/** @throws {MovingError} if it is not there, or not clear what it is */
export function openSource(source: string, given: ImportFormat | undefined): Source {
  const facts = lstatSync(source, { throwIfNoEntry: false });
  if (facts === undefined) throw new MovingError(`${source} does not exist`);
  const isFolder = facts.isDirectory();
  if (!isFolder && !facts.isFile()) throw new MovingError(`${source} is neither a file nor a folder`);
  const format = given ?? formatOf(source, isFolder);
  if (format === 'maildir') {
    if (!isFolder) throw new MovingError(`${source} is a file, and a Maildir is a folder`);
    return readMaildir(filesOnDisk(source));
  }
  if (format === 'archive') {
    const file = isFolder ? path.join(source, ARCHIVE_FILE) : source;
    return readArchive(() => openOnDisk(file), file);
  }
  const variant: MboxVariant = format;
  return isFolder
    ? readMbox(filesOnDisk(source), variant)
    : readMboxFile(() => openOnDisk(source), path.basename(source), variant);
}

function formatOf(source: string, isFolder: boolean): ImportFormat {
  if (!isFolder) return source.endsWith('.tar') ? 'archive' : 'mbox';
  const entries = readdirSync(source, { withFileTypes: true });
  if (entries.some(({ name }) => name === ARCHIVE_FILE)) return 'archive';
  const isMaildir = entries.some(
    (entry) => entry.isDirectory() && (['cur', 'new'].includes(entry.name) || hasCur(path.join(source, entry.name))),
  );
  return isMaildir ? 'maildir' : 'mbox';
}

const hasCur = (folder: string): boolean =>
  lstatSync(path.join(folder, 'cur'), { throwIfNoEntry: false })?.isDirectory() === true;
