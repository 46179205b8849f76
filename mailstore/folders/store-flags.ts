import type { FlagChange, PlacementState, StoredFlags, StoreFlags } from '@agent-mailbox/mail-store';
import type { Sql } from '#db/database.ts';
import { MAIL_FLAGS } from '#domain/mail/mail-flags.ts';
import { changeKeywords, spellKeywords } from './keywords.ts';
import type { LockedFolders } from './lock-folders.ts';
import { multirangeOf, uidArray } from './uid-ranges.ts';

/**
 * Changes flags and keywords of placements of one folder. The folder's MODSEQ rises when anything really changed. Call
 * it under the folder's lock.
 *
 * @throws {StoreRefused} limit
 */
export async function storeFlags(sql: Sql, locked: LockedFolders, wanted: StoreFlags): Promise<StoredFlags> {
  const { folderId, uids, change, flags, unchangedSince } = wanted;
  const folder = locked.folder(folderId);
  const { mailbox_id: mailboxId } = locked.counter;
  const keywords = change === 'remove' ? [...wanted.keywords] : await spellKeywords(sql, mailboxId, wanted.keywords);
  const rows = await sql.query<PlacementState>(READ_STATES, [folderId, uidArray(uids)]);
  const modseq = folder.modseq + 1;
  const states: PlacementState[] = [];
  const modified: number[] = [];
  const changed: PlacementState[] = [];
  let unseen = 0;
  let deleted = 0;
  let keywordsChanged = false;
  for (const row of rows) {
    if (unchangedSince !== null && row.modseq > unchangedSince) {
      modified.push(row.uid);
      continue;
    }
    const nextFlags = changeFlags(row.flags, change, flags);
    const nextKeywords = changeKeywords(row.keywords, change, keywords);
    if (nextFlags === row.flags && nextKeywords === row.keywords) {
      states.push(row);
      continue;
    }
    keywordsChanged ||= nextKeywords !== row.keywords;
    unseen += bitOf(row.flags, MAIL_FLAGS.seen) - bitOf(nextFlags, MAIL_FLAGS.seen);
    deleted += bitOf(nextFlags, MAIL_FLAGS.deleted) - bitOf(row.flags, MAIL_FLAGS.deleted);
    const state = { uid: row.uid, modseq, flags: nextFlags, keywords: nextKeywords };
    states.push(state);
    changed.push(state);
  }
  if (changed.length > 0) {
    const changedUids = changed.map(({ uid }) => uid);
    const seq = locked.counter.change_seq + 1;
    const values = [
      folderId,
      uidArray(changedUids),
      `{${changed.map((state) => state.flags).join(',')}}`,
      modseq,
      unseen,
      deleted,
      mailboxId,
      seq,
      multirangeOf(changedUids),
    ];
    if (keywordsChanged)
      await sql.query(UPDATE_FLAGS_AND_KEYWORDS, [...values, changed.map((state) => arrayLiteral(state.keywords))]);
    else await sql.query(UPDATE_FLAGS, values);
    folder.modseq = modseq;
    locked.counter.change_seq = seq;
  }
  const found = new Set(rows.map(({ uid }) => uid));
  return {
    states,
    modified,
    missing: found.size === uids.length ? [] : uids.filter((uid) => !found.has(uid)),
    highestModseq: folder.modseq,
  };
}

const bitOf = (flags: number, flag: number): number => ((flags & flag) === 0 ? 0 : 1);

function changeFlags(now: number, change: FlagChange, given: number): number {
  if (change === 'replace') return given;
  return change === 'add' ? now | given : now & ~given;
}

/**
 * Text of a `text[]`: an array of these texts is a `text[]` parameter, because nested arrays cannot have different
 * lengths.
 */
const arrayLiteral = (texts: readonly string[]): string =>
  `{${texts.map((text) => `"${text.replace(/[\\"]/g, '\\$&')}"`).join(',')}}`;

const READ_STATES = `
  select uid, flags, keywords, modseq from placement_state where folder_id = $1 and uid = any($2::bigint[]) order by uid`;

/** Only columns without an index change, so that the update stays HOT. */
const updateStatement = (assignments: string, source: string) => `
  with changed as (
    update placement_state s set modseq = $4, ${assignments} from ${source}
     where s.folder_id = $1 and s.uid = n.uid
  ), changed_folder as (
    update folder set modseq = $4, unseen = unseen + $5::int, deleted = deleted + $6::int where id = $1
  ), changed_counter as (
    update mailbox_counter set change_seq = $8 where mailbox_id = $7
  )
  insert into change_log (mailbox_id, seq, folder_id, modseq, kind, uids)
  values ($7, $8, $1, $4, 'flags', $9::int8multirange)`;

const UPDATE_FLAGS = updateStatement('flags = n.flags', 'unnest($2::bigint[], $3::int[]) as n (uid, flags)');
const UPDATE_FLAGS_AND_KEYWORDS = updateStatement(
  'flags = n.flags, keywords = n.keywords::text[]',
  'unnest($2::bigint[], $3::int[], $10::text[]) as n (uid, flags, keywords)',
);
