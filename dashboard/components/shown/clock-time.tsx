/** The time of day of a moment to the millisecond, in the zone of the reader; the exact time in UTC on hover. */
export function ClockTime({ value }: { readonly value: string }) {
  const time = new Date(value);
  const shown = time.toLocaleTimeString(undefined, {
    hour12: false,
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  return (
    <time dateTime={value} title={`${time.toLocaleString()} · ${value}`} className="whitespace-nowrap">
      {shown}
      <span className="text-faint">.{String(time.getMilliseconds()).padStart(3, '0')}</span>
    </time>
  );
}
