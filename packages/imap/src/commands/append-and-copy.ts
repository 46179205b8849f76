/**
 * Messages that get into a folder: by APPEND and REPLACE from a literal that went into the spool, by COPY and MOVE from
 * the selected folder. A target that does not exist is TRYCREATE, also if it is deleted meanwhile.
 */
import {
  type AppendMessage,
  type CopiedUids,
  type Folder,
  type SpooledMessage,
  StoreRefused,
} from '@agent-mailbox/mail-store';
import { command, LOGGED_IN, SELECTED } from '#imap/command.ts';
import { parseSequenceSet, printSet } from '#imap/session/sequence-numbers.ts';
import type { Session } from '#imap/session/session.ts';
import { no, OutOfRange, ok, Refusal } from '#imap/wire/completion.ts';
import type { ParseContext, Scanner } from '#imap/wire/parser.ts';
import {
  checkKeywords,
  type FlagSet,
  folderName,
  parseDateTime,
  parseFlags,
  type ZonedTime,
} from '#imap/wire/values.ts';

function transferArguments(scan: Scanner, context: ParseContext) {
  scan.space();
  const set = parseSequenceSet(scan);
  scan.space();
  return { set, name: folderName(scan, context) };
}

/** @throws {Refusal} EXPUNGEISSUED if a message given by its number was removed, TRYCREATE */
async function transferTarget(
  session: Session,
  { set, name }: ReturnType<typeof transferArguments>,
  uid: boolean,
): Promise<{ folder: Folder; uids: number[]; complete: boolean }> {
  const { selected } = session;
  const all = selected.indices(set, uid).map((index) => selected.map.uidAt(index));
  // By number all or none: the client must first learn of removals. UIDs and `$` select the messages that still exist.
  const complete = !uid && set.kind !== 'saved';
  if (selected.stale || complete) await selected.refresh();
  const uids = all.filter((each) => !selected.isGone(each));
  if (complete && uids.length < all.length)
    throw new Refusal('EXPUNGEISSUED', 'Some of the messages have been removed');
  return { folder: await session.folder(name, 'TRYCREATE'), uids, complete };
}

/**
 * The result of the store. Since the look-up, the target may have been deleted, or a message of the selected folder
 * removed.
 *
 * @throws {Refusal} TRYCREATE
 */
async function transfer<Result>(session: Session, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreRefused)) throw error;
    session.markStale();
    if (error.refusal === 'no-folder') throw new Refusal('TRYCREATE', 'No such folder');
    throw error;
  }
}

const copyUidCode = ({ uidValidity, from, to }: CopiedUids): string | undefined =>
  from.length === 0 ? undefined : `COPYUID ${uidValidity} ${printSet(from)} ${printSet(to)}`;

interface WireMessage {
  readonly flags: FlagSet;
  readonly internalDate: ZonedTime | null;
  readonly content: SpooledMessage;
}

/** `[flags SP] [date-time SP] literal`, or `UTF8 (~{n}…)` in the place of the literal. */
function parseAppendMessage(scan: Scanner): WireMessage {
  let flags: FlagSet = { flags: 0, keywords: [] };
  let internalDate: ZonedTime | null = null;
  if (scan.peek() === '(') {
    flags = parseFlags(scan);
    scan.space();
  }
  if (scan.peek() === '"') {
    internalDate = parseDateTime(scan);
    scan.space();
  }
  if (scan.skip('UTF8 (')) {
    if (!scan.atBinaryLiteral) scan.fail('a literal8');
    const content = scan.message();
    scan.expect(')');
    return { flags, internalDate, content };
  }
  return { flags, internalDate, content: scan.message() };
}

/** @throws {Refusal} */
function appendable({ flags, internalDate, content }: WireMessage): AppendMessage {
  checkKeywords(flags.keywords);
  // RFC 3502 §6.3.11: a client cancels by sending an empty message.
  if (content.size === 0) throw new Refusal(undefined, 'An empty message is not stored');
  return {
    content,
    flags: flags.flags,
    keywords: flags.keywords,
    internalDate: internalDate?.time ?? null,
    internalOffsetMinutes: internalDate?.offsetMinutes ?? 0,
  };
}

/** APPEND (RFC 9051 §6.3.12) of one or several messages (RFC 3502), all or none. */
const append = command({
  verb: 'APPEND',
  states: LOGGED_IN,
  args(scan, context) {
    scan.space();
    const name = folderName(scan, context);
    const messages: WireMessage[] = [];
    do {
      scan.space();
      messages.push(parseAppendMessage(scan));
    } while (scan.peek() === ' ');
    return { name, messages };
  },
  async run({ session }, { name, messages }) {
    const list = messages.map(appendable);
    const folder = await session.folder(name, 'TRYCREATE');
    const { uidValidity, uids } = await transfer(session, () => session.store.append(folder.id, list));
    const selected = session.selectedOrNull;
    if (selected?.folder.id === folder.id) selected.stale = true;
    return ok('APPEND completed', `APPENDUID ${uidValidity} ${printSet(uids)}`);
  },
});

/** REPLACE (RFC 8508): a new message in the place of an old one, in one step. */
const replace = command({
  verb: 'REPLACE',
  states: SELECTED,
  uid: true,
  needs: 'write',
  args(scan, context) {
    scan.space();
    const number = scan.skip('*') ? null : scan.number(1);
    scan.space();
    const name = folderName(scan, context);
    scan.space();
    return { number, name, message: parseAppendMessage(scan) };
  },
  async run({ session, uid: byUid }, { number, name, message }) {
    const { selected, store } = session;
    const { map } = selected;
    const index = number === null ? map.count - 1 : byUid ? map.indexOf(number) : number - 1;
    if (!byUid && (index < 0 || index >= map.count)) throw new OutOfRange();
    const uid = map.uidAt(index);
    if (index < 0 || selected.isGone(uid))
      return no('The message has been removed', byUid ? 'NONEXISTENT' : 'EXPUNGEISSUED');
    const content = appendable(message);
    const folder = await session.folder(name, 'TRYCREATE');
    const replaced = await transfer(session, () => store.replace(selected.folder.id, uid, folder.id, content));
    session.out.line(`* OK [APPENDUID ${replaced.uidValidity} ${replaced.uid}] Replacement stored`);
    selected.markGone(uid);
    selected.stale = true;
    if (!session.condstore) return ok('REPLACE completed');
    await selected.refresh();
    return ok('REPLACE completed', `HIGHESTMODSEQ ${selected.highestModseq}`);
  },
});

/** COPY (RFC 9051 §6.4.7), all or none, with COPYUID (RFC 4315). */
const copy = command({
  verb: 'COPY',
  states: SELECTED,
  uid: true,
  args: transferArguments,
  async run({ session, uid }, args) {
    const { folder, uids, complete } = await transferTarget(session, args, uid);
    if (uids.length === 0) return ok('Nothing to copy');
    const copied = await transfer(session, () =>
      session.store.copy(session.selected.folder.id, uids, folder.id, complete),
    );
    if (folder.id === session.selected.folder.id) session.selected.stale = true;
    return ok('COPY completed', copyUidCode(copied));
  },
});

/** MOVE (RFC 6851): COPYUID is sent in an untagged OK before the removals. */
const move = command({
  verb: 'MOVE',
  states: SELECTED,
  uid: true,
  needs: 'write',
  args: transferArguments,
  async run({ session, uid }, args) {
    const { folder, uids, complete } = await transferTarget(session, args, uid);
    if (uids.length === 0) return ok('Nothing to move');
    const moved = await transfer(session, () =>
      session.store.move(session.selected.folder.id, uids, folder.id, complete),
    );
    const code = copyUidCode(moved);
    if (code !== undefined) session.out.line(`* OK [${code}] Moved`);
    return ok('MOVE completed', await session.removed(moved.from));
  },
});

export const APPEND_COMMANDS = [append, replace, copy, move];
