import { Link } from '@tanstack/react-router';
import { Timeline, type TimelineEntry } from '../../components/lists/timeline.tsx';
import { ForeignText } from '../../components/mail/foreign-text.tsx';
import { Countdown } from '../../components/shown/countdown.tsx';
import { ExternalLink } from '../../components/shown/external-link.tsx';
import { MessageStatus } from './hits.tsx';
import type { ActivityEntry, ActivityMessage, ActivityTimeline } from './queries.ts';

const MEANINGS = { ok: 'ok', waiting: 'wait', failed: 'stop', none: 'info' } as const;

export interface TimelineOfProps {
  readonly timeline: ActivityTimeline;
  /** The id that was searched for: its entries are marked. */
  readonly focus: string;
}

/** Everything that happened around a message or an event. */
export function TimelineOf({ timeline, focus }: TimelineOfProps) {
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
