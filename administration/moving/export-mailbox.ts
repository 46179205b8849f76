/**
 * Writes one mailbox, while the service runs. Memory does not grow with the mailbox: rows are read in portions,
 * contents one by one. Folders are gone through until no new message is found, so mail that moves meanwhile is not
 * missed; it may be there twice.
 */
import type { Folder, MailAccount } from '@agent-mailbox/mail-store';
import type { Database } from '#db/database.ts';
import { listFolders, listSubscriptions } from '#mailstore/folders/folders.ts';
import { placementsAfter, storedPlacements } from '#mailstore/messages/stored-placements.ts';
import type { ExportedFolder, ExportState } from './export-state.ts';
import type { ExportWriter } from './export-writers.ts';
import { MovingError } from './moving-error.ts';

/** The state is noted after so much. */
const NOTED_MESSAGES = 500;
const NOTED_BYTES = 16 * 1_048_576;
const PASSES_MAX = 5;

/** Where an export is written, and how far it is there. */
export interface ExportTarget {
  readonly state: ExportState;
  /** An interrupted export is continued. */
  readonly continued: boolean;
  readonly writer: ExportWriter;
  fileOf(folder: Pick<Folder, 'id' | 'name'>, taken: ReadonlySet<string>): string;
  /** Keeps the state for good. */
  save(): Promise<void>;
}

export interface ExportInput {
  readonly db: Database;
  readonly account: MailAccount;
  readonly target: ExportTarget;
  readonly signal: AbortSignal;
  onProgress(text: string): void;
}

export interface Exported {
  readonly folders: readonly { readonly name: string; readonly messages: number }[];
  readonly messages: number;
  readonly bytes: number;
  /** An interrupted export was continued. */
  readonly continued: boolean;
}

/** @throws {MovingError} */
export async function exportMailbox({ db, account, target, signal, onProgress }: ExportInput): Promise<Exported> {
  const { mailboxId } = account;
  const { state, continued, writer } = target;
  let [unnotedMessages, unnotedBytes] = [0, 0];
  const note = async () => {
    await writer.sync();
    await target.save();
    [unnotedMessages, unnotedBytes] = [0, 0];
  };
  const total = () => state.folders.reduce((sum, { messages }) => sum + messages, 0);

  /** Adds those that are new since the last pass. */
  async function readFolders(): Promise<readonly ExportedFolder[]> {
    const folders = await listFolders(db, mailboxId);
    for (const { id, name, uidValidity } of folders) {
      const known = state.folders.find((each) => each.id === id);
      if (known === undefined) {
        const file = target.fileOf({ id, name }, new Set(state.folders.map((each) => each.file)));
        state.folders.push({ id, name, file, uidValidity, lastUid: 0, messages: 0 });
      } else if (known.uidValidity !== uidValidity)
        throw new MovingError(`${name} has another UIDVALIDITY since the export began: choose a new folder`);
    }
    const subscribed = new Set(await listSubscriptions(db, mailboxId));
    const uses = new Map(folders.map(({ id, specialUse }) => [id, specialUse]));
    const listed = state.folders.map(({ id, name, file }) => ({
      ...{ file, name, specialUse: uses.get(id) ?? null, subscribed: subscribed.has(name) },
    }));
    await writer.begin(listed);
    return state.folders.filter(({ id }) => uses.has(id));
  }

  async function writeFolder(folder: ExportedFolder): Promise<number> {
    let written = 0;
    await writer.openFolder(folder);
    for await (const message of storedPlacements(db, mailboxId, folder.id, folder.lastUid)) {
      await writer.write(folder, message);
      folder.lastUid = message.uid;
      folder.messages++;
      state.bytes += message.size;
      written++;
      unnotedMessages++;
      unnotedBytes += message.size;
      if (unnotedMessages >= NOTED_MESSAGES || unnotedBytes >= NOTED_BYTES || signal.aborted) await note();
      onProgress(`${total()} messages`);
      if (signal.aborted) throw new MovingError('stopped: run the same command again, and it goes on');
    }
    await note();
    return written;
  }

  try {
    for (let pass = 0; pass < PASSES_MAX; pass++) {
      let written = 0;
      for (const folder of await readFolders()) written += await writeFolder(folder);
      if (written === 0 && pass > 0) break;
    }
    await writer.end();
    state.completedAt = new Date().toISOString();
    await note();
  } finally {
    await writer.close();
  }
  return {
    folders: state.folders.map(({ name, messages }) => ({ name, messages })),
    messages: total(),
    bytes: state.bytes,
    continued,
  };
}

/** What an export would write now. */
export async function exportable(db: Database, { mailboxId }: MailAccount) {
  const folders: { readonly name: string; readonly messages: number; readonly bytes: number }[] = [];
  for (const { id, name } of await listFolders(db, mailboxId)) {
    const { count, bytes } = await placementsAfter(db, mailboxId, id, 0);
    folders.push({ name, messages: count, bytes });
  }
  return folders;
}
