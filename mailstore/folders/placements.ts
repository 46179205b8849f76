/**
 * Placements of messages in folders: how statements join the message, copying, moving, and removing. All under the locks of
 * the folders (`lock-folders.ts`).
 */
import { type Quota, StoreRefused } from '@agent-mailbox/mail-store';
import type { Sql } from '#db/database.ts';
import type { LockedFolders } from './lock-folders.ts';
import { numbersOf, uidArray } from './uid-ranges.ts';

export async function readQuota(sql: Sql, mailboxId: string): Promise<Quota> {
  const [row] = await sql.query<{ bytes_used: number; quota_bytes: number; messages: number }>(READ_QUOTA, [mailboxId]);
  return { usedBytes: row?.bytes_used ?? 0, limitBytes: row?.quota_bytes ?? 0, messages: row?.messages ?? 0 };
}

const READ_QUOTA = `select bytes_used, quota_bytes, messages from mailbox_counter where mailbox_id = $1`;

/**
 * The message of each placement `p`, as `m`; the mailbox of both is checked in `where`.
 *
 * PostgreSQL keeps a plan while the tables grow. One made when mailboxes had hardly any mail reads all messages of the
 * mailbox for each placement. `offset 0` makes it look up each message by its primary key.
 */
export const MESSAGE_OF_PLACEMENT = 'cross join lateral (select * from message where id = p.message_id offset 0) m';

/**
 * Places messages of one folder in another one, or once more in the same, with their flags, keywords and internal date.
 * Removed UIDs are omitted, unless the copy must be `complete`. Call it under the locks of both folders.
 *
 * @returns ascending pairs of UIDs
 * @throws {StoreRefused} over-quota, unless the caller removes the originals in the same transaction (`moving`); gone
 */
export async function copyPlacements(
  sql: Sql,
  locked: LockedFolders,
  fromId: number,
  uids: readonly number[],
  toId: number,
  { moving, complete }: { readonly moving: boolean; readonly complete: boolean },
): Promise<{ from: number[]; to: number[] }> {
  locked.folder(fromId);
  const to = locked.folder(toId);
  const { counter } = locked;
  const [row] = await sql.query<{ n: number; bytes: number; uids: string | null }>(COPY_PLACEMENTS, [
    fromId,
    uidArray(uids),
    to.uid_next,
    toId,
    to.modseq + 1,
    counter.change_seq + 1,
    counter.mailbox_id,
  ]);
  if (complete && (row?.n ?? 0) < new Set(uids).size)
    throw new StoreRefused('gone', 'Some of the messages have been removed');
  if (row === undefined || row.n === 0) return { from: [], to: [] };
  const first = to.uid_next;
  to.uid_next += row.n;
  to.modseq++;
  counter.change_seq++;
  counter.bytes_used += row.bytes;
  if (!moving && counter.bytes_used > counter.quota_bytes)
    throw new StoreRefused('over-quota', 'The mailbox would exceed its quota');
  const from = numbersOf(row.uids);
  return { from, to: from.map((_, i) => first + i) };
}

/**
 * A message that is due to be read again may be read in this moment: its copy gets no index of the header then, which the
 * upgrade of stored mail makes later.
 */
const COPY_PLACEMENTS = `
  with source as materialized (
    select p.uid, p.message_id, p.internal_date, p.internal_offset_minutes, p.size, s.flags, s.keywords,
           $3::bigint + row_number() over (order by p.uid) - 1 as new_uid,
           case when m.text_status <> 'due' then p.header_lines end as header_lines, p.long_header_lines,
           p.envelope_text, p.sent_at
      from placement p join placement_state s on s.folder_id = p.folder_id and s.uid = p.uid
      join message m on m.id = p.message_id
     where p.folder_id = $1 and p.uid = any($2::bigint[])
  ), sums as materialized (
    select count(*) as n, coalesce(sum(size), 0)::bigint as bytes, count(*) filter (where flags & 1 = 0) as unseen,
           count(*) filter (where flags & 8 <> 0) as deleted, string_agg(uid::text, ',' order by uid) as uids
      from source
  ), new_placement as (
    insert into placement (folder_id, uid, message_id, internal_date, internal_offset_minutes, save_date, size,
      header_lines, long_header_lines, envelope_text, sent_at)
    select $4, new_uid, message_id, internal_date, internal_offset_minutes, now(), size,
           header_lines, long_header_lines, envelope_text, sent_at
      from source
  ), new_state as (
    insert into placement_state (folder_id, uid, flags, keywords, modseq)
    select $4, new_uid, flags, keywords, $5 from source
  ), changed_folder as (
    update folder set uid_next = uid_next + n, modseq = $5, total = total + n, unseen = folder.unseen + sums.unseen,
           deleted = folder.deleted + sums.deleted, bytes = folder.bytes + sums.bytes
      from sums where id = $4 and n > 0
  ), changed_counter as (
    update mailbox_counter set bytes_used = bytes_used + bytes, messages = messages + n, change_seq = $6
      from sums where mailbox_id = $7 and n > 0
  ), logged as (
    insert into change_log (mailbox_id, seq, folder_id, modseq, kind, uids)
    select $7, $6, $4, $5, 'added', int8multirange(int8range($3, $3 + n)) from sums where n > 0
  )
  select n, bytes, uids from sums`;

interface RemoveOptions {
  /** Leave those without \Deleted alone. */
  readonly onlyDeleted: boolean;
  /** The messages may have lost their last placement here: the clean-up must check them. False if they moved. */
  readonly purge: boolean;
}

/**
 * Removes placements from a folder and leaves tombstones. Call it under the folder's lock.
 *
 * @param uids null: all of the folder
 * @returns removed UIDs, ascending
 */
export async function removePlacements(
  sql: Sql,
  locked: LockedFolders,
  folderId: number,
  uids: readonly number[] | null,
  { onlyDeleted, purge }: RemoveOptions,
): Promise<number[]> {
  const folder = locked.folder(folderId);
  const { counter } = locked;
  const values = [folderId, onlyDeleted, folder.modseq + 1, counter.change_seq + 1, counter.mailbox_id, purge];
  const [row] = await sql.query<{ n: number; bytes: number; uids: string | null }>(
    uids === null ? REMOVE_ALL : REMOVE_UIDS,
    uids === null ? values : [...values, uidArray(uids)],
  );
  if (row === undefined || row.n === 0) return [];
  folder.modseq++;
  counter.change_seq++;
  counter.bytes_used -= row.bytes;
  return numbersOf(row.uids);
}

const removeStatement = (which: string) => `
  with state as materialized (
    delete from placement_state where folder_id = $1 and (not $2::bool or flags & 8 <> 0) ${which}
    returning uid, flags
  ), gone as materialized (
    delete from placement p using state where p.folder_id = $1 and p.uid = state.uid
    returning p.uid, p.message_id, p.size, state.flags
  ), sums as materialized (
    select count(*) as n, coalesce(sum(size), 0)::bigint as bytes, count(*) filter (where flags & 1 = 0) as unseen,
           count(*) filter (where flags & 8 <> 0) as deleted, string_agg(uid::text, ',' order by uid) as uids,
           range_agg(int8range(uid, uid, '[]')) as ranges
      from gone
  ), tombstone as (
    insert into expunged (folder_id, uid, modseq, message_id) select $1, uid, $3, message_id from gone
  ), to_purge as (
    insert into unplaced_message (message_id) select distinct message_id from gone where $6::bool order by message_id
    on conflict (message_id) do update set since = excluded.since
  ), changed_folder as (
    update folder set modseq = $3, total = total - n, unseen = folder.unseen - sums.unseen,
           deleted = folder.deleted - sums.deleted, bytes = folder.bytes - sums.bytes
      from sums where id = $1 and n > 0
  ), changed_counter as (
    update mailbox_counter set bytes_used = bytes_used - bytes, messages = messages - n, change_seq = $4
      from sums where mailbox_id = $5 and n > 0
  ), logged as (
    insert into change_log (mailbox_id, seq, folder_id, modseq, kind, uids)
    select $5, $4, $1, $3, 'expunged', ranges from sums where n > 0
  )
  select n, bytes, uids from sums`;

const REMOVE_ALL = removeStatement('');
const REMOVE_UIDS = removeStatement('and uid = any($7::bigint[])');
