/**
 * The store of one mailbox as protocol engines see it (`interface.ts`), on PostgreSQL. Every call is bound to the
 * mailbox; every write is one transaction under the locks of `lock-folders.ts`, and wakes watchers after its commit.
 */
import path from 'node:path';
import {
  type AppendMessage,
  type FolderChanges,
  type MailAccount,
  type MailboxStore,
  StoreRefused,
  StoreUnavailable,
} from '@agent-mailbox/mail-store';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { isInfrastructureError } from '#db/infrastructure-error.ts';
import { readMessageSlice, readMessages } from './blobs/blob-store.ts';
import { openSpool } from './blobs/spool.ts';
import type { MailNotifier } from './changes/notifier.ts';
import { readFolderChanges, readVanished } from './changes/read-changes.ts';
import { oneAtATime, sharedReads } from './changes/shared-reads.ts';
import { appendMessages, filedCopy, type PreparedAppend, prepareAppends } from './delivery/append.ts';
import { createFolder, deleteFolder, renameFolder } from './folders/change-folders.ts';
import { fetchRows, listedMessages, sortedUids } from './folders/fetch-rows.ts';
import { readFolderView, recentClaims, recentFrom } from './folders/folder-view.ts';
import { findFolder, listFolders, listSubscriptions, subscribe } from './folders/folders.ts';
import { type LockedFolders, lockFolders } from './folders/lock-folders.ts';
import { copyPlacements, readQuota, removePlacements } from './folders/placements.ts';
import { storeFlags } from './folders/store-flags.ts';
import { noteReadMessages, OWN_TOKEN } from './messages/note-read-senders.ts';
import type { MessageTextFiller } from './search/message-text.ts';
import { searchContent } from './search/search-content.ts';

interface MailboxStoreParts {
  readonly services: Pick<Services, 'db' | 'settings' | 'now'>;
  readonly notifier: MailNotifier;
  readonly texts: MessageTextFiller;
}

/** @returns a function that opens the store of a mailbox; opening costs nothing and needs no closing */
export function mailboxStores({
  services: { db, settings, now },
  notifier,
  texts,
}: MailboxStoreParts): (account: MailAccount) => MailboxStore {
  const inTurn = oneAtATime();
  const shareChanges = sharedReads<FolderChanges | 'too-old' | undefined>();
  const shareRecent = sharedReads<number>();
  const claimRecent = recentClaims();
  const spoolFolder = path.join(settings.DATA_DIR, 'spool');

  async function guard<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } catch (error) {
      if (isInfrastructureError(error)) throw new StoreUnavailable('the database cannot be used', { cause: error });
      throw error;
    }
  }

  return (account) => {
    const { mailboxId } = account;

    /** A transaction of this mailbox. */
    const transact = <Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> =>
      guard(inTurn(mailboxId, () => db.transaction(work)));

    /** A write under the locks of these folders; watchers are woken if something changed. */
    async function write<Result>(
      folderIds: readonly number[],
      work: (sql: Sql, locked: LockedFolders) => Promise<Result>,
    ): Promise<Result> {
      const { result, changed } = await transact(async (sql) => {
        const locked = await lockFolders(sql, mailboxId, folderIds);
        const before = new Map([...locked.folders.values()].map(({ id, modseq }) => [id, modseq]));
        return {
          result: await work(sql, locked),
          changed: [...locked.folders.values()].filter(({ id, modseq }) => before.get(id) !== modseq),
        };
      });
      notifier.changed(changed.map(({ id }) => id));
      return result;
    }

    const noteReading = (messageIds: readonly string[]): Promise<void> =>
      guard(noteReadMessages(db, OWN_TOKEN, [mailboxId], messageIds));

    const prepare = (messages: readonly AppendMessage[]): Promise<PreparedAppend[]> =>
      guard(prepareAppends(db, account, messages, new Date(now())));

    function fillTexts(prepared: readonly PreparedAppend[]): void {
      for (const { message, messageId } of prepared)
        if (message.bytes.length === message.size)
          texts.add({
            messageId,
            mailboxId,
            bytes: message.bytes,
            parts: message.read.parts,
            text: message.read.content.text,
          });
    }

    return {
      folders: () => guard(listFolders(db, mailboxId)),
      folder: (name) => guard(findFolder(db, mailboxId, name)),
      createFolder: (name, specialUse) => transact((sql) => createFolder(sql, mailboxId, name, specialUse)),
      async deleteFolder(name) {
        notifier.changed([await transact((sql) => deleteFolder(sql, mailboxId, name))]);
      },
      async renameFolder(from, to) {
        notifier.changed(await transact((sql) => renameFolder(sql, mailboxId, from, to)));
      },
      subscriptions: () => guard(listSubscriptions(db, mailboxId)),
      subscribe: (name, subscribed) => guard(subscribe(db, mailboxId, name, subscribed)),
      quota: () => guard(readQuota(db, mailboxId)),

      view: (folderId, claimRecent) => guard(readFolderView(db, mailboxId, folderId, claimRecent)),
      recentFrom(folderId, uidValidity, claimBelow) {
        const read = () => recentFrom(db, mailboxId, folderId, uidValidity, claimBelow);
        return guard(
          claimBelow === null
            ? shareRecent(`${mailboxId} ${folderId} ${uidValidity}`, read)
            : claimRecent({ mailboxId, folderId, uidValidity, below: claimBelow }, read),
        );
      },
      changes: (folderId, since) =>
        guard(
          shareChanges(`${mailboxId} ${folderId} ${since}`, () => readFolderChanges(db, mailboxId, folderId, since)),
        ),
      vanishedSince: (folderId, since) => guard(readVanished(db, mailboxId, folderId, since)),

      async *rows(folderId, uids, want) {
        const portions = fetchRows(db, mailboxId, folderId, uids, want);
        for (;;) {
          const { done, value } = await guard(portions.next());
          if (done === true) return;
          if (want.preview) await noteReading(value.map(({ messageId }) => messageId));
          yield value;
        }
      },
      async *listed(folderId, uids, fields) {
        const portions = listedMessages(db, mailboxId, folderId, uids, fields);
        for (;;) {
          const { done, value } = await guard(portions.next());
          if (done === true) return;
          yield value;
        }
      },
      sorted: (folderId, uids, order) => guard(sortedUids(db, mailboxId, folderId, uids, order)),
      async slice(messageId, from, length) {
        await noteReading([messageId]);
        return guard(readMessageSlice(db, mailboxId, messageId, from, length));
      },
      async contents(messageIds, maxBytesEach) {
        await noteReading(messageIds);
        return guard(readMessages(db, mailboxId, messageIds, maxBytesEach));
      },
      search: (folderId, uids, query) => guard(searchContent(db, mailboxId, folderId, uids, query)),

      spool: (expectedBytes) => openSpool(spoolFolder, expectedBytes),
      async append(folderId, messages) {
        const prepared = await prepare(messages);
        const { copy, ...appended } = await write([folderId], async (sql, locked) => {
          const uidValidity = locked.folder(folderId).uid_validity;
          const copy = await filedCopy(sql, folderId, prepared);
          const uids = copy === undefined ? await appendMessages(sql, locked, folderId, prepared) : [copy];
          return { uidValidity, uids, copy };
        });
        if (copy === undefined) fillTexts(prepared);
        return appended;
      },
      storeFlags: (change) => write([change.folderId], (sql, locked) => storeFlags(sql, locked, change)),
      copy: (folderId, uids, toFolderId, complete = false) =>
        write([folderId, toFolderId], async (sql, locked) => ({
          uidValidity: locked.folder(toFolderId).uid_validity,
          ...(await copyPlacements(sql, locked, folderId, uids, toFolderId, { moving: false, complete })),
        })),
      move: (folderId, uids, toFolderId, complete = false) =>
        write([folderId, toFolderId], async (sql, locked) => {
          const copied = await copyPlacements(sql, locked, folderId, uids, toFolderId, { moving: true, complete });
          await removePlacements(sql, locked, folderId, copied.from, { onlyDeleted: false, purge: false });
          return {
            uidValidity: locked.folder(toFolderId).uid_validity,
            ...copied,
            highestModseq: locked.folder(folderId).modseq,
          };
        }),
      expunge: (folderId, uids, force = false) =>
        write([folderId], async (sql, locked) => {
          const folder = locked.folder(folderId);
          const nothing = !force && folder.deleted === 0;
          const options = { onlyDeleted: !force, purge: true };
          const gone = nothing ? [] : await removePlacements(sql, locked, folderId, uids, options);
          return { uids: gone, highestModseq: folder.modseq };
        }),
      async replace(folderId, uid, toFolderId, message) {
        const prepared = await prepare([message]);
        const replaced = await write([folderId, toFolderId], async (sql, locked) => {
          const [old] = await sql.query<{ size: number }>(
            `select size from placement where folder_id = $1 and uid = $2`,
            [locked.folder(folderId).id, uid],
          );
          if (old === undefined) throw new StoreRefused('gone', 'The message to be replaced is gone');
          const [newUid = 0] = await appendMessages(sql, locked, toFolderId, prepared, old.size);
          await removePlacements(sql, locked, folderId, [uid], { onlyDeleted: false, purge: true });
          return {
            uidValidity: locked.folder(toFolderId).uid_validity,
            uid: newUid,
            highestModseq: locked.folder(folderId).modseq,
          };
        });
        fillTexts(prepared);
        return replaced;
      },

      watch: (folderId, wake) => notifier.watchFolder(folderId, wake),
    };
  };
}
