import { command, LOGGED_IN } from '#imap/command.ts';
import { DELIMITER, decodeName } from '#imap/folders/folder-names.ts';
import {
  checkPatterns,
  type ListReturn,
  type ListSelection,
  listFolders,
  listLine,
} from '#imap/folders/list-folders.ts';
import { parseStatusItems, type StatusItem, statusLine } from '#imap/folders/status-and-quota.ts';
import { ok } from '#imap/wire/completion.ts';
import type { ParseContext, Scanner } from '#imap/wire/parser.ts';

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
export const list = command({
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
