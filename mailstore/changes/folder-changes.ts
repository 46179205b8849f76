/** Changes in a folder since a MODSEQ, from the change log and the tombstones. */

import type { FolderChanges } from '@agent-mailbox/mail-store';
import type { Sql } from '#db/database.ts';
import { numbersOf } from '#mailstore/folders/uid-ranges.ts';

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
