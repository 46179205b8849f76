import { useState } from 'react';
import { Badge } from '../shown/badge.tsx';
import { Time } from '../shown/time.tsx';
import { Choice, Field, type Typed } from './form.tsx';

const DAY_MS = 86_400_000;

/** How long a credential may live; days, or null for ever. */
const LIFETIMES: readonly { readonly title: string; readonly days: number | null }[] = [
  { title: '30 days', days: 30 },
  { title: '90 days', days: 90 },
  { title: '1 year', days: 365 },
  { title: 'Never', days: null },
];
const LIFETIME_DEFAULT = '90 days';
/** The day is typed. */
const OTHER_DATE = 'Another date';
/** The expiration stays as it is. */
const AS_IT_IS = 'As it is';

/** The end of a day in the reader's zone; undefined where the text is no day. @param day `YYYY-MM-DD` */
function endOfDay(day: string): string | undefined {
  const time = new Date(`${day}T23:59:59`);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/**
 * When a credential expires, as chosen in {@link Expiration}: ISO 8601, or null for never.
 *
 * @returns undefined: that stays as it is, or nothing was chosen
 */
export function expiryOf(typed: Typed, nowMs: number): string | null | undefined {
  const choice = typed('lifetime');
  if (choice === OTHER_DATE) return endOfDay(typed('day'));
  const lifetime = LIFETIMES.find(({ title }) => title === choice);
  if (lifetime === undefined) return undefined;
  return lifetime.days === null ? null : new Date(nowMs + lifetime.days * DAY_MS).toISOString();
}

/** Asks how long a credential may live. @param mayStay whether it has an expiration that can stay */
export function Expiration({ mayStay, error }: { readonly mayStay: boolean; readonly error: string | undefined }) {
  const [lifetime, setLifetime] = useState(mayStay ? AS_IT_IS : LIFETIME_DEFAULT);
  const titles = [...(mayStay ? [AS_IT_IS] : []), ...LIFETIMES.map(({ title }) => title), OTHER_DATE];
  return (
    <>
      <Choice
        label="Expiration"
        name="lifetime"
        value={lifetime}
        options={titles.map((title) => [title, title])}
        onChoose={setLifetime}
        error={lifetime === OTHER_DATE ? undefined : error}
      />
      {lifetime === OTHER_DATE ? (
        <Field
          label="Last day"
          name="day"
          type="date"
          required
          min={new Date().toISOString().slice(0, 10)}
          error={error}
        />
      ) : null}
    </>
  );
}

/** When a credential expires, in a few words. @param at ISO 8601; null: never */
export function Expires({ at }: { readonly at: string | null }) {
  if (at === null) return 'never expires';
  if (new Date(at).getTime() <= Date.now()) return <Badge meaning="stop">Expired</Badge>;
  return (
    <>
      expires <Time value={at} />
    </>
  );
}

/** When a credential was last used, in a few words. @param at ISO 8601; null: never */
export function LastUsed({ at }: { readonly at: string | null }) {
  if (at === null) return 'never used';
  return (
    <>
      used <Time value={at} />
    </>
  );
}
