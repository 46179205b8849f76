import { Time } from './time.tsx';

/** When a credential was last used, in a few words. @param at ISO 8601; null: never */
export function LastUsed({ at }: { readonly at: string | null }) {
  if (at === null) return 'never used';
  return (
    <>
      used <Time value={at} />
    </>
  );
}
