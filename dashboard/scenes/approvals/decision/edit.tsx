import { useState } from 'react';
import { Field, Form, LongField, typedIn } from '../../../components/forms/form.tsx';
import { Button } from '../../../components/frame/button.tsx';
import { ProblemNote } from '../../../components/frame/page.tsx';
import type { ConsentMessage } from '../queries.ts';
import { FieldDifferences } from '../request/outcome.tsx';
import { ApproveMenu } from './decision.tsx';
import { type Draft, editOf, recipientsOf, type Unfinished } from './draft.ts';
import type { HeldRequestProps } from './held-request.tsx';

interface EditProps extends Pick<HeldRequestProps, 'approve'> {
  readonly message: ConsentMessage;
  readonly work: NonNullable<Unfinished['edit']>;
  /** The changes are shown long enough to be approved. */
  readonly settled: boolean;
  /** The form takes the focus. */
  readonly focus: boolean;
  /** Keeps what is written. */
  readonly onChange: (draft: Draft, reviewing: boolean) => void;
  readonly onClose: () => void;
}

/** Changes a held message, then shows the difference, then approves exactly that. */
export function Edit({ message, work, settled, focus, approve, onChange, onClose }: EditProps) {
  const { draft, reviewing, sha256 } = work;
  const { edit, changes } = editOf(message, draft);
  if (!reviewing)
    return (
      <EditForm
        draft={draft}
        focus={focus}
        onClose={onClose}
        onChange={(next) => onChange(next, false)}
        onReview={(next) => onChange(next, true)}
      />
    );
  return (
    <section aria-labelledby="changes" className="grid gap-4 rounded-lg border border-line bg-panel p-4">
      <div>
        <h2 id="changes">{changes.length === 0 ? 'Nothing is changed' : 'Your changes'}</h2>
        <p className="text-muted">
          {changes.length === 0
            ? 'The message is the one the agent wrote.'
            : 'This is what is sent instead. The agent is shown the same difference.'}
        </p>
      </div>
      <FieldDifferences changes={changes} />
      <ProblemNote error={approve.error} />
      <div className="flex flex-wrap gap-2">
        {changes.length === 0 ? null : (
          <ApproveMenu
            label="Approve this"
            recipients={recipientsOf(draft)}
            busy={approve.isPending}
            disabled={!settled}
            onApprove={(scope) => approve.mutate({ scope, edit, sha256 })}
          />
        )}
        <Button
          disabled={approve.isPending}
          onClick={() => {
            approve.reset();
            onChange(draft, false);
          }}
        >
          Back to the edit
        </Button>
        <Button look="quiet" disabled={approve.isPending} onClick={onClose}>
          Drop the changes
        </Button>
      </div>
    </section>
  );
}

interface EditFormProps extends Pick<EditProps, 'focus' | 'onClose'> {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly onReview: (draft: Draft) => void;
}

function EditForm({ draft, focus, onChange, onReview, onClose }: EditFormProps) {
  // The fields hold what is written; a new value from outside would move the cursor.
  const [first] = useState(draft);
  const draftIn = (element: HTMLFormElement): Draft => {
    const given = typedIn(element);
    const typed = (name: string) => given(name).replaceAll('\r\n', '\n');
    return {
      to: typed('to'),
      cc: typed('cc'),
      bcc: typed('bcc'),
      subject: typed('subject'),
      text: draft.text === null ? null : typed('text'),
      html: draft.html === null ? null : typed('html'),
    };
  };
  const field = (label: string, name: 'to' | 'cc' | 'bcc') => ({
    label,
    name,
    defaultValue: first[name],
    rows: Math.max(1, first[name].split('\n').length),
  });
  return (
    <Form
      onInput={(event) => onChange(draftIn(event.currentTarget))}
      onSubmit={(_, form) => onReview(draftIn(form))}
      aria-label="Edit the message"
      className="grid gap-4 rounded-lg border border-line bg-panel p-4"
    >
      <h2>Edit the message</h2>
      <LongField {...field('To', 'to')} hint="One address per line." autoFocus={focus} />
      <LongField {...field('Cc', 'cc')} />
      <LongField {...field('Bcc', 'bcc')} hint="Nobody else sees these." />
      <Field label="Subject" name="subject" defaultValue={first.subject} autoComplete="off" />
      {draft.text === null ? null : <LongField label="Text" name="text" defaultValue={first.text ?? ''} rows={12} />}
      {draft.html === null ? null : (
        <LongField
          label="HTML"
          name="html"
          defaultValue={first.html ?? ''}
          rows={12}
          hint={
            draft.text === null
              ? 'The message is HTML only.'
              : 'Most people see the HTML, some the text: change both. Leave the HTML empty to send only the text.'
          }
        />
      )}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" look="primary">
          Show the changes
        </Button>
        <Button look="quiet" onClick={onClose}>
          Cancel
        </Button>
      </div>
    </Form>
  );
}
