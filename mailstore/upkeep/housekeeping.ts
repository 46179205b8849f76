/**
 * Housekeeping of the mail store: deletes unreachable messages and blobs, redelivery keys, the change log beyond its
 * retention. Each step does one bounded portion at a time; a portion takes at most some seconds.
 *
 * UIDs are 32 bits wide. A folder near the maximum gets a new UIDVALIDITY and its messages new UIDs from 1 on (RFC 9051
 * §2.3.1.1), long before UIDs run out, so that no write needs to check. Clients treat it as a new folder; their known
 * MODSEQs are too old.
 */
import type { Database, Sql } from '#db/database.ts';
import { allPortions, deletePortion, type Portion } from '#db/delete-portion.ts';
import { holdsStay, onHold } from '#db/queries/mailboxes/legal-hold.ts';
import { CHANGE_LOG_RETENTION_DAYS, REDELIVERY_WINDOW_DAYS } from '#domain/mail/mail-limits.ts';
import { OUTBOUND_CONTENT_RETENTION_DAYS } from '#domain/sending/outbound.ts';
import { sweepOrphanBlobs } from '#mailstore/blobs/blob-store.ts';
import { lockFolders } from '#mailstore/folders/lock-folders.ts';
import { forgetUnusedKeywords } from '#mailstore/folders/store-flags.ts';
import {
  deleteFoldersOfMailboxes,
  purgeDeletedFolders,
  purgeUnplacedMessages,
  returnPreservedMessages,
} from './purge.ts';

export interface PrunedMailStore {
  /** Of deleted folders. */
  readonly placements: number;
  readonly messages: number;
  readonly blobs: number;
  readonly redeliveryKeys: number;
  /** Of messages that were sent, refused or given up. */
  readonly sentContents: number;
  /** Keywords that no message of their mailbox uses. */
  readonly keywords: number;
  /** With a new UIDVALIDITY. */
  readonly renewedFolders: number;
  readonly changeLogRows: number;
}

const PORTION_ROWS = 1_000;
/** Rows of one mailbox's log in one portion: their folders are locked meanwhile. */
const LOG_ROWS = 10_000;
const LOG_MAILBOXES = 20;

/** Safe to run at any time, from several processes at once. */
export async function pruneMailStore(db: Database): Promise<PrunedMailStore> {
  await allPortions(() => deleteFoldersOfMailboxes(db));
  await allPortions(() => returnPreservedMessages(db));
  return {
    sentContents: await allPortions(() => forgetSentContents(db)),
    placements: await allPortions(() => purgeDeletedFolders(db)),
    messages: await allPortions(() => purgeUnplacedMessages(db)),
    blobs: await allPortions(() => removeOrphanBlobs(db)),
    redeliveryKeys: await allPortions(() => forgetRedeliveryKeys(db)),
    changeLogRows: await allPortions(() => pruneChangeLog(db)),
    keywords: await forgetUnusedKeywords(db),
    renewedFolders: await renewUids(db),
  };
}

export async function removeOrphanBlobs(db: Database): Promise<Portion> {
  const done = await sweepOrphanBlobs(db);
  return { done, more: done === PORTION_ROWS };
}

export const forgetRedeliveryKeys = (db: Database): Promise<Portion> =>
  deletePortion(
    db,
    'delivery_seen',
    'seen_at < now() - make_interval(days => $1)',
    [REDELIVERY_WINDOW_DAYS],
    PORTION_ROWS,
  );

/** The sweep deletes the blob itself, unless a copy in Sent or other mail still needs it. */
export async function forgetSentContents(db: Database): Promise<Portion> {
  const rows = await db.transaction(async (sql) => {
    await holdsStay(sql);
    return sql.query(FORGET_CONTENTS, [OUTBOUND_CONTENT_RETENTION_DAYS, PORTION_ROWS]);
  });
  return { done: rows.length, more: rows.length === PORTION_ROWS };
}

export async function pruneChangeLog(db: Database): Promise<Portion> {
  const mailboxes = await db.query<OldLog>(OLD_LOGS, [CHANGE_LOG_RETENTION_DAYS, LOG_MAILBOXES]);
  let done = 0;
  let cut = false;
  for (const { mailbox_id: mailboxId, first, last } of mailboxes) {
    const upTo = Math.min(last, first + LOG_ROWS - 1);
    cut ||= upTo < last;
    done += await pruneLog(db, mailboxId, upTo);
  }
  return { done, more: cut || mailboxes.length === LOG_MAILBOXES };
}

const FORGET_CONTENTS = `
  update outbound_message set blob = null where id in (
    select id from outbound_message
     where finished_at < now() - make_interval(days => $1) and blob is not null
       and not ${onHold('outbound_message.mailbox_id')}
     limit $2 for update skip locked)
  returning 1`;

interface OldLog {
  mailbox_id: string;
  first: number;
  last: number;
}

/**
 * By sequence, not by time: the log of a mailbox must stay without gaps, and rows of two writers may be slightly out of
 * order in time.
 */
const OLD_LOGS = `
  select mailbox_id, min(seq) as first, max(seq) as last
    from (select mailbox_id, seq, created_at from change_log union all
          select mailbox_id, seq, created_at from decision_log) as log
   where created_at < now() - make_interval(days => $1) group by mailbox_id limit $2`;

/**
 * Forgets the log of a mailbox up to a change. Clients that have not seen it compare everything.
 *
 * Under the locks of the write transaction: folders ascending. Below the watermark no tombstone is needed.
 */
export function pruneLog(db: Database, mailboxId: string, last: number): Promise<number> {
  return db.transaction(async (sql) => {
    await sql.query(`select id from folder where mailbox_id = $1 order by id for no key update`, [mailboxId]);
    const rows = await sql.query<{ folder_id: number; modseq: number }>(
      `delete from change_log where mailbox_id = $1 and seq <= $2 returning folder_id, modseq`,
      [mailboxId, last],
    );
    const decisions = await sql.query(`delete from decision_log where mailbox_id = $1 and seq <= $2 returning 1`, [
      mailboxId,
      last,
    ]);
    const watermarks = new Map<number, number>();
    for (const { folder_id: id, modseq } of rows) watermarks.set(id, Math.max(modseq, watermarks.get(id) ?? 0));
    for (const [id, modseq] of watermarks) {
      await sql.query(`update folder set pruned_modseq = greatest(pruned_modseq, $2) where id = $1`, [id, modseq]);
      await sql.query(`delete from expunged where folder_id = $1 and modseq <= $2`, [id, modseq]);
    }
    return rows.length + decisions.length;
  });
}

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
