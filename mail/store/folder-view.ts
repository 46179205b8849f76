/**
 * A folder as a session keeps it: one statement, hence one snapshot. Columns travel as one text each instead of a row
 * per message, which a folder of 100,000 messages would feel.
 */
import type { Sql } from '../../db/database.ts';
import { FOLDER_COLUMNS, type FolderColumns, folderOf } from './folders.ts';
import type { FolderView } from './interface.ts';
import { parseNumbers } from './uid-ranges.ts';

interface ViewRow extends FolderColumns {
  readonly n: number;
  readonly uids: string | null;
  readonly modseqs: string | null;
  readonly all_flags: string | null;
  readonly all_keywords: readonly (readonly [uid: number, keywords: readonly string[]])[] | null;
}

/** Flags travel as one character each. */
const FLAGS_FROM_CODE = 64;

/**
 * @param claimRecent a read-write SELECT: the messages since the last one are \Recent to this session and to no other
 *   (RFC 3501 §2.3.2)
 * @returns undefined when the folder is gone
 */
export async function readFolderView(
  sql: Sql,
  mailboxId: string,
  folderId: number,
  claimRecent: boolean,
): Promise<FolderView | undefined> {
  const [row] = await sql.query<ViewRow>(READ_VIEW, [folderId, mailboxId]);
  if (row === undefined) return undefined;
  const { n, all_flags: texts, all_keywords: keywords } = row;
  const flags = new Uint8Array(n);
  for (let i = 0; i < n; i++) flags[i] = (texts?.charCodeAt(i) ?? FLAGS_FROM_CODE) - FLAGS_FROM_CODE;
  const folder = folderOf(row);
  let { recentFrom } = folder;
  if (claimRecent && recentFrom < folder.uidNext) {
    const [claimed] = await sql.query<{ recent_from: number }>(CLAIM_RECENT, [folderId, mailboxId, folder.uidNext]);
    // Another session may have been faster.
    recentFrom = Math.min(claimed?.recent_from ?? folder.uidNext, folder.uidNext);
  }
  return {
    folder: { ...folder, recentFrom },
    uids: parseNumbers(row.uids, new Uint32Array(n)),
    modseqs: parseNumbers(row.modseqs, new Float64Array(n)),
    flags,
    keywords: new Map(keywords ?? []),
  };
}

/** Of messages that came while a read-write session had the folder open, and were told there. */
export async function claimRecent(
  sql: Sql,
  mailboxId: string,
  folderId: number,
  uidValidity: number,
  uidNext: number,
): Promise<void> {
  await sql.query(
    `update folder set recent_from = least(uid_next, $4)
      where id = $1 and mailbox_id = $2 and uid_validity = $3 and recent_from < least(uid_next, $4)`,
    [folderId, mailboxId, uidValidity, uidNext],
  );
}

const READ_VIEW = `
  select ${FOLDER_COLUMNS}, state.*
    from folder cross join lateral (
      select count(*) as n, string_agg(uid::text, ',') as uids, string_agg(modseq::text, ',') as modseqs,
             string_agg(chr(${FLAGS_FROM_CODE} + flags), '') as all_flags,
             json_agg(json_build_array(uid, keywords)) filter (where keywords <> '{}') as all_keywords
        from (select uid, modseq, flags, keywords from placement_state where folder_id = $1 order by uid) as ordered
    ) as state
   where id = $1 and mailbox_id = $2 and deleted_at is null`;

const CLAIM_RECENT = `
  update folder set recent_from = greatest(folder.recent_from, $3)
    from (select id, recent_from from folder where id = $1 and mailbox_id = $2 for no key update) as before
   where folder.id = before.id
  returning before.recent_from`;
