import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useId, useState } from 'react';
import { mailboxQuery } from '../../api/queries.ts';
import { Field, Form, type Typed } from '../../components/forms/form.tsx';
import { Secret } from '../../components/forms/secret-dialog.tsx';
import { budgetOf } from '../../components/forms/settings.tsx';
import { Button, buttonClass } from '../../components/frame/button.tsx';
import { movesContent, NotLoaded, PageHead, ProblemNote } from '../../components/frame/page.tsx';
import { Section } from '../../components/frame/section.tsx';
import { ForeignText } from '../../components/mail/foreign-text.tsx';
import { MailboxStatus, StorageBar, SyncStatus, sendingStateOf } from '../../components/mail/mailbox-state.tsx';
import { Copy } from '../../components/shown/copy.tsx';
import { Tabs } from '../../components/shown/tabs.tsx';
import { Time } from '../../components/shown/time.tsx';
import { aboutField } from '../../problem.ts';
import { Connect } from './connect.tsx';
import { type Mailbox, useResumeSending, useUpdateMailbox } from './queries.ts';
import { MailboxSettings } from './settings.tsx';
import { Tokens } from './tokens.tsx';

const MAILBOX_TABS = ['overview', 'connect', 'tokens', 'settings'] as const;
type MailboxTab = (typeof MAILBOX_TABS)[number];

interface MailboxPageProps {
  readonly id: string;
  readonly tab: MailboxTab;
  readonly onTab: (tab: MailboxTab) => void;
}

export function MailboxPage({ id, tab, onTab }: MailboxPageProps) {
  const mailbox = useQuery(mailboxQuery(id));
  const [token, setToken] = useState<string>();
  if (mailbox.data === undefined) return <NotLoaded title="Mailbox" query={mailbox} />;
  const { data } = mailbox;
  return (
    <>
      <p className="mb-1">
        <Link to="/mailboxes">Mailboxes</Link>
      </p>
      <PageHead title={data.address} note={data.name === '' ? undefined : <ForeignText text={data.name} />}>
        <Copy text={data.address} what="address" />
        <Link to="/mailboxes/$id/outbox" params={{ id }} className={buttonClass('plain', 'text-text!')}>
          Outbox
        </Link>
        <Link to="/mailboxes/$id/mail" params={{ id }} className={buttonClass('primary')}>
          Read mail
        </Link>
      </PageHead>
      {token === undefined ? null : (
        <div className="mb-4">
          <Secret
            label="Mailbox token"
            value={token}
            note="It is shown this once. The token before it no longer works. The snippets under Connect hold it while this page is open."
          />
        </div>
      )}
      <Tabs
        label="Parts of the mailbox"
        shown={tab}
        onShow={(next) => onTab(MAILBOX_TABS.find((each) => each === next) ?? 'overview')}
        tabs={[
          { id: 'overview', title: 'Overview', content: <MailboxOverview mailbox={data} /> },
          { id: 'connect', title: 'Connect', content: <Connect mailbox={data} token={token} /> },
          { id: 'tokens', title: 'Tokens', content: <Tokens mailbox={data} /> },
          {
            id: 'settings',
            title: 'Settings',
            content: (
              <MailboxSettings
                mailbox={data}
                onToken={(next) => {
                  setToken(next);
                  onTab('connect');
                }}
              />
            ),
          },
        ]}
      />
    </>
  );
}

/** How a mailbox is: whether it works, how full it is, what waits in it. */
function MailboxOverview({ mailbox }: { readonly mailbox: Mailbox }) {
  const { quota, waiting, today, budgets, lastActivityAt, purpose } = mailbox;
  return (
    <div className="grid gap-6">
      <SendingNote mailbox={mailbox} />
      <dl
        aria-label="Facts"
        className="grid gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-2 lg:grid-cols-4"
      >
        <Fact title="Status">
          <MailboxStatus status={mailbox.status} sending={sendingStateOf(mailbox)} />
        </Fact>
        <Fact title="Sync">
          <SyncStatus status={mailbox.syncStatus} />
        </Fact>
        <Fact title="Storage">
          <StorageBar {...quota} />
        </Fact>
        <Fact title="Messages">{quota.messageCount.toLocaleString()}</Fact>
        <Fact title="Received today">{today.received.toLocaleString()}</Fact>
        <Fact title="Sent today">{used(today.sent, budgets.messagesPerDay)}</Fact>
        <Fact title="Held for approval">
          {waiting.held === 0 ? 'nothing' : <Link to="/approvals">{waiting.held} to decide</Link>}
        </Fact>
        <Fact title="Scheduled">
          {waiting.scheduled === 0 ? (
            'nothing'
          ) : (
            <Link to="/mailboxes/$id/outbox" params={{ id: mailbox.id }}>
              {waiting.scheduled.toLocaleString()} in the outbox
            </Link>
          )}
        </Fact>
      </dl>
      <Brakes mailbox={mailbox} />
      <dl aria-label="About" className="grid gap-3 sm:grid-cols-2">
        <About title="Purpose">
          {purpose === null ? (
            <span className="text-muted">Not set. It helps the people who approve its mail.</span>
          ) : (
            <ForeignText text={purpose} max={purpose.length} />
          )}
        </About>
        <About title="Last mail">{lastActivityAt === null ? 'none yet' : <Time value={lastActivityAt} />}</About>
        <About title="Created">
          <Time value={mailbox.createdAt} />
        </About>
        <About title="Id">
          <span className="font-mono text-[13px] break-all">{mailbox.id}</span>
        </About>
      </dl>
    </div>
  );
}

const used = (count: number, budget: number | null): string =>
  budget === null ? count.toLocaleString() : `${count.toLocaleString()} of ${budget.toLocaleString()}`;

interface FactProps {
  readonly title: string;
  readonly children: ReactNode;
}

const About = ({ title, children }: FactProps) => (
  <div>
    <dt className="text-xs text-muted">{title}</dt>
    <dd className="mt-0.5 break-words">{children}</dd>
  </div>
);

function Fact({ title, children }: FactProps) {
  return (
    <div className="min-w-0 bg-panel px-4 py-3">
      <dt className="text-xs text-muted">{title}</dt>
      <dd className="mt-1">{children}</dd>
    </div>
  );
}

function SendingNote({ mailbox }: { readonly mailbox: Mailbox }) {
  const resume = useResumeSending(mailbox.id);
  const { state, reason } = mailbox.sending;
  if (state === 'ok') return null;
  return (
    <section
      ref={movesContent}
      className="grid justify-items-start gap-2 rounded-lg border border-wait/40 bg-wait-soft px-4 py-3"
    >
      <h2>{state === 'paused' ? 'Sending is paused' : 'Sending is flagged'}</h2>
      <p>{reason ?? 'Too many recipients bounced or complained.'}</p>
      <ProblemNote error={resume.error} />
      <Button busy={resume.isPending} onClick={() => resume.mutate(undefined)}>
        Resume sending
      </Button>
    </section>
  );
}

type SendingMode = Mailbox['sendingMode'];

const MODES: readonly (readonly [SendingMode, string, string])[] = [
  ['normal', 'Sends', 'Mail that needs approval is held; everything else leaves at once.'],
  ['drafts_only', 'Drafts only', 'The agent writes drafts. A person sends them.'],
  ['stopped', 'Stopped', 'Nothing leaves. What is queued waits until the stop ends.'],
];

/** How freely the agent may send: a switch, and budgets of a day. */
function Brakes({ mailbox }: { readonly mailbox: Mailbox }) {
  const { sendingMode, sending, budgets } = mailbox;
  const change = useUpdateMailbox(mailbox.id);
  const name = useId();
  return (
    <Section
      title="Sending"
      note="Only a person can give the agent more freedom than it has."
      className="grid gap-4 rounded-lg border border-line bg-panel p-4"
    >
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
      <Budgets key={`${budgets.messagesPerDay} ${budgets.newRecipientsPerDay}`} mailbox={mailbox} />
    </Section>
  );
}

function Budgets({ mailbox: { id, budgets, today } }: { readonly mailbox: Mailbox }) {
  const change = useUpdateMailbox(id);
  const [wrong, setWrong] = useState<string>();
  const submit = (typed: Typed) => {
    const [messagesPerDay, newRecipientsPerDay] = [budgetOf(typed('messages')), budgetOf(typed('recipients'))];
    const isWrong = messagesPerDay === undefined || newRecipientsPerDay === undefined;
    setWrong(isWrong ? 'A budget is a whole number; leave it empty for no limit.' : undefined);
    if (!isWrong) change.mutate({ budgets: { messagesPerDay, newRecipientsPerDay } });
  };
  const budget = (name: string, label: string, of: keyof Mailbox['budgets'], hint: string) => (
    <Field
      label={label}
      name={name}
      inputMode="numeric"
      autoComplete="off"
      placeholder="no limit"
      defaultValue={budgets[of] ?? ''}
      hint={hint}
      error={aboutField(change.error, `/budgets/${of}`)}
    />
  );
  return (
    <Form onSubmit={submit} aria-label="Budgets" className="grid gap-3 border-t border-line pt-4">
      <div className="grid gap-3 sm:grid-cols-2">
        {budget('messages', 'Messages a day', 'messagesPerDay', `${today.sent.toLocaleString()} sent today.`)}
        {budget(
          'recipients',
          'New recipients a day',
          'newRecipientsPerDay',
          `${today.newRecipients.toLocaleString()} today.`,
        )}
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
    </Form>
  );
}
