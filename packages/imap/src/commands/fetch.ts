/**
 * FETCH (RFC 9051 §6.4.5; BINARY RFC 3516, PREVIEW RFC 8970, SAVEDATE RFC 8514, OBJECTID RFC 8474) with CHANGEDSINCE and
 * VANISHED (RFC 7162): its syntax. What it reads and answers is in `fetch/`.
 */
import { command, SELECTED } from '#imap/command.ts';
import { type FetchItem, fetchMessages, SIMPLE_ITEMS, type SimpleItem } from '#imap/fetch/fetch-messages.ts';
import type { Partial, Section } from '#imap/fetch/message-content.ts';
import { parseSequenceSet } from '#imap/session/sequence-numbers.ts';
import { ok } from '#imap/wire/completion.ts';
import type { Scanner } from '#imap/wire/parser.ts';
import { QRESYNC_NOT_ENABLED } from './select.ts';

export const fetch = command({
  verb: 'FETCH',
  states: SELECTED,
  uid: true,
  reports: 'no-expunge',
  args(scan, { uid }) {
    scan.space();
    const set = parseSequenceSet(scan);
    scan.space();
    const items = parseFetchItems(scan);
    const { changedSince, vanished } = parseFetchModifiers(scan, uid);
    return { set, items, changedSince, vanished };
  },
  async run({ session, uid }, { set, items, changedSince, vanished }) {
    if (vanished && !session.qresync) return QRESYNC_NOT_ENABLED;
    const { selected, out } = session;
    const withModseq = items.some((item) => item.kind === 'simple' && item.name === 'MODSEQ');
    if (changedSince !== null || withModseq) session.useCondstore();
    if (changedSince !== null && selected.stale) {
      await selected.refresh();
      await selected.reportNew(out, session);
    }
    const { map } = selected;
    if (vanished && changedSince !== null) {
      const known = set.kind === 'ranges' ? set.ranges : [...selected.saved].map((each) => [each, each] as const);
      const earlier = await selected.vanishedEarlier(changedSince, known);
      if (earlier !== '') out.line(`* VANISHED (EARLIER) ${earlier}`);
    }
    const all = selected.indices(set, uid);
    const indices = changedSince === null ? all : all.filter((index) => map.modseqAt(index) > changedSince);
    const missing = await fetchMessages(session, indices, items, uid, changedSince !== null);
    return missing > 0 && !uid ? ok('Some of the messages have been removed', 'EXPUNGEISSUED') : ok('FETCH completed');
  },
});

export const FETCH_MACROS: Record<string, readonly SimpleItem[]> = {
  ALL: ['FLAGS', 'INTERNALDATE', 'RFC822.SIZE', 'ENVELOPE'],
  FAST: ['FLAGS', 'INTERNALDATE', 'RFC822.SIZE'],
  FULL: ['FLAGS', 'INTERNALDATE', 'RFC822.SIZE', 'ENVELOPE', 'BODY'],
};
/** Without `[`, so that it ends before a section. */
const ITEM_NAME = /[A-Za-z0-9.]+/y;
const ITEMS_MAX = 200;
const FIELD_NAMES_MAX = 200;
const PATH_MAX = 64;

const simple = (name: SimpleItem): FetchItem => ({ kind: 'simple', name });

function parseFetchItems(scan: Scanner): FetchItem[] {
  if (scan.peek() === '(') {
    let count = 0;
    return scan.list(() => {
      if (++count > ITEMS_MAX) scan.fail(`at most ${ITEMS_MAX} items`);
      return parseItem(scan, itemName(scan));
    }, false);
  }
  const name = itemName(scan);
  const macro = FETCH_MACROS[name];
  return macro === undefined ? [parseItem(scan, name)] : macro.map(simple);
}

const itemName = (scan: Scanner): string => (scan.match(ITEM_NAME) ?? scan.fail('an item')).toUpperCase();

function parseItem(scan: Scanner, name: string): FetchItem {
  if (scan.peek() === '[')
    switch (name) {
      case 'BODY':
      case 'BODY.PEEK':
        return { kind: 'body', peek: name === 'BODY.PEEK', section: parseSection(scan), partial: parsePartial(scan) };
      case 'BINARY':
      case 'BINARY.PEEK':
        return {
          kind: 'binary',
          peek: name === 'BINARY.PEEK',
          section: parsePartOnly(scan),
          partial: parsePartial(scan),
        };
      case 'BINARY.SIZE':
        return { kind: 'binary-size', section: parsePartOnly(scan) };
      default:
        return scan.fail('an item that has sections');
    }
  if (name === 'PREVIEW' && scan.skip(' (')) {
    scan.expect('LAZY');
    scan.expect(')');
  }
  const known = SIMPLE_ITEMS.find((each) => each === name);
  return known === undefined ? scan.fail('a known item') : simple(known);
}

function parsePartial(scan: Scanner): Partial | null {
  if (!scan.skip('<')) return null;
  const from = scan.number();
  scan.expect('.');
  const length = scan.number(1);
  scan.expect('>');
  return { from, length };
}

function parsePath(scan: Scanner): number[] {
  const path: number[] = [];
  while (/\d/.test(scan.peek())) {
    if (path.length >= PATH_MAX) scan.fail('a part that is less deeply nested');
    path.push(scan.number(1));
    if (!scan.skip('.')) break;
  }
  return path;
}

function parsePartOnly(scan: Scanner): Section {
  scan.expect('[');
  const path = parsePath(scan);
  scan.expect(']');
  return { path, text: { kind: 'whole' }, printed: path.join('.') };
}

const TEXTS = /HEADER\.FIELDS\.NOT|HEADER\.FIELDS|HEADER|TEXT|MIME/iy;

function parseSection(scan: Scanner): Section {
  scan.expect('[');
  const path = parsePath(scan);
  const printedPath = path.join('.');
  if (scan.skip(']')) return { path, text: { kind: 'whole' }, printed: printedPath };
  const word = (scan.match(TEXTS) ?? scan.fail('a section')).toUpperCase();
  const printed = printedPath === '' ? word : `${printedPath}.${word}`;
  let section: Section;
  switch (word) {
    case 'HEADER':
      section = { path, text: { kind: 'header' }, printed };
      break;
    case 'TEXT':
      section = { path, text: { kind: 'text' }, printed };
      break;
    case 'MIME':
      if (path.length === 0) scan.fail('a part before MIME');
      section = { path, text: { kind: 'mime' }, printed };
      break;
    default: {
      scan.space();
      const names = scan.list(() => scan.astring(), false);
      if (names.length > FIELD_NAMES_MAX) scan.fail(`at most ${FIELD_NAMES_MAX} header names`);
      const list = names.map((name) => (/^[!#-'*-9;-Z^-z|}~+]+$/.test(name) ? name : quoted(scan, name))).join(' ');
      section = {
        path,
        text: { kind: 'fields', not: word === 'HEADER.FIELDS.NOT', names: names.map((name) => name.toLowerCase()) },
        printed: `${printed} (${list})`,
      };
    }
  }
  scan.expect(']');
  return section;
}

function quoted(scan: Scanner, name: string): string {
  if (!/^[\x20-\x7e]*$/.test(name)) return scan.fail('header names in ASCII');
  return `"${name.replace(/["\\]/g, '\\$&')}"`;
}

/** ` (CHANGEDSINCE n VANISHED)`, RFC 7162 §3.1.4.1 and §3.2.6. */
function parseFetchModifiers(scan: Scanner, uid: boolean): { changedSince: number | null; vanished: boolean } {
  let changedSince: number | null = null;
  let vanished = false;
  if (scan.skip(' '))
    scan.list(() => {
      if (scan.skip('CHANGEDSINCE ')) changedSince = scan.number64();
      else if (uid && scan.skip('VANISHED')) vanished = true;
      else scan.fail('CHANGEDSINCE');
    }, false);
  if (vanished && changedSince === null) scan.fail('CHANGEDSINCE beside VANISHED');
  return { changedSince, vanished };
}
