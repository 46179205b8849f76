import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Confirm } from '../../components/forms/confirm.tsx';
import { buttonClass } from '../../components/frame/button.tsx';
import { Empty } from '../../components/frame/empty.tsx';
import { PageHead } from '../../components/frame/page-head.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { PagedList } from '../../components/lists/paged-list.tsx';
import { ForeignText } from '../../components/mail/foreign-text.tsx';
import { visibleText } from '../../components/mail/visible-text.ts';
import { OutboxRow } from './outbox-row.tsx';
import { addressQuery, type OutboxMessage, outboxQuery, useWithdraw } from './queries.ts';

interface Withdrawn {
  readonly subject: string;
  /** The draft that came back; null: the message was made from none. */
  readonly draftId: string | null;
}

/** What waits to leave a mailbox: why, until when, and how to take it back. */
export function OutboxPage({ id }: { readonly id: string }) {
  const mailbox = useQuery(addressQuery(id));
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
      {mailbox.isError ? <ProblemNote error={mailbox.error} onRetry={() => void mailbox.refetch()} /> : null}
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

function WithdrawnNote({
  mailboxId,
  withdrawn,
}: {
  readonly mailboxId: string;
  readonly withdrawn: Withdrawn | undefined;
}) {
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
      busy={withdraw.isPending}
      error={withdraw.error}
      onConfirm={() => withdraw.mutate(message.id, { onSuccess: ({ draftId }) => onDone(draftId) })}
      onClose={onClose}
    />
  );
}
