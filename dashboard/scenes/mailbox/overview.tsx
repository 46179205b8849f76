import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Button } from '../../components/frame/button.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { movesContent } from '../../components/frame/shift-guard.ts';
import { ForeignText } from '../../components/mail/foreign-text.tsx';
import { MailboxStatus, SyncStatus, sendingStateOf } from '../../components/mail/mailbox-state.tsx';
import { StorageBar } from '../../components/shown/storage-bar.tsx';
import { Time } from '../../components/shown/time.tsx';
import { Brakes } from './brakes.tsx';
import { type Mailbox, useResumeSending } from './queries.ts';

/** How a mailbox is: whether it works, how full it is, what waits in it. */
export function MailboxOverview({ mailbox }: { readonly mailbox: Mailbox }) {
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
        <div>
          <dt className="text-xs text-muted">Purpose</dt>
          <dd className="mt-0.5 break-words">
            {purpose === null ? (
              <span className="text-muted">Not set. It helps the people who approve its mail.</span>
            ) : (
              <ForeignText text={purpose} max={purpose.length} />
            )}
          </dd>
        </div>
        <div>
          <dt className="text-xs text-muted">Last mail</dt>
          <dd className="mt-0.5">{lastActivityAt === null ? 'none yet' : <Time value={lastActivityAt} />}</dd>
        </div>
        <div>
          <dt className="text-xs text-muted">Created</dt>
          <dd className="mt-0.5">
            <Time value={mailbox.createdAt} />
          </dd>
        </div>
        <div>
          <dt className="text-xs text-muted">Id</dt>
          <dd className="mt-0.5 font-mono text-[13px] break-all">{mailbox.id}</dd>
        </div>
      </dl>
    </div>
  );
}

const used = (count: number, budget: number | null): string =>
  budget === null ? count.toLocaleString() : `${count.toLocaleString()} of ${budget.toLocaleString()}`;

function Fact({ title, children }: { readonly title: string; readonly children: ReactNode }) {
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
