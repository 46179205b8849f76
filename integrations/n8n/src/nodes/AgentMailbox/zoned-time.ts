/** Times without a zone, as the date field of n8n's editor gives them. */

const WITHOUT_ZONE = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?$/;

/** Milliseconds that a zone's clock is ahead of UTC. */
function offsetAt(atMs: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  const name = format.formatToParts(atMs).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours = '0', minutes = '0'] = /^GMT([+-])(\d{2}):(\d{2})/.exec(name) ?? [];
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return sign === '-' ? -offset : offset;
}

/**
 * A date of n8n's field as the service takes it; other texts as they are, for the service to refuse.
 *
 * @param timeZone IANA name, such as `Europe/Berlin`: that of a time that names none
 */
export function asTime(value: unknown, timeZone: string): unknown {
  const text = String(value).trim();
  const isLocal = WITHOUT_ZONE.test(text);
  const asUtc = new Date(isLocal ? `${text.replace(' ', 'T')}${text.length > 10 ? 'Z' : ''}` : text).getTime();
  if (Number.isNaN(asUtc)) return value;
  if (!isLocal) return new Date(asUtc).toISOString();
  // The offset can change between the two, when clocks are put forward or back.
  const near = asUtc - offsetAt(asUtc, timeZone);
  return new Date(asUtc - offsetAt(near, timeZone)).toISOString();
}
