/**
 * Keywords (labels of REST): compared without case, shown in their first spelling in the mailbox. The list of used
 * keywords is stored separately, never computed from the messages.
 */
import {
  type FlagChange,
  type PlacementState,
  type StoredFlags,
  type StoreFlags,
  StoreRefused,
} from '@agent-mailbox/mail-store';
import type { Database, Sql } from '#db/database.ts';
import { MAIL_FLAGS } from '#domain/mail/mail-flags.ts';
import {
  KEYWORD_MAX_CHARACTERS,
  KEYWORDS_PER_MAILBOX_MAX,
  KEYWORDS_PER_MESSAGE_MAX,
} from '#domain/mail/mail-limits.ts';
import type { LockedFolders } from './lock-folders.ts';
import { multirangeOf, uidArray } from './uid-ranges.ts';

/**
 * Keywords in the mailbox's spelling, each once; new ones become known. Call it under the counter's lock.
 *
 * @throws {StoreRefused} limit
 */
export async function spellKeywords(sql: Sql, mailboxId: string, given: readonly string[]): Promise<string[]> {
  const byKey = new Map(given.toReversed().map((keyword) => [keyword.toLowerCase(), keyword]));
  if (byKey.size === 0) return [];
  if (given.some((keyword) => keyword.length > KEYWORD_MAX_CHARACTERS))
    throw new StoreRefused('limit', `A keyword has at most ${KEYWORD_MAX_CHARACTERS} characters`);
  const known = await sql.query<{ key: string; keyword: string }>(KNOWN_KEYWORDS, [mailboxId, [...byKey.keys()]]);
  const spelled = new Map(known.map(({ key, keyword }) => [key, keyword]));
  const fresh = [...byKey].filter(([key]) => !spelled.has(key));
  if (fresh.length > 0) {
    const [{ n } = { n: 0 }] = await sql.query<{ n: number }>(COUNT_KEYWORDS, [mailboxId]);
    if (n + fresh.length > KEYWORDS_PER_MAILBOX_MAX)
      throw new StoreRefused('limit', `A mailbox has at most ${KEYWORDS_PER_MAILBOX_MAX} keywords`);
    await sql.query(ADD_KEYWORDS, [mailboxId, fresh.map(([key]) => key), fresh.map(([, keyword]) => keyword)]);
  }
  return [...byKey].reverse().map(([key, keyword]) => spelled.get(key) ?? keyword);
}

/**
 * The new keywords of a message.
 *
 * @param given in the mailbox's spelling
 * @throws {StoreRefused} limit
 */
export function changeKeywords(
  now: readonly string[],
  change: FlagChange,
  given: readonly string[],
): readonly string[] {
  if (given.length === 0 && change !== 'replace') return now;
  const keys = new Set(given.map((keyword) => keyword.toLowerCase()));
  const rest = now.filter((keyword) => !keys.has(keyword.toLowerCase()));
  if (change === 'remove') return rest.length === now.length ? now : rest;
  const same = now.length - rest.length === given.length;
  if (change === 'add' ? same : same && rest.length === 0) return now;
  const next = change === 'add' ? [...now, ...given.filter((each) => !hasKeyword(now, each))] : given;
  if (next.length > KEYWORDS_PER_MESSAGE_MAX)
    throw new StoreRefused('limit', `A message has at most ${KEYWORDS_PER_MESSAGE_MAX} keywords`);
  return next;
}

/** Mailboxes with this many keywords are searched for unused ones. */
const KEYWORDS_LOOKED_THROUGH_FROM = KEYWORDS_PER_MAILBOX_MAX * 0.8;

/** @returns keywords forgotten */
export async function forgetUnusedKeywords(db: Database): Promise<number> {
  let forgotten = 0;
  for (const { mailbox_id: mailboxId } of await db.query<{ mailbox_id: string }>(MANY_KEYWORDS, [
    KEYWORDS_LOOKED_THROUGH_FROM,
  ]))
    forgotten += await db.transaction(async (sql) => {
      // Every change that adds a keyword to a message holds this lock.
      await sql.query(`select from mailbox_counter where mailbox_id = $1 for no key update`, [mailboxId]);
      return (await sql.query(FORGET_KEYWORDS, [mailboxId])).length;
    });
  return forgotten;
}

const hasKeyword = (list: readonly string[], wanted: string): boolean =>
  list.some((keyword) => keyword.toLowerCase() === wanted.toLowerCase());

const KNOWN_KEYWORDS = `select key, keyword from mail_keyword where mailbox_id = $1 and key = any($2::text[])`;
const COUNT_KEYWORDS = `select count(*) as n from mail_keyword where mailbox_id = $1`;
const ADD_KEYWORDS = `
  insert into mail_keyword (mailbox_id, key, keyword)
  select $1, n.key, n.keyword from unnest($2::text[], $3::text[]) as n (key, keyword)`;
const MANY_KEYWORDS = `select mailbox_id from mail_keyword group by 1 having count(*) >= $1 order by 1`;
const FORGET_KEYWORDS = `
  delete from mail_keyword where mailbox_id = $1 and key not in (
    select distinct lower(keyword) from folder f join placement_state s on s.folder_id = f.id, unnest(s.keywords) as keyword
     where f.mailbox_id = $1)
  returning 1`;

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
