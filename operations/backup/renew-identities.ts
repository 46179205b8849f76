/**
 * After a restore, nothing may be given out again that the lost database gave to something else after the backup:
 * clients would take one for the other.
 *
 * | what | is | so that |
 * |---|---|---|
 * | UIDVALIDITY of each folder | new, above all that were given out | mail clients read their folders again (RFC 9051 §2.3.1.1); POP3 ids contain it |
 * | MODSEQ of each folder | raised | no CHANGEDSINCE of before finds less than there is |
 * | change sequence of each mailbox | raised, its log emptied | streams of before are answered with `resync` |
 * | ids of folders | raised | the same |
 *
 * Ids of rows (UUIDv7) are random and repeat by no restore.
 *
 * The same backup may be restored twice, so values also differ between restores: each takes one of some thousand slots
 * at random.
 */
import { randomInt } from 'node:crypto';
import type { Sql } from '#db/database.ts';

/** More folders than a mailbox may have. */
const UIDS_VALIDITY_OF_SLOT = 1_000;
/** The first slots are left out: a mailbox may have made that many folders since the backup. */
const FIRST_SLOT = 100;
const SLOTS_END = 10_000;
/** More changes than a mailbox has in the milliseconds between two restores. */
const CHANGES_OF_SLOT = 1_000_000;

export interface RenewedIdentities {
  readonly folders: number;
  readonly mailboxes: number;
}

/** Call it in a transaction before any process serves. */
export async function renewIdentities(
  sql: Sql,
  now: Date,
  slot = randomInt(FIRST_SLOT, SLOTS_END),
): Promise<RenewedIdentities> {
  const seconds = Math.floor(now.getTime() / 1_000);
  const sequence = [now.getTime(), slot * CHANGES_OF_SLOT];
  const folders = await sql.query(RENEW_FOLDERS, [seconds, slot * UIDS_VALIDITY_OF_SLOT, ...sequence]);
  const mailboxes = await sql.query(RENEW_COUNTERS, sequence);
  // Below its folder's `pruned_modseq` neither a tombstone nor an entry of the log is needed.
  await sql.query('delete from expunged');
  await sql.query('delete from change_log');
  await sql.query('delete from decision_log');
  await sql.query(`select setval(pg_get_serial_sequence('folder', 'id'), coalesce(max(id), 0) + $1) from folder`, [
    slot * UIDS_VALIDITY_OF_SLOT,
  ]);
  return { folders: folders.length, mailboxes: mailboxes.length };
}

/** The counter of the mailbox is raised with the values that its folders take. */
const RENEW_FOLDERS = `
  with base as (
    select c.mailbox_id, greatest(c.uid_validity_next, $1::bigint) + $2::bigint as first, count(*) as folders
      from mailbox_counter c join folder f using (mailbox_id) group by 1, 2
  ), counted as (
    update mailbox_counter c set uid_validity_next = base.first + base.folders from base where c.mailbox_id = base.mailbox_id
  ), numbered as (
    select f.id, base.first + row_number() over (partition by f.mailbox_id order by f.id) - 1 as uid_validity
      from folder f join base using (mailbox_id)
  )
  update folder f
     set uid_validity = numbered.uid_validity,
         modseq = greatest(f.modseq, $3::bigint) + $4::bigint, pruned_modseq = greatest(f.modseq, $3::bigint) + $4::bigint
    from numbered where numbered.id = f.id
  returning f.id`;

const RENEW_COUNTERS = `update mailbox_counter set change_seq = greatest(change_seq, $1::bigint) + $2::bigint returning mailbox_id`;
