/**
 * Drafts: messages in the folder Drafts, by whatever client. Each save is a new message that replaces the previous one
 * (REPLACE, RFC 8508) under the same draft id. A draft of a mail client has an id too, derived from its message's id;
 * when a client saves a draft, that is another message, and so another draft.
 */

import { type MailAccount, StoreRefused } from '@agent-mailbox/mail-store';
import { type ClientId, isSameContent, requireSameContent } from '#core/platform/client-id.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Database, Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import { ID_PREFIXES } from '#domain/ids.ts';
import { MAIL_FLAGS } from '#domain/mail/mail-flags.ts';
import type { MailNotifier } from '#mailstore/changes/notifier.ts';
import { appendMessages, prepareAppends } from '#mailstore/delivery/append.ts';
import { lockFolders, noFolder } from '#mailstore/folders/lock-folders.ts';
import { removePlacements } from '#mailstore/folders/placements.ts';

export interface DraftRow {
  readonly id: string;
  readonly messageId: string;
  readonly uid: number;
  readonly size: number;
  readonly blob: Buffer;
  readonly labels: readonly string[];
  readonly sendAt: Date | null;
  readonly createdAt: Date;
}

export interface DraftStore {
  readonly db: Database;
  readonly notifier: MailNotifier;
  readonly now: () => number;
}

export interface DraftSave {
  /** The message with its Bcc. */
  readonly bytes: Buffer;
  readonly labels: readonly string[];
  readonly sendAt: Date | null;
}

/** Newest first; one more than `limit`. */
export const listDrafts = (
  sql: Sql,
  mailboxId: string,
  page: { readonly limit: number; readonly after: string | null },
): Promise<DraftRow[]> => sql.query<DraftRow>(LIST, [mailboxId, page.after, page.limit + 1]);

export async function findDraft(sql: Sql, mailboxId: string, id: string): Promise<DraftRow | undefined> {
  const [row] = await sql.query<DraftRow>(FIND, [mailboxId, id]);
  return row;
}

interface DraftOfClientId {
  readonly id: string;
  readonly hashes: readonly Buffer[] | null;
}

async function findByClientId(sql: Sql, mailboxId: string, { id }: ClientId): Promise<DraftOfClientId | undefined> {
  const [row] = await sql.query<DraftOfClientId>(FIND_BY_CLIENT_ID, [mailboxId, id]);
  return row;
}

/** Id of the draft that has this client id, if already what is known of the content is the same. */
export async function findRepeatedDraft(sql: Sql, mailboxId: string, clientId: ClientId): Promise<string | undefined> {
  const known = await findByClientId(sql, mailboxId, clientId);
  return known !== undefined && isSameContent(known.hashes, clientId) ? known.id : undefined;
}

/**
 * Saves a new draft; if there is one of this content with the client id, nothing.
 *
 * @returns id of the draft, and whether it is new
 * @throws {CatalogueError} quota_exceeded, payload_too_large, invalid_request (labels); conflict, if the client id was
 * used for another draft
 */
export async function createDraft(
  store: DraftStore,
  account: MailAccount,
  save: DraftSave,
  clientId: ClientId | null,
): Promise<{ readonly id: string; readonly created: boolean }> {
  return write(store, account, save, async (sql, append) => {
    if (clientId !== null) {
      const known = await findByClientId(sql, account.mailboxId, clientId);
      if (known !== undefined) {
        requireSameContent(known.hashes, clientId, 'draft');
        return { id: known.id, created: false };
      }
      // Of a draft that is sent or deleted.
      await sql.query(`delete from draft where mailbox_id = $1 and client_id = $2`, [account.mailboxId, clientId.id]);
    }
    const messageId = await append(undefined);
    const id = newId('draft');
    await sql.query(INSERT, [
      id,
      account.mailboxId,
      messageId,
      clientId?.id ?? null,
      save.sendAt,
      new Date(store.now()),
      clientId?.hashes ?? null,
    ]);
    return { id, created: true };
  });
}

/**
 * Saves a draft again.
 *
 * @param before as it was read
 * @throws {CatalogueError} conflict if it changed since; quota_exceeded, payload_too_large, invalid_request (labels)
 */
export async function replaceDraft(
  store: DraftStore,
  account: MailAccount,
  before: DraftRow,
  save: DraftSave,
): Promise<void> {
  await write(store, account, save, async (sql, append) => {
    const now = await findDraft(sql, account.mailboxId, before.id);
    if (now?.messageId !== before.messageId)
      throw new CatalogueError('conflict', 'The draft was changed, sent or deleted meanwhile. Read it again.');
    const messageId = await append(now);
    await sql.query(REPLACE, [before.id, account.mailboxId, messageId, save.sendAt, before.createdAt]);
  });
}

/** @returns false when there is no such draft */
export async function deleteDraft(
  { db, notifier }: DraftStore,
  { mailboxId }: MailAccount,
  id: string,
): Promise<boolean> {
  const folderId = await draftsFolder(db, mailboxId);
  const deleted = await db.transaction(async (sql) => {
    const locked = await lockFolders(sql, mailboxId, [folderId]);
    const draft = await findDraft(sql, mailboxId, id);
    if (draft === undefined) return false;
    await removePlacements(sql, locked, folderId, [draft.uid], { onlyDeleted: false, purge: true });
    await sql.query(`delete from draft where id = $1`, [id]);
    return true;
  });
  if (deleted) notifier.changed([folderId]);
  return deleted;
}

/** One transaction under the lock of Drafts. `append` files the message, in the place of another. */
async function write<Result>(
  { db, notifier, now }: DraftStore,
  account: MailAccount,
  { bytes, labels }: DraftSave,
  work: (sql: Sql, append: (replaced: DraftRow | undefined) => Promise<string>) => Promise<Result>,
): Promise<Result> {
  const { mailboxId } = account;
  try {
    const folderId = await draftsFolder(db, mailboxId);
    const content = { size: bytes.length, bytes: () => Promise.resolve(bytes), discard: () => Promise.resolve() };
    const message = { content, flags: MAIL_FLAGS.draft | MAIL_FLAGS.seen, keywords: labels, internalDate: null };
    const prepared = await prepareAppends(db, account, [message], new Date(now()), 'draft');
    const result = await db.transaction(async (sql) => {
      const locked = await lockFolders(sql, mailboxId, [folderId]);
      return work(sql, async (replaced) => {
        await appendMessages(sql, locked, folderId, prepared, replaced?.size ?? 0);
        if (replaced !== undefined)
          await removePlacements(sql, locked, folderId, [replaced.uid], { onlyDeleted: false, purge: true });
        return prepared[0]?.messageId ?? '';
      });
    });
    notifier.changed([folderId]);
    return result;
  } catch (error) {
    throw error instanceof StoreRefused ? refusalOf(error) : error;
  }
}

function refusalOf({ refusal, message }: StoreRefused): CatalogueError {
  if (refusal === 'over-quota')
    return new CatalogueError('quota_exceeded', 'The mailbox is full: the draft does not fit.');
  if (refusal === 'too-big') return new CatalogueError('payload_too_large', `${message}.`);
  return new CatalogueError('invalid_request', undefined, { details: [{ path: '/labels', message }] });
}

async function draftsFolder(sql: Sql, mailboxId: string): Promise<number> {
  const [row] = await sql.query<{ id: number }>(
    `select id from folder where mailbox_id = $1 and special_use = '\\Drafts' and deleted_at is null`,
    [mailboxId],
  );
  if (row === undefined) throw noFolder();
  return row.id;
}

/** A client marks the draft it replaced with \Deleted. */
const DRAFTS = `
  select distinct on (m.id) coalesce(d.id, '${ID_PREFIXES.draft}' || substr(m.id, ${ID_PREFIXES.message.length + 1})) as id,
         m.id as "messageId", p.uid, m.size, m.blob, s.keywords as labels, d.send_at as "sendAt",
         coalesce(d.created_at, m.received_at) as "createdAt", d.client_id, d.client_hashes
    from folder f join placement p on p.folder_id = f.id
    join placement_state s on s.folder_id = p.folder_id and s.uid = p.uid
    join message m on m.id = p.message_id left join draft d on d.message_id = m.id
   where f.mailbox_id = $1 and f.special_use = '\\Drafts' and f.deleted_at is null
     and s.flags & ${MAIL_FLAGS.deleted} = 0
   order by m.id, p.uid desc`;

const COLUMNS = `id, "messageId", uid, size, blob, labels, "sendAt", "createdAt"`;
const FIND = `select ${COLUMNS} from (${DRAFTS}) as draft where id = $2 limit 1`;
const FIND_BY_CLIENT_ID = `select id, client_hashes as hashes from (${DRAFTS}) as draft where client_id = $2 limit 1`;
const LIST = `
  select ${COLUMNS} from (${DRAFTS}) as draft where $2::text is null or id collate "C" < $2
   order by id collate "C" desc limit $3`;

const INSERT = `
  insert into draft (id, mailbox_id, message_id, client_id, send_at, created_at, client_hashes)
  values ($1, $2, $3, $4, $5, $6, $7)`;

/** A draft that a client wrote gets its row with the first save here. */
const REPLACE = `
  insert into draft (id, mailbox_id, message_id, send_at, created_at) values ($1, $2, $3, $4, $5)
  on conflict (id) do update set message_id = excluded.message_id, send_at = excluded.send_at`;
