import { type ReactNode, useState } from 'react';
import { Button } from '../frame/button.tsx';
import { Dialog } from '../frame/dialog.tsx';
import { ProblemNote } from '../frame/page.tsx';
import { Field, Form } from './form.tsx';

interface ConfirmProps {
  readonly title: string;
  /** What follows from it. */
  readonly consequence: string;
  /** A verb. */
  readonly action: string;
  /** Default: stop, for what takes something away. */
  readonly look?: 'primary' | 'stop';
  /** The change that is asked about. */
  readonly change: { readonly isPending: boolean; readonly error: unknown };
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  /** Whether a button beside the action closes the dialog. Default: true. */
  readonly cancel?: boolean;
  /** What has to be typed first, where nothing can be recovered. */
  readonly typed?: string;
  /** What is asked beside it. */
  readonly children?: ReactNode;
}

/** Asks before something is done, and names the consequence. */
export function Confirm(props: ConfirmProps) {
  const {
    title,
    consequence,
    action,
    look = 'stop',
    change,
    onConfirm,
    onClose,
    cancel = true,
    typed,
    children,
  } = props;
  const [text, setText] = useState('');
  const mayGo = typed === undefined || text.trim() === typed;
  return (
    <Dialog onClose={onClose} title={title} description={consequence}>
      <Form onSubmit={() => mayGo && onConfirm()}>
        <ProblemNote error={change.error} />
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
        {children}
        <div className="flex justify-end gap-2">
          {cancel ? <Button onClick={onClose}>Cancel</Button> : null}
          <Button type="submit" look={look} disabled={!mayGo} busy={change.isPending}>
            {action}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
