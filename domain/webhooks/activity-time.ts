/** A time as people type it into a search: `2026-11-28`, `2026-11-28 09`, `2026-11-28T09:16`, `2026-11-28T09:16:02Z`. */

export interface Period {
  readonly since: Date;
  /** Not included. */
  readonly until: Date;
}

const TYPED = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d)(?::(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?)?(?: ?(Z|[+-]\d\d:\d\d))?)?$/i;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/**
 * The day, hour, minute or second that a text names, in UTC unless it has an offset.
 *
 * @returns undefined if it is no time, such as the 31st of February
 */
export function typedPeriod(text: string): Period | undefined {
  const [, day = '', hour, minute, second, offset = 'Z'] = TYPED.exec(text) ?? [];
  if (day === '') return undefined;
  const sinceMs = Date.parse(`${day}T${hour ?? '00'}:${minute ?? '00'}:${second ?? '00'}${offset.toUpperCase()}`);
  const midnightMs = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(sinceMs) || Number.isNaN(midnightMs)) return undefined;
  // JavaScript takes the 31st of February for a day of March.
  if (new Date(midnightMs).toISOString().slice(0, day.length) !== day) return undefined;
  const lengthMs =
    hour === undefined ? DAY_MS : minute === undefined ? HOUR_MS : second === undefined ? MINUTE_MS : SECOND_MS;
  return { since: new Date(sinceMs), until: new Date(sinceMs + lengthMs) };
}
