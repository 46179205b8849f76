import { useState } from 'react';
import { Button } from '../frame/button.tsx';
import { Dialog } from '../frame/dialog.tsx';
import { ProblemNote } from '../frame/problem-note.tsx';
import { Field } from './field.tsx';

export interface ConfirmProps {
  readonly title: string;
  /** What follows from it. */
  readonly consequence: string;
  /** A verb. */
  readonly action: string;
  readonly busy: boolean;
  readonly error: unknown;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  /** What has to be typed first, where nothing can be recovered. */
  readonly typed?: string;
}

/** Asks before something is taken away, and names the consequence. */
export function Confirm({ title, consequence, action, busy, error, onConfirm, onClose, typed }: ConfirmProps) {
  const [text, setText] = useState('');
  const mayGo = typed === undefined || text.trim() === typed;
  return (
    <Dialog open onClose={onClose} title={title} description={consequence}>
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (mayGo) onConfirm();
        }}
      >
        <ProblemNote error={error} />
        {typed === undefined ? null : (
          <Field
            label={`Type ${typed} to confirm`}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="stop" disabled={!mayGo} busy={busy}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
