/** Content nobody can reach any more: deleted mailboxes and folders, messages that lost their last placement. */
import type { Database } from '../../db/database.ts';
import { CHANGE_LOG_RETENTION_DAYS, DELETED_MAILBOX_RETENTION_DAYS } from '../../domain/mail-limits.ts';
import { lockFolders } from './lock-folders.ts';

const PORTION_ROWS = 500;
/** A message may be on its way to a client when its last placement goes. */
const UNPLACED_AGE_MINUTES = 60;

/** Deletes the folders of mailboxes that were deleted long enough ago. */
export async function deleteFoldersOfMailboxes(db: Database): Promise<void> {
  const mailboxes = await db.query<{ mailbox_id: string; folder_ids: number[] }>(DELETED_MAILBOXES, [
    DELETED_MAILBOX_RETENTION_DAYS,
  ]);
  for (const { mailbox_id: mailboxId, folder_ids: folderIds } of mailboxes)
    await db.transaction(async (sql) => {
      await lockFolders(sql, mailboxId, folderIds);
      await sql.query(DELETE_FOLDERS, [mailboxId, folderIds]);
      await sql.query(`delete from thread_ref where mailbox_id = $1`, [mailboxId]);
    });
}

/** @returns placements removed */
export async function purgeDeletedFolders(db: Database): Promise<number> {
  let purged = 0;
  for (const { id } of await db.query<{ id: number }>(DELETED_FOLDERS)) {
    for (let n = PORTION_ROWS; n === PORTION_ROWS; purged += n)
      n = (await db.query(PURGE_PLACEMENTS, [id, PORTION_ROWS])).length;
  }
  await db.query(DROP_FOLDERS, [CHANGE_LOG_RETENTION_DAYS]);
  return purged;
}

/**
 * The queue's rows are locked first: an expunge that touches one waits, and then enters the message anew. So none is
 * taken off the queue that lost its last placement meanwhile.
 *
 * @returns messages removed; their blobs go with the sweep
 */
export async function purgeUnplacedMessages(db: Database): Promise<number> {
  let purged = 0;
  for (let taken = PORTION_ROWS; taken === PORTION_ROWS; )
    taken = await db.transaction(async (sql) => {
      const rows = await sql.query<{ message_id: string }>(TAKE_UNPLACED, [UNPLACED_AGE_MINUTES, PORTION_ROWS]);
      const ids = rows.map(({ message_id }) => message_id);
      purged += (await sql.query(PURGE_MESSAGES, [ids])).length;
      await sql.query(TAKE_OFF_QUEUE, [ids]);
      return ids.length;
    });
  return purged;
}

const DELETED_MAILBOXES = `
  select f.mailbox_id, json_agg(f.id) as folder_ids from folder f join mailboxes m on m.id = f.mailbox_id
   where m.deleted_at < now() - make_interval(days => $1) and f.deleted_at is null group by 1 order by 1 limit 1000`;

const DELETE_FOLDERS = `
  with gone as (
    update folder set deleted_at = now(), modseq = modseq + 1
     where mailbox_id = $1 and id = any($2::bigint[]) and deleted_at is null
    returning total, bytes
  ), sums as (select coalesce(sum(total), 0) as total, coalesce(sum(bytes), 0) as bytes from gone)
  update mailbox_counter set bytes_used = bytes_used - sums.bytes, messages = messages - sums.total
    from sums where mailbox_id = $1`;

const DELETED_FOLDERS = `select id from folder where deleted_at is not null order by id`;

const PURGE_PLACEMENTS = `
  with gone as materialized (
    delete from placement where folder_id = $1
       and uid in (select uid from placement where folder_id = $1 order by uid limit $2)
    returning uid, message_id
  ), state as (
    delete from placement_state s using gone where s.folder_id = $1 and s.uid = gone.uid
  ), tombstone as (
    insert into expunged (folder_id, uid, modseq, message_id)
    select $1, gone.uid, folder.modseq, gone.message_id from gone join folder on folder.id = $1
  ), to_purge as (
    insert into unplaced_message (message_id) select distinct message_id from gone order by message_id
    on conflict (message_id) do update set since = excluded.since
  )
  select 1 from gone`;

/** The row stays as long as log rows and events that name its messages. */
const DROP_FOLDERS = `
  with dropped as (
    delete from folder f where deleted_at < now() - make_interval(days => $1 + 1)
       and not exists (select from placement where folder_id = f.id)
    returning id
  )
  delete from expunged e using dropped where e.folder_id = dropped.id`;

const TAKE_UNPLACED = `
  select message_id from unplaced_message where since < now() - make_interval(mins => $1)
   order by message_id limit $2 for update skip locked`;

const PURGE_MESSAGES = `
  delete from message m where m.id = any($1::text[])
     and not exists (select from placement p where p.message_id = m.id)
  returning 1`;

const TAKE_OFF_QUEUE = `delete from unplaced_message where message_id = any($1::text[])`;
