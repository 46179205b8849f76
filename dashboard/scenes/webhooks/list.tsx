import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useDeferredValue, useId, useState } from 'react';
import { organizationQuery } from '../../api/queries.ts';
import { Choice, Field, Form, Submit, type Typed } from '../../components/forms/form.tsx';
import { CreateDialog, type Made } from '../../components/forms/secret-dialog.tsx';
import { Button, buttonClass } from '../../components/frame/button.tsx';
import { Empty, PageHead, ProblemNote } from '../../components/frame/page.tsx';
import { PagedList } from '../../components/lists/steady-list.tsx';
import { Time } from '../../components/shown/time.tsx';
import {
  type EventType,
  mailboxChoicesQuery,
  type NewWebhook,
  type StatusCounts,
  useCreateWebhook,
  type Webhook,
  webhooksQuery,
} from './queries.ts';
import { ScopeOf, STATUS_MEANINGS, STATUSES, WebhookState } from './states.tsx';
import {
  type AuthHeader,
  DeliveryOptionFields,
  type DeliveryOptions,
  EventPicker,
  HeaderFields,
  UrlField,
  webhookProblems,
} from './webhook-form.tsx';

const COLUMNS = 'sm:grid-cols-[minmax(0,2.2fr)_110px_minmax(0,1.5fr)_150px]';

/** @param mailbox id of the mailbox whose own endpoints are listed; empty: all endpoints */
export function WebhooksPage({ mailbox }: { readonly mailbox: string }) {
  const [adding, setAdding] = useState(false);
  const organization = useQuery({ ...organizationQuery, staleTime: 60_000 });
  const list = useInfiniteQuery(webhooksQuery(mailbox));
  const hasWebhooks = organization.data?.limits.webhookEndpoints !== 0;
  return (
    <>
      <PageHead title="Webhooks" note={mailbox === '' ? undefined : <ScopeOf mailboxId={mailbox} />}>
        {hasWebhooks ? (
          <Button look="primary" onClick={() => setAdding(true)}>
            <Plus size={16} aria-hidden /> Add webhook
          </Button>
        ) : null}
      </PageHead>
      {organization.data !== undefined && !hasWebhooks ? <NoPlan plan={organization.data.plan} /> : null}
      <PagedList
        key={mailbox}
        label="Webhooks"
        query={list}
        skeleton={false}
        empty={
          hasWebhooks ? (
            <Empty title={mailbox === '' ? 'No webhooks yet' : 'No webhooks of this mailbox'}>
              <p>
                A webhook sends a signed notification to your server when mail arrives or leaves, when a mailbox is
                made, or when a message waits for a person. It is tried again when your server is away.
              </p>
              <Button look="primary" onClick={() => setAdding(true)}>
                Add the first webhook
              </Button>
            </Empty>
          ) : null
        }
      >
        {(webhook) => <Row webhook={webhook} />}
      </PagedList>
      {adding ? <CreateWebhook onClose={() => setAdding(false)} /> : null}
    </>
  );
}

function Row({ webhook }: { readonly webhook: Webhook }) {
  const { id, url, description, mailboxId, stats, oldestWaitingAt } = webhook;
  const { host, pathname } = new URL(url);
  return (
    <div className={`grid items-center gap-x-5 gap-y-2 ${COLUMNS}`}>
      <div className="min-w-0">
        <Link to="/webhooks/$id" params={{ id }} className="block truncate" title={url}>
          <span className="font-medium">{host}</span>
          {pathname === '/' ? '' : pathname}
        </Link>
        <span className="block truncate text-muted">
          {description === null || description === '' ? null : `${description} · `}
          <ScopeOf mailboxId={mailboxId} />
        </span>
      </div>
      <div>
        <WebhookState webhook={webhook} />
      </div>
      <OutcomeBar counts={stats.last24h} />
      <div className="text-muted sm:text-right">
        {oldestWaitingAt === null ? (
          'nothing waits'
        ) : (
          <>
            waits since <Time value={oldestWaitingAt} />
          </>
        )}
      </div>
    </div>
  );
}

function NoPlan({ plan }: { readonly plan: string }) {
  return (
    <div className="mb-4">
      <Empty title="Your plan has no webhooks">
        <p>
          The plan {plan} does not include webhooks: none can be added, and nothing is sent. Endpoints you made before
          are kept and go on when the organization moves to a paid plan, which the operator of this service does.
        </p>
        <p>
          Until then an agent can wait for its own mail by API, CLI or MCP. See the{' '}
          <a href="/docs" className="underline">
            API reference
          </a>
          .
        </p>
      </Empty>
    </div>
  );
}

const COLOURS = { success: 'fill-ok', failed: 'fill-wait', pending: 'fill-info', exhausted: 'fill-stop' } as const;
const WIDTH = 100;
/** A single failure among thousands must still be seen. */
const SMALLEST = 3;

/** Deliveries by outcome as one bar, with the same in words. */
function OutcomeBar({ counts }: { readonly counts: StatusCounts }) {
  const present = STATUSES.filter((status) => counts[status] > 0);
  const total = present.reduce((sum, status) => sum + counts[status], 0);
  if (total === 0) return <span className="text-muted">no deliveries in 24 h</span>;
  const widths = present.map((status) => Math.max(SMALLEST, (counts[status] / total) * WIDTH));
  const sum = widths.reduce((all, width) => all + width, 0);
  let x = 0;
  return (
    <div className="grid gap-1">
      <svg aria-hidden viewBox={`0 0 ${WIDTH} 6`} preserveAspectRatio="none" className="h-1.5 w-full rounded-full">
        {present.map((status, i) => {
          const width = ((widths[i] ?? 0) / sum) * WIDTH;
          x += width;
          return <rect key={status} x={x - width} width={width} height={6} className={COLOURS[status]} />;
        })}
      </svg>
      <span className="text-[13px] text-muted">
        {present
          .map((status) => `${counts[status].toLocaleString()} ${STATUS_MEANINGS[status][1].toLowerCase()}`)
          .join(' · ')}
      </span>
    </div>
  );
}

/** Makes an endpoint and shows its secret this once. */
function CreateWebhook({ onClose }: { readonly onClose: () => void }) {
  return (
    <CreateDialog
      onClose={onClose}
      title="Add webhook"
      description="Signed JSON notifications to an HTTPS address of yours."
    >
      {(onMade) => <CreateForm onMade={(webhook) => onMade(madeOf(webhook))} />}
    </CreateDialog>
  );
}

const madeOf = ({ id, url, secret }: NewWebhook): Made => ({
  title: 'The webhook is ready',
  description: new URL(url).host,
  label: 'Signing secret',
  secret,
  note: 'It is shown this once. Your server verifies the signature of each request with it (Standard Webhooks).',
  shownBefore: 'Rotate it on the page of the webhook to get another one.',
  next: (close) => (
    <Link to="/webhooks/$id" params={{ id }} className={buttonClass('plain', 'text-text!')} onClick={close}>
      Open the webhook
    </Link>
  ),
});

const SCOPES = [
  ['organization', 'The whole organization'],
  ['mailbox', 'One mailbox'],
] as const;

function CreateForm({ onMade }: { readonly onMade: (webhook: NewWebhook) => void }) {
  const create = useCreateWebhook();
  const [key] = useState(() => crypto.randomUUID());
  const [tries, setTries] = useState(0);
  const [url, setUrl] = useState('');
  const [scope, setScope] = useState<(typeof SCOPES)[number][0]>('organization');
  const [mailbox, setMailbox] = useState<{ text: string; id: string | undefined }>({ text: '', id: undefined });
  const [chosen, setChosen] = useState<EventType[]>(['email_received']);
  const [header, setHeader] = useState<AuthHeader>({ name: '', value: '' });
  const [options, setOptions] = useState<DeliveryOptions>({ publicKeySignature: false, includeExtracts: false });
  const [missing, setMissing] = useState<string>();
  const about = webhookProblems(create.error);
  const change =
    <Value,>(set: (value: Value) => void) =>
    (value: Value) => {
      set(value);
      setMissing(undefined);
      create.reset();
    };
  const submit = (typed: Typed) => {
    if (chosen.length === 0) return setMissing('events');
    if (scope === 'mailbox' && mailbox.id === undefined) return setMissing('mailbox');
    const description = typed('description').trim();
    setTries(tries + 1);
    create.mutate(
      {
        // A corrected form is another request.
        key: `${key}-${tries}`,
        url: url.trim(),
        eventTypes: chosen,
        ...(scope === 'mailbox' && mailbox.id !== undefined ? { mailboxId: mailbox.id } : {}),
        ...(description === '' ? {} : { description }),
        ...options,
        ...(header.name === '' && header.value === '' ? {} : { authHeader: header }),
      },
      { onSuccess: onMade },
    );
  };
  return (
    <Form onSubmit={submit} className="grid gap-5">
      <ProblemNote error={about.other} />
      <UrlField value={url} onChange={change(setUrl)} error={about.url} />
      <Choice
        label="About"
        value={scope}
        options={SCOPES}
        onChoose={(next) => {
          setScope(next);
          create.reset();
        }}
        hint={scope === 'organization' ? 'Every mailbox there is and every one to come.' : undefined}
      />
      {scope === 'mailbox' ? (
        <MailboxChoice
          value={mailbox.text}
          onChange={(text, id) => change(setMailbox)({ text, id })}
          error={about.mailbox ?? (missing === 'mailbox' ? 'There is no mailbox with this address.' : undefined)}
        />
      ) : null}
      <EventPicker
        chosen={chosen}
        onChange={change(setChosen)}
        mailboxScope={scope === 'mailbox'}
        error={about.events ?? (missing === 'events' ? 'Choose at least one event.' : undefined)}
      />
      <Field label="Description" name="description" autoComplete="off" hint="Optional. For people." />
      <HeaderFields header={header} onChange={change(setHeader)} error={about.header} />
      <DeliveryOptionFields options={options} onChange={change(setOptions)} />
      <Submit busy={create.isPending}>Add webhook</Submit>
    </Form>
  );
}

interface MailboxChoiceProps {
  /** What is typed: an address once it is chosen. */
  readonly value: string;
  readonly onChange: (address: string, id: string | undefined) => void;
  readonly error?: string | undefined;
}

/** One of many mailboxes, found by the service while its address is typed. */
function MailboxChoice({ value, onChange, error }: MailboxChoiceProps) {
  const listId = useId();
  const asked = useDeferredValue(value.trim());
  const found = useQuery(mailboxChoicesQuery(asked)).data?.data ?? [];
  const change = (text: string) => {
    const address = text.trim().toLowerCase();
    onChange(text, found.find((each) => each.address.toLowerCase() === address)?.id);
  };
  return (
    <>
      <Field
        label="Mailbox"
        list={listId}
        required
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        placeholder="Address"
        value={value}
        onChange={(event) => change(event.target.value)}
        // What was found a moment after it was typed.
        onBlur={() => change(value)}
        error={error}
        hint="Only what happens in this mailbox. It cannot be changed later."
      />
      <datalist id={listId}>
        {found.map(({ id, address, name }) => (
          <option key={id} value={address} label={name} />
        ))}
      </datalist>
    </>
  );
}
