import { useEffect, useState } from 'react';

const SECOND_MS = 1_000;
const MINUTE_S = 60;
const HOUR_S = 3_600;

function until(ms: number): string {
  const seconds = Math.ceil(ms / SECOND_MS);
  if (seconds <= 0) return 'at any moment';
  if (seconds < MINUTE_S) return `in ${seconds} s`;
  if (seconds < HOUR_S) return `in ${Math.floor(seconds / MINUTE_S)} min ${seconds % MINUTE_S} s`;
  return `in ${Math.floor(seconds / HOUR_S)} h ${Math.floor((seconds % HOUR_S) / MINUTE_S)} min`;
}

/** How long it is until a moment, second by second. */
export function Countdown({ value }: { readonly value: string }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <time role="timer" dateTime={value} title={`${new Date(value).toLocaleString()} · ${value}`}>
      {until(new Date(value).getTime() - now)}
    </time>
  );
}
