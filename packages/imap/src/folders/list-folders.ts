/** LIST in all its forms (RFC 9051 §6.3.9, RFC 5258, 5819, 6154), and its elders LSUB and XLIST. */
import type { Folder } from '@agent-mailbox/mail-store';
import type { Session } from '#imap/session/session.ts';
import { Refusal } from '#imap/wire/completion.ts';
import type { ParseContext, Scanner } from '#imap/wire/parser.ts';
import { canonicalName, DELIMITER, decodeName, wireName } from './folder-names.ts';

export interface ListSelection {
  readonly subscribed: boolean;
  readonly recursiveMatch: boolean;
  readonly specialUse: boolean;
}

export interface ListReturn {
  readonly subscribed: boolean;
  readonly children: boolean;
  readonly specialUse: boolean;
}

/** One name to be listed. */
export interface Listed {
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
export function checkPatterns(patterns: readonly string[]): void {
  const length = patterns.reduce((sum, pattern) => sum + (/[*%]/.test(pattern) ? pattern.length : 0), 0);
  if (length > PATTERNS_MAX_CHARACTERS)
    throw new Refusal('LIMIT', `Patterns have at most ${PATTERNS_MAX_CHARACTERS} characters together`);
}

/** Arguments of the older LSUB and XLIST. @returns the pattern after its reference; undefined: it matches nothing */
export function elderListArguments(scan: Scanner, { utf8 }: ParseContext): string | undefined {
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
export function listFolders(
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
export const listedLine = (session: Session, verb: string, attributes: readonly string[], name: string): string =>
  `* ${verb} (${attributes.join(' ')}) "${DELIMITER}" ${wireName(name, session.utf8)}`;

export function listLine(
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
