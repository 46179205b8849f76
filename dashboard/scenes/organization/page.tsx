import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { organizationQuery } from '../../api/queries.ts';
import { useMayManage } from '../../api/session.ts';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Choice, Field, Form, type Typed } from '../../components/forms/form.tsx';
import { budgetOf, SaveRow, Tick } from '../../components/forms/settings.tsx';
import { PageHead, ProblemNote } from '../../components/frame/page.tsx';
import { Loaded } from '../../components/frame/section.tsx';
import { aboutField } from '../../problem.ts';
import { Keeping } from './keeping.tsx';
import { type ConsentMode, type OrganizationProps, type SendingMode, useUpdateOrganization } from './queries.ts';
import { Screening } from './screening.tsx';

/** Name of the organization, when a person has to approve what agents send, and how much they may send. */
export function OrganizationPage() {
  const organization = useQuery(organizationQuery);
  const mayManage = useMayManage();
  return (
    <>
      <PageHead title="Organization" />
      <Loaded query={organization}>
        {(data) => (
          <div className="grid max-w-2xl gap-8">
            {mayManage ? null : <p className="text-muted">Admins and owners can change these settings.</p>}
            <Names organization={data} mayChange={mayManage} />
            <ConsentRules organization={data} mayChange={mayManage} />
            <SecondFactorRule organization={data} mayChange={mayManage} />
            <Screening organization={data} mayChange={mayManage} />
            <SendingLimits organization={data} mayChange={mayManage} />
            <Keeping organization={data} mayChange={mayManage} />
          </div>
        )}
      </Loaded>
    </>
  );
}

function Names({ organization, mayChange }: OrganizationProps) {
  const update = useUpdateOrganization();
  const [saved, setSaved] = useState(false);
  const problems = [aboutField(update.error, '/name'), aboutField(update.error, '/slug')] as const;
  return (
    <Form
      aria-label="Name"
      onSubmit={(typed) =>
        update.mutate({ name: typed('name').trim(), slug: typed('slug').trim() }, { onSuccess: () => setSaved(true) })
      }
      onChange={() => setSaved(false)}
      className="grid gap-4 rounded-lg border border-line bg-panel p-4"
    >
      <h2>Name</h2>
      {problems.every((problem) => problem === undefined) ? <ProblemNote error={update.error} /> : null}
      <Field
        label="Name"
        name="name"
        required
        maxLength={200}
        disabled={!mayChange}
        defaultValue={organization.name}
        error={problems[0]}
      />
      <Field
        label="Short name"
        name="slug"
        required
        disabled={!mayChange}
        autoCapitalize="none"
        spellCheck={false}
        defaultValue={organization.slug}
        error={problems[1]}
        hint="Events name the organization by it: lower-case letters, digits and hyphens."
      />
      {mayChange ? (
        <SaveRow done={saved ? 'Saved' : ''} busy={update.isPending}>
          Save the name
        </SaveRow>
      ) : null}
    </Form>
  );
}

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
function SendingLimits({ organization: { settings }, mayChange }: OrganizationProps) {
  const update = useUpdateOrganization();
  const [wrong, setWrong] = useState<BudgetName>();
  const [saved, setSaved] = useState(false);
  const [before, setBefore] = useState(settings);
  const submit = (typed: Typed): void => {
    const budgets: { [Name in BudgetName]?: number | null } = {};
    // Only what was changed here: somebody else may have changed the rest meanwhile.
    for (const name of BUDGETS) {
      const budget = budgetOf(typed(name));
      if (budget === undefined) {
        setWrong(name);
        return;
      }
      if (budget !== before[name]) budgets[name] = budget;
    }
    setWrong(undefined);
    const mode = MODES.find(([value]) => value === typed('mode'))?.[0] ?? settings.newMailboxSendingMode;
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
    <Form
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
          <Choice
            label="Sending"
            name="mode"
            disabled={!mayChange}
            defaultValue={settings.newMailboxSendingMode}
            options={MODES}
          />
        </div>
        {budget('newMailboxDailyMessages', 'Messages a day')}
        {budget('newMailboxDailyNewRecipients', 'New recipients a day')}
      </fieldset>
      {mayChange ? (
        <SaveRow done={saved ? 'Saved' : ''} busy={update.isPending}>
          Save the limits
        </SaveRow>
      ) : null}
    </Form>
  );
}

const CONSENT_MODES: readonly (readonly [ConsentMode, string, string])[] = [
  ['always', 'Every message', 'Each message to an address outside waits for a person.'],
  [
    'first_contact',
    'First contact',
    'A message to somebody new waits. A reply to a verified author passes, to nobody else and with nothing of other mail.',
  ],
  ['off', 'Nothing', 'Agents write to anybody. Block lists and limits still hold.'],
];

const CARRIED_MODES: readonly (readonly [
  mode: OrganizationProps['organization']['settings']['carriedMail'],
  title: string,
  sentence: string,
])[] = [
  ['hold', 'Waits for a person', 'Text, codes or files of mail that the recipients neither wrote nor got.'],
  ['refuse', 'Is refused', 'The agent gets an error and can write it in other words.'],
  ['off', 'Is sent', 'Nothing is compared.'],
];

/** What a person is asked before the rules let more pass. */
const LOOSENED = {
  byKey: {
    title: 'Let API keys approve?',
    consequence:
      'Every API key with mailbox:write can then approve messages, including one that an agent holds: no person has to see them.',
  },
  nothing: {
    title: 'Let agents write to anybody?',
    consequence: 'No message to a new recipient waits for a person any more.',
  },
  carried: {
    title: 'Let agents pass on mail of others?',
    consequence: 'What an agent read in any mailbox can then leave in a message to anybody it may write to.',
  },
} as const;

const FACTOR_POLICIES = [
  ['off', 'Nobody needs one', 'A password is enough.'],
  [
    'approvers',
    'People who decide or change something',
    'Without a second factor a member can read, and nothing else.',
  ],
  ['everyone', 'Everybody', 'Without a second factor a member sees nothing of the organization.'],
] as const;

/** What sessions without a second factor may do. */
function SecondFactorRule({ organization: { settings }, mayChange }: OrganizationProps) {
  const update = useUpdateOrganization();
  const [policy, setPolicy] = useState(settings.secondFactor);
  const [saved, setSaved] = useState(false);
  return (
    <Form
      aria-label="Second factor"
      onSubmit={() => update.mutate({ settings: { secondFactor: policy } }, { onSuccess: () => setSaved(true) })}
      onChange={() => setSaved(false)}
      className="grid gap-4 rounded-lg border border-line bg-panel p-4"
    >
      <h2>Second factor</h2>
      <ProblemNote error={update.error} />
      <fieldset disabled={!mayChange} className="grid gap-2">
        <legend className="mb-1 font-medium">Who needs a second factor</legend>
        {FACTOR_POLICIES.map(([value, title, sentence]) => (
          <Tick key={value} type="radio" name="factor" checked={policy === value} onChange={() => setPolicy(value)}>
            <span className="font-medium">{title}</span> <span className="block text-muted">{sentence}</span>
          </Tick>
        ))}
      </fieldset>
      {mayChange ? (
        <SaveRow done={saved ? 'Saved' : ''} busy={update.isPending}>
          Save the second factor rule
        </SaveRow>
      ) : null}
    </Form>
  );
}

/** When mail of agents waits for a person, for how long, and who may decide. */
function ConsentRules({ organization: { settings }, mayChange }: OrganizationProps) {
  const update = useUpdateOrganization();
  const [mode, setMode] = useState(settings.outboundConsent);
  const [days, setDays] = useState(String(settings.consentExpiresInDays));
  const [undo, setUndo] = useState(String(settings.undoSeconds));
  const [replies, setReplies] = useState(settings.repliesNeedApproval);
  const [carried, setCarried] = useState(settings.carriedMail);
  const [minutes, setMinutes] = useState(String(settings.askAfterReadingMinutes));
  const [byKey, setByKey] = useState(settings.consentByApiKey);
  const [asking, setAsking] = useState(false);
  const [saved, setSaved] = useState(false);
  const loosens =
    byKey && !settings.consentByApiKey
      ? LOOSENED.byKey
      : mode === 'off' && settings.outboundConsent !== 'off'
        ? LOOSENED.nothing
        : carried === 'off' && settings.carriedMail !== 'off'
          ? LOOSENED.carried
          : undefined;
  const save = (): void =>
    update.mutate(
      {
        settings: {
          outboundConsent: mode,
          repliesNeedApproval: replies,
          carriedMail: carried,
          askAfterReadingMinutes: Number(minutes),
          consentExpiresInDays: Number(days),
          undoSeconds: Number(undo),
          consentByApiKey: byKey,
        },
      },
      { onSuccess: () => setSaved(true), onSettled: () => setAsking(false) },
    );
  const aboutDays = aboutField(update.error, '/settings/consentExpiresInDays');
  return (
    <Form
      aria-label="Approvals"
      onSubmit={() => (loosens === undefined ? save() : setAsking(true))}
      onChange={() => setSaved(false)}
      className="grid gap-4 rounded-lg border border-line bg-panel p-4"
    >
      <h2>Approvals</h2>
      {aboutDays === undefined ? <ProblemNote error={update.error} /> : null}
      <fieldset disabled={!mayChange} className="grid gap-2">
        <legend className="mb-1 font-medium">What needs approval</legend>
        {CONSENT_MODES.map(([value, title, sentence]) => (
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
      <fieldset disabled={!mayChange} className="grid gap-2">
        <legend className="mb-1 font-medium">Mail that carries other mail</legend>
        {CARRIED_MODES.map(([value, title, sentence]) => (
          <Tick key={value} type="radio" name="carried" checked={carried === value} onChange={() => setCarried(value)}>
            <span className="font-medium">{title}</span> <span className="block text-muted">{sentence}</span>
          </Tick>
        ))}
      </fieldset>
      <NumberField
        label="Minutes of approval after mail of an unknown sender"
        range={[0, 1440]}
        disabled={!mayChange}
        value={minutes}
        onChange={setMinutes}
        hint="So long after an agent read it, mail to anybody else waits for a person. 0: it does not."
      />
      <NumberField
        label="Days until a request expires and is denied"
        range={[1, 30]}
        disabled={!mayChange}
        value={days}
        onChange={setDays}
        error={aboutDays}
      />
      <NumberField
        label="Seconds in which an approval can be taken back"
        range={[0, 60]}
        disabled={!mayChange}
        value={undo}
        onChange={setUndo}
        hint="An approved message waits so long before it is sent."
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
      {asking && loosens !== undefined ? (
        <Confirm
          title={loosens.title}
          consequence={`${loosens.consequence} The change is in the audit log.`}
          action="Yes, change the rules"
          change={update}
          onConfirm={save}
          onClose={() => setAsking(false)}
        />
      ) : null}
    </Form>
  );
}

interface NumberFieldProps {
  readonly label: string;
  /** Smallest and largest value. */
  readonly range: readonly [number, number];
  readonly disabled: boolean;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint?: string;
  readonly error?: string | undefined;
}

function NumberField({ range: [min, max], onChange, ...field }: NumberFieldProps) {
  return (
    <Field
      {...field}
      type="number"
      min={min}
      max={max}
      required
      onChange={(event) => onChange(event.target.value)}
      className="max-w-32"
    />
  );
}
