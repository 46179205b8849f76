import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { mailboxQuery } from '../../api/queries.ts';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Button, buttonClass } from '../../components/frame/button.tsx';
import { Empty, Failure, PageHead } from '../../components/frame/page.tsx';
import { PagedList } from '../../components/lists/steady-list.tsx';
import { ForeignText } from '../../components/mail/foreign-text.tsx';
import { heldBecauseWords } from '../../components/mail/held-because.ts';
import { visibleText } from '../../components/mail/unseen-characters.ts';
import { type State, StateBadge } from '../../components/shown/badge.tsx';
import { Time } from '../../components/shown/time.tsx';
import { type OutboxMessage, outboxQuery, useWithdraw } from './queries.ts';

interface Withdrawn {
  readonly subject: string;
  /** The draft that came back; null: the message was made from none. */
  readonly draftId: string | null;
}

/** What waits to leave a mailbox: why, until when, and how to take it back. */
export function OutboxPage({ id }: { readonly id: string }) {
  const mailbox = useQuery(mailboxQuery(id));
  const list = useInfiniteQuery(outboxQuery(id));
  const [asked, setAsked] = useState<OutboxMessage>();
  const [withdrawn, setWithdrawn] = useState<Withdrawn>();
  const address = mailbox.data?.address ?? '';
  return (
    <>
      <p className="mb-1 truncate">
        <Link to="/mailboxes">Mailboxes</Link>
        {' / '}
        <Link to="/mailboxes/$id" params={{ id }}>
          {address === '' ? 'Mailbox' : address}
        </Link>
      </p>
      <PageHead title="Outbox">
        <Link to="/mailboxes/$id/mail" params={{ id }} className={buttonClass('plain', 'text-text!')}>
          Read mail
        </Link>
      </PageHead>
      <p className="mb-4 text-muted">
        What is held, scheduled or queued, and what was decided or failed within the last day.
      </p>
      <Failure query={mailbox} />
      <WithdrawnNote mailboxId={id} withdrawn={withdrawn} />
      <PagedList
        label="Outbox"
        query={list}
        empty={
          <Empty title="Nothing waits here">
            <p>Mail that is held for a person, scheduled for a time or on its way is listed here until it has left.</p>
          </Empty>
        }
      >
        {(message) => <OutboxRow message={message} onWithdraw={() => setAsked(message)} />}
      </PagedList>
      {asked === undefined ? null : (
        <Withdraw
          mailboxId={id}
          message={asked}
          onDone={(draftId) => {
            setWithdrawn({ subject: asked.subject, draftId });
            setAsked(undefined);
          }}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
}

interface WithdrawnNoteProps {
  readonly mailboxId: string;
  readonly withdrawn: Withdrawn | undefined;
}

function WithdrawnNote({ mailboxId, withdrawn }: WithdrawnNoteProps) {
  return (
    <div role="status">
      {withdrawn === undefined ? null : (
        <div className="mb-4 flex flex-wrap items-center gap-x-3 gap-y-1 rounded-lg bg-sunken px-4 py-2">
          <p className="min-w-0 flex-1 wrap-anywhere">
            Withdrawn: <ForeignText text={withdrawn.subject === '' ? '(no subject)' : withdrawn.subject} max={200} />.
            Nobody got it{withdrawn.draftId === null ? '.' : ', and its draft is back.'}
          </p>
          {withdrawn.draftId === null ? null : (
            <Link
              to="/mailboxes/$id/mail"
              params={{ id: mailboxId }}
              search={{ folder: 'Drafts', compose: withdrawn.draftId }}
              className={buttonClass('plain', 'text-text!')}
            >
              Open the draft
            </Link>
          )}
        </div>
      )}
    </div>
  );
}

interface WithdrawProps {
  readonly mailboxId: string;
  readonly message: OutboxMessage;
  readonly onDone: (draftId: string | null) => void;
  readonly onClose: () => void;
}

function Withdraw({ mailboxId, message, onDone, onClose }: WithdrawProps) {
  const withdraw = useWithdraw(mailboxId);
  const afterwards =
    message.draftId === null
      ? 'Its copy in Sent is removed; it was made from no draft, so its text is gone.'
      : 'Its copy in Sent is removed, and the draft it was made from comes back.';
  return (
    <Confirm
      title={`Withdraw “${visibleText(message.subject) || '(no subject)'}”?`}
      consequence={`Nobody gets it. ${afterwards}`}
      action="Withdraw"
      change={withdraw}
      onConfirm={() => withdraw.mutate(message.id, { onSuccess: ({ draftId }) => onDone(draftId) })}
      onClose={onClose}
    />
  );
}

const STATES: Readonly<Record<OutboxMessage['state'], State>> = {
  held: ['wait', 'Held'],
  scheduled: ['info', 'Scheduled'],
  queued: ['info', 'Queued'],
  sending: ['info', 'Sending'],
  sent: ['ok', 'Sent'],
  failed: ['stop', 'Failed'],
  denied: ['stop', 'Denied'],
  withdrawn: ['none', 'Withdrawn'],
};
/** Recipients that are named; a person can open the rest. */
const NAMED_MAX = 3;

/** A message with its state, the reason for it, and what can be done. */
function OutboxRow({ message, onWithdraw }: { readonly message: OutboxMessage; readonly onWithdraw: () => void }) {
  const { id, state, subject, consentId, withdraw, recipients } = message;
  const why = whyOf(message);
  const named = recipients.slice(0, NAMED_MAX).map(({ address }) => address);
  const more = recipients.length - named.length;
  return (
    <article className="grid gap-x-4 gap-y-1.5 sm:grid-cols-[100px_minmax(0,1fr)_auto]">
      <div>
        <StateBadge of={STATES[state]} />
      </div>
      <div className="grid min-w-0 gap-0.5">
        <h2 className="truncate text-[14px] leading-5 font-medium">
          <ForeignText text={subject === '' ? '(no subject)' : subject} max={300} />
        </h2>
        <p className="truncate text-muted">
          To <ForeignText text={named.join(', ')} max={300} />
          {more > 0 ? ` and ${more} more` : ''}
        </p>
        {why === null ? null : (
          <p className="wrap-anywhere">
            <ForeignText text={why} long />
          </p>
        )}
        <p className="text-xs text-muted">{timesOf(message)}</p>
      </div>
      <div className="flex flex-wrap items-start gap-2 sm:justify-end">
        {state === 'held' && consentId !== null ? (
          <Link to="/approvals" search={{ open: consentId }} className={buttonClass('plain', 'text-text!')}>
            Decide
          </Link>
        ) : (
          <Link to="/activity" search={{ q: id }} className={buttonClass('quiet')}>
            What happened
          </Link>
        )}
        {withdraw === null ? null : (
          <Button look="stop" onClick={onWithdraw}>
            Withdraw
          </Button>
        )}
      </div>
    </article>
  );
}

/** The reason of the service is for agents: it repeats times and says what they should not do. */
function whyOf({ state, reason, heldBecause }: OutboxMessage): string | null {
  if (heldBecause !== null) return heldBecauseWords(heldBecause);
  return state === 'scheduled' || reason === state ? null : reason;
}

function timesOf({ state, submittedAt, sendAt, expiresAt, finishedAt, recipients }: OutboxMessage): ReactNode {
  const next = recipients.flatMap(({ nextAttemptAt }) => nextAttemptAt ?? []).sort()[0];
  return (
    <>
      submitted <Time value={submittedAt} />
      {state === 'held' && expiresAt !== null ? (
        <>
          {' · '}denied automatically <Time value={expiresAt} />
        </>
      ) : null}
      {sendAt === null || finishedAt !== null ? null : (
        <>
          {' · '}is sent <Time value={sendAt} /> at the earliest
        </>
      )}
      {finishedAt === null && next !== undefined && state !== 'held' ? (
        <>
          {' · '}next attempt <Time value={next} />
        </>
      ) : null}
      {finishedAt === null ? null : (
        <>
          {' · '}over <Time value={finishedAt} />
        </>
      )}
    </>
  );
}
