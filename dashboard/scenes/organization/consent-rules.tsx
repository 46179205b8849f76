import { useState } from 'react';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Field, Form } from '../../components/forms/form.tsx';
import { SaveRow, Tick } from '../../components/forms/settings.tsx';
import { ProblemNote } from '../../components/frame/page.tsx';
import { aboutField } from '../../problem.ts';
import { type ConsentMode, type OrganizationProps, useUpdateOrganization } from './queries.ts';

const MODES: readonly (readonly [ConsentMode, string, string])[] = [
  ['always', 'Every message', 'Each message to an address outside waits for a person.'],
  [
    'first_contact',
    'First contact',
    'A message to somebody new waits. A reply to a verified author passes, to nobody else and with nothing of other mail.',
  ],
  ['off', 'Nothing', 'Agents write to anybody. Block lists and limits still hold.'],
];

/** When mail of agents waits for a person, for how long, and who may decide. */
export function ConsentRules({ organization: { settings }, mayChange }: OrganizationProps) {
  const update = useUpdateOrganization();
  const [mode, setMode] = useState(settings.outboundConsent);
  const [days, setDays] = useState(String(settings.consentExpiresInDays));
  const [replies, setReplies] = useState(settings.repliesNeedApproval);
  const [byKey, setByKey] = useState(settings.consentByApiKey);
  const [asking, setAsking] = useState(false);
  const [saved, setSaved] = useState(false);
  const loosens = (byKey && !settings.consentByApiKey) || (mode === 'off' && settings.outboundConsent !== 'off');
  const save = (): void =>
    update.mutate(
      {
        settings: {
          outboundConsent: mode,
          repliesNeedApproval: replies,
          consentExpiresInDays: Number(days),
          consentByApiKey: byKey,
        },
      },
      { onSuccess: () => setSaved(true), onSettled: () => setAsking(false) },
    );
  const aboutDays = aboutField(update.error, '/settings/consentExpiresInDays');
  return (
    <Form
      aria-label="Approvals"
      onSubmit={() => (loosens ? setAsking(true) : save())}
      onChange={() => setSaved(false)}
      className="grid gap-4 rounded-lg border border-line bg-panel p-4"
    >
      <h2>Approvals</h2>
      {aboutDays === undefined ? <ProblemNote error={update.error} /> : null}
      <fieldset disabled={!mayChange} className="grid gap-2">
        <legend className="mb-1 font-medium">What needs approval</legend>
        {MODES.map(([value, title, sentence]) => (
          <Tick key={value} type="radio" name="mode" checked={mode === value} onChange={() => setMode(value)}>
            <span className="font-medium">{title}</span> <span className="block text-muted">{sentence}</span>
          </Tick>
        ))}
      </fieldset>
      {mode === 'first_contact' ? (
        <Tick
          type="checkbox"
          className="flex items-start gap-2"
          disabled={!mayChange}
          checked={replies}
          onChange={(event) => setReplies(event.target.checked)}
        >
          <span className="font-medium">Replies need approval</span>
          <span className="block text-muted">Also replies to people who wrote first.</span>
        </Tick>
      ) : null}
      <Field
        label="Days until a request expires and is denied"
        type="number"
        min={1}
        max={30}
        required
        disabled={!mayChange}
        value={days}
        onChange={(event) => setDays(event.target.value)}
        error={aboutDays}
        className="max-w-32"
      />
      <Tick
        type="checkbox"
        className="flex items-start gap-2"
        disabled={!mayChange}
        checked={byKey}
        onChange={(event) => setByKey(event.target.checked)}
      >
        <span className="font-medium">API keys may approve</span>
        <span className="block text-muted">
          For an approval system of your own. An agent that holds such a key can approve its own messages.
        </span>
      </Tick>
      {mayChange ? (
        <SaveRow done={saved ? 'Saved' : ''} busy={update.isPending}>
          Save the rules
        </SaveRow>
      ) : null}
      {asking ? (
        <Confirm
          title={byKey && !settings.consentByApiKey ? 'Let API keys approve?' : 'Let agents write to anybody?'}
          consequence={
            byKey && !settings.consentByApiKey
              ? 'Every API key with mailbox:write can then approve messages, including one that an agent holds: no person has to see them. The change is in the audit log.'
              : 'No message waits for a person any more, to any recipient. The change is in the audit log.'
          }
          action="Yes, change the rules"
          change={update}
          onConfirm={save}
          onClose={() => setAsking(false)}
        />
      ) : null}
    </Form>
  );
}
