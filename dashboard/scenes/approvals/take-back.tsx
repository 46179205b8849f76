import { useEffect, useState } from 'react';
import { Button } from '../../components/frame/button.tsx';
import { ProblemNote } from '../../components/frame/page.tsx';
import type { Consent } from './queries.ts';

interface TakeBackProps {
  readonly consent: Consent;
  readonly change: { readonly isPending: boolean; readonly error: Error | null };
  readonly onTakeBack: () => void;
}

/** A button as long as an approval can be taken back. It keeps its place when its time is over. */
export function TakeBack({ consent, change, onTakeBack }: TakeBackProps) {
  const { undoUntil } = consent;
  const untilMs = undoUntil === null ? 0 : Date.parse(undoUntil);
  const [over, setOver] = useState(untilMs <= Date.now());
  useEffect(() => {
    const leftMs = untilMs - Date.now();
    setOver(leftMs <= 0);
    if (leftMs <= 0) return undefined;
    const timer = setTimeout(() => setOver(true), leftMs);
    return () => clearTimeout(timer);
  }, [untilMs]);
  if (undoUntil === null) return null;
  return (
    <>
      <Button disabled={over} busy={change.isPending} onClick={onTakeBack}>
        Take back
      </Button>
      <ProblemNote error={change.error} />
    </>
  );
}
