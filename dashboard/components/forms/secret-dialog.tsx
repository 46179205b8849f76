/** Dialogs in which something is made whose secret is shown this once. */
import { type ReactNode, useEffect, useState } from 'react';
import { Button } from '../frame/button.tsx';
import { Dialog } from '../frame/dialog.tsx';
import { Copy } from '../shown/copy.tsx';

interface SecretProps {
  readonly label: string;
  readonly value: string;
  /** What the secret is for. */
  readonly note: string;
}

/** A credential that is shown this once. Leaving the page before it was put away asks. */
export function Secret({ label, value, note }: SecretProps) {
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, []);
  return (
    <div className="grid gap-2">
      <div className="flex items-center gap-2 rounded-lg border border-line-strong bg-sunken py-1 pr-1 pl-3">
        <output aria-label={label} className="min-w-0 flex-1 font-mono text-[13px] break-all select-all">
          {value}
        </output>
        <Copy text={value} what={label} />
      </div>
      <p className="text-muted">{note}</p>
    </div>
  );
}

/** The last button of a dialog that showed what was made. */
export const DoneButton = ({ onClick }: { readonly onClick: () => void }) => (
  <Button look="primary" className="justify-self-end" onClick={onClick}>
    Done
  </Button>
);

/** What was made, with its secret that is shown this once. */
export interface Made extends Omit<SecretProps, 'value'> {
  readonly title: string;
  readonly description: string;
  /** Null: a repeated request, whose first answer had it. */
  readonly secret: string | null;
  /** Where another one is made, for a secret that was shown before. */
  readonly shownBefore: string;
  /** A link to go on with; it closes the dialog. */
  readonly next: (close: () => void) => ReactNode;
}

interface CreateDialogProps {
  readonly onClose: () => void;
  readonly title: string;
  readonly description?: string;
  /** The form; it hands over what it made. */
  readonly children: (onMade: (made: Made) => void) => ReactNode;
}

/** Asks for the fields of a new row, then shows its secret, once. */
export function CreateDialog({ onClose, title, description, children }: CreateDialogProps) {
  const [made, setMade] = useState<Made>();
  if (made === undefined)
    return (
      <Dialog onClose={onClose} title={title} description={description}>
        {children(setMade)}
      </Dialog>
    );
  const { label, secret, note, shownBefore, next } = made;
  return (
    <Dialog onClose={onClose} keep title={made.title} description={made.description}>
      <div className="grid gap-4">
        {secret === null ? (
          <p>
            The {label.toLowerCase()} was shown before. {shownBefore}
          </p>
        ) : (
          <Secret label={label} value={secret} note={note} />
        )}
        <div className="flex justify-end gap-2">
          {next(onClose)}
          <DoneButton onClick={onClose} />
        </div>
      </div>
    </Dialog>
  );
}
