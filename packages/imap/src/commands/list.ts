/** LIST in all its forms (RFC 9051 §6.3.9, RFC 5258, 5819, 6154), and its elders LSUB and XLIST. */

import type { Folder, SpecialUse } from '@agent-mailbox/mail-store';
import { command, LOGGED_IN } from '#imap/command.ts';
import type { Session } from '#imap/session/session.ts';
import { ok, Refusal } from '#imap/wire/completion.ts';
import type { ParseContext, Scanner } from '#imap/wire/parser.ts';
import { canonicalName, DELIMITER, decodeName, wireName } from '#imap/wire/values.ts';
import { parseStatusItems, type StatusItem, statusLine } from './status-and-quota.ts';

interface ListSelection {
  readonly subscribed: boolean;
  readonly recursiveMatch: boolean;
  readonly specialUse: boolean;
}

interface ListReturn {
  readonly subscribed: boolean;
  readonly children: boolean;
  readonly specialUse: boolean;
}

/** One name to be listed. */
interface Listed {
  readonly name: string;
  /** Undefined: a level above a folder, or a subscribed name without folder. */
  readonly folder: Folder | undefined;
  readonly subscribed: boolean;
  readonly hasChildren: boolean;
  /** It meets the selection options itself, and is not only a level above one that does. */
  readonly selected: boolean;
  /** RECURSIVEMATCH: a name below meets the selection options. */
  readonly childMatches: boolean;
}

/** Wildcard patterns are worked out for every folder: all of one command together are at most this long. */
const PATTERNS_MAX_CHARACTERS = 2_048;

/** @throws {Refusal} LIMIT */
function checkPatterns(patterns: readonly string[]): void {
  const length = patterns.reduce((sum, pattern) => sum + (/[*%]/.test(pattern) ? pattern.length : 0), 0);
  if (length > PATTERNS_MAX_CHARACTERS)
    throw new Refusal('LIMIT', `Patterns have at most ${PATTERNS_MAX_CHARACTERS} characters together`);
}

/** Arguments of the older LSUB and XLIST. @returns the pattern after its reference; undefined: it matches nothing */
function elderListArguments(scan: Scanner, { utf8 }: ParseContext): string | undefined {
  scan.space();
  const reference = decodeName(scan.astring(), utf8);
  scan.space();
  const pattern = decodeName(scan.listPattern(), utf8);
  return reference === undefined || pattern === undefined ? undefined : reference + pattern;
}

/**
 * Pattern with `*` and `%`, over the whole name; `%` stops at the delimiter. Takes time proportional to pattern × name.
 */
export function patternMatcher(pattern: string): (name: string) => boolean {
  const canonical = canonicalName(pattern);
  if (!/[*%]/.test(canonical)) return (name) => name === canonical;
  const parts = [...canonical];
  return (name) => {
    const characters = [...name];
    // reached[i]: the parts so far match the first i characters.
    let reached: boolean[] = [true];
    for (const part of parts) {
      const next: boolean[] = [];
      for (let i = 0; i <= characters.length; i++) {
        if (part === '*' || part === '%')
          next[i] =
            reached[i] === true || (i > 0 && next[i - 1] === true && (part === '*' || characters[i - 1] !== DELIMITER));
        else next[i] = i > 0 && reached[i - 1] === true && characters[i - 1] === part;
      }
      reached = next;
    }
    return reached[characters.length] === true;
  };
}

/** Levels above a name, nearest last: `a/b/c` gives `a`, `a/b`. */
function* parents(name: string): Generator<string> {
  for (let at = name.indexOf(DELIMITER); at >= 0; at = name.indexOf(DELIMITER, at + 1)) yield name.slice(0, at);
}

/**
 * Names that match any of the patterns, each once: INBOX first, then by name.
 *
 * @param patterns canonical, the reference already in front
 */
function listFolders(
  folders: readonly Folder[],
  subscriptions: readonly string[],
  patterns: readonly string[],
  selection: ListSelection,
): Listed[] {
  const matchers = patterns.map(patternMatcher);
  const matches = (name: string) => matchers.some((matcher) => matcher(name));
  const byName = new Map(folders.map((folder) => [folder.name, folder]));
  const subscribed = new Set(subscriptions);
  const withChildren = new Set<string>();
  for (const name of byName.keys()) for (const parent of parents(name)) withChildren.add(parent);

  const selected = (name: string): boolean =>
    (!selection.subscribed || subscribed.has(name)) &&
    (!selection.specialUse || listedUse(byName.get(name)) !== undefined);
  const names = new Set<string>(selection.subscribed ? subscribed : [...byName.keys(), ...withChildren]);
  const childMatches = new Set<string>();
  /** Parents of a name that is not listed itself: others would only repeat what the client sees (RFC 5258 §3.5). */
  const levels = new Set<string>();
  if (selection.recursiveMatch)
    for (const name of [...names])
      if (selected(name)) {
        const listed = matches(name);
        for (const parent of parents(name)) {
          childMatches.add(parent);
          if (!listed) levels.add(parent);
        }
      }
  return [...new Set([...names, ...levels])]
    .filter((name) => matches(name) && (selected(name) || levels.has(name)))
    .sort((a, b) => (a === 'INBOX' ? -1 : b === 'INBOX' ? 1 : a < b ? -1 : 1))
    .map((name) => ({
      name,
      folder: byName.get(name),
      subscribed: subscribed.has(name),
      hasChildren: withChildren.has(name),
      selected: selected(name),
      childMatches: childMatches.has(name),
    }));
}

/** The special use that LIST shows: INBOX needs none. */
const listedUse = (folder: Folder | undefined): string | undefined =>
  folder === undefined || folder.specialUse === null || folder.specialUse === '\\Inbox' ? undefined : folder.specialUse;

/** A line of LIST, LSUB or XLIST. */
const listedLine = (session: Session, verb: string, attributes: readonly string[], name: string): string =>
  `* ${verb} (${attributes.join(' ')}) "${DELIMITER}" ${wireName(name, session.utf8)}`;

function listLine(
  session: Session,
  listed: Listed,
  selection: ListSelection,
  wanted: ListReturn,
  oldName?: string,
): string {
  const attributes: string[] = [];
  if (listed.folder === undefined) attributes.push('\\NonExistent');
  if (listed.subscribed && (wanted.subscribed || selection.subscribed)) attributes.push('\\Subscribed');
  attributes.push(listed.hasChildren ? '\\HasChildren' : '\\HasNoChildren');
  const use = listedUse(listed.folder);
  if (use !== undefined) attributes.push(use);
  const items: string[] = [];
  if (listed.childMatches) items.push(`"CHILDINFO" (${criteriaOf(selection).join(' ')})`);
  if (oldName !== undefined) items.push(oldNameItem(session, oldName));
  return `${listedLine(session, 'LIST', attributes, listed.name)}${items.length === 0 ? '' : ` (${items.join(' ')})`}`;
}

/** Selection options as CHILDINFO names them. */
const criteriaOf = ({ subscribed, specialUse }: ListSelection): string[] => [
  ...(subscribed ? ['"SUBSCRIBED"'] : []),
  ...(specialUse ? ['"SPECIAL-USE"'] : []),
];

const oldNameItem = (session: Session, oldName: string): string => `"OLDNAME" (${wireName(oldName, session.utf8)})`;

/**
 * The LIST line of one folder with the attributes of LIST: clients use those of the last (RFC 9051 §6.3.2).
 *
 * @param oldName the name as the client gave it, if that was not in NFC (§6.3.9.7)
 */
export async function reportFolder(session: Session, name: string, oldName: string | undefined): Promise<void> {
  const selection = { subscribed: false, recursiveMatch: false, specialUse: false };
  const wanted = { subscribed: false, children: true, specialUse: true };
  for (const listed of listFolders(await session.store.folders(), [], [name], selection))
    if (listed.name === name) session.out.line(listLine(session, listed, selection, wanted, oldName));
}

/** After CREATE and RENAME: reports the stored name to an IMAP4rev2 client that gave a name not in NFC. */
export async function reportNormalized(session: Session, name: string, oldName: string | undefined): Promise<void> {
  if (session.rev2 && oldName !== undefined) await reportFolder(session, name, oldName);
}

/** The same after DELETE. */
export function reportNormalizedGone(session: Session, name: string, oldName: string | undefined): void {
  if (session.rev2 && oldName !== undefined)
    session.out.line(`${listedLine(session, 'LIST', ['\\NonExistent'], name)} (${oldNameItem(session, oldName)})`);
}

interface ListArguments {
  readonly selection: ListSelection;
  readonly reference: string | undefined;
  /** Undefined: not decodable, matches nothing. */
  readonly patterns: readonly (string | undefined)[];
  /** RFC 3501 form without options. */
  readonly basic: boolean;
  readonly wanted: ListReturn;
  readonly status: readonly StatusItem[] | null;
}

function selectionOptions(scan: Scanner): ListSelection {
  const options = new Set(scan.list(() => scan.word()));
  for (const option of options)
    if (!['SUBSCRIBED', 'REMOTE', 'RECURSIVEMATCH', 'SPECIAL-USE'].includes(option))
      scan.fail('a known selection option');
  const selection = {
    subscribed: options.has('SUBSCRIBED'),
    recursiveMatch: options.has('RECURSIVEMATCH'),
    specialUse: options.has('SPECIAL-USE'),
  };
  // RFC 5258 §3.1: RECURSIVEMATCH needs an option to go with.
  if (selection.recursiveMatch && !selection.subscribed && !selection.specialUse)
    scan.fail('SUBSCRIBED beside RECURSIVEMATCH');
  return selection;
}

function listArguments(scan: Scanner, { utf8 }: ParseContext): ListArguments {
  let selection: ListSelection = { subscribed: false, recursiveMatch: false, specialUse: false };
  let basic = true;
  scan.space();
  if (scan.peek() === '(') {
    selection = selectionOptions(scan);
    basic = false;
    scan.space();
  }
  const reference = decodeName(scan.astring(), utf8);
  scan.space();
  let patterns: string[];
  if (scan.peek() === '(') {
    patterns = scan.list(() => scan.listPattern(), false);
    basic = false;
  } else patterns = [scan.listPattern()];
  let status: readonly StatusItem[] | null = null;
  const wanted = { subscribed: false, children: false, specialUse: false };
  if (scan.skip(' ')) {
    basic = false;
    scan.expect('RETURN ');
    scan.list(() => {
      const option = scan.word();
      if (option === 'STATUS') {
        scan.space();
        status = parseStatusItems(scan);
      } else if (option === 'SUBSCRIBED') wanted.subscribed = true;
      else if (option === 'CHILDREN') wanted.children = true;
      else if (option === 'SPECIAL-USE') wanted.specialUse = true;
      else scan.fail('a known return option');
    });
  }
  return {
    selection,
    reference,
    patterns: patterns.map((pattern) => decodeName(pattern, utf8)),
    basic,
    wanted,
    status,
  };
}

/** LIST (RFC 9051 §6.3.9) with extended options, STATUS return and special uses. */
const list = command({
  verb: 'LIST',
  states: LOGGED_IN,
  args: listArguments,
  async run({ session }, { selection, reference, patterns, basic, wanted, status }) {
    const { out, store } = session;
    const [only] = patterns;
    if (basic && only === '') {
      out.line(`* LIST (\\Noselect) "${DELIMITER}" ""`);
      return ok('LIST completed');
    }
    const decoded = patterns
      .filter((pattern) => pattern !== undefined && pattern !== '')
      .map((pattern) => (reference ?? '') + pattern);
    if (reference === undefined || decoded.length === 0) return ok('LIST completed');
    checkPatterns(decoded);
    if (status !== null) await session.reportSelected();
    const folders = await store.folders();
    const needsSubscriptions = selection.subscribed || wanted.subscribed;
    const subscriptions = needsSubscriptions ? await store.subscriptions() : [];
    for (const listed of listFolders(folders, subscriptions, decoded, selection)) {
      out.line(listLine(session, listed, selection, wanted));
      // No STATUS for a name that is only a parent of others (RFC 5819 §2).
      if (status !== null && listed.folder !== undefined && listed.selected)
        out.line(await statusLine(session, listed.folder, status));
      if (out.full) await out.ready();
    }
    return ok('LIST completed');
  },
});

/**
 * LSUB (RFC 3501 §6.3.9): subscribed names, also of folders that do not exist. A name above a subscribed one that `%`
 * stops at is listed with \Noselect.
 */
const lsub = command({
  verb: 'LSUB',
  states: LOGGED_IN,
  args: elderListArguments,
  async run({ session }, pattern) {
    if (pattern === undefined) return ok('LSUB completed');
    checkPatterns([pattern]);
    const [subscriptions, folders] = [await session.store.subscriptions(), await session.store.folders()];
    const selection = { subscribed: true, recursiveMatch: pattern.includes('%'), specialUse: false };
    for (const { name, subscribed } of listFolders(folders, subscriptions, [pattern], selection))
      session.out.line(listedLine(session, 'LSUB', subscribed ? [] : ['\\Noselect'], name));
    return ok('LSUB completed');
  },
});

/** Spellings from before RFC 6154. */
const ELDER_USES: Partial<Record<SpecialUse, string>> = { '\\Junk': '\\Spam' };

/** XLIST, the predecessor of SPECIAL-USE that older clients still use. */
const xlist = command({
  verb: 'XLIST',
  states: LOGGED_IN,
  args: elderListArguments,
  async run({ session }, pattern) {
    if (pattern === undefined) return ok('XLIST completed');
    checkPatterns([pattern]);
    const selection = { subscribed: false, recursiveMatch: false, specialUse: false };
    for (const { name, folder, hasChildren } of listFolders(await session.store.folders(), [], [pattern], selection)) {
      const use = folder?.specialUse ?? null;
      const attributes = [
        ...(folder === undefined ? ['\\Noselect'] : []),
        hasChildren ? '\\HasChildren' : '\\HasNoChildren',
        ...(use === null ? [] : [ELDER_USES[use] ?? use]),
      ];
      session.out.line(listedLine(session, 'XLIST', attributes, name));
    }
    return ok('XLIST completed');
  },
});

export const LIST_COMMANDS = [list, lsub, xlist];
