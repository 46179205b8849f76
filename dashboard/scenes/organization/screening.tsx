import { useState } from 'react';
import { Form } from '../../components/forms/form.tsx';
import { SaveRow, Tick } from '../../components/forms/settings.tsx';
import { ProblemNote } from '../../components/frame/page.tsx';
import { type OrganizationProps, useUpdateOrganization } from './queries.ts';

type Mode = OrganizationProps['organization']['settings']['screening'];

const MODES: readonly (readonly [Mode, string, string])[] = [
  ['suspicious', 'Suspicious mail', 'Mail that commands an assistant, hides such text, or imitates a known sender.'],
  ['first_senders', 'Mail of unknown senders', 'That, and all mail of senders to whom nobody here has written.'],
  ['off', 'Nothing', 'All mail is delivered. Block lists still hold.'],
];

/** Which arriving mail waits until somebody has decided about it. */
export function Screening({ organization: { settings }, mayChange }: OrganizationProps) {
  const update = useUpdateOrganization();
  const [mode, setMode] = useState(settings.screening);
  const [saved, setSaved] = useState(false);
  return (
    <Form
      aria-label="Arriving mail"
      onSubmit={() => update.mutate({ settings: { screening: mode } }, { onSuccess: () => setSaved(true) })}
      onChange={() => setSaved(false)}
      className="grid gap-4 rounded-lg border border-line bg-panel p-4"
    >
      <h2>Arriving mail</h2>
      <ProblemNote error={update.error} />
      <fieldset disabled={!mayChange} className="grid gap-2">
        <legend className="mb-1 font-medium">What is held until somebody releases it</legend>
        {MODES.map(([value, title, sentence]) => (
          <Tick key={value} type="radio" name="screening" checked={mode === value} onChange={() => setMode(value)}>
            <span className="font-medium">{title}</span> <span className="block text-muted">{sentence}</span>
          </Tick>
        ))}
      </fieldset>
      {mayChange ? (
        <SaveRow done={saved ? 'Saved' : ''} busy={update.isPending}>
          Save
        </SaveRow>
      ) : null}
    </Form>
  );
}
