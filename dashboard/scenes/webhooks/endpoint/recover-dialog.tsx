import { type FormEvent, useState } from 'react';
import { Choice, Field } from '../../../components/forms/field.tsx';
import { Button } from '../../../components/frame/button.tsx';
import { Dialog } from '../../../components/frame/dialog.tsx';
import { ProblemNote } from '../../../components/frame/problem-note.tsx';
import { localInput } from '../../../components/shown/local-time.ts';
import { type Recovery, useRecover } from '../queries.ts';

const MINUTE_MS = 60_000;

export interface RecoverDialogProps {
  readonly id: string;
  /** ISO 8601: from when on, to begin with. */
  readonly since: string;
  readonly onClose: () => void;
}

/** Asks which given-up deliveries are sent again. */
export function RecoverDialog({ id, since: first, onClose }: RecoverDialogProps) {
  const recover = useRecover(id);
  const [since, setSince] = useState(localInput(first));
  const [until, setUntil] = useState('');
  const [status, setStatus] = useState<Recovery['status']>('exhausted');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // The field knows minutes: one that was not touched means the moment itself.
    const from = since === localInput(first) ? first : new Date(since).toISOString();
    recover.mutate(
      {
        since: from,
        status,
        // Up to the end of the minute that was named.
        ...(until === '' ? {} : { until: new Date(new Date(until).getTime() + MINUTE_MS).toISOString() }),
      },
      { onSuccess: onClose },
    );
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title="Send deliveries again"
      description="Each gets one more attempt under its webhook-id, oldest first. Live deliveries are not held up."
    >
      <form onSubmit={submit} className="grid gap-4">
        <ProblemNote error={recover.error} />
        <Choice
          label="Which"
          value={status}
          onChange={(event) => setStatus(event.target.value === 'failed' ? 'failed' : 'exhausted')}
        >
          <option value="exhausted">Those that were given up (exhausted)</option>
          <option value="failed">Those that wait for a retry (failed)</option>
        </Choice>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field
            label="Made from"
            type="datetime-local"
            required
            value={since}
            onChange={(event) => setSince(event.target.value)}
          />
          <Field
            label="Until"
            type="datetime-local"
            value={until}
            onChange={(event) => setUntil(event.target.value)}
            hint="Empty: now."
          />
        </div>
        <Button type="submit" look="primary" className="justify-self-end" busy={recover.isPending}>
          Send again
        </Button>
      </form>
    </Dialog>
  );
}
