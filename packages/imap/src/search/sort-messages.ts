/**
 * SORT criteria (RFC 5256 §3, RFC 5957) over rows of the store, and the base subject as SORT and THREAD compare it (§2.1):
 * exactly the leaders of the RFC, so that clients that compute it themselves get the same result. Threading in the store
 * uses its own, wider rule.
 */
import type { MessageRow, SortKeys, SortOrder } from '@agent-mailbox/mail-store';
import type { Session } from '#imap/session/session.ts';
import type { Scanner } from '#imap/wire/parser.ts';
import { sortInTurns } from './take-turns.ts';

const CRITERIA = ['ARRIVAL', 'CC', 'DATE', 'FROM', 'SIZE', 'SUBJECT', 'TO', 'DISPLAYFROM', 'DISPLAYTO'] as const;

export interface SortCriterion {
  readonly key: (typeof CRITERIA)[number];
  readonly reverse: boolean;
}

export function parseCriteria(scan: Scanner): SortCriterion[] {
  return scan.list(() => {
    let word = scan.word();
    const reverse = word === 'REVERSE';
    if (reverse) {
      scan.space();
      word = scan.word();
    }
    return { key: CRITERIA.find((each) => each === word) ?? scan.fail('a known sort key'), reverse };
  }, false);
}

export const SORT_COLUMNS = { envelope: false, bodyStructure: false, parts: false, preview: false, sortKeys: true };

/** The Date header, or if it cannot be read the time of arrival (RFC 5256 §2.2). */
export const sentTime = (row: MessageRow): number => (row.sortKeys?.sentAt ?? row.internalDate).getTime();

type Address = SortKeys['from'];

const displayed = (address: Address | undefined): string => {
  if (address === undefined) return '';
  if (address.name !== '') return address.name;
  return address.host === undefined || address.host === '' ? address.mailbox : `${address.mailbox}@${address.host}`;
};

function keyOf(row: MessageRow, { key }: SortCriterion): number | string {
  const keys = row.sortKeys;
  switch (key) {
    case 'ARRIVAL':
      return row.internalDate.getTime();
    case 'DATE':
      return sentTime(row);
    case 'SIZE':
      return row.size;
    case 'SUBJECT':
      return threadSubject(keys?.subject ?? '').base;
    case 'FROM':
      return collationKey(keys?.from.mailbox ?? '');
    case 'TO':
      return collationKey(keys?.to.mailbox ?? '');
    case 'CC':
      return collationKey(keys?.cc.mailbox ?? '');
    case 'DISPLAYFROM':
      return collationKey(displayed(keys?.from));
    case 'DISPLAYTO':
      return collationKey(displayed(keys?.to));
  }
}

/** Criteria that a store may sort by; the others compare texts as RFC 5256 folds them. */
const ORDERS: Readonly<Partial<Record<SortCriterion['key'], SortOrder['key']>>> = {
  ARRIVAL: 'internal-date',
  DATE: 'date',
  SIZE: 'size',
};

/** Indices in the order wanted; those that are equal keep their order in the folder. */
export async function sortMessages(
  session: Session,
  indices: readonly number[],
  criteria: readonly SortCriterion[],
): Promise<number[]> {
  const { selected, store } = session;
  const uids = Uint32Array.from(indices, (index) => selected.map.uidAt(index));
  const order = criteria.flatMap(({ key, reverse }) => {
    const inStore = ORDERS[key];
    return inStore === undefined ? [] : [{ key: inStore, reverse }];
  });
  if (store.sorted !== undefined && order.length === criteria.length)
    return selected.indicesOf(await store.sorted(selected.folder.id, uids, order));
  const found: { uid: number; keys: readonly (number | string)[] }[] = [];
  for await (const rows of store.rows(selected.folder.id, uids, SORT_COLUMNS))
    for (const row of rows) found.push({ uid: row.uid, keys: criteria.map((criterion) => keyOf(row, criterion)) });
  const sorted = await sortInTurns(found, (a, b) => {
    for (let i = 0; i < criteria.length; i++) {
      const x = a.keys[i] ?? 0;
      const y = b.keys[i] ?? 0;
      if (x !== y) return (x < y ? -1 : 1) * (criteria[i]?.reverse === true ? -1 : 1);
    }
    return a.uid - b.uid;
  });
  return selected.indicesOf(sorted.map(({ uid }) => uid));
}

const TRAILER = /(?:\(fwd\)|\s)+$/i;
const BLOB = String.raw`\[[^[\]]*\]\s*`;
const LEADER = new RegExp(String.raw`^(?:\s+|(?:${BLOB})*(?:re|fwd?)\s*(?:${BLOB})?:)`, 'i');
const LEADING_BLOB = new RegExp(`^${BLOB}`);
const FORWARD = /^\[fwd:(.*)\]$/is;
const LOOKED_AT_CHARACTERS = 1_000;

export interface ThreadSubject {
  readonly base: string;
  /** A reply or forward marker was removed. */
  readonly isReply: boolean;
}

export function threadSubject(decoded: string): ThreadSubject {
  let text = decoded.slice(0, LOOKED_AT_CHARACTERS).replace(/\s+/g, ' ');
  let isReply = false;
  for (;;) {
    const trimmed = text.replace(TRAILER, '');
    if (/\(fwd\)/i.test(text.slice(trimmed.length))) isReply = true;
    text = trimmed;
    for (;;) {
      const leader = LEADER.exec(text)?.[0];
      if (leader !== undefined && leader !== '') {
        if (leader.trim() !== '') isReply = true;
        text = text.slice(leader.length);
        continue;
      }
      const blob = LEADING_BLOB.exec(text)?.[0];
      // A blob is removed only if something remains.
      if (blob === undefined || text.slice(blob.length) === '') break;
      text = text.slice(blob.length);
    }
    const forwarded = FORWARD.exec(text)?.[1];
    if (forwarded === undefined) return { base: collationKey(text), isReply };
    isReply = true;
    text = forwarded;
  }
}

/** i;unicode-casemap (RFC 5051), as far as comparison needs it: compatibility-decomposed, without case. */
export const collationKey = (text: string): string => text.toUpperCase().normalize('NFKD');
