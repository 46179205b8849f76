import { Link } from '@tanstack/react-router';
import { FileCheck, ShieldAlert } from 'lucide-react';
import { lazy, type ReactNode, Suspense } from 'react';
import { Skeleton } from '../../../components/frame/skeleton.tsx';
import { visibleText } from '../../../components/mail/visible-text.ts';
import { byteSize } from '../../../components/shown/byte-size.ts';
import { Time } from '../../../components/shown/time.tsx';
import { Content, type ContentProps } from './content.tsx';
import { Recipients } from './recipients.tsx';

// Few held messages have files.
const Attachments = lazy(async () => ({
  default: (await import('../../../components/mail/attachments.tsx')).Attachments,
}));

export interface RequestProps extends ContentProps {
  /** A reader with a session can go on from here. */
  readonly links: boolean;
  /** What can be decided, or what was. */
  readonly children: ReactNode;
}

/** A held message whole: what a person needs to know before it is sent in the organization's name. */
export function Request({ message, loadAttachment, loadRaw, links, children }: RequestProps) {
  const { subject, mailbox, heldBecause } = message;
  return (
    <article aria-label="Held message" className="min-w-0 rounded-lg border border-line bg-panel">
      <header className="grid grid-cols-[minmax(0,1fr)] gap-2 border-b border-line px-4 py-3">
        <h2 className="wrap-anywhere">
          <bdi>{subject === '' ? '(no subject)' : visibleText(subject)}</bdi>
        </h2>
        <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-3 gap-y-1.5">
          <Recipients message={message} />
          <dt className="text-muted">From</dt>
          <dd className="min-w-0 wrap-anywhere">
            {links ? (
              <Link to="/mailboxes/$id" params={{ id: mailbox.id }}>
                {mailbox.address}
              </Link>
            ) : (
              mailbox.address
            )}
            {mailbox.name === '' || mailbox.address.startsWith(`${mailbox.name}@`) ? null : (
              <span className="text-muted"> · {visibleText(mailbox.name)}</span>
            )}
            {mailbox.purpose === null ? null : (
              <span className="block text-muted">Purpose: {visibleText(mailbox.purpose)}</span>
            )}
          </dd>
          {message.replyTo.length > 0 ? (
            <>
              <dt className="text-muted">Reply to</dt>
              <dd className="min-w-0 break-words">{message.replyTo.map(visibleText).join(', ')}</dd>
            </>
          ) : null}
          <dt className="text-muted">Held</dt>
          <dd className="min-w-0 wrap-anywhere">{heldBecause.sentence}</dd>
          {message.sendAt === null ? null : (
            <>
              <dt className="text-muted">Sends</dt>
              <dd>
                <Time value={message.sendAt} /> at the earliest
              </dd>
            </>
          )}
        </dl>
        <Answered message={message} />
      </header>
      <Content message={message} loadAttachment={loadAttachment} loadRaw={loadRaw} />
      {message.attachments.length === 0 ? null : (
        <div className="mx-4 mb-3">
          <Suspense fallback={<Skeleton rows={message.attachments.length} />}>
            <Attachments attachments={message.attachments} load={loadAttachment} />
          </Suspense>
        </div>
      )}
      <Hash message={message} />
      {children}
    </article>
  );
}

function Answered({ message: { answers } }: Pick<RequestProps, 'message'>) {
  if (answers === null) return null;
  const { as, message, earlier } = answers;
  const verb = as === 'answered' ? 'Answers' : 'Forwards';
  if (message === null) return <p className="text-muted">{verb} a message that is no longer stored.</p>;
  return (
    <details className="rounded-md border border-line bg-sunken px-3 py-2">
      <summary className="cursor-default wrap-anywhere">
        {verb} <bdi className="font-medium">{visibleText(message.subject) || '(no subject)'}</bdi>
        {message.from === null ? null : <> from {visibleText(message.from)}</>}, <Time value={message.date} />
      </summary>
      <p className="mt-2 max-h-72 overflow-auto border-l-2 border-line-strong pl-3 break-words whitespace-pre-wrap">
        {visibleText(message.text)}
      </p>
      {earlier.length === 0 ? null : (
        <ul className="mt-2 grid gap-1" aria-label="Earlier messages of the thread">
          {earlier.map((each) => (
            <li key={each.id} className="truncate text-muted">
              <Time value={each.date} /> · {visibleText(each.from ?? 'nobody')}: {visibleText(each.preview)}
            </li>
          ))}
        </ul>
      )}
    </details>
  );
}

function Hash({ message: { hashMatches, sha256, sizeBytes } }: Pick<RequestProps, 'message'>) {
  if (hashMatches === false)
    return (
      <p role="alert" className="mx-4 mb-3 flex gap-2 rounded-md bg-stop-soft px-3 py-2 text-stop">
        <ShieldAlert size={16} aria-hidden className="mt-0.5 shrink-0" />
        The stored message is not the one that was submitted. It will not be sent, whatever you decide.
      </p>
    );
  return (
    <p className="mx-4 mb-3 flex items-center gap-2 text-xs text-muted">
      <FileCheck size={16} aria-hidden className="shrink-0" />
      <span className="min-w-0">
        {hashMatches === null
          ? 'The content is no longer kept.'
          : `Checked: an approval covers exactly these ${byteSize(sizeBytes)} and recipients, `}
        {hashMatches === null ? null : (
          <code className="font-mono" title={sha256}>
            SHA-256 {sha256.slice(0, 12)}…
          </code>
        )}
      </span>
    </p>
  );
}
