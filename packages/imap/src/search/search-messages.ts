/**
 * SEARCH, from its arguments to its answer, and the same part of SORT and THREAD (RFC 9051 §6.4.4; WITHIN RFC 5032,
 * SAVEDATE RFC 8514, OBJECTID RFC 8474, MODSEQ RFC 7162, ESEARCH RFC 4731, SEARCHRES RFC 5182).
 *
 *     parseReturn, parseProgram       RETURN options; keys become a tree
 *     runSearch                       keys about flags, numbers and MODSEQs are tested on the map of the folder;
 *                                     the rest is one query of the store about the messages that are left
 *     writeSearchAnswer               numbers or UIDs, as list or ESEARCH; SAVE stores them for `$`
 *
 * A long search is computed in portions, between which other connections are served (`take-turns.ts`).
 */

import type { ContentQuery } from '@agent-mailbox/mail-store';
import { MAIL_FLAGS } from '@agent-mailbox/mail-store/flags';
import { SEARCH_DEPTH_MAX, SEARCH_KEYS_MAX } from '#imap/limits.ts';
import type { SelectedFolder } from '#imap/session/selected-folder.ts';
import { parseSequenceSet, printSet, type SequenceSet } from '#imap/session/sequence-numbers.ts';
import type { Session } from '#imap/session/session.ts';
import { Refusal } from '#imap/wire/completion.ts';
import { fromUtf8 } from '#imap/wire/encoder.ts';
import type { Scanner } from '#imap/wire/parser.ts';
import { DAY_MS, parseDate } from '#imap/wire/values.ts';
import { Turns } from './take-turns.ts';

type StateKey =
  | { readonly kind: 'all' | 'recent' | 'new' | 'old' }
  | { readonly kind: 'flag'; readonly bit: number; readonly set: boolean }
  | { readonly kind: 'keyword'; readonly word: string; readonly set: boolean }
  | { readonly kind: 'numbers'; readonly set: SequenceSet; readonly uid: boolean }
  | { readonly kind: 'modseq'; readonly least: number };

type SearchKey =
  | { readonly kind: 'state'; readonly key: StateKey }
  | { readonly kind: 'content'; readonly query: ContentQuery }
  | { readonly kind: 'and' | 'or'; readonly of: readonly SearchKey[] }
  | { readonly kind: 'not'; readonly of: SearchKey };

interface SearchProgram {
  readonly key: SearchKey;
  /** It contains a MODSEQ key: the answer contains the highest MODSEQ. */
  readonly modseq: boolean;
  readonly charset: string | null;
}

type ReturnOption = 'MIN' | 'MAX' | 'ALL' | 'COUNT' | 'SAVE';
const RETURN_OPTIONS: readonly ReturnOption[] = ['MIN', 'MAX', 'ALL', 'COUNT', 'SAVE'];

/** `RETURN (…) `, or null if it is missing. Empty parentheses mean ALL. */
export function parseReturn(scan: Scanner): ReadonlySet<ReturnOption> | null {
  if (!scan.skip('RETURN (')) return null;
  const options = new Set<ReturnOption>();
  if (!scan.skip(')')) {
    do {
      const word = scan.word();
      options.add(RETURN_OPTIONS.find((option) => option === word) ?? scan.fail('a known return option'));
    } while (scan.skip(' '));
    scan.expect(')');
  }
  scan.space();
  if (options.size === 0) options.add('ALL');
  return options;
}

interface Reading {
  keys: number;
  modseq: boolean;
}

/** `[CHARSET name] key…` */
export function parseProgram(scan: Scanner): SearchProgram {
  return scan.skip('CHARSET ') ? parseCharsetAndKeys(scan) : parseKeys(scan, null);
}

/** The charset, then the keys: SORT and THREAD. */
export function parseCharsetAndKeys(scan: Scanner): SearchProgram {
  const charset = scan.astring().toUpperCase();
  scan.space();
  return parseKeys(scan, charset);
}

function parseKeys(scan: Scanner, charset: string | null): SearchProgram {
  const reading: Reading = { keys: 0, modseq: false };
  const of: SearchKey[] = [];
  do of.push(parseKey(scan, reading, 0));
  while (scan.skip(' ') && !scan.atEnd);
  return { key: { kind: 'and', of }, modseq: reading.modseq, charset };
}

/** @throws {Refusal} BADCHARSET */
function checkCharset({ charset }: SearchProgram): void {
  if (charset !== null && charset !== 'UTF-8' && charset !== 'US-ASCII')
    throw new Refusal('BADCHARSET (US-ASCII UTF-8)', 'The charset is not known');
}

const state = (key: StateKey): SearchKey => ({ kind: 'state', key });
const content = (query: ContentQuery): SearchKey => ({ kind: 'content', query });
const flag = (bit: number, set: boolean): SearchKey => state({ kind: 'flag', bit, set });

const SIMPLE_KEYS = new Map<string, SearchKey>([
  ['ALL', state({ kind: 'all' })],
  ['ANSWERED', flag(MAIL_FLAGS.answered, true)],
  ['DELETED', flag(MAIL_FLAGS.deleted, true)],
  ['DRAFT', flag(MAIL_FLAGS.draft, true)],
  ['FLAGGED', flag(MAIL_FLAGS.flagged, true)],
  ['SEEN', flag(MAIL_FLAGS.seen, true)],
  ['UNANSWERED', flag(MAIL_FLAGS.answered, false)],
  ['UNDELETED', flag(MAIL_FLAGS.deleted, false)],
  ['UNDRAFT', flag(MAIL_FLAGS.draft, false)],
  ['UNFLAGGED', flag(MAIL_FLAGS.flagged, false)],
  ['UNSEEN', flag(MAIL_FLAGS.seen, false)],
  ['RECENT', state({ kind: 'recent' })],
  ['NEW', state({ kind: 'new' })],
  ['OLD', state({ kind: 'old' })],
  // Every message has a save date here (RFC 8514 §4.3).
  ['SAVEDATESUPPORTED', state({ kind: 'all' })],
]);

/** BEFORE, ON and SINCE go by the date of arrival, SENTBEFORE and its like by that of the Date header. */
const DATE_KINDS = [
  ['', 'internal-day'],
  ['SENT', 'sent-date'],
  ['SAVED', 'save-date'],
] as const;
const NUMBERS_AHEAD = /[\d*$]/;

function parseKey(scan: Scanner, reading: Reading, depth: number): SearchKey {
  if (++reading.keys > SEARCH_KEYS_MAX) scan.fail(`at most ${SEARCH_KEYS_MAX} search keys`);
  if (depth > SEARCH_DEPTH_MAX) scan.fail(`search keys nested at most ${SEARCH_DEPTH_MAX} deep`);
  if (scan.peek() === '(') return { kind: 'and', of: scan.list(() => parseKey(scan, reading, depth + 1), false) };
  if (NUMBERS_AHEAD.test(scan.peek())) return state({ kind: 'numbers', set: parseSequenceSet(scan), uid: false });
  const name = scan.word();
  const simple = SIMPLE_KEYS.get(name);
  if (simple !== undefined) return simple;
  const nested = () => {
    scan.space();
    return parseKey(scan, reading, depth + 1);
  };
  switch (name) {
    case 'NOT':
      return { kind: 'not', of: nested() };
    case 'OR':
      return { kind: 'or', of: [nested(), nested()] };
    default: {
      const withArgument = KEYS_WITH_ARGUMENT.get(name) ?? scan.fail('a known search key');
      scan.space();
      return withArgument(scan, reading);
    }
  }
}

const text = (scan: Scanner): string => {
  const bytes = scan.astring();
  return fromUtf8(bytes) ?? bytes;
};

/** Keys about the envelope structure, whose texts are decoded. */
const ENVELOPE_KEYS = [
  ['BCC', 'bcc'],
  ['CC', 'cc'],
  ['FROM', 'from'],
  ['SUBJECT', 'subject'],
  ['TO', 'to'],
] as const;

type KeyReader = (scan: Scanner, reading: Reading) => SearchKey;

/** Keys with an argument, which follows the space. */
const KEYS_WITH_ARGUMENT = new Map<string, KeyReader>([
  ...ENVELOPE_KEYS.map(([word, name]): [string, KeyReader] => [
    word,
    (scan) => content({ kind: 'envelope', field: name, text: text(scan) }),
  ]),
  ...DATE_KINDS.flatMap(([prefix, kind]) =>
    (['BEFORE', 'ON', 'SINCE'] as const).map((relation): [string, KeyReader] => [
      `${prefix}${relation}`,
      (scan) => dateKey(scan, kind, relation),
    ]),
  ),
  [
    'HEADER',
    (scan) => {
      const field = scan.astring().toLowerCase();
      scan.space();
      return content({ kind: 'header', field, text: text(scan) });
    },
  ],
  ['BODY', (scan) => content({ kind: 'body', text: text(scan) })],
  ['TEXT', (scan) => content({ kind: 'text', text: text(scan) })],
  ['LARGER', (scan) => content({ kind: 'larger', bytes: scan.number64() })],
  ['SMALLER', (scan) => content({ kind: 'smaller', bytes: scan.number64() })],
  ['OLDER', (scan) => content({ kind: 'internal-time', from: null, before: Date.now() - scan.number(1) * 1_000 + 1 })],
  ['YOUNGER', (scan) => content({ kind: 'internal-time', from: Date.now() - scan.number(1) * 1_000, before: null })],
  ['KEYWORD', (scan) => state({ kind: 'keyword', word: scan.atom().toLowerCase(), set: true })],
  ['UNKEYWORD', (scan) => state({ kind: 'keyword', word: scan.atom().toLowerCase(), set: false })],
  ['UID', (scan) => state({ kind: 'numbers', set: parseSequenceSet(scan), uid: true })],
  ['EMAILID', (scan) => content({ kind: 'message-id', id: scan.astring() })],
  ['THREADID', (scan) => content({ kind: 'thread-id', id: scan.astring() })],
  [
    'MODSEQ',
    (scan, reading) => {
      reading.modseq = true;
      // An entry name and type may precede it; flags share one MODSEQ here (RFC 7162 §3.1.5).
      if (scan.peek() === '"') {
        scan.string();
        scan.space();
        const type = scan.word();
        if (!['PRIV', 'SHARED', 'ALL'].includes(type)) scan.fail('priv, shared or all');
        scan.space();
      }
      return state({ kind: 'modseq', least: scan.number64() });
    },
  ],
]);

/** Words of all keys. */
export const SEARCH_KEYS: readonly string[] = [...SIMPLE_KEYS.keys(), 'NOT', 'OR', ...KEYS_WITH_ARGUMENT.keys()];

function dateKey(scan: Scanner, kind: (typeof DATE_KINDS)[number][1], relation: 'BEFORE' | 'ON' | 'SINCE'): SearchKey {
  const start = parseDate(scan);
  if (relation === 'BEFORE') return content({ kind, from: null, before: start });
  return content({ kind, from: start, before: relation === 'ON' ? start + DAY_MS : null });
}

/** Indices of the matching messages, ascending. Removed messages do not match. */
async function searchFolder(session: Session, program: SearchProgram): Promise<number[]> {
  const { selected } = session;
  const { map } = selected;
  const conjuncts = program.key.kind === 'and' ? program.key.of : [program.key];
  const tests = conjuncts.map((key) => stateTest(selected, key));
  const known = tests.filter((test) => test !== undefined);
  const open = conjuncts.filter((_, i) => tests[i] === undefined);
  const stateKeys = countKeys(program.key);
  const candidates: number[] = [];
  const turns = new Turns();
  for (let i = 0; i < map.count; i++) {
    if (!selected.isGone(map.uidAt(i)) && known.every((test) => test(i))) candidates.push(i);
    if (turns.take(1 + stateKeys)) await turns.next();
  }
  if (open.length === 0 || candidates.length === 0) return candidates;
  const of: ContentQuery[] = [];
  for (const key of open) of.push(await contentQuery(selected, key, candidates, turns));
  const query: ContentQuery = { kind: 'and', of };
  const [only] = query.of;
  const uids = Uint32Array.from(candidates, (index) => map.uidAt(index));
  const found = await session.store.search(selected.folder.id, uids, query.of.length === 1 && only ? only : query);
  return selected.indicesOf(found);
}

function countKeys(key: SearchKey): number {
  if (key.kind === 'and' || key.kind === 'or') return key.of.reduce((sum, each) => sum + countKeys(each), 0);
  return key.kind === 'not' ? countKeys(key.of) : 1;
}

type Test = (index: number) => boolean;

/** A test over indices, or undefined if the content must be read. */
function stateTest(selected: SelectedFolder, key: SearchKey): Test | undefined {
  switch (key.kind) {
    case 'state':
      return keyTest(selected, key.key);
    case 'content':
      return undefined;
    case 'not': {
      const test = stateTest(selected, key.of);
      return test === undefined ? undefined : (index) => !test(index);
    }
    case 'and':
    case 'or': {
      const tests: Test[] = [];
      for (const each of key.of) {
        const test = stateTest(selected, each);
        if (test === undefined) return undefined;
        tests.push(test);
      }
      return key.kind === 'and'
        ? (index) => tests.every((test) => test(index))
        : (index) => tests.some((test) => test(index));
    }
  }
}

function keyTest(selected: SelectedFolder, key: StateKey): Test {
  const { map } = selected;
  const isRecent: Test = (index) => selected.isRecent(map.uidAt(index));
  switch (key.kind) {
    case 'all':
      return () => true;
    case 'recent':
      return isRecent;
    case 'old':
      return (index) => !isRecent(index);
    case 'new':
      return (index) => isRecent(index) && (map.flagsAt(index) & MAIL_FLAGS.seen) === 0;
    case 'flag':
      return (index) => ((map.flagsAt(index) & key.bit) !== 0) === key.set;
    case 'keyword':
      return (index) => map.keywordsAt(index).some((word) => word.toLowerCase() === key.word) === key.set;
    case 'modseq':
      return (index) => map.modseqAt(index) >= key.least;
    case 'numbers': {
      const { set, uid } = key;
      if (set.kind === 'saved') {
        const saved = new Set(selected.saved);
        return (index) => saved.has(map.uidAt(index));
      }
      return map.filter(set.ranges, uid);
    }
  }
}

async function contentQuery(
  selected: SelectedFolder,
  key: SearchKey,
  candidates: readonly number[],
  turns: Turns,
): Promise<ContentQuery> {
  const test = stateTest(selected, key);
  if (test !== undefined) {
    const uids: number[] = [];
    const steps = countKeys(key);
    for (const index of candidates) {
      if (test(index)) uids.push(selected.map.uidAt(index));
      if (turns.take(steps)) await turns.next();
    }
    return { kind: 'uids', uids };
  }
  switch (key.kind) {
    case 'content':
      return key.query;
    case 'not':
      return { kind: 'not', of: await contentQuery(selected, key.of, candidates, turns) };
    case 'and':
    case 'or': {
      const of: ContentQuery[] = [];
      for (const each of key.of) of.push(await contentQuery(selected, each, candidates, turns));
      return { kind: key.kind, of };
    }
    case 'state':
      throw new Error('a state key is always a test');
  }
}

/**
 * Indices that match, ascending. A search that fails leaves nothing saved (RFC 5182 §2.1).
 *
 * @throws {Refusal} BADCHARSET
 */
export async function runSearch(
  session: Session,
  program: SearchProgram,
  options: ReadonlySet<ReturnOption> | null,
): Promise<number[]> {
  try {
    checkCharset(program);
    if (program.modseq) session.useCondstore();
    return await searchFolder(session, program);
  } catch (error) {
    if (options?.has('SAVE') === true) session.selected.saved = new Uint32Array(0);
    throw error;
  }
}

/** An answer of SEARCH or SORT: the plain list, or ESEARCH (RFC 4731, RFC 5267); it may be saved (RFC 5182). */
interface SearchAnswer {
  readonly verb: 'SEARCH' | 'SORT';
  readonly tag: string;
  readonly uid: boolean;
  readonly options: ReadonlySet<ReturnOption> | null;
  /** In the order of the answer. */
  readonly indices: readonly number[];
  /** The highest MODSEQ is wanted. */
  readonly modseq: boolean;
}

export function writeSearchAnswer(session: Session, answer: SearchAnswer): void {
  const { selected, out } = session;
  const { map } = selected;
  const { verb, tag, uid, indices, modseq } = answer;
  const number = (index: number): number => (uid ? map.uidAt(index) : index + 1);
  const options = answer.options ?? (session.rev2 && verb === 'SEARCH' ? new Set<ReturnOption>(['ALL']) : null);
  const highest = (list: readonly number[]): number =>
    list.reduce((most, index) => Math.max(most, map.modseqAt(index)), 0);
  if (options === null) {
    const list = indices.map(number);
    const end = modseq && list.length > 0 ? ` (MODSEQ ${highest(indices)})` : '';
    out.line(`* ${verb}${list.length > 0 ? ` ${list.join(' ')}` : ''}${end}`);
    return;
  }
  const [first] = indices;
  const last = indices.at(-1);
  const ends = [
    ...(options.has('MIN') && first !== undefined ? [first] : []),
    ...(options.has('MAX') && last !== undefined ? [last] : []),
  ];
  const everything = options.has('ALL') || options.has('COUNT') || ends.length === 0;
  const named = everything ? indices : ends;
  if (options.has('SAVE')) selected.saved = Uint32Array.from(named, (index) => map.uidAt(index)).sort();
  // SAVE alone is answered by the tagged OK.
  if (options.size === 1 && options.has('SAVE')) return;
  const parts = [`* ESEARCH (TAG "${tag}")`];
  if (uid) parts.push('UID');
  if (options.has('MIN') && first !== undefined) parts.push(`MIN ${number(first)}`);
  if (options.has('MAX') && last !== undefined) parts.push(`MAX ${number(last)}`);
  if (options.has('ALL') && indices.length > 0) parts.push(`ALL ${printSet(indices.map(number))}`);
  if (options.has('COUNT')) parts.push(`COUNT ${indices.length}`);
  if (modseq && indices.length > 0) parts.push(`MODSEQ ${highest(named)}`);
  out.line(parts.join(' '));
}
