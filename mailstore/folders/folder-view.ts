/**
 * A folder as a session keeps it: one statement, hence one snapshot. Columns travel as one text each instead of a row
 * per message, which a folder of 100,000 messages would feel.
 *
 * Claims of \Recent, for all sessions of this process together. When messages arrive, every session of their folder
 * claims them, and all but one in vain: only the first claim becomes a statement, the others wait for it.
 */
import type { FolderView } from '@agent-mailbox/mail-store';
import { countedCache } from '#core/platform/caching/counted-cache.ts';
import type { Sql } from '#db/database.ts';
import { FOLDER_COLUMNS, type FolderColumns, folderOf } from './folders.ts';
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
 * @returns undefined if the folder was deleted
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
    // Another session may have been faster.
    const claimed = await claimRecentBelow(sql, mailboxId, folderId, folder.uidValidity, folder.uidNext);
    recentFrom = Math.min(claimed, folder.uidNext);
  }
  return {
    folder: { ...folder, recentFrom },
    uids: parseNumbers(row.uids, new Uint32Array(n)),
    modseqs: parseNumbers(row.modseqs, new Float64Array(n)),
    flags,
    keywords: new Map(keywords ?? []),
  };
}

/** @see MailboxStore.recentFrom */
export async function recentFrom(
  sql: Sql,
  mailboxId: string,
  folderId: number,
  uidValidity: number,
  claimBelow: number | null,
): Promise<number> {
  if (claimBelow !== null) return claimRecentBelow(sql, mailboxId, folderId, uidValidity, claimBelow);
  const [row] = await sql.query<{ recent_from: number }>(READ_RECENT, [folderId, mailboxId, uidValidity]);
  return row?.recent_from ?? NOTHING_RECENT;
}

/** One statement, under the folder's lock: of several sessions at once exactly one gets a message. */
async function claimRecentBelow(
  sql: Sql,
  mailboxId: string,
  folderId: number,
  uidValidity: number,
  claimBelow: number,
): Promise<number> {
  const [row] = await sql.query<{ recent_from: number }>(CLAIM_RECENT, [folderId, mailboxId, uidValidity, claimBelow]);
  return row?.recent_from ?? NOTHING_RECENT;
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

const READ_RECENT = `select recent_from from folder where id = $1 and mailbox_id = $2 and uid_validity = $3`;

/**
 * It need not wait for the disk: after a crash, messages may be \Recent once more, which is what RFC 3501 §2.3.2 wants
 * where it is not known who was first.
 */
const CLAIM_RECENT = `
  update folder set recent_from = least(folder.uid_next, $4)
    from (select id, recent_from from folder
           where id = $1 and mailbox_id = $2 and uid_validity = $3 for no key update) as before
   where folder.id = before.id and before.recent_from < least(folder.uid_next, $4)
  returning before.recent_from, set_config('synchronous_commit', 'off', true)`;

export interface RecentClaim {
  readonly mailboxId: string;
  readonly folderId: number;
  readonly uidValidity: number;
  /** Messages below this UID are claimed. */
  readonly below: number;
}

/** Folders whose claims are remembered. A forgotten one costs a statement, never a message. */
const REMEMBERED_MAX = 10_000;

/** What a claim is answered when others have claimed all messages. */
export const NOTHING_RECENT = Number.MAX_SAFE_INTEGER;

/** @returns a function that claims by `work`, or answers `NOTHING_RECENT` if this process knows that nothing is left */
export function recentClaims(): (claim: RecentClaim, work: () => Promise<number>) => Promise<number> {
  /** All messages below are claimed. */
  const claimedBelow = countedCache<number>('recent_claims', REMEMBERED_MAX);
  const running = new Map<string, Promise<number>>();

  async function claimNow(key: string, below: number, work: () => Promise<number>): Promise<number> {
    const from = await work();
    const known = Math.max(below, claimedBelow.peek(key) ?? 0);
    claimedBelow.set(key, known);
    return from;
  }

  return async ({ mailboxId, folderId, uidValidity, below }, work) => {
    const key = `${mailboxId} ${folderId} ${uidValidity}`;
    for (;;) {
      if (claimedBelow.get(key, (known) => known >= below) !== undefined) return NOTHING_RECENT;
      const other = running.get(key);
      if (other === undefined) break;
      await other.catch(() => undefined); // its own caller handles the failure
    }
    const claimed = claimNow(key, below, work).finally(() => running.delete(key));
    running.set(key, claimed);
    return claimed;
  };
}
