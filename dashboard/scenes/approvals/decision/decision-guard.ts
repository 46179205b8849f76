import { useEffect, useState } from 'react';

/** A decision is not taken within this time after another message was shown: it was meant for the one before. */
const DECISION_GUARD_MS = 700;

/** Whether what is shown has been shown long enough to be decided. @param shown another value: another content */
export function useSettled(shown: string): boolean {
  const [settled, setSettled] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setSettled(shown), DECISION_GUARD_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  return settled === shown;
}
