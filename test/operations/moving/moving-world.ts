/** Mailboxes with all that is hard to move, and what a mailbox has, for comparison. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { exportMailbox } from '#administration/moving/export-mailbox.ts';
import { folderTarget } from '#administration/moving/export-to-folder.ts';
import { type Imported, importMailbox } from '#administration/moving/import-mailbox.ts';
import type { Source } from '#administration/moving/moved-message.ts';
import { openSource } from '#administration/moving/open-source.ts';
import { MAIL_FLAGS } from '#domain/mail/mail-flags.ts';
import type { ExportFormat, ImportFormat } from '#domain/mailbox-moves.ts';
import { listFolders } from '#mailstore/folders/folders.ts';
import { storedPlacements } from '#mailstore/messages/stored-placements.ts';
import { letter, openStoreWorld, type StoreMailbox, type StoreWorld, spooled } from '#test/support/store-world.ts';

const { seen, answered, flagged, deleted, draft } = MAIL_FLAGS;

export interface MovingWorld extends StoreWorld {
  /** A new name in a folder that is removed at the end. */
  path(name: string): string;
  export(mailbox: StoreMailbox, format: ExportFormat, target: string): Promise<void>;
  import(mailbox: StoreMailbox, source: Source | string, options?: ImportOptions): Promise<Imported>;
}

interface ImportOptions {
  readonly format?: ImportFormat;
  readonly dryRun?: boolean;
}

export async function openMovingWorld(): Promise<MovingWorld> {
  const world = await openStoreWorld();
  const folder = mkdtempSync(path.join(tmpdir(), 'moving-'));
  const { db } = world.services;
  const { signal } = new AbortController();
  return {
    ...world,
    path: (name) => path.join(folder, name),
    async export({ id, address }, format, target) {
      const account = { mailboxId: id, address };
      await exportMailbox({ db, account, target: folderTarget(target, format, account), signal, onProgress() {} });
    },
    import({ id, address }, source, { format, dryRun = false } = {}) {
      const account = { mailboxId: id, address };
      const opened = typeof source === 'string' ? openSource(source, format) : source;
      return importMailbox({
        ...{ db, notifier: world.notifier, account, source: opened, dryRun, signal },
        onProgress() {},
      });
    },
    async close() {
      await world.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What is hard: line breaks, lines that look like separators, names, dates, keywords. */
export const HARD_MESSAGES: Readonly<Record<string, string | Buffer>> = {
  plain: letter('Hello'),
  separators: letter(
    'From lines',
    '',
    'From here on\r\n\r\nFrom ada@example.org Sat Nov 28 12:00:00 2026\r\n>From there\r\n>>From far\r\n',
  ),
  'no line break at the end': letter('Unended', '', 'no line break'),
  'blank lines at the end': letter('Blank', '', 'words\r\n\r\n\r\n'),
  'bare line feeds': letter('Bare', '', 'one\ntwo\r\nFrom three 12:00 2026\n\n\nfour\r\n').replaceAll('Bare', 'B'),
  'bare carriage returns': letter('CR', '', 'one\rtwo\r\r\nthree\r\n'),
  'NUL and eight bits': Buffer.concat([Buffer.from(letter('NUL')), Buffer.from([0, 255, 0, 13, 10, 200])]),
  'own status': letter(
    'Status',
    'Status: RO\r\nX-Status: F\r\nX-Keywords: other\r\nContent-Length: 7\r\n',
    'From me\r\n',
  ),
  'no header': '\r\nonly a body\r\n',
  'no body': 'Subject: nothing\r\n',
  empty: Buffer.from('\r\n'),
  'begins like a separator': 'From me: you\r\nSubject: x\r\n\r\nbody\r\n',
  'a long line': letter('Long', '', `${'x'.repeat(700_000)}\r\nFrom y 12:00 2026\r\n`),
};

const DATES = [
  '2026-11-28T12:34:56.000Z',
  '1999-12-31T23:59:59.000Z',
  '2026-02-28T00:00:00.789Z',
  '1970-01-02T03:04:05Z',
];
const FLAG_SETS = [
  0,
  seen,
  seen | answered,
  flagged,
  deleted | seen,
  draft,
  seen | answered | flagged | deleted | draft,
];
const KEYWORDS = [[], ['work'], ['$Forwarded', 'Later', 'x/y.z'], ['a', 'b', 'c']];
export const HARD_FOLDERS = ['Projects', 'Projects/2026', 'Größe & Co.', '..', 'a.b/c', '100 percent', '日本語/受信'];

/** Puts each of the hard messages into INBOX and other folders. */
export async function fillHard({ store, inbox }: StoreMailbox): Promise<void> {
  const folders = [inbox];
  for (const name of HARD_FOLDERS) folders.push((await store.folder(name)) ?? (await store.createFolder(name, null)));
  const sent = await store.folder('Sent');
  if (sent !== undefined) folders.push(sent);
  let number = 0;
  for (const folder of folders)
    for (const content of Object.values(HARD_MESSAGES)) {
      number++;
      // The first folder has all of them, the others some.
      if (folder !== inbox && number % 4 !== 0) continue;
      await store.append(folder.id, [
        spooled(content, {
          flags: FLAG_SETS[number % FLAG_SETS.length] ?? 0,
          keywords: KEYWORDS[number % KEYWORDS.length] ?? [],
          internalDate: new Date(DATES[number % DATES.length] ?? 0),
          internalOffsetMinutes: [0, 60, -330][number % 3] ?? 0,
        }),
      ]);
    }
}

export interface Comparable {
  readonly folder: string;
  readonly content: string;
  readonly flags: number;
  readonly keywords: readonly string[];
  readonly date: number;
  readonly offset?: number;
}

/** @param exact dates to the millisecond, with their zone; otherwise to the second */
export async function contentsOf(
  { services: { db } }: StoreWorld,
  { id }: StoreMailbox,
  { exact = true, withoutEmpty = false } = {},
): Promise<{ folders: string[]; messages: Comparable[] }> {
  const messages: Comparable[] = [];
  const folders: string[] = [];
  for (const folder of await listFolders(db, id)) {
    if (!withoutEmpty || folder.total > 0) folders.push(folder.name);
    for await (const each of storedPlacements(db, id, folder.id, 0))
      messages.push({
        folder: folder.name,
        content: each.bytes.toString('latin1'),
        flags: each.flags,
        keywords: each.keywords.toSorted(),
        date: exact ? each.internalDate.getTime() : Math.floor(each.internalDate.getTime() / 1_000),
        ...(exact ? { offset: each.internalOffsetMinutes } : {}),
      });
  }
  return { folders: folders.toSorted(), messages: messages.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) };
}

const keyOf = ({ folder, content, date }: Comparable): string => `${folder}\0${content}\0${date}`;
