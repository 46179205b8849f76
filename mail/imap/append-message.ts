/** The message part of APPEND and REPLACE: flags, date, and the literal that went into the spool. */
import type { AppendMessage, SpooledMessage } from '../store/interface.ts';
import { Refusal } from './command.ts';
import { checkKeywords, type FlagSet, parseFlags } from './flags.ts';
import type { Scanner } from './parser.ts';

export interface WireMessage {
  readonly flags: FlagSet;
  readonly internalDate: Date | null;
  readonly content: SpooledMessage;
}

const DATE_TIME = /"([ \d]\d)-([A-Za-z]{3})-(\d{4}) (\d{2}):(\d{2}):(\d{2}) ([+-])(\d{2})(\d{2})"/y;
const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];

export const monthOf = (name: string): number => MONTHS.indexOf(name.toUpperCase());

function dateTime(scan: Scanner): Date {
  const text = scan.match(DATE_TIME) ?? scan.fail('a date-time');
  DATE_TIME.lastIndex = 0;
  const [, day, monthName = '', year, hour, minute, second, sign, zoneHours, zoneMinutes] = DATE_TIME.exec(text) ?? [];
  const month = monthOf(monthName);
  if (month < 0 || Number(day) < 1 || Number(day) > 31) scan.fail('a date-time');
  const offset = (sign === '-' ? -1 : 1) * (Number(zoneHours) * 60 + Number(zoneMinutes));
  const wall = new Date(Date.UTC(Number(year), month, Number(day), Number(hour), Number(minute), Number(second)));
  // What does not exist would otherwise become some other day in silence; a leap second may.
  const exists = wall.getUTCDate() === Number(day) || second === '60';
  if (!exists || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60 || Number(zoneMinutes) > 59)
    scan.fail('a date-time that exists');
  return new Date(wall.getTime() - offset * 60_000);
}

/** `[flags SP] [date-time SP] literal`, or `UTF8 (~{n}…)` in the place of the literal. */
export function parseAppendMessage(scan: Scanner): WireMessage {
  let flags: FlagSet = { flags: 0, keywords: [] };
  let internalDate: Date | null = null;
  if (scan.peek() === '(') {
    flags = parseFlags(scan);
    scan.space();
  }
  if (scan.peek() === '"') {
    internalDate = dateTime(scan);
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
  // RFC 3502 §6.3.11: a client gives up by sending an empty message.
  if (content.size === 0) throw new Refusal(undefined, 'An empty message is not stored');
  return { content, flags: flags.flags, keywords: flags.keywords, internalDate };
}
