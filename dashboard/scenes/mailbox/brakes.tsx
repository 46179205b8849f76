import { type FormEvent, useId, useState } from 'react';
import { Problem } from '../../api/client.ts';
import { budgetOf } from '../../components/forms/budget.ts';
import { Field } from '../../components/forms/field.tsx';
import { textOfField } from '../../components/forms/form-text.ts';
import { Button } from '../../components/frame/button.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { movesContent } from '../../components/frame/shift-guard.ts';
import { type Mailbox, useUpdateMailbox } from './queries.ts';

type SendingMode = Mailbox['sendingMode'];

const MODES: readonly (readonly [SendingMode, string, string])[] = [
  ['normal', 'Sends', 'Mail that needs approval is held; everything else leaves at once.'],
  ['drafts_only', 'Drafts only', 'The agent writes drafts. A person sends them.'],
  ['stopped', 'Stopped', 'Nothing leaves. What is queued waits until the stop ends.'],
];

/** How freely the agent may send: a switch, and budgets of a day. */
export function Brakes({ mailbox }: { readonly mailbox: Mailbox }) {
  const { sendingMode, sending, budgets, today } = mailbox;
  const change = useUpdateMailbox(mailbox.id);
  const name = useId();
  return (
    <section aria-labelledby="brakes" className="grid gap-4 rounded-lg border border-line bg-panel p-4">
      <div>
        <h2 id="brakes">Sending</h2>
        <p className="text-muted">Only a person can give the agent more freedom than it has.</p>
      </div>
      {sending.stoppedBy === 'organization' ? (
        <p ref={movesContent} className="rounded-md bg-stop-soft px-3 py-2 text-stop">
          All sending of the organization is stopped; nothing leaves here either.
        </p>
      ) : null}
      <fieldset className="grid gap-2 sm:grid-cols-3" disabled={change.isPending}>
        <legend className="sr-only">How the mailbox sends</legend>
        {MODES.map(([mode, title, sentence]) => (
          <label
            key={mode}
            className="flex gap-2 rounded-md border border-line px-3 py-2 has-checked:border-accent has-checked:bg-accent-soft"
          >
            <input
              type="radio"
              name={name}
              checked={sendingMode === mode}
              onChange={() => change.mutate({ sendingMode: mode })}
              className="mt-1"
            />
            <span>
              <span className="block font-medium">{title}</span>
              <span className="block text-muted">{sentence}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <ProblemNote error={change.error} />
      <Budgets key={`${budgets.messagesPerDay} ${budgets.newRecipientsPerDay}`} mailbox={mailbox} today={today} />
    </section>
  );
}

function Budgets({ mailbox: { id, budgets }, today }: { readonly mailbox: Mailbox; readonly today: Mailbox['today'] }) {
  const change = useUpdateMailbox(id);
  const problem = change.error instanceof Problem ? change.error : undefined;
  const [wrong, setWrong] = useState<string>();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const [messagesPerDay, newRecipientsPerDay] = ['messages', 'recipients'].map((each) =>
      budgetOf(textOfField(form, each)),
    );
    if (messagesPerDay === undefined || newRecipientsPerDay === undefined) {
      setWrong('A budget is a whole number; leave it empty for no limit.');
      return;
    }
    setWrong(undefined);
    change.mutate({ budgets: { messagesPerDay, newRecipientsPerDay } });
  };
  return (
    <form onSubmit={submit} aria-label="Budgets" className="grid gap-3 border-t border-line pt-4">
      <div className="grid gap-3 sm:grid-cols-2">
        <Field
          label="Messages a day"
          name="messages"
          inputMode="numeric"
          autoComplete="off"
          placeholder="no limit"
          defaultValue={budgets.messagesPerDay ?? ''}
          hint={`${today.sent.toLocaleString()} sent today.`}
          error={problem?.about('/budgets/messagesPerDay')}
        />
        <Field
          label="New recipients a day"
          name="recipients"
          inputMode="numeric"
          autoComplete="off"
          placeholder="no limit"
          defaultValue={budgets.newRecipientsPerDay ?? ''}
          hint={`${today.newRecipients.toLocaleString()} today.`}
          error={problem?.about('/budgets/newRecipientsPerDay')}
        />
      </div>
      {wrong === undefined ? <ProblemNote error={change.error} /> : <p className="text-stop">{wrong}</p>}
      <div className="flex flex-wrap items-center justify-end gap-3">
        <p className="min-w-0 flex-1 text-muted">Mail above a budget is held for approval. Days are in UTC.</p>
        <p role="status" className="text-ok">
          {change.isSuccess ? 'Saved' : ''}
        </p>
        <Button type="submit" busy={change.isPending}>
          Save budgets
        </Button>
      </div>
    </form>
  );
}
