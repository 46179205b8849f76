/** Finds out what an uploaded file is, and opens its reader: an mbox file, our archive, or a tar file with a tree of mail. */
import type { ImportFormat } from '#domain/mailbox-moves.ts';
import { BLOCK_BYTES, readTarHeader } from './archive-format.ts';
import { readArchive } from './archive-reader.ts';
import type { MailFiles, OpenFile } from './mail-files.ts';
import { readMaildir } from './maildir-reader.ts';
import { readMbox, readMboxFile } from './mbox-reader.ts';
import type { Source } from './moved-message.ts';
import { MovingError } from './moving-error.ts';
import { filesInTar } from './tar-files.ts';

/** Of a single mbox file, which names no folder. */
const FILE_NAME = 'Imported';
const ARCHIVE_HEAD = 'mailbox.json';
const WITH_MESSAGES = ['cur', 'new'];

/** @param given undefined: found out @throws {MovingError} if it is none of them */
export async function uploadedSource(file: OpenFile, given: ImportFormat | undefined): Promise<Source> {
  const block = await file.read(0, BLOCK_BYTES);
  const header = block.length === BLOCK_BYTES ? readTarHeader(block) : undefined;
  const open = async () => file;
  if (header === undefined || header === 'end') {
    if (block.subarray(0, 5).toString('latin1') !== 'From ' || given === 'maildir' || given === 'archive')
      throw new MovingError('the file is neither a tar file nor an mbox file; compressed files are not read');
    return readMboxFile(open, FILE_NAME, given ?? 'mbox');
  }
  if (given === 'archive' || (given === undefined && header.name === ARCHIVE_HEAD))
    return readArchive(open, 'the archive');
  const files = await insideOne(await filesInTar(file));
  const isMaildir = given === undefined ? await hasMaildir(files) : given === 'maildir';
  return isMaildir ? readMaildir(files) : readMbox(files, given === undefined || given === 'maildir' ? 'mbox' : given);
}

/** A folder that was packed as a whole is the only entry, and no folder of mail. */
async function insideOne(files: MailFiles): Promise<MailFiles> {
  const entries = await files.entriesOf('');
  const [only] = entries;
  if (only === undefined || entries.length > 1 || only.kind !== 'folder' || only.relative.startsWith('.')) return files;
  const inside = await files.entriesOf(only.relative);
  if (WITH_MESSAGES.includes(only.relative) || inside.length === 0) return files;
  const top = `${only.relative}/`;
  return {
    entriesOf: async (relative) =>
      (await files.entriesOf(relative === '' ? only.relative : top + relative)).map((entry) => ({
        ...entry,
        relative: entry.relative.slice(top.length),
      })),
    open: (relative) => files.open(top + relative),
  };
}

async function hasMaildir(files: MailFiles): Promise<boolean> {
  for (const { relative, kind } of await files.entriesOf('')) {
    if (kind !== 'folder') continue;
    if (WITH_MESSAGES.includes(relative)) return true;
    if (
      (await files.entriesOf(relative)).some((entry) => WITH_MESSAGES.includes(entry.relative.split('/').at(-1) ?? ''))
    )
      return true;
  }
  return false;
}
