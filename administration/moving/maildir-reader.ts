/** Reads Maildir, Maildir++ and trees of Maildirs. Follows no links, and reads regular files only. */
import path from 'node:path';
import { MESSAGE_MAX_BYTES } from '#domain/mail/mail-limits.ts';
import { type FolderFile, isTooDeep, readFolderFiles } from './folder-files.ts';
import { type MailFiles, readWhole } from './mail-files.ts';
import { folderOfMaildir, readKeywordLetters, readMessageFileName } from './maildir-names.ts';
import { problem, type SourceItem, tooBig, withCrlf } from './moved-message.ts';

const KEYWORDS_FILE_MAX_BYTES = 65_536;
/** Folders of a Maildir with messages; `tmp` has unfinished ones. */
const WITH_MESSAGES = ['cur', 'new'];

export async function* readMaildir(source: MailFiles): AsyncGenerator<SourceItem> {
  yield* readFolder(source, '', await readFolderFiles(source));
}

async function* readFolder(
  source: MailFiles,
  relative: string,
  listed: ReadonlyMap<string, FolderFile>,
): AsyncGenerator<SourceItem> {
  if (isTooDeep(relative)) {
    yield problem(relative, 'folders are too deep here: not read');
    return;
  }
  const entries = await source.entriesOf(relative);
  const nameOf = (entry: string) => path.posix.basename(entry);
  const isMaildir = entries.some((entry) => entry.kind === 'folder' && WITH_MESSAGES.includes(nameOf(entry.relative)));
  if (isMaildir) {
    const own = listed.get(relative);
    const folder = own?.name ?? folderOfMaildir(relative);
    yield { kind: 'folder', name: folder, specialUse: own?.specialUse ?? undefined, subscribed: own?.subscribed };
    const listFile = relative === '' ? 'dovecot-keywords' : `${relative}/dovecot-keywords`;
    const keywords = await source
      .open(listFile)
      .then((file) => readWhole(file, KEYWORDS_FILE_MAX_BYTES))
      .catch(() => Buffer.alloc(0));
    const letters = readKeywordLetters(keywords.toString());
    for (const { relative: entry, kind } of entries)
      if (kind === 'folder' && WITH_MESSAGES.includes(nameOf(entry)))
        for (const message of await source.entriesOf(entry)) yield* readMessage(source, message, folder, letters);
  }
  for (const { relative: entry, kind } of entries)
    if (kind === 'link') yield problem(entry, 'is a symbolic link: not followed');
    else if (kind === 'folder' && !(isMaildir && [...WITH_MESSAGES, 'tmp'].includes(nameOf(entry))))
      yield* readFolder(source, entry, listed);
}

async function* readMessage(
  source: MailFiles,
  { relative, kind }: { readonly relative: string; readonly kind: string },
  folder: string,
  letters: ReadonlyMap<string, string>,
): AsyncGenerator<SourceItem> {
  if (kind !== 'file') {
    yield problem(relative, kind === 'link' ? 'is a symbolic link: not followed' : 'is no regular file: not read');
    return;
  }
  try {
    const file = await source.open(relative);
    if (file.size > MESSAGE_MAX_BYTES) {
      await file.close();
      yield tooBig(relative, file.size);
      return;
    }
    const raw = await readWhole(file, MESSAGE_MAX_BYTES);
    const named = readMessageFileName(path.posix.basename(relative), letters);
    const bytes = named.date === undefined ? withCrlf(raw) : raw;
    if (bytes.length > MESSAGE_MAX_BYTES) yield tooBig(relative, bytes.length);
    else
      yield {
        ...{ kind: 'message', folder, where: relative, bytes, flags: named.flags, keywords: named.keywords },
        date: named.date ?? file.modifiedAt,
        offsetMinutes: named.offsetMinutes ?? 0,
      };
  } catch (error) {
    yield problem(relative, `cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
