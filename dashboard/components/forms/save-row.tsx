import type { ReactNode } from 'react';
import { Button } from '../frame/button.tsx';

/** The end of a form: its button, and whether everything in it is saved. */
export function SaveRow({
  saved,
  busy,
  children,
}: {
  readonly saved: boolean;
  readonly busy: boolean;
  /** Text of the button. */
  readonly children: ReactNode;
}) {
  return (
    <div className="flex items-center justify-end gap-3">
      <span aria-live="polite" className="text-ok">
        {saved ? 'Saved' : ''}
      </span>
      <Button type="submit" busy={busy}>
        {children}
      </Button>
    </div>
  );
}
