/**
 * Changes that sending makes in the sender's existing mail, the same for every protocol: the draft is removed, and the
 * answered or forwarded message is marked. The draft a message is made from is recorded when it is submitted, and restored
 * when it is withdrawn.
 */
import { type StoreRefusal, StoreRefused } from '@agent-mailbox/mail-store';
import { addressesOfText, type MailAddress } from '@agent-mailbox/mime-structure/addresses';
import { findBodyStart, firstValue, headerFields } from '@agent-mailbox/mime-structure/header-fields';
import { messageIds } from '@agent-mailbox/mime-structure/read-structure';
import type { Database, Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import { ID_PREFIXES } from '#domain/ids.ts';
import { FORWARDED_KEYWORD, MAIL_FLAGS } from '#domain/mail/mail-flags.ts';
import type { AnsweredAs } from '#domain/sending/outbound.ts';
import { appendMessages, type PreparedAppend, prepareAppends } from '#mailstore/delivery/append.ts';
import { type LockedFolders, lockFolders } from '#mailstore/folders/lock-folders.ts';
import { removePlacements } from '#mailstore/folders/placements.ts';
import { storeFlags } from '#mailstore/folders/store-flags.ts';
import type { KeptDraft, OutboundMessage, OutboundRecipient } from './outbound-message.ts';

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

/**
 * Records the draft of a message. Call it before the draft is removed, in the same transaction.
 *
 * @param messageId the draft's message, if the caller knows it; messages in Drafts with the Message-ID count too
 */
export async function keepDraft(
  sql: Sql,
  mailboxId: string,
  outboundId: string,
  draft: { readonly messageIdHeader: string; readonly messageId: string | null },
): Promise<void> {
  await sql.query(KEEP, [mailboxId, draft.messageId, draft.messageIdHeader, outboundId]);
}

const KEEP = `
  update outbound_message o set draft = jsonb_build_object(
           'id', coalesce(d.id, '${ID_PREFIXES.draft}' || substr(m.id, ${ID_PREFIXES.message.length + 1})),
           'clientId', d.client_id, 'clientHashes', d.client_hashes::text[], 'sendAt', d.send_at, 'createdAt', coalesce(d.created_at, m.received_at))
    from folder f join placement p on p.folder_id = f.id join message m on m.id = p.message_id
    left join draft d on d.message_id = m.id
   where o.id = $4 and f.mailbox_id = $1 and f.special_use = '\\Drafts' and f.deleted_at is null
     and (m.id = $2 or ($2::text is null and m.message_id_header = $3))`;

/**
 * The draft as a message again, with all its recipients: those that no other field contains are in Bcc. Call it outside
 * of transactions.
 */
export async function prepareDraft(
  db: Database,
  address: string,
  message: OutboundMessage,
  bytes: Buffer,
  recipients: readonly OutboundRecipient[],
  now: Date,
): Promise<PreparedAppend | undefined> {
  const named = new Set([...message.to, ...message.cc].flatMap(addressesOfText).map(placeOf));
  const hidden = recipients.map(({ address: to }) => to).filter((to) => !named.has(to.toLowerCase()));
  const bcc = hidden.length === 0 ? '' : `Bcc: ${hidden.join(',\r\n ')}\r\n`;
  const whole = Buffer.concat([Buffer.from(bcc), bytes]);
  const content = { size: whole.length, bytes: () => Promise.resolve(whole), discard: () => Promise.resolve() };
  const append = {
    content,
    flags: MAIL_FLAGS.draft | MAIL_FLAGS.seen,
    keywords: message.labels,
    internalDate: null,
  };
  const account = { mailboxId: message.mailboxId, address };
  const [prepared] = await prepareAppends(db, account, [append], now, 'draft').catch(unlessRefused);
  return prepared;
}

const placeOf = ({ address }: MailAddress): string => address.toLowerCase();

/**
 * Files it under its previous id. Call it under the lock of Drafts.
 *
 * @returns false if the mailbox has no room for it
 */
export async function bringBackDraft(
  sql: Sql,
  locked: LockedFolders,
  folderId: number,
  prepared: PreparedAppend,
  draft: KeptDraft,
): Promise<boolean> {
  const filed = await appendMessages(sql, locked, folderId, [prepared]).catch(unlessRefused);
  if (filed.length === 0) return false;
  const { mailbox_id: mailboxId } = locked.counter;
  await sql.query(INSERT, [
    draft.id,
    mailboxId,
    prepared.messageId,
    draft.clientId,
    draft.sendAt,
    draft.createdAt,
    draft.clientHashes,
  ]);
  return true;
}

/** Another draft may have the client id by now. */
const INSERT = `
  insert into draft (id, mailbox_id, message_id, client_id, send_at, created_at, client_hashes)
  select $1, $2, $3,
         case when exists (select from draft where mailbox_id = $2 and client_id = $4) then null else $4 end, $5, $6,
         $7::text[]::bytea[]
  on conflict (id) do update set message_id = excluded.message_id`;

function unlessRefused(error: unknown): [] {
  if (error instanceof StoreRefused) return [];
  throw error;
}
