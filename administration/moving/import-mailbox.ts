/**
 * Files the messages of a source into one mailbox, while the service runs, in portions that are a transaction each. What is
 * not imported, or not as it was, is in the report with its place.
 */
import { hash } from 'node:crypto';
import { type MailAccount, type SpecialUse, StoreRefused } from '@agent-mailbox/mail-store';
import type { Database } from '#db/database.ts';
import {
  FOLDERS_MAX,
  KEYWORD_MAX_CHARACTERS,
  KEYWORDS_PER_MESSAGE_MAX,
  WRITE_BATCH_MAX_BYTES,
  WRITE_BATCH_MAX_MESSAGES,
} from '#domain/mail/mail-limits.ts';
import type { MailNotifier } from '#mailstore/changes/notifier.ts';
import {
  type Filed,
  type ImportedMessage,
  importDigest,
  importMessages,
  knownImports,
} from '#mailstore/delivery/import-messages.ts';
import { createFolder } from '#mailstore/folders/change-folders.ts';
import { folderName, listFolders, newFolderName, subscribe } from '#mailstore/folders/folders.ts';
import { readQuota } from '#mailstore/folders/placements.ts';
import type { MovedFolder, MovedMessage, Problem, Source } from './moved-message.ts';
import { problem } from './moved-message.ts';
import { MovingError } from './moving-error.ts';

/** Of problems, that the report names; all are counted. */
const PROBLEMS_NAMED_MAX = 1_000;
const SHOWN_EVERY = 100;
/** Of a flag that IMAP can have (RFC 9051 §9, flag-keyword). */
const KEYWORD = /^[!#$&'+,\-./0-9:;<=>?@A-Z^_`a-z|}~[]+$/;
const [EARLIEST, LATEST] = [Date.UTC(1900, 0, 1), Date.UTC(9999, 0, 1)];
const OFFSET_MAX_MINUTES = 1_439;

export interface ImportInput {
  readonly db: Database;
  readonly notifier: Pick<MailNotifier, 'changed'>;
  readonly account: MailAccount;
  readonly source: Source;
  /** Reads and compares, and changes nothing. */
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
  /** @param imported messages so far */
  onProgress(text: string, imported: number): void;
}

export interface Imported {
  readonly imported: number;
  readonly bytes: number;
  /** Were there from an earlier import, or twice in the source. */
  readonly known: number;
  /** Messages of each folder of the mailbox that were imported. */
  readonly folders: Readonly<Record<string, number>>;
  readonly problemCount: number;
  readonly problems: readonly Pick<Problem, 'where' | 'problem'>[];
  /** Why it ended before the end of the source. */
  readonly stopped: string | null;
}

interface TargetFolder {
  /** Null in a dry run: it would be created. */
  readonly id: number | null;
  readonly name: string;
}

interface Waiting {
  readonly message: MovedMessage;
  readonly row: ImportedMessage;
}

/** The mailbox is full. */
class Full extends Error {}

/** @throws {MovingError} when it is interrupted */
export async function importMailbox(input: ImportInput): Promise<Imported> {
  const { db, notifier, account, source, dryRun, signal, onProgress } = input;
  const { mailboxId } = account;
  const targets = await targetFolders(db, mailboxId, dryRun);
  const report = { imported: 0, bytes: 0, known: 0, read: 0 };
  const folders: Record<string, number> = {};
  const problems: Problem[] = [];
  let problemCount = 0;
  let stopped: string | null = null;
  let waiting: Waiting[] = [];
  let waitingBytes = 0;
  let current: TargetFolder | undefined;
  const seen = new Set<string>();

  const say = (where: string, text: string) => {
    problemCount++;
    if (problems.length < PROBLEMS_NAMED_MAX) problems.push(problem(where, text));
  };
  const count = (folder: TargetFolder, given: readonly Waiting[], filed: Filed) => {
    report.imported += filed.count;
    report.known += given.length - filed.count;
    report.bytes += filed.bytes;
    folders[folder.name] = (folders[folder.name] ?? 0) + filed.count;
  };

  /** One at a time, so that what fits is filed. @throws {Full} */
  async function fileSingly(folder: TargetFolder, id: number, messages: readonly Waiting[]): Promise<void> {
    for (const each of messages)
      try {
        count(folder, [each], await importMessages(db, notifier, account, id, [each.row]));
      } catch (error) {
        if (!(error instanceof StoreRefused)) throw error;
        if (error.refusal === 'over-quota') throw new Full();
        if (error.refusal !== 'limit' || each.row.keywords.length === 0)
          say(each.message.where, `${error.message}: not imported`);
        else {
          say(each.message.where, `imported without its keywords: ${error.message}`);
          count(folder, [each], await importMessages(db, notifier, account, id, [{ ...each.row, keywords: [] }]));
        }
      }
  }

  async function flush(): Promise<void> {
    const [folder, batch] = [current, waiting];
    [waiting, waitingBytes] = [[], 0];
    if (folder === undefined || batch.length === 0) return;
    const known = await knownImports(
      db,
      mailboxId,
      batch.flatMap(({ row }) => row.digests),
    );
    const fresh = batch.filter(({ row }) => !row.digests.some((digest) => known.has(digest.toString('hex'))));
    report.known += batch.length - fresh.length;
    if (fresh.length === 0) return;
    if (dryRun || folder.id === null) {
      const filed = fresh.filter(({ row }) => {
        const key = row.digests[0]?.toString('hex') ?? '';
        return seen.size < seen.add(key).size;
      });
      count(folder, fresh, { count: filed.length, bytes: filed.reduce((sum, { row }) => sum + row.bytes.length, 0) });
      return;
    }
    try {
      count(
        folder,
        fresh,
        await importMessages(
          db,
          notifier,
          account,
          folder.id,
          fresh.map(({ row }) => row),
        ),
      );
    } catch (error) {
      if (!(error instanceof StoreRefused)) throw error;
      await fileSingly(folder, folder.id, fresh);
    }
  }

  async function take(message: MovedMessage): Promise<void> {
    const folder = await targets.of(message.folder, undefined, say);
    if (folder === undefined) {
      say(message.where, `the mailbox cannot have the folder ${message.folder}: not imported`);
      return;
    }
    if (folder !== current) {
      await flush();
      current = folder;
    }
    waiting.push({ message, row: rowOf(message, say) });
    waitingBytes += message.bytes.length;
    if (waiting.length >= WRITE_BATCH_MAX_MESSAGES || waitingBytes >= WRITE_BATCH_MAX_BYTES) await flush();
  }

  try {
    for await (const item of source) {
      if (item.kind === 'message') {
        await take(item);
        if (++report.read % SHOWN_EVERY === 0)
          onProgress(`${report.read} messages read, ${report.imported} imported`, report.imported);
      } else if (item.kind === 'folder') await targets.of(item.name, item, say);
      else if (item.kind === 'known') report.known++;
      else say(item.where, item.problem);
      if (signal.aborted) {
        await flush();
        throw new MovingError(`${report.imported} messages were imported: run the same command again, and it goes on`);
      }
    }
    await flush();
    if (dryRun) {
      const { usedBytes, limitBytes } = await readQuota(db, mailboxId);
      const free = Math.max(0, limitBytes - usedBytes);
      if (report.bytes > free)
        say(account.address, `has room for ${free} bytes, and ${report.bytes} would be imported`);
    }
  } catch (error) {
    if (!(error instanceof Full)) throw error;
    const { usedBytes, limitBytes } = await readQuota(db, mailboxId);
    stopped = `the mailbox is full: ${usedBytes} of ${limitBytes} bytes are used. Give it a larger quota, or delete mail, and run the same command again: it goes on`;
  }
  const { imported, bytes, known } = report;
  return {
    ...{ imported, bytes, known, folders, problemCount, stopped },
    problems: problems.map((each) => ({ where: each.where, problem: each.problem })),
  };
}

type Say = (where: string, text: string) => void;

/** Finds and makes the folders that messages go to, each once. */
async function targetFolders(db: Database, mailboxId: string, dryRun: boolean) {
  const there = await listFolders(db, mailboxId);
  const byKey = new Map<string, TargetFolder>(there.map((folder) => [folderName(folder.name).key, folder]));
  const byUse = new Map<SpecialUse, TargetFolder>(
    there.flatMap((folder) => (folder.specialUse === null ? [] : [[folder.specialUse, folder] as const])),
  );
  const resolved = new Map<string, TargetFolder | undefined>();

  async function make(name: string, say: Say): Promise<TargetFolder | undefined> {
    try {
      const wanted = newFolderName(acceptable(name));
      const known = byKey.get(wanted.key);
      if (known !== undefined) return known;
      if (byKey.size >= FOLDERS_MAX) throw new StoreRefused('limit', `A mailbox has at most ${FOLDERS_MAX} folders`);
      const created: TargetFolder = dryRun
        ? { id: null, name: wanted.name }
        : await db.transaction((sql) => createFolder(sql, mailboxId, wanted.name, null));
      if (wanted.name !== name) say(name, `the folder is called ${wanted.name} in the mailbox`);
      byKey.set(wanted.key, created);
      return created;
    } catch (error) {
      if (!(error instanceof StoreRefused)) throw error;
      say(name, `no folder for it: ${error.message}`);
      return undefined;
    }
  }

  return {
    /** @returns undefined if the mailbox cannot have it */
    async of(name: string, folder: MovedFolder | undefined, say: Say): Promise<TargetFolder | undefined> {
      if (resolved.has(name)) return resolved.get(name);
      const use = folder?.specialUse === undefined ? undefined : byUse.get(folder.specialUse);
      const target = use ?? (await make(name, say));
      resolved.set(name, target);
      if (target !== undefined && !dryRun && folder?.subscribed !== undefined)
        await subscribe(db, mailboxId, target.name, folder.subscribed);
      return target;
    },
  };
}

/** Without what no folder name may have. */
const acceptable = (name: string): string =>
  name
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}%*]/gu, '_')
    .split('/')
    .filter((level) => level !== '')
    .join('/');

function rowOf(message: MovedMessage, say: Say): ImportedMessage {
  const { bytes, flags, date, more, mark, where } = message;
  const isDate = date.getTime() >= EARLIEST && date.getTime() < LATEST;
  if (!isDate) say(where, 'its date cannot be stored: 1970-01-01 is stored instead');
  const internalDate = isDate ? date : new Date(0);
  const keywords = message.keywords.filter((each) => KEYWORD.test(each) && each.length <= KEYWORD_MAX_CHARACTERS);
  if (keywords.length < message.keywords.length || keywords.length > KEYWORDS_PER_MESSAGE_MAX)
    say(where, 'some of its keywords cannot be stored');
  const seconds = Math.floor(internalDate.getTime() / 1_000);
  const content = importDigest('message', folderName(message.folder).key, seconds, hash('sha256', bytes));
  return {
    ...{ bytes, flags, internalDate, keywords: keywords.slice(0, KEYWORDS_PER_MESSAGE_MAX) },
    internalOffsetMinutes: Math.max(-OFFSET_MAX_MINUTES, Math.min(OFFSET_MAX_MINUTES, message.offsetMinutes)),
    receivedAt: more?.receivedAt ?? internalDate,
    envelopeFrom: more?.envelopeFrom ?? null,
    deliveredTo: more?.deliveredTo ?? null,
    thread: more?.thread ?? null,
    digests: mark === undefined ? [content] : [content, mark],
  };
}
