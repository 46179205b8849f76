/** Date header (RFC 5322 §3.3), with the obsolete forms. */
import { stripComments } from './parameters.ts';

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const ZONES: Readonly<Record<string, number>> = {
  ut: 0,
  gmt: 0,
  z: 0,
  est: -300,
  edt: -240,
  cst: -360,
  cdt: -300,
  mst: -420,
  mdt: -360,
  pst: -480,
  pdt: -420,
};
/** White space may stand anywhere between the parts (RFC 5322 §4.3); the month may stand first, the year last (asctime). */
const FORM =
  /(\d{1,2})[\s-]+([a-z]{3})[a-z]*[\s-]+(\d{2,4})\s+(\d{1,2})\s*:\s*(\d{2})(?:\s*:\s*(\d{2}))?(?:\.\d+)?(?:\s*(?:([+-])\s*(\d{2}):?(\d{2})|([a-z]{1,5})))?/i;
const ASCTIME = /([a-z]{3})\s+(\d{1,2})\s+(\d{1,2}:\d{2}:\d{2})\s+(?:([a-z]{3,4}|[+-]\d{4})\s+)?(\d{4})\b/i;
/** RFC 5322 §3.3. */
const FIRST_YEAR = 1900;

/** Comments included. */
export const DATE_MAX_CHARACTERS = 200;
/** The last may be a leap second. */
const LAST_SECOND = 60;

export interface MailDate {
  readonly time: Date;
  /** Zone of the header, minutes east of UTC. */
  readonly offsetMinutes: number;
}

/** Time the header names, or undefined when it names none from 1900 to 9999. Without a zone, or with a military one: UTC. */
export function parseMailDate(value: string): MailDate | undefined {
  const plain = stripComments(value.slice(0, DATE_MAX_CHARACTERS));
  const match = FORM.exec(plain) ?? FORM.exec(plain.replace(ASCTIME, '$2 $1 $5 $3 $4'));
  if (match === null) return undefined;
  const [
    ,
    day,
    monthName = '',
    yearText = '',
    hour,
    minute,
    second = '0',
    sign,
    zoneHours,
    zoneMinutes,
    zoneName = '',
  ] = match;
  const month = MONTHS.indexOf(monthName.toLowerCase());
  if (month < 0) return undefined;
  let year = Number(yearText);
  if (yearText.length === 2) year += year < 50 ? 2000 : 1900;
  else if (yearText.length === 3) year += 1900;
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  if (Number(day) < 1 || Number(day) > lastDay) return undefined;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > LAST_SECOND) return undefined;
  const offset =
    sign === undefined
      ? (ZONES[zoneName.toLowerCase()] ?? 0)
      : (sign === '-' ? -1 : 1) * (Number(zoneHours) * 60 + Number(zoneMinutes));
  const time = Date.UTC(year, month, Number(day), Number(hour), Number(minute), Number(second)) - offset * 60_000;
  return Number.isFinite(time) && year >= FIRST_YEAR && year <= 9999
    ? { time: new Date(time), offsetMinutes: offset }
    : undefined;
}
