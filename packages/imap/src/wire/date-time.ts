/** Dates and times of IMAP (RFC 9051 §9, `date` and `date-time`). Invalid dates and times are not accepted. */
import type { Scanner } from './parser.ts';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

const DATE = /"?(\d{1,2})-([A-Za-z]{3})-(\d{4})"?/y;
const DATE_TIME = /"([ \d]\d)-([A-Za-z]{3})-(\d{4}) (\d{2}):(\d{2}):(\d{2}) ([+-])(\d{2})(\d{2})"/y;
const LEAP_SECOND = 60;
const YEAR_1_MS = Date.parse('0001-01-01T00:00:00Z');
const YEAR_10000_MS = Date.parse('+010000-01-01T00:00:00Z');

/** A moment, with the zone it was written in. */
export interface ZonedTime {
  readonly time: Date;
  /** Minutes east of UTC. */
  readonly offsetMinutes: number;
}

/** Midnight (UTC) of a day of the years 1 to 9999, in milliseconds; undefined if there is no such day. */
function midnight(day: number, monthName: string, year: number): number | undefined {
  const month = MONTHS.findIndex((name) => name.toUpperCase() === monthName.toUpperCase());
  if (month < 0 || year < 1) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  // The 31st of February would otherwise become some other day in silence.
  return date.getUTCMonth() === month && date.getUTCDate() === day ? date.getTime() : undefined;
}

/** `1-Feb-2020`, with or without quotes. @returns its midnight (UTC) in milliseconds @throws {SyntaxProblem} */
export function parseDate(scan: Scanner): number {
  const text = scan.match(DATE) ?? scan.fail('a date');
  if (text.startsWith('"') !== text.endsWith('"')) scan.fail('a date');
  const [day, monthName = '', year] = text.replaceAll('"', '').split('-');
  return midnight(Number(day), monthName, Number(year)) ?? scan.fail('a valid date');
}

/** `" 1-Feb-2020 10:00:00 +0100"`. @throws {SyntaxProblem} */
export function parseDateTime(scan: Scanner): ZonedTime {
  const text = scan.match(DATE_TIME) ?? scan.fail('a date-time');
  DATE_TIME.lastIndex = 0;
  const [, day, monthName = '', year, ...rest] = DATE_TIME.exec(text) ?? [];
  const [hour = 0, minute = 0, second = 0] = rest.slice(0, 3).map(Number);
  const [zoneHours = 0, zoneMinutes = 0] = rest.slice(4).map(Number);
  const start = midnight(Number(day), monthName, Number(year));
  if (start === undefined || hour > 23 || minute > 59 || zoneHours > 23 || zoneMinutes > 59 || second > LEAP_SECOND)
    return scan.fail('a valid date-time');
  const offsetMinutes = (rest[3] === '-' ? -1 : 1) * (zoneHours * 60 + zoneMinutes);
  const time = start + (hour * 60 + minute - offsetMinutes) * MINUTE_MS + second * 1_000;
  // In UTC too the year must be 1 to 9999: others cannot be stored.
  if (time < YEAR_1_MS || time >= YEAR_10000_MS) scan.fail('a date-time of the years 1 to 9999');
  // Leap seconds are the last of a day in UTC.
  if (second === LEAP_SECOND && time % DAY_MS !== 0) scan.fail('a valid date-time');
  return { time: new Date(time), offsetMinutes };
}

const two = (value: number): string => String(value).padStart(2, '0');

/** A moment as `date-time`, in the zone given. */
export function printDateTime(time: Date, offsetMinutes = 0): string {
  const wall = new Date(time.getTime() + offsetMinutes * MINUTE_MS);
  const day = String(wall.getUTCDate()).padStart(2, ' ');
  const clock = `${two(wall.getUTCHours())}:${two(wall.getUTCMinutes())}:${two(wall.getUTCSeconds())}`;
  const east = Math.abs(offsetMinutes);
  const zone = `${offsetMinutes < 0 ? '-' : '+'}${two(Math.floor(east / 60))}${two(east % 60)}`;
  return `"${day}-${MONTHS[wall.getUTCMonth()]}-${String(wall.getUTCFullYear()).padStart(4, '0')} ${clock} ${zone}"`;
}
