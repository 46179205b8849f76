import { type FormEvent, useState } from 'react';
import { budgetOf } from '../../components/forms/budget.ts';
import { Choice, Field } from '../../components/forms/field.tsx';
import { textOfField } from '../../components/forms/form-text.ts';
import { SaveRow } from '../../components/forms/save-row.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { aboutField } from '../../problem.ts';
import { type Organization, type SendingMode, useUpdateOrganization } from './queries.ts';

const MODES: readonly (readonly [SendingMode, string])[] = [
  ['normal', 'Sends'],
  ['drafts_only', 'Drafts only: a person sends them'],
  ['stopped', 'Stopped until a person allows it'],
];
const BUDGETS = [
  'dailyMessages',
  'dailyNewRecipients',
  'newMailboxDailyMessages',
  'newMailboxDailyNewRecipients',
] as const;
type BudgetName = (typeof BUDGETS)[number];

/** How much all mailboxes together may send in a day, and how freely a new mailbox may send. */
export function SendingLimits({
  organization: { settings },
  mayChange,
}: {
  readonly organization: Organization;
  readonly mayChange: boolean;
}) {
  const update = useUpdateOrganization();
  const [wrong, setWrong] = useState<BudgetName>();
  const [saved, setSaved] = useState(false);
  const [before, setBefore] = useState(settings);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const budgets: { [Name in BudgetName]?: number | null } = {};
    // Only what was changed here: somebody else may have changed the rest meanwhile.
    for (const name of BUDGETS) {
      const budget = budgetOf(textOfField(form, name));
      if (budget === undefined) {
        setWrong(name);
        return;
      }
      if (budget !== before[name]) budgets[name] = budget;
    }
    setWrong(undefined);
    const mode = MODES.find(([value]) => value === textOfField(form, 'mode'))?.[0] ?? settings.newMailboxSendingMode;
    update.mutate(
      { settings: { ...budgets, newMailboxSendingMode: mode } },
      {
        onSuccess: (organization) => {
          setBefore(organization.settings);
          setSaved(true);
        },
      },
    );
  };
  const budget = (name: BudgetName, label: string) => (
    <Field
      label={label}
      name={name}
      inputMode="numeric"
      autoComplete="off"
      placeholder="no limit"
      disabled={!mayChange}
      defaultValue={settings[name] ?? ''}
      error={
        wrong === name ? 'Enter a whole number, or leave it empty.' : aboutField(update.error, `/settings/${name}`)
      }
    />
  );
  return (
    <form
      aria-label="Sending limits"
      onSubmit={submit}
      onChange={() => setSaved(false)}
      className="grid gap-4 rounded-lg border border-line bg-panel p-4"
    >
      <div>
        <h2>Sending limits</h2>
        <p className="text-muted">Mail above a limit is held for approval. Days are in UTC.</p>
      </div>
      <ProblemNote error={update.error} />
      <fieldset className="grid gap-3 sm:grid-cols-2">
        <legend className="mb-1 font-medium">All mailboxes together</legend>
        {budget('dailyMessages', 'Messages a day')}
        {budget('dailyNewRecipients', 'New recipients a day')}
      </fieldset>
      <fieldset className="grid gap-3 border-t border-line pt-4 sm:grid-cols-2">
        <legend className="sr-only">New mailboxes</legend>
        <p className="text-muted sm:col-span-2">
          <span className="block font-medium text-text">New mailboxes</span>
          Each mailbox starts with these limits, even if an agent creates it. Only a person can loosen them, on the page
          of the mailbox.
        </p>
        <div className="sm:col-span-2">
          <Choice label="Sending" name="mode" disabled={!mayChange} defaultValue={settings.newMailboxSendingMode}>
            {MODES.map(([value, title]) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
          </Choice>
        </div>
        {budget('newMailboxDailyMessages', 'Messages a day')}
        {budget('newMailboxDailyNewRecipients', 'New recipients a day')}
      </fieldset>
      {mayChange ? (
        <SaveRow saved={saved} busy={update.isPending}>
          Save the limits
        </SaveRow>
      ) : null}
    </form>
  );
}
