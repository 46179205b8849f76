/** Reads Maildir, Maildir++ and trees of Maildirs. Follows no links, and reads regular files only. */
import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { MESSAGE_MAX_BYTES } from '#domain/mail/mail-limits.ts';
import { entriesOf, type FolderFile, isTooDeep, readBounded, readFolderFiles } from './folder-files.ts';
import { folderOfMaildir, readKeywordLetters, readMessageFileName } from './maildir-names.ts';
import { problem, type SourceItem, tooBig, withCrlf } from './moved-message.ts';

const KEYWORDS_FILE_MAX_BYTES = 65_536;
/** Folders of a Maildir with messages; `tmp` has unfinished ones. */
const WITH_MESSAGES = ['cur', 'new'];

export async function* readMaildir(source: string): AsyncGenerator<SourceItem> {
  yield* readFolder(source, '', await readFolderFiles(source));
}

async function* readFolder(
  source: string,
  relative: string,
  listed: ReadonlyMap<string, FolderFile>,
): AsyncGenerator<SourceItem> {
  if (isTooDeep(relative)) {
    yield problem(relative, 'folders are too deep here: not read');
    return;
  }
  const entries = await entriesOf(source, relative);
  const nameOf = (entry: string) => path.posix.basename(entry);
  const isMaildir = entries.some((entry) => entry.kind === 'folder' && WITH_MESSAGES.includes(nameOf(entry.relative)));
  if (isMaildir) {
    const own = listed.get(relative);
    const folder = own?.name ?? folderOfMaildir(relative);
    yield { kind: 'folder', name: folder, specialUse: own?.specialUse ?? undefined, subscribed: own?.subscribed };
    const keywords = await readBounded(path.join(source, relative, 'dovecot-keywords'), KEYWORDS_FILE_MAX_BYTES).catch(
      () => Buffer.alloc(0),
    );
    const letters = readKeywordLetters(keywords.toString());
    for (const { relative: entry, kind } of entries)
      if (kind === 'folder' && WITH_MESSAGES.includes(nameOf(entry)))
        for (const message of await entriesOf(source, entry)) yield* readMessage(source, message, folder, letters);
  }
  for (const { relative: entry, kind } of entries)
    if (kind === 'link') yield problem(entry, 'is a symbolic link: not followed');
    else if (kind === 'folder' && !(isMaildir && [...WITH_MESSAGES, 'tmp'].includes(nameOf(entry))))
      yield* readFolder(source, entry, listed);
}

async function* readMessage(
  source: string,
  { relative, kind }: { readonly relative: string; readonly kind: string },
  folder: string,
  letters: ReadonlyMap<string, string>,
): AsyncGenerator<SourceItem> {
  const file = path.join(source, relative);
  if (kind !== 'file') {
    yield problem(relative, kind === 'link' ? 'is a symbolic link: not followed' : 'is no regular file: not read');
    return;
  }
  try {
    const { size, mtime } = await lstat(file);
    if (size > MESSAGE_MAX_BYTES) {
      yield tooBig(relative, size);
      return;
    }
    const raw = await readBounded(file, MESSAGE_MAX_BYTES);
    const named = readMessageFileName(path.basename(file), letters);
    const bytes = named.date === undefined ? withCrlf(raw) : raw;
    if (bytes.length > MESSAGE_MAX_BYTES) yield tooBig(relative, bytes.length);
    else
      yield {
        ...{ kind: 'message', folder, where: relative, bytes, flags: named.flags, keywords: named.keywords },
        date: named.date ?? mtime,
        offsetMinutes: named.offsetMinutes ?? 0,
      };
  } catch (error) {
    yield problem(relative, `cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
