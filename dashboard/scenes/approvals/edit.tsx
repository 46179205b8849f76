import { type FormEvent, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Field, LongField } from '../../components/field.tsx';
import { textOfField } from '../../components/form-text.ts';
import { ProblemNote } from '../../components/problem-note.tsx';
import { ApproveMenu } from './approve-menu.tsx';
import { type Draft, draftOf, editOf, recipientsOf } from './draft.ts';
import { FieldDifferences } from './field-difference.tsx';
import type { HeldRequestProps } from './held-request.tsx';
import type { ConsentMessage } from './queries.ts';

interface EditProps extends Pick<HeldRequestProps, 'approve'> {
  readonly message: ConsentMessage;
  readonly onClose: () => void;
}

/** Changes a held message, then shows the difference, then approves exactly that. */
export function Edit({ message, approve, onClose }: EditProps) {
  const [draft, setDraft] = useState<Draft>(() => draftOf(message));
  const [reviewing, setReviewing] = useState(false);
  const { edit, changes } = editOf(message, draft);
  if (!reviewing)
    return (
      <EditForm
        draft={draft}
        onClose={onClose}
        onReview={(next) => {
          setDraft(next);
          setReviewing(true);
        }}
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
            onApprove={(scope) => approve.mutate({ scope, edit })}
          />
        )}
        <Button
          disabled={approve.isPending}
          onClick={() => {
            approve.reset();
            setReviewing(false);
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

interface EditFormProps {
  readonly draft: Draft;
  readonly onReview: (draft: Draft) => void;
  readonly onClose: () => void;
}

function EditForm({ draft, onReview, onClose }: EditFormProps) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const typed = (name: string) => textOfField(form, name).replaceAll('\r\n', '\n');
    onReview({
      to: typed('to'),
      cc: typed('cc'),
      bcc: typed('bcc'),
      subject: typed('subject'),
      text: draft.text === null ? null : typed('text'),
      html: draft.html === null ? null : typed('html'),
    });
  };
  const rows = (text: string) => Math.max(1, text.split('\n').length);
  return (
    <form
      onSubmit={submit}
      aria-label="Edit the message"
      className="grid gap-4 rounded-lg border border-line bg-panel p-4"
    >
      <h2>Edit the message</h2>
      <LongField
        label="To"
        name="to"
        defaultValue={draft.to}
        rows={rows(draft.to)}
        hint="One address per line."
        autoFocus
      />
      <LongField label="Cc" name="cc" defaultValue={draft.cc} rows={rows(draft.cc)} />
      <LongField
        label="Bcc"
        name="bcc"
        defaultValue={draft.bcc}
        rows={rows(draft.bcc)}
        hint="Nobody else sees these."
      />
      <Field label="Subject" name="subject" defaultValue={draft.subject} autoComplete="off" />
      {draft.text === null ? null : <LongField label="Text" name="text" defaultValue={draft.text} rows={12} />}
      {draft.html === null ? null : (
        <LongField
          label="HTML"
          name="html"
          defaultValue={draft.html}
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
    </form>
  );
}
