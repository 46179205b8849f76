/** Changes of mail, from the change log and the tombstones: of a mailbox for REST, and in a folder since a MODSEQ for IMAP. */

import type { FolderChanges } from '@agent-mailbox/mail-store';
import { MAIL_CHANGES_CHANNEL } from '#core/mailboxes/mailbox-logins.ts';
import type { Sql } from '#db/database.ts';
import { numbersOf } from '#mailstore/folders/uid-ranges.ts';

/**
 * Notifies the watchers of all mail processes that folders changed, for processes that have no listeners and so no
 * notifier of their own. Call it after the commit; the watchers' poll finds lost changes.
 */
export async function announceChanges(sql: Sql, folderIds: Iterable<number>): Promise<void> {
  const topics = [...new Set(folderIds)].map((id) => `folder ${id}`);
  if (topics.length > 0) await sql.query(`select pg_notify($1, $2)`, [MAIL_CHANGES_CHANNEL, `;${topics.join(',')}`]);
}

/** `decided`: a person or the service decided about held mail. */
type ChangeKind = 'added' | 'flags' | 'expunged' | 'decided';

export interface MailChange {
  /** `change_seq`: the place in the order of all changes of the mailbox. */
  readonly seq: number;
  readonly kind: ChangeKind;
  /** Name of the folder; null when it is deleted and forgotten. */
  readonly folder: string | null;
  readonly occurredAt: Date;
  /** Messages it is about, ascending UIDs, each once. Those purged for good by now are left out. */
  readonly messageIds: readonly string[];
  /** Of a decision; null otherwise. */
  readonly consentId: string | null;
}

/**
 * Changes after one, oldest first.
 *
 * @param after seq of the last one known
 */
export const changesAfter = (sql: Sql, mailboxId: string, after: number, limit: number): Promise<MailChange[]> =>
  sql.query<MailChange>(CHANGES, [mailboxId, after, limit]);

/** Changes between the last known one and now; 'too-old': the log does not go back that far. */
export async function changesKept(sql: Sql, mailboxId: string, after: number): Promise<'kept' | 'too-old'> {
  const [row] = await sql.query<{ seq: number; first: number | null }>(
    `select change_seq as seq, least((select min(l.seq) from change_log l where l.mailbox_id = c.mailbox_id),
                                    (select min(d.seq) from decision_log d where d.mailbox_id = c.mailbox_id)) as first
       from mailbox_counter c where mailbox_id = $1`,
    [mailboxId],
  );
  const seq = row?.seq ?? 0;
  const first = row?.first ?? seq + 1;
  return after <= seq && after >= first - 1 ? 'kept' : 'too-old';
}

/** A UID is either placed or expunged, so both are queried for any kind. */
const CHANGES = `
  (select l.seq, l.kind, f.name as folder, l.created_at as "occurredAt",
         array(select found.message_id from (
                 select p.message_id, p.uid from placement p where p.folder_id = l.folder_id and l.uids @> p.uid
                    and p.uid between lower(l.uids) and upper(l.uids)
                 union all
                 select e.message_id, e.uid from expunged e where e.folder_id = l.folder_id and l.uids @> e.uid
                    and e.uid between lower(l.uids) and upper(l.uids)) as found
                group by found.message_id order by min(found.uid)) as "messageIds", null::text as "consentId"
    from change_log l left join folder f on f.id = l.folder_id
   where l.mailbox_id = $1 and l.seq > $2 order by l.seq limit $3)
  union all
  (select d.seq, 'decided', null, d.created_at, '{}', d.consent_id
     from decision_log d where d.mailbox_id = $1 and d.seq > $2 order by d.seq limit $3)
   order by seq limit $3`;

interface ChangesRow {
  readonly modseq: number;
  readonly uid_next: number;
  readonly pruned_modseq: number;
  readonly changed:
    | readonly (readonly [uid: number, modseq: number, flags: number, keywords: readonly string[]])[]
    | null;
  readonly vanished: string | null;
}

/** @returns 'too-old' if the log of that time is pruned; undefined if the folder was deleted */
export async function readFolderChanges(
  sql: Sql,
  mailboxId: string,
  folderId: number,
  since: number,
): Promise<FolderChanges | 'too-old' | undefined> {
  const [row] = await sql.query<ChangesRow>(READ_CHANGES, [folderId, mailboxId, since]);
  if (row === undefined) return undefined;
  if (since < row.pruned_modseq) return 'too-old';
  return {
    highestModseq: row.modseq,
    uidNext: row.uid_next,
    changed: (row.changed ?? []).map(([uid, modseq, flags, keywords]) => ({ uid, modseq, flags, keywords })),
    vanished: numbersOf(row.vanished),
  };
}

/** @returns UIDs expunged since, ascending; none if the folder was deleted */
export async function readVanished(
  sql: Sql,
  mailboxId: string,
  folderId: number,
  since: number,
): Promise<readonly number[] | 'too-old'> {
  const [row] = await sql.query<Pick<ChangesRow, 'pruned_modseq' | 'vanished'>>(READ_VANISHED, [
    folderId,
    mailboxId,
    since,
  ]);
  if (row === undefined) return [];
  return since < row.pruned_modseq ? 'too-old' : numbersOf(row.vanished);
}

const VANISHED = `
    select string_agg(uid::text, ',' order by uid) as vanished from expunged where folder_id = $1 and modseq > $3`;

/**
 * modseq has no index in placement_state, on purpose: the log has the UIDs. `offset 0` makes PostgreSQL look up the UIDs of
 * each range, instead of reading the whole folder and comparing.
 */
const READ_CHANGES = `
  select modseq, uid_next, pruned_modseq, state.changed, gone.vanished
    from folder cross join lateral (
      select json_agg(json_build_array(s.uid, s.modseq, s.flags, s.keywords) order by s.uid) as changed
        from (select range_agg(uids) as uids from change_log
               where folder_id = $1 and modseq > $3 and kind <> 'expunged') as log,
             unnest(log.uids) as range
       cross join lateral (
         select uid, modseq, flags, keywords from placement_state
          where folder_id = $1 and uid >= lower(range) and uid < upper(range) offset 0) as s
    ) as state cross join lateral (${VANISHED}) as gone
   where id = $1 and mailbox_id = $2 and deleted_at is null`;

const READ_VANISHED = `
  select pruned_modseq, gone.vanished from folder cross join lateral (${VANISHED}) as gone
   where id = $1 and mailbox_id = $2 and deleted_at is null`;
