import { type ReactNode, useState } from 'react';
import { Button } from '../frame/button.tsx';
import { Dialog } from '../frame/dialog.tsx';
import { Secret } from '../shown/secret.tsx';

/** What was made, with its secret that is shown this once. */
export interface Made {
  readonly title: string;
  readonly description: string;
  readonly secretLabel: string;
  /** Null: a repeated request, whose first answer had it. */
  readonly secret: string | null;
  /** What the secret is for. */
  readonly note: string;
  /** Where another one is made, for a secret that was shown before. */
  readonly shownBefore: string;
  /** A link to go on with; it closes the dialog. */
  readonly next: (close: () => void) => ReactNode;
}

export interface CreateDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly description?: string;
  /** The form; it hands over what it made. */
  readonly children: (onMade: (made: Made) => void) => ReactNode;
}

/** Asks for the fields of a new row, then shows its secret, once. */
export function CreateDialog({ open, onClose, title, description, children }: CreateDialogProps) {
  const [made, setMade] = useState<Made>();
  const close = () => {
    setMade(undefined);
    onClose();
  };
  const shown = made?.description ?? description;
  return (
    <Dialog
      open={open}
      onClose={close}
      keep={made !== undefined}
      title={made?.title ?? title}
      {...(shown === undefined ? {} : { description: shown })}
    >
      {made === undefined ? (
        children(setMade)
      ) : (
        <div className="grid gap-4">
          {made.secret === null ? (
            <p>
              The {made.secretLabel.toLowerCase()} was shown before. {made.shownBefore}
            </p>
          ) : (
            <Secret label={made.secretLabel} value={made.secret} note={made.note} />
          )}
          <div className="flex justify-end gap-2">
            {made.next(close)}
            <Button look="primary" onClick={close}>
              Done
            </Button>
          </div>
        </div>
      )}
    </Dialog>
  );
}
