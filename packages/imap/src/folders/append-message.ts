/** The message part of APPEND and REPLACE: flags, date, and the literal that went into the spool. */
import type { AppendMessage, SpooledMessage } from '@agent-mailbox/mail-store';
import { Refusal } from '#imap/command.ts';
import { parseDateTime, type ZonedTime } from '#imap/wire/date-time.ts';
import { checkKeywords, type FlagSet, parseFlags } from '#imap/wire/flags.ts';
import type { Scanner } from '#imap/wire/parser.ts';

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
