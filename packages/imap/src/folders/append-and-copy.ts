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
import { parseSequenceSet, printSet, type SequenceSet } from '#imap/session/sequence-numbers.ts';
import type { Session } from '#imap/session/session.ts';
import { Refusal } from '#imap/wire/completion.ts';
import { parseDateTime, type ZonedTime } from '#imap/wire/date-time.ts';
import { checkKeywords, type FlagSet, parseFlags } from '#imap/wire/flags.ts';
import type { ParseContext, Scanner } from '#imap/wire/parser.ts';
import { existingName, folderName, type WireName } from './folder-names.ts';

export interface TransferArguments {
  readonly set: SequenceSet;
  readonly name: WireName;
}

export function transferArguments(scan: Scanner, context: ParseContext): TransferArguments {
  scan.space();
  const set = parseSequenceSet(scan);
  scan.space();
  return { set, name: folderName(scan, context) };
}

/** @throws {Refusal} EXPUNGEISSUED if a message given by its number was removed, TRYCREATE */
export async function transferTarget(
  session: Session,
  { set, name }: TransferArguments,
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
  return { folder: await targetFolder(session, name), uids, complete };
}

/** @throws {Refusal} TRYCREATE */
export async function targetFolder({ store }: Session, name: WireName): Promise<Folder> {
  const folder = await store.folder(existingName(name));
  if (folder === undefined) throw new Refusal('TRYCREATE', 'No such folder');
  return folder;
}

/**
 * The result of the store. Since the look-up, the target may have been deleted, or a message of the selected folder
 * removed.
 *
 * @throws {Refusal} TRYCREATE
 */
export async function transfer<Result>({ selectedOrNull }: Session, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreRefused)) throw error;
    if (selectedOrNull !== null) selectedOrNull.stale = true;
    if (error.refusal === 'no-folder') throw new Refusal('TRYCREATE', 'No such folder');
    throw error;
  }
}

export const copyUidCode = ({ uidValidity, from, to }: CopiedUids): string | undefined =>
  from.length === 0 ? undefined : `COPYUID ${uidValidity} ${printSet(from)} ${printSet(to)}`;

export interface WireMessage {
  readonly flags: FlagSet;
  readonly internalDate: ZonedTime | null;
  readonly content: SpooledMessage;
}

/** `[flags SP] [date-time SP] literal`, or `UTF8 (~{n}…)` in the place of the literal. */
export function parseAppendMessage(scan: Scanner): WireMessage {
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
export function appendable({ flags, internalDate, content }: WireMessage): AppendMessage {
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
