/**
 * Rules who decides about held messages. Without a rule every member may.
 *
 *   most specific rules that name people ──nobody decided for their hours──▶ every member
 *
 * A rule is about a group of mailboxes, about recipients, about both, or about everything. Of the rules that are about a
 * message and name members, those that are the most specific say who is responsible (recipients before a group, a group
 * before everything); rules with hours count within them. Two persons are needed if any rule about the message says so, at
 * any hour.
 */

/** Rules of an organization. */
export const DECISION_RULES_MAX = 100;
export const DECISION_RULE_MEMBERS_MAX = 50;
export const DECISION_RULE_RECIPIENTS_MAX = 100;
/** Nobody waits for an absent person: after these hours every member may decide, and is asked. */
export const ESCALATES_AFTER_HOURS_DEFAULT = 8;
export const ESCALATES_AFTER_HOURS_MAX = 168;
/** A deputy is named for at most so many days. */
export const DEPUTY_MAX_DAYS = 366;

const HOUR_MS = 3_600_000;

/** When the members of a rule are on duty. */
export interface DutyHours {
  /** As IANA names it, such as `Europe/Berlin`. */
  readonly timeZone: string;
  /** 1 is Monday, 7 Sunday: the days on which the hours begin. */
  readonly days: readonly number[];
  /** `08:00`; if it is later than `to`, the hours end on the next day. */
  readonly from: string;
  readonly to: string;
}

export interface DecisionRule {
  /** Null: mailboxes of every group, and of none. */
  readonly mailboxGroup: string | null;
  /** Addresses and domains, in lower case; none: all. */
  readonly recipients: readonly string[];
  /** Members who are responsible, as far as they still are members; none: the rule names nobody. */
  readonly memberIds: readonly string[];
  readonly persons: number;
  /** Null: always. */
  readonly hours: DutyHours | null;
  readonly escalatesAfterHours: number;
}

/** A member who decides for another one at this moment. */
export interface ActiveDeputy {
  readonly memberId: string;
  readonly deputyId: string;
}

interface DecidedRequest {
  /** Of the mailbox that wrote. */
  readonly mailboxGroup: string | null;
  /** Addresses, or domains of a wider approval, in lower case. */
  readonly recipients: readonly string[];
  /** In milliseconds since 1970. */
  readonly createdAtMs: number;
}

export interface Responsible {
  /** Null: every member. */
  readonly memberIds: readonly string[] | null;
  readonly persons: 1 | 2;
  /** When every member may decide, in milliseconds since 1970; undefined: they may now. */
  readonly escalatesAtMs?: number;
  /** A rule named members, and its time is over. */
  readonly isEscalated?: true;
}

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1);

/** Whether a rule about `value` is about `recipient`; either may be an address or a domain. */
const meets = (value: string, recipient: string): boolean =>
  value === recipient ||
  (!value.includes('@') && domainOf(recipient) === value) ||
  (!recipient.includes('@') && domainOf(value) === recipient);

const isAbout = (rule: DecisionRule, recipients: readonly string[]): boolean =>
  rule.recipients.length === 0 || rule.recipients.some((value) => recipients.some((each) => meets(value, each)));

const specificity = ({ recipients, mailboxGroup }: DecisionRule): number =>
  (recipients.length > 0 ? 2 : 0) + (mailboxGroup === null ? 0 : 1);

export function whoDecides(
  rules: readonly DecisionRule[],
  deputies: readonly ActiveDeputy[],
  { mailboxGroup, recipients, createdAtMs }: DecidedRequest,
  nowMs: number,
): Responsible {
  const about = rules.filter(
    (rule) => (rule.mailboxGroup === null || rule.mailboxGroup === mailboxGroup) && isAbout(rule, recipients),
  );
  const persons = about.some((rule) => rule.persons > 1) ? 2 : 1;
  const naming = about.filter(
    ({ memberIds, hours }) => memberIds.length > 0 && (hours === null || isOnDuty(hours, nowMs)),
  );
  if (naming.length === 0) return { memberIds: null, persons };
  const most = Math.max(...naming.map(specificity));
  const deciding = naming.filter((rule) => specificity(rule) === most);
  const escalatesAtMs = createdAtMs + Math.min(...deciding.map((rule) => rule.escalatesAfterHours)) * HOUR_MS;
  if (escalatesAtMs <= nowMs) return { memberIds: null, persons, isEscalated: true };
  return { memberIds: withDeputies(deciding, deputies), persons, escalatesAtMs };
}

function withDeputies(rules: readonly DecisionRule[], deputies: readonly ActiveDeputy[]): string[] {
  const named = new Set(rules.flatMap(({ memberIds }) => memberIds));
  return [...named, ...deputies.filter(({ memberId }) => named.has(memberId)).map(({ deputyId }) => deputyId)];
}

/**
 * Whether a member may allow recipients for all mailboxes, and for good: an approval wider than a message, an entry of an
 * allow list, an approval in advance. Every rule about them must name the member, and none needs two persons.
 *
 * @param mailboxGroup of the only mailbox that it is for; undefined: it is for all
 */
export function mayAllowAhead(
  rules: readonly DecisionRule[],
  deputies: readonly ActiveDeputy[],
  recipients: readonly string[],
  memberId: string | null,
  mailboxGroup?: string | null,
): boolean {
  return rules
    .filter((rule) => mailboxGroup === undefined || rule.mailboxGroup === null || rule.mailboxGroup === mailboxGroup)
    .filter((rule) => isAbout(rule, recipients))
    .every(
      (rule) =>
        rule.persons === 1 &&
        (rule.memberIds.length === 0 || (memberId !== null && withDeputies([rule], deputies).includes(memberId))),
    );
}

const MINUTE_MS = 60_000;

interface LocalMoment {
  /** The day of the week: 1 is Monday, 7 Sunday. */
  readonly day: number;
  /** Of the day. */
  readonly minute: number;
  /** What the clock there shows, to the minute, as milliseconds since 1970 if it were UTC. */
  readonly wallMs: number;
}

/** What calendar and clock of a time zone show. */
export function localMoment(timeZone: string, atMs: number): LocalMoment {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(atMs);
  const part = (type: string) => Number(parts.find((each) => each.type === type)?.value);
  const minute = part('hour') * 60 + part('minute');
  const wallMs = Date.UTC(part('year'), part('month') - 1, part('day')) + minute * MINUTE_MS;
  return { day: new Date(wallMs).getUTCDay() || 7, minute, wallMs };
}

const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));

export function isOnDuty({ timeZone, days, from, to }: DutyHours, nowMs: number): boolean {
  const { day, minute } = localMoment(timeZone, nowMs);
  const [start, end] = [minuteOf(from), minuteOf(to)];
  if (start < end) return days.includes(day) && minute >= start && minute < end;
  const before = day === 1 ? 7 : day - 1;
  return (days.includes(day) && minute >= start) || (days.includes(before) && minute < end);
}

/** Whether this runtime knows a time zone. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
