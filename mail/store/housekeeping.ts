/** What the mail store forgets: unreachable messages and blobs, redelivery keys, the change log beyond its retention. */
import { sweepOrphanBlobs } from '../../core/blob-store.ts';
import type { Database } from '../../db/database.ts';
import { CHANGE_LOG_RETENTION_DAYS, REDELIVERY_WINDOW_DAYS } from '../../domain/mail-limits.ts';
import { OUTBOUND_CONTENT_RETENTION_DAYS } from '../../domain/outbound.ts';
import { forgetUnusedKeywords } from './keywords.ts';
import { deleteFoldersOfMailboxes, purgeDeletedFolders, purgeUnplacedMessages } from './purge.ts';
import { readAgain } from './read-again.ts';
import { renewUids } from './renew-uids.ts';

export interface PrunedMailStore {
  /** Of deleted folders. */
  readonly placements: number;
  readonly messages: number;
  readonly blobs: number;
  readonly redeliveryKeys: number;
  /** Of messages that were sent, refused or given up. */
  readonly sentContents: number;
  /** That no message of their mailbox has any more. */
  readonly keywords: number;
  /** With a new UIDVALIDITY. */
  readonly renewedFolders: number;
  readonly changeLogRows: number;
  /** Messages that an earlier version had taken apart. */
  readonly readAgain: number;
}

/** One run takes at most this many portions of blobs and mailboxes; the next run goes on. */
const PORTIONS_MAX = 50;
const PORTION_ROWS = 1_000;
/** Messages that are read again in one run. */
const READ_AGAIN_MAX = 20_000;

/** Safe to run at any time, from several processes at once. */
export async function pruneMailStore(db: Database): Promise<PrunedMailStore> {
  await deleteFoldersOfMailboxes(db);
  const sentContents = await forgetSentContents(db);
  const placements = await purgeDeletedFolders(db);
  const messages = await purgeUnplacedMessages(db);
  let blobs = 0;
  for (let portion = 0; portion < PORTIONS_MAX; portion++) {
    const swept = await sweepOrphanBlobs(db);
    blobs += swept;
    if (swept < PORTION_ROWS) break;
  }
  const keys = await db.query(
    `delete from delivery_seen where seen_at < now() - make_interval(days => $1) returning 1`,
    [REDELIVERY_WINDOW_DAYS],
  );
  const mailboxes = await db.query<{ mailbox_id: string; last: number }>(OLD_LOGS, [
    CHANGE_LOG_RETENTION_DAYS,
    PORTIONS_MAX * PORTION_ROWS,
  ]);
  let changeLogRows = 0;
  for (const { mailbox_id: mailboxId, last } of mailboxes) changeLogRows += await pruneLog(db, mailboxId, last);
  const keywords = await forgetUnusedKeywords(db);
  const renewedFolders = await renewUids(db);
  return {
    placements,
    messages,
    keywords,
    renewedFolders,
    blobs,
    redeliveryKeys: keys.length,
    sentContents,
    changeLogRows,
    readAgain: await readAgain(db, READ_AGAIN_MAX),
  };
}

/** The blob itself goes with the sweep, unless a copy in Sent or somebody's mail still needs it. */
async function forgetSentContents(db: Database): Promise<number> {
  const rows = await db.query(FORGET_CONTENTS, [OUTBOUND_CONTENT_RETENTION_DAYS, PORTIONS_MAX * PORTION_ROWS]);
  return rows.length;
}

const FORGET_CONTENTS = `
  update outbound_message set blob = null where id in (
    select id from outbound_message
     where finished_at < now() - make_interval(days => $1) and blob is not null
     limit $2 for update skip locked)
  returning 1`;

/**
 * By sequence, not by time: the log of a mailbox must stay without gaps, and rows of two writers may lie a moment out
 * of order in time.
 */
const OLD_LOGS = `
  select mailbox_id, max(seq) as last from change_log
   where created_at < now() - make_interval(days => $1) group by mailbox_id limit $2`;

/** Under the locks of the write transaction: folders ascending. What is below the watermark needs no tombstone. */
function pruneLog(db: Database, mailboxId: string, last: number): Promise<number> {
  return db.transaction(async (sql) => {
    await sql.query(`select id from folder where mailbox_id = $1 order by id for no key update`, [mailboxId]);
    const rows = await sql.query<{ folder_id: number; modseq: number }>(
      `delete from change_log where mailbox_id = $1 and seq <= $2 returning folder_id, modseq`,
      [mailboxId, last],
    );
    const watermarks = new Map<number, number>();
    for (const { folder_id: id, modseq } of rows) watermarks.set(id, Math.max(modseq, watermarks.get(id) ?? 0));
    for (const [id, modseq] of watermarks) {
      await sql.query(`update folder set pruned_modseq = greatest(pruned_modseq, $2) where id = $1`, [id, modseq]);
      await sql.query(`delete from expunged where folder_id = $1 and modseq <= $2`, [id, modseq]);
    }
    return rows.length;
  });
}
