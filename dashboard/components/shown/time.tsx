const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

let relative: Intl.RelativeTimeFormat | undefined;
/** Made when the first time is shown: it loads the rules of the language. */
const relativeFormat = (): Intl.RelativeTimeFormat =>
  (relative ??= new Intl.RelativeTimeFormat('en', { numeric: 'auto' }));

/** Large counts are rounded, so that a week that has just begun is seven days; small ones are cut, so that none is too long. */
const whole = (count: number): number => (count >= 3 ? Math.round(count) : Math.trunc(count));

function ago(seconds: number): string {
  for (const [unit, size] of UNITS)
    if (Math.abs(seconds) >= size) return relativeFormat().format(whole(seconds / size), unit);
  return seconds <= 0 ? 'just now' : 'in less than a minute';
}

/** A moment as people say it, in their zone; the exact time in UTC on hover. */
export function Time({ value }: { readonly value: string }) {
  const time = new Date(value);
  return (
    <time dateTime={value} title={`${time.toLocaleString()} · ${value}`}>
      {ago((time.getTime() - Date.now()) / 1_000)}
    </time>
  );
}
