/**
 * Changes that sending makes in the sender's existing mail: the draft is removed, and the answered or forwarded message
 * is marked. The same for every protocol.
 */

import { type StoreRefusal, StoreRefused } from '@agent-mailbox/mail-store';
import { findBodyStart, firstValue, headerFields } from '@agent-mailbox/mime-structure/header-fields';
import { messageIds } from '@agent-mailbox/mime-structure/read-structure';
import type { Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import { FORWARDED_KEYWORD, MAIL_FLAGS } from '#domain/mail/mail-flags.ts';
import type { AnsweredAs } from '#domain/sending/outbound.ts';
import { type LockedFolders, lockFolders } from '#mailstore/folders/lock-folders.ts';
import { removePlacements } from '#mailstore/folders/placements.ts';
import { storeFlags } from '#mailstore/folders/store-flags.ts';

/** The draft that is sent. */
export interface SentDraft {
  /** Message-ID with brackets: messages in Drafts with it are the same message. */
  readonly messageIdHeader: string;
  /** The very message that was read to be sent; null: only the Message-ID is known. */
  readonly messageId: string | null;
}

export interface Answered {
  readonly messageId: string;
  readonly as: AnsweredAs;
}

/** Changes of the mailbox of a sender, and the folders that must be locked for them. */
export interface OwnMailChanges {
  readonly folderIds: readonly number[];
  readonly draft: SentDraft | null;
  readonly answered: Answered | null;
}

interface Placed {
  readonly folder_id: number;
  readonly uid: number;
}

/** Looks up the messages to change, before any lock. */
export async function findOwnMailChanges(
  sql: Sql,
  mailboxId: string,
  draft: SentDraft | null,
  answered: Answered | null,
): Promise<OwnMailChanges> {
  const drafts = draft === null ? [] : await draftPlacements(sql, mailboxId, draft);
  const marked = answered === null ? [] : await placementsOf(sql, mailboxId, answered.messageId);
  const found = [...drafts, ...marked].map(({ folder_id }) => folder_id);
  return {
    folderIds: [...new Set(found)],
    draft: drafts.length > 0 || (draft?.messageId ?? null) !== null ? draft : null,
    answered,
  };
}

/** Then there is no reason to call `changeOwnMail`. */
export const changesNothing = ({ folderIds, draft }: OwnMailChanges): boolean =>
  folderIds.length === 0 && draft === null;

/**
 * Makes the changes, under locks on their folders. Messages that a client moved meanwhile are skipped.
 *
 * @returns folders that changed
 * @throws {CatalogueError} conflict, if the draft to be sent no longer exists
 */
export async function changeOwnMail(sql: Sql, mailboxId: string, changes: OwnMailChanges): Promise<number[]> {
  const { folderIds, draft, answered } = changes;
  const locked =
    folderIds.length === 0 ? undefined : await lockFolders(sql, mailboxId, folderIds).catch(unless('no-folder'));
  if (locked === undefined) {
    if (draft !== null) throw draftGone();
    return [];
  }
  const before = new Map([...locked.folders.values()].map(({ id, modseq }) => [id, modseq]));
  if (draft !== null) await removeDraft(sql, locked, mailboxId, draft);
  if (answered !== null)
    for (const { folder_id: folderId, uid } of await placementsOf(sql, mailboxId, answered.messageId))
      if (locked.folders.has(folderId)) await mark(sql, locked, folderId, uid, answered.as);
  return [...locked.folders.values()].filter(({ id, modseq }) => before.get(id) !== modseq).map(({ id }) => id);
}

async function removeDraft(sql: Sql, locked: LockedFolders, mailboxId: string, draft: SentDraft): Promise<void> {
  const found = await draftPlacements(sql, mailboxId, draft);
  if (draft.messageId !== null && !found.some(({ message_id }) => message_id === draft.messageId)) throw draftGone();
  for (const { folder_id: folderId, uid } of found)
    if (locked.folders.has(folderId))
      await removePlacements(sql, locked, folderId, [uid], { onlyDeleted: false, purge: true });
  await sql.query(`delete from draft where message_id = any($1::text[])`, [found.map(({ message_id }) => message_id)]);
}

const draftGone = () =>
  new CatalogueError('conflict', 'The draft was changed, sent or deleted meanwhile. Read it again before sending it.');

/** If the mailbox or the message has no room for another keyword, the mark is omitted: mail is sent without it. */
const mark = (sql: Sql, locked: LockedFolders, folderId: number, uid: number, as: AnsweredAs) =>
  storeFlags(sql, locked, {
    folderId,
    uids: [uid],
    change: 'add',
    flags: as === 'answered' ? MAIL_FLAGS.answered : 0,
    keywords: as === 'forwarded' ? [FORWARDED_KEYWORD] : [],
    unchangedSince: null,
  }).catch(unless('limit'));

/** Passes over a refusal by the store, which has changed nothing then. */
const unless =
  (passed: StoreRefusal) =>
  (error: unknown): undefined => {
    if (!(error instanceof StoreRefused) || error.refusal !== passed) throw error;
  };

const draftPlacements = (sql: Sql, mailboxId: string, { messageId, messageIdHeader }: SentDraft) =>
  sql.query<Placed & { message_id: string }>(
    `select p.folder_id, p.uid, p.message_id
       from folder f join placement p on p.folder_id = f.id join message m on m.id = p.message_id
      where f.mailbox_id = $1 and f.special_use = '\\Drafts' and f.deleted_at is null
        and (m.id = $2 or m.message_id_header = $3)
      order by p.uid`,
    [mailboxId, messageId, messageIdHeader],
  );

const placementsOf = (sql: Sql, mailboxId: string, messageId: string) =>
  sql.query<Placed>(
    `select p.folder_id, p.uid from placement p join folder f on f.id = p.folder_id
      where p.message_id = $1 and f.mailbox_id = $2 and f.deleted_at is null order by p.folder_id, p.uid`,
    [messageId, mailboxId],
  );

/**
 * The message of the mailbox that bytes answer, by their In-Reply-To.
 *
 * @param threadId the thread they answer in
 */
export async function answeredByHeader(
  sql: Sql,
  mailboxId: string,
  threadId: string | null,
  bytes: Uint8Array,
): Promise<Answered | null> {
  if (threadId === null) return null;
  const fields = headerFields(bytes, 0, findBodyStart(bytes, 0, bytes.length));
  const [id] = messageIds(firstValue(fields, 'in-reply-to'));
  if (id === undefined) return null;
  const [row] = await sql.query<{ id: string }>(
    `select id from message where mailbox_id = $1 and thread_id = $2 and message_id_header = $3 order by id limit 1`,
    [mailboxId, threadId, id],
  );
  return row === undefined ? null : { messageId: row.id, as: 'answered' };
}
