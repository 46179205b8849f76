import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowDownLeft, ArrowUpRight, Minus, Search } from 'lucide-react';
import { type FormEvent, useEffect, useState } from 'react';
import { Button } from '../../components/frame/button.tsx';
import { Empty, Failure, PageHead } from '../../components/frame/page.tsx';
import { SteadyList } from '../../components/lists/steady-list.tsx';
import { Timeline, type TimelineEntry } from '../../components/lists/timeline.tsx';
import { ForeignText } from '../../components/mail/foreign-text.tsx';
import { type State, StateBadge } from '../../components/shown/badge.tsx';
import { Countdown } from '../../components/shown/countdown.tsx';
import { ExternalLink } from '../../components/shown/facts.tsx';
import { Time } from '../../components/shown/time.tsx';
import { MailNotDelivered } from './not-delivered.tsx';
import { type ActivityEntry, type ActivityMessage, type ActivityTimeline, activityQuery } from './queries.ts';

/** One search box; the result is one timeline, or as a list of messages that each have one. */
export function ActivityPage({ q, onSearch }: { readonly q: string; readonly onSearch: (q: string) => void }) {
  const asked = q.trim();
  const [text, setText] = useState(asked);
  useEffect(() => setText(asked), [asked]);
  const found = useQuery(activityQuery(asked));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() === asked) void found.refetch();
    else onSearch(text.trim());
  };
  return (
    <>
      <PageHead title="Activity" />
      <search>
        <form onSubmit={submit} className="mb-5 flex gap-2">
          <div className="relative min-w-0 flex-1">
            <Search size={16} aria-hidden className="absolute top-1/2 left-3 -translate-y-1/2 text-muted" />
            <input
              type="search"
              aria-label="Address, subject words, or an id"
              placeholder="Address, subject words, msg_…, evt_…, con_… or webhook-id"
              autoCapitalize="none"
              autoComplete="off"
              spellCheck={false}
              // The page is this field.
              autoFocus={asked === ''}
              maxLength={512}
              value={text}
              onChange={(event) => setText(event.target.value)}
              className="h-10 w-full rounded-md border border-line-strong bg-panel pr-3 pl-9 placeholder:text-faint max-sm:h-11 max-sm:text-base"
            />
          </div>
          <Button type="submit" look="primary" className="h-10" busy={found.isFetching && found.data === undefined}>
            Search
          </Button>
        </form>
      </search>
      <div aria-live="polite" aria-busy={found.isFetching && found.data === undefined}>
        <Failure query={found} />
        {asked === '' ? <WhatCanBeSearched title="Find out what happened" /> : null}
        {found.data === undefined ? null : (
          <>
            {found.data.complete ? null : (
              <p className="mb-4 rounded-lg border border-wait/40 bg-wait-soft px-4 py-3">
                These words occur in too many messages to look through all of them. Add another word, or search for an
                address or an id.
              </p>
            )}
            {found.data.notDelivered.length === 0 ? null : <MailNotDelivered mails={found.data.notDelivered} />}
            {found.data.timeline === null ? null : <TimelineOf timeline={found.data.timeline} focus={asked} />}
            {found.data.timeline === null && found.data.hits.length > 0 ? (
              <Hits key={asked} hits={found.data.hits} more={found.data.more} />
            ) : null}
            {found.data.timeline === null && found.data.hits.length === 0 && found.data.notDelivered.length === 0 ? (
              <WhatCanBeSearched title={`Nothing found for “${asked}”`} />
            ) : null}
          </>
        )}
      </div>
    </>
  );
}

const EXAMPLES = [
  ['ada@customer.example', 'an address: of a mailbox, a sender or a recipient'],
  ['order 4711', 'words of a subject or a text'],
  ['msg_01…', 'a message'],
  ['evt_01…', 'an event'],
  ['dlv_01…', 'a delivery: the webhook-id of a request'],
  ['con_01…', 'a request for approval'],
  ['<c1d2@mail.example>', 'a Message-ID, in angle brackets'],
  ['2026-11-28 09:16', 'a day, an hour or a minute (UTC)'],
] as const;

function WhatCanBeSearched({ title }: { readonly title: string }) {
  return (
    <Empty title={title}>
      <p>Search for one of these. You see it with everything that happened to it, and mail that did not arrive.</p>
      <dl className="grid w-full grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-left max-sm:grid-cols-1">
        {EXAMPLES.map(([example, what]) => (
          <div key={example} className="contents">
            <dt className="font-mono text-[13px] text-text">{example}</dt>
            <dd className="max-sm:pb-2">{what}</dd>
          </div>
        ))}
      </dl>
      <p>Messages are found as long as they are kept; events, deliveries and refused mail are kept for 30 days.</p>
    </Empty>
  );
}

const STATUSES: Readonly<Record<NonNullable<ActivityMessage['status']>, State>> = {
  consent_pending: ['wait', 'Held'],
  scheduled: ['info', 'Scheduled'],
  queued: ['info', 'Queued'],
  sending: ['info', 'Sending'],
  sent: ['ok', 'Sent'],
  captured: ['ok', 'Captured'],
  bounced: ['stop', 'Bounced'],
  suppressed: ['stop', 'Suppressed'],
  denied: ['stop', 'Denied'],
};

const DIRECTIONS = {
  inbound: [ArrowDownLeft, 'received'],
  outbound: [ArrowUpRight, 'sent'],
  stored: [Minus, 'stored'],
} as const;

/** How far a submitted message is. */
const MessageStatus = ({ status }: { readonly status: ActivityMessage['status'] }) =>
  status === null ? null : <StateBadge of={STATUSES[status]} />;

/** Messages that were found; each opens its timeline. */
function Hits({ hits, more }: { readonly hits: readonly ActivityMessage[]; readonly more: boolean }) {
  return (
    <>
      <p className="mb-2 text-muted">
        {more ? `The newest ${hits.length} messages. Add a word to find older ones.` : `${hits.length} messages`}
      </p>
      <SteadyList label="Messages" answer={hits} rows={hits} empty={null} rowClass="">
        {(message) => {
          const [Icon, words] = DIRECTIONS[message.direction];
          const other = message.direction === 'inbound' ? message.from : message.to.join(', ');
          return (
            <Link
              to="/activity"
              search={{ q: message.id }}
              className="grid grid-cols-[minmax(0,1fr)] items-center gap-x-4 gap-y-0.5 px-4 py-2.5 text-text! no-underline hover:bg-sunken sm:grid-cols-[16px_minmax(0,1.2fr)_minmax(0,2fr)_100px_120px]"
            >
              <span className="text-muted max-sm:hidden">
                <Icon size={16} aria-hidden />
                <span className="sr-only">{words}</span>
              </span>
              <span className="truncate">
                <ForeignText text={other === null || other === '' ? message.mailboxAddress : other} />
              </span>
              <span className="grid min-w-0">
                <span className="truncate font-medium">
                  <ForeignText text={message.subject === '' ? '(no subject)' : message.subject} />
                </span>
                {message.answer === null ? null : (
                  <span className="truncate text-[13px] text-muted">
                    <ForeignText text={message.answer} />
                  </span>
                )}
              </span>
              <span>
                <MessageStatus status={message.status} />
              </span>
              <span className="text-muted sm:text-right">
                <Time value={message.at} />
              </span>
            </Link>
          );
        }}
      </SteadyList>
    </>
  );
}

const MEANINGS = { ok: 'ok', waiting: 'wait', failed: 'stop', none: 'info' } as const;

interface TimelineOfProps {
  readonly timeline: ActivityTimeline;
  /** The id that was searched for: its entries are marked. */
  readonly focus: string;
}

/** Everything that happened around a message or an event. */
function TimelineOf({ timeline, focus }: TimelineOfProps) {
  const { message, entries, truncated } = timeline;
  const isWholeMessage = message === null || message.id === focus;
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-4">
      {message === null ? <h2>An event without a message</h2> : <About message={message} />}
      <Timeline
        label="What happened"
        entries={entries.map((entry, i) =>
          entryOf(entry, i, message?.mailboxId, !isWholeMessage && names(entry, focus)),
        )}
      />
      {truncated ? <p className="text-muted">Not every entry is shown: there are too many of one kind.</p> : null}
    </div>
  );
}

const names = ({ consentId, eventId, deliveryId }: ActivityEntry, id: string): boolean =>
  deliveryId === id || consentId === id || (eventId === id && deliveryId === null);

function About({ message }: { readonly message: ActivityMessage }) {
  const { subject, from, to, mailboxId, mailboxAddress, status } = message;
  return (
    <header className="grid min-w-0 gap-1">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="min-w-0 [overflow-wrap:anywhere]">
          <ForeignText text={subject === '' ? '(no subject)' : subject} />
        </h2>
        <MessageStatus status={status} />
      </div>
      <p className="min-w-0 [overflow-wrap:anywhere] text-muted">
        <ForeignText text={from ?? 'unknown sender'} /> →{' '}
        <ForeignText text={to.length === 0 ? mailboxAddress : to.join(', ')} /> · mailbox{' '}
        <Link to="/mailboxes/$id" params={{ id: mailboxId }} className="underline">
          {mailboxAddress}
        </Link>
      </p>
    </header>
  );
}

/** @param mailboxId of the message; undefined: there is none */
function entryOf(entry: ActivityEntry, index: number, mailboxId: string | undefined, current: boolean): TimelineEntry {
  const { at, outcome, text, detail, dueAt } = entry;
  return {
    key: `${index} ${entry.kind}`,
    at: at ?? undefined,
    meaning: MEANINGS[outcome],
    current,
    title: (
      <>
        <ForeignText text={text} />
        {at === null && dueAt !== null ? (
          <>
            {' '}
            <Countdown value={dueAt} />
          </>
        ) : null}
      </>
    ),
    aside: <Links entry={entry} mailboxId={mailboxId} />,
    children:
      detail === null ? null : (
        <p className="[overflow-wrap:anywhere] text-[13px] text-muted">
          <ForeignText text={detail} />
        </p>
      ),
  };
}

/** The pages of what an entry is about. */
function Links({ entry, mailboxId }: { readonly entry: ActivityEntry; readonly mailboxId: string | undefined }) {
  const { kind, outcome, messageId, consentId, eventId, deliveryId, endpointId, temporalUrl } = entry;
  return (
    <>
      {kind === 'stored' && outcome === 'ok' && messageId !== null && mailboxId !== undefined ? (
        <Link to="/mailboxes/$id/mail" params={{ id: mailboxId }} search={{ open: messageId }}>
          Message
        </Link>
      ) : null}
      {kind === 'held' && consentId !== null ? (
        <Link to="/approvals" search={{ open: consentId }}>
          Request
        </Link>
      ) : null}
      {kind === 'event' && eventId !== null ? (
        <code className="font-mono text-[13px] text-muted">{eventId}</code>
      ) : null}
      {deliveryId !== null && endpointId !== null ? (
        <Link to="/webhooks/$id/deliveries/$did" params={{ id: endpointId, did: deliveryId }}>
          Delivery
        </Link>
      ) : null}
      {temporalUrl !== undefined && kind !== 'recipient' ? (
        <ExternalLink href={temporalUrl}>Workflow</ExternalLink>
      ) : null}
    </>
  );
}
