/**
 * Deletes unreachable content: deleted mailboxes and folders, messages that lost their last placement. Content of a mailbox
 * on legal hold stays: its messages leave the queue and are preserved until no hold is left, whatever deleted them.
 */
import type { Database, Sql } from '#db/database.ts';
import type { Portion } from '#db/delete-portion.ts';
import { holdsStay, onHold } from '#db/queries/mailboxes/legal-hold.ts';
import { CHANGE_LOG_RETENTION_DAYS, DELETED_MAILBOX_RETENTION_DAYS } from '#domain/mail/mail-limits.ts';
import { EXPIRED_MAILBOX_GRACE_DAYS } from '#domain/mail/mail-retention.ts';
import { DELETED_MAILBOX_ROW_RETENTION_DAYS, THREAD_REFERENCE_RETENTION_DAYS } from '#domain/retention.ts';
import { lockFolders } from '#mailstore/folders/lock-folders.ts';

const PORTION_ROWS = 500;
/** A message may still be being sent to a client when its last placement is removed. */
const UNPLACED_AGE_MINUTES = 60;

/** Mailboxes whose folders are deleted in one portion. */
const PORTION_MAILBOXES = 50;

/**
 * Deletes the folders of mailboxes that were deleted long enough ago: a portion of the mailboxes. One that had expired had
 * that time before it was deleted.
 */
export async function deleteFoldersOfMailboxes(db: Database): Promise<Portion> {
  const mailboxes = await db.query<{ mailbox_id: string; folder_ids: number[] }>(DELETED_MAILBOXES, [
    DELETED_MAILBOX_RETENTION_DAYS,
    PORTION_MAILBOXES,
    EXPIRED_MAILBOX_GRACE_DAYS,
  ]);
  for (const { mailbox_id: mailboxId, folder_ids: folderIds } of mailboxes)
    await db.transaction(async (sql) => {
      await deleteFolders(sql, mailboxId, folderIds);
      await sql.query(`delete from thread_ref where mailbox_id = $1`, [mailboxId]);
    });
  return { done: mailboxes.length, more: mailboxes.length === PORTION_MAILBOXES };
}

/** Hides folders from every protocol; what is in them no longer counts. Call it in a transaction. */
export async function deleteFolders(sql: Sql, mailboxId: string, folderIds: readonly number[]): Promise<void> {
  if (folderIds.length === 0) return;
  await lockFolders(sql, mailboxId, folderIds);
  await sql.query(DELETE_FOLDERS, [mailboxId, folderIds]);
}

/** Removes a portion of the placements in deleted folders; then, when none is left, folders that are old enough. */
export async function purgeDeletedFolders(db: Database): Promise<Portion> {
  const [folder] = await db.query<{ id: number }>(DELETED_FOLDER);
  if (folder !== undefined) {
    const rows = await db.query(PURGE_PLACEMENTS, [folder.id, PORTION_ROWS]);
    return { done: rows.length, more: rows.length > 0 };
  }
  await db.query(DROP_FOLDERS, [CHANGE_LOG_RETENTION_DAYS]);
  return { done: 0, more: false };
}

/**
 * The queue's rows are locked first: an expunge that touches one waits, and then adds the message again. So no message
 * that lost its last placement meanwhile is removed from the queue.
 *
 * @returns messages removed in one portion; the sweep deletes their blobs
 */
export function purgeUnplacedMessages(db: Database): Promise<Portion> {
  return db.transaction(async (sql) => {
    await holdsStay(sql);
    const rows = await sql.query<{ message_id: string }>(TAKE_UNPLACED, [UNPLACED_AGE_MINUTES, PORTION_ROWS]);
    const ids = rows.map(({ message_id }) => message_id);
    await sql.query(PRESERVE_MESSAGES, [ids]);
    const purged = await sql.query(PURGE_MESSAGES, [ids]);
    await sql.query(TAKE_OFF_QUEUE, [ids]);
    return { done: purged.length, more: ids.length === PORTION_ROWS };
  });
}

/** Puts a portion of the messages that no hold keeps any more back into the queue. */
export function returnPreservedMessages(db: Database): Promise<Portion> {
  return db.transaction(async (sql) => {
    await holdsStay(sql);
    const rows = await sql.query(RETURN_PRESERVED, [PORTION_MAILBOXES, PORTION_ROWS]);
    return { done: rows.length, more: rows.length === PORTION_ROWS };
  });
}

/**
 * Forgets a portion of the mailboxes that were deleted long ago and of which nothing is left: no folder, no message, no
 * sent mail.
 */
export function forgetDeletedMailboxes(db: Database): Promise<Portion> {
  return db.transaction(async (sql) => {
    const rows = await sql.query<{ id: string }>(EMPTY_DELETED_MAILBOXES, [
      DELETED_MAILBOX_ROW_RETENTION_DAYS,
      PORTION_MAILBOXES,
    ]);
    const ids = rows.map(({ id }) => id);
    for (const table of OF_A_MAILBOX) await sql.query(`delete from ${table} where mailbox_id = any($1::text[])`, [ids]);
    await sql.query(`delete from mailboxes where id = any($1::text[])`, [ids]);
    return { done: ids.length, more: ids.length === PORTION_MAILBOXES };
  });
}

/** Deletes the references of threads without messages, for a portion of the mailboxes; `after` is where to continue. */
export async function forgetThreadReferences(
  db: Database,
  after: string,
): Promise<Portion & { readonly after: string }> {
  const mailboxes = await db.query<{ mailbox_id: string }>(MAILBOXES_WITH_REFERENCES, [after, PORTION_MAILBOXES]);
  const ids = mailboxes.map(({ mailbox_id }) => mailbox_id);
  const rows = ids.length === 0 ? [] : await db.query(FORGET_REFERENCES, [ids, THREAD_REFERENCE_RETENTION_DAYS]);
  return { done: rows.length, more: ids.length === PORTION_MAILBOXES, after: ids.at(-1) ?? after };
}

const OF_A_MAILBOX = [
  'change_log',
  'decision_log',
  'delivery_seen',
  'thread_ref',
  'mail_keyword',
  'imported_message',
  'subscription',
  'mailbox_counter',
];

const EMPTY_DELETED_MAILBOXES = `
  select id from mailboxes m where m.deleted_at < now() - make_interval(days => $1)
     and not exists (select from folder where mailbox_id = m.id)
     and not exists (select from message where mailbox_id = m.id)
     and not exists (select from outbound_message where mailbox_id = m.id) and not ${onHold('m.id')}
   order by id limit $2 for update skip locked`;

const MAILBOXES_WITH_REFERENCES = `
  with recursive found (mailbox_id) as (
    (select mailbox_id from thread_ref where mailbox_id > $1 order by 1 limit 1)
    union all
    select (select mailbox_id from thread_ref where mailbox_id > found.mailbox_id order by 1 limit 1)
      from found where found.mailbox_id is not null)
  select mailbox_id from found where mailbox_id is not null limit $2`;

const FORGET_REFERENCES = `
  delete from thread_ref r where r.mailbox_id = any($1::text[]) and r.seen_at < now() - make_interval(days => $2)
     and not exists (select from message m where m.mailbox_id = r.mailbox_id and m.thread_id = r.thread_id)
  returning 1`;

const DELETED_MAILBOXES = `
  select f.mailbox_id, json_agg(f.id) as folder_ids from folder f join mailboxes m on m.id = f.mailbox_id
   where (m.deleted_at < now() - make_interval(days => $1) or m.expires_at < m.deleted_at - make_interval(days => $3))
     and f.deleted_at is null and not ${onHold('m.id')} group by 1 order by 1 limit $2`;

const DELETE_FOLDERS = `
  with gone as (
    update folder set deleted_at = now(), modseq = modseq + 1
     where mailbox_id = $1 and id = any($2::bigint[]) and deleted_at is null
    returning total, bytes
  ), sums as (select coalesce(sum(total), 0) as total, coalesce(sum(bytes), 0) as bytes from gone)
  update mailbox_counter set bytes_used = bytes_used - sums.bytes, messages = messages - sums.total
    from sums where mailbox_id = $1`;

const DELETED_FOLDER = `
  select id from folder f where deleted_at is not null and exists (select from placement where folder_id = f.id)
   order by id limit 1`;

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

/** The row is kept as long as log rows and events that refer to its messages. */
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

const PRESERVE_MESSAGES = `
  insert into preserved_message (message_id, mailbox_id, since)
  select m.id, m.mailbox_id, now() from message m
   where m.id = any($1::text[]) and not exists (select from placement p where p.message_id = m.id)
     and ${onHold('m.mailbox_id')}
   order by m.id on conflict do nothing`;

/** The mailboxes are found one after another by the index, however many messages each has. */
const RETURN_PRESERVED = `
  with recursive found (mailbox_id) as (
    (select mailbox_id from preserved_message order by 1 limit 1)
    union all
    select (select mailbox_id from preserved_message where mailbox_id > found.mailbox_id order by 1 limit 1)
      from found where found.mailbox_id is not null
  ), free as (
    select mailbox_id from found where mailbox_id is not null and not ${onHold('found.mailbox_id')} limit $1
  ), taken as materialized (
    delete from preserved_message where message_id = any(array(
      select p.message_id from free cross join lateral (
        select message_id from preserved_message where mailbox_id = free.mailbox_id order by message_id limit $2) p
       limit $2))
    returning message_id
  )
  insert into unplaced_message (message_id) select message_id from taken order by message_id
  on conflict (message_id) do update set since = excluded.since returning 1`;

const PURGE_MESSAGES = `
  delete from message m where m.id = any($1::text[])
     and not exists (select from placement p where p.message_id = m.id)
     and not exists (select from preserved_message p where p.message_id = m.id)
  returning 1`;

const TAKE_OFF_QUEUE = `delete from unplaced_message where message_id = any($1::text[])`;
