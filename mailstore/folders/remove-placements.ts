import type { Sql } from '#db/database.ts';
import type { LockedFolders } from './lock-folders.ts';
import { numbersOf, uidArray } from './uid-ranges.ts';

export interface RemoveOptions {
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
