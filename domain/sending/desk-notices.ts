/**
 * Mail to a member about everything that waits on the desk: held incoming mail at once, a digest once a day, and the hours
 * in which no such mail is sent.
 *
 *   incoming mail is held ──at_once──▶ one notice for all of the last minutes   (at most so many a day)
 *                         └─digest───▶ the digest at the member's hour
 *   quiet hours ──▶ mail waits until their end, and comes as one
 */
import { type DutyHours, isOnDuty, localMoment } from './decision-rules.ts';

/** When mail about held incoming mail is sent to a member. */
export const INCOMING_MAIL_MODES = ['at_once', 'digest', 'none'] as const;
export type IncomingMailMode = (typeof INCOMING_MAIL_MODES)[number];
/** Waves of spam must not flood people who chose nothing. */
export const INCOMING_MAIL_DEFAULT: IncomingMailMode = 'digest';

export const DESK_NOTICE_KINDS = ['held_mail', 'desk_digest'] as const;
export type DeskNoticeKind = (typeof DESK_NOTICE_KINDS)[number];
export const isDeskNotice = (kind: string): kind is DeskNoticeKind => DESK_NOTICE_KINDS.some((each) => each === kind);

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** After a notice about held incoming mail the next one to the same member waits for this time. */
export const INCOMING_NOTICE_EVERY_MS = 15 * MINUTE_MS;
/** Notices about held incoming mail to one member in a day; the digest has the rest. */
export const INCOMING_NOTICES_PER_DAY = 12;
/** Mail counts as arrived for a notice so long after its time of arrival: its transaction has ended by then. */
export const INCOMING_SETTLED_MS = 30_000;
/** How often it is looked for notices that are due. */
export const DESK_NOTICES_EVERY_MS = 30_000;
/** Senders, and messages of the other direction, that a mail describes; further ones are counted. */
export const DESK_NOTICE_ITEMS_MAX = 20;
/** Waiting requests that are compared with the rules who decides, oldest first. */
export const DESK_NOTICE_REQUESTS_READ = 100;

export const DIGEST_DAYS = ['daily', 'weekdays'] as const;

/** When a member gets the digest. */
export interface DigestSchedule {
  /** As IANA names it, such as `Europe/Berlin`. */
  readonly timeZone: string;
  /** Of the day there, 0 to 23. */
  readonly hour: number;
  readonly days: (typeof DIGEST_DAYS)[number];
}

/** Of a member who chose nothing. It is sent only while incoming mail waits. */
export const DIGEST_DEFAULT: DigestSchedule = { timeZone: 'UTC', hour: 8, days: 'daily' };

/** Longer quiet hours would leave no time for mail. */
export const QUIET_HOURS_MAX_MINUTES = 1_380;
/** The end of quiet hours is looked for in steps of this length: the rest of a day is at least an hour. */
const QUIET_STEP_MS = 15 * MINUTE_MS;
const QUIET_LOOK_AHEAD_MS = 3 * DAY_MS;

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));

/** How long quiet hours are, in minutes by the clock; equal times are a whole day. */
export const quietMinutes = ({ from, to }: Pick<DutyHours, 'from' | 'to'>): number =>
  (minutesOf(to) - minutesOf(from) + 1_440) % 1_440 || 1_440;

/** When quiet hours end, in milliseconds since 1970; undefined: it is none now. */
export function quietUntilMs(quiet: DutyHours | null, nowMs: number): number | undefined {
  if (quiet === null || !isOnDuty(quiet, nowMs)) return undefined;
  let atMs = Math.ceil((nowMs + 1) / MINUTE_MS) * MINUTE_MS;
  const lastMs = nowMs + QUIET_LOOK_AHEAD_MS;
  while (atMs < lastMs && isOnDuty(quiet, atMs)) atMs += QUIET_STEP_MS;
  while (atMs - MINUTE_MS > nowMs && !isOnDuty(quiet, atMs - MINUTE_MS)) atMs -= MINUTE_MS;
  return atMs;
}

/**
 * When an hour of a local day is, in milliseconds since 1970. An hour that a change of clocks leaves out is the one after
 * it; of an hour that comes twice it is one of the two, always the same.
 */
function instantOf(timeZone: string, dayMs: number, hour: number): number {
  const wallMs = dayMs + hour * HOUR_MS;
  const offsetMs = (atMs: number) => localMoment(timeZone, atMs).wallMs - Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
  const roughMs = wallMs - offsetMs(wallMs);
  return wallMs - offsetMs(roughMs);
}

/**
 * When the next digest is due: the first chosen hour after now, on a later day there than the last one.
 *
 * @param lastMs when the last one was due; null: there was none
 */
export function nextDigestMs({ timeZone, hour, days }: DigestSchedule, nowMs: number, lastMs: number | null): number {
  const localDay = (atMs: number) => Math.floor(localMoment(timeZone, atMs).wallMs / DAY_MS) * DAY_MS;
  const lastDayMs = lastMs === null ? Number.NEGATIVE_INFINITY : localDay(lastMs);
  for (let dayMs = localDay(nowMs) - DAY_MS; ; dayMs += DAY_MS) {
    const weekday = new Date(dayMs).getUTCDay();
    if (dayMs <= lastDayMs || (days === 'weekdays' && (weekday === 0 || weekday === 6))) continue;
    const atMs = instantOf(timeZone, dayMs, hour);
    if (atMs > nowMs) return atMs;
  }
}
