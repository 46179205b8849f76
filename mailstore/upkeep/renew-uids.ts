/**
 * UIDs are 32 bits wide. A folder near the maximum gets a new UIDVALIDITY and its messages new UIDs from 1 on (RFC 9051
 * §2.3.1.1), long before UIDs run out, so that no write needs to check. Clients treat it as a new folder; their known
 * MODSEQs are too old.
 */
import type { Database, Sql } from '#db/database.ts';
import { lockFolders } from '#mailstore/folders/lock-folders.ts';

const UID_MAX = 4_294_967_295;
/** UIDs that may still be assigned between two checks, which are hours apart. */
const UIDS_IN_RESERVE = 2 ** 24;

/** @returns folders renewed */
export async function renewUids(db: Database): Promise<number> {
  const folders = await db.query<{ id: number; mailbox_id: string }>(NEAR_THE_END, [UID_MAX - UIDS_IN_RESERVE]);
  for (const { id, mailbox_id: mailboxId } of folders)
    await db.transaction(async (sql) => {
      await lockFolders(sql, mailboxId, [id]);
      await renew(sql, mailboxId, id);
    });
  return folders.length;
}

async function renew(sql: Sql, mailboxId: string, folderId: number): Promise<void> {
  await sql.query(RENUMBER_STATES, [folderId]);
  await sql.query(RENUMBER_PLACEMENTS, [folderId]);
  await sql.query(`delete from expunged where folder_id = $1`, [folderId]);
  // The rows stay, as the log of a mailbox has no gaps, but their UIDs no longer exist.
  await sql.query(`update change_log set uids = '{}' where folder_id = $1`, [folderId]);
  await sql.query(RENEW_FOLDER, [folderId, mailboxId]);
}

const NEAR_THE_END = `select id, mailbox_id from folder where uid_next > $1 and deleted_at is null order by id`;

/** Deleted and inserted, because an update of the key would meet rows that are still to be updated. */
const RENUMBER_STATES = `
  with old as (delete from placement_state where folder_id = $1 returning *)
  insert into placement_state (folder_id, uid, flags, keywords, modseq)
  select folder_id, row_number() over (order by uid), flags, keywords, modseq from old`;

const RENUMBER_PLACEMENTS = `
  with old as (delete from placement where folder_id = $1 returning *)
  insert into placement (folder_id, uid, message_id, internal_date, internal_offset_minutes, save_date, size,
    header_lines, long_header_lines, envelope_text, sent_at)
  select folder_id, row_number() over (order by uid), message_id, internal_date, internal_offset_minutes, save_date, size,
         header_lines, long_header_lines, envelope_text, sent_at
    from old`;

const RENEW_FOLDER = `
  with given as (
    update mailbox_counter set uid_validity_next = uid_validity_next + 1 where mailbox_id = $2
    returning uid_validity_next - 1 as uid_validity
  )
  update folder set uid_validity = given.uid_validity, uid_next = total + 1, recent_from = total + 1,
         modseq = modseq + 1, pruned_modseq = modseq + 1
    from given where id = $1`;
