import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { FileCheck, ShieldAlert, TriangleAlert } from 'lucide-react';
import { lazy, type ReactNode, Suspense } from 'react';
import { Failure, Skeleton } from '../../../components/frame/page.tsx';
import { MailHtml } from '../../../components/mail/mail-html.tsx';
import { visibleText } from '../../../components/mail/unseen-characters.ts';
import { byteSize } from '../../../components/shown/byte-size.ts';
import { type Tab, Tabs } from '../../../components/shown/tabs.tsx';
import { Time } from '../../../components/shown/time.tsx';
import type { ConsentMessage } from '../queries.ts';
import { Carried } from './carried.tsx';
import { EarlierVersions } from './earlier-versions.tsx';
import { OpaqueLinks } from './opaque-links.tsx';
import { UnknownSenders } from './unknown-senders.tsx';

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
export function Request({ message, loadAttachment, loadRaw, links, whole, children }: RequestProps) {
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
          <Decides message={message} />
          {message.sendAt === null ? null : (
            <>
              <dt className="text-muted">Sends</dt>
              <dd>
                <Time value={message.sendAt} /> at the earliest
              </dd>
            </>
          )}
        </dl>
        {message.carried.length === 0 ? null : <Carried sources={message.carried} links={links} />}
        {message.opaqueLinks.length === 0 ? null : <OpaqueLinks links={message.opaqueLinks} />}
        {message.unknownSenders.length === 0 ? null : <UnknownSenders senders={message.unknownSenders} />}
        <Answered message={message} />
        {message.earlierVersions.length === 0 ? null : <EarlierVersions message={message} />}
      </header>
      <Content message={message} loadAttachment={loadAttachment} loadRaw={loadRaw} whole={whole} />
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

/** Who may decide, where a rule says so. */
function Decides({ message: { decides, consent } }: Pick<RequestProps, 'message'>) {
  const { names, persons, everyMemberFrom } = decides;
  const first = consent.firstApproval;
  if (consent.status !== 'pending' || (names === null && persons === 1)) return null;
  return (
    <>
      <dt className="text-muted">Decides</dt>
      <dd className="min-w-0 wrap-anywhere">
        {names === null ? 'every member' : names.map(visibleText).join(', ') || 'nobody'}
        {everyMemberFrom === null ? null : (
          <span className="text-muted">
            {' '}
            · every member from <Time value={everyMemberFrom} /> on
          </span>
        )}
        {persons === 1 ? null : (
          <span className="block">
            Two persons must approve
            {first === null ? '.' : `; ${visibleText(first.by.name ?? first.by.email ?? 'somebody')} has.`}
          </span>
        )}
      </dd>
    </>
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

type Recipient = ConsentMessage['recipients'][number];

const FIELDS = [
  ['to', 'To'],
  ['cc', 'Cc'],
  ['bcc', 'Bcc'],
] as const;

/** Everybody who gets the message, each with what was written there before: rows of a list of facts. */
function Recipients({ message }: { readonly message: ConsentMessage }) {
  return FIELDS.map(([field, title]) => {
    const recipients = message.recipients.filter(({ as }) => as === field);
    if (recipients.length === 0) return null;
    return (
      <div key={field} className="contents">
        <dt className="text-muted">{title}</dt>
        <dd className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-1">
          {recipients.map((recipient) => (
            <RecipientRow key={recipient.address} recipient={recipient} />
          ))}
        </dd>
      </div>
    );
  });
}

function RecipientRow({ recipient }: { readonly recipient: Recipient }) {
  const { address, toAddress, toDomain } = recipient;
  const newest = toAddress.count > 0 ? toAddress.newest : toDomain.newest;
  const words = history(recipient);
  const ascii = asciiDomainOf(address);
  return (
    <div className="min-w-0 wrap-anywhere">
      <bdi className="font-medium break-all">{visibleText(address)}</bdi>{' '}
      {ascii === undefined ? null : <span className="text-wait">({ascii}) </span>}
      {newest.length === 0 ? (
        <span className="text-muted">· {words}</span>
      ) : (
        <details className="inline-block max-w-full text-muted open:block">
          <summary className="cursor-default">· {words}</summary>
          <ul className="mt-1 grid gap-1 border-l-2 border-line pl-3">
            {newest.map(({ messageId, subject, sentAt }) => (
              <li key={messageId} className="truncate">
                <Time value={sentAt} />: <bdi>{visibleText(subject) || '(no subject)'}</bdi>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

/** What was written to a recipient before, in a few words. */
function history({ toAddress, toDomain, domain }: Recipient): string {
  if (toAddress.count > 0) return `${counted(toAddress.count)} to this address before`;
  if (toDomain.count > 0) return `first mail to this address, ${counted(toDomain.count)} to ${visibleText(domain)}`;
  return `first mail to ${visibleText(domain)}`;
}

const counted = (count: number): string => (count === 1 ? 'one mail' : `${count.toLocaleString()} mails`);

const TEXT = 'overflow-auto py-1 leading-[22px] break-words whitespace-pre-wrap';
const SHORT = 'max-h-[60vh]';

interface ContentProps {
  readonly message: ConsentMessage;
  readonly loadAttachment: (attachmentId: string) => Promise<Blob>;
  /** The message byte for byte; left out where it cannot be read. */
  readonly loadRaw?: (() => Promise<string>) | undefined;
  /** Its content is as high as it is, so that nothing of it must be scrolled. Default: as high as fits. */
  readonly whole?: boolean | undefined;
}

/** The message as its recipients see it, as text, and byte for byte. */
function Content({ message, loadAttachment, loadRaw, whole = false }: ContentProps) {
  const { html, attachments } = message;
  const text = message.text ?? message.textOfHtml ?? '';
  const loadPart = async (contentId: string): Promise<Blob | undefined> => {
    const part = attachments.find((each) => each.contentId?.replaceAll(/[<>]/g, '') === contentId);
    return part === undefined ? undefined : loadAttachment(part.id);
  };
  const asText: Tab = {
    id: 'text',
    title: 'Text',
    content:
      text.trim() === '' ? (
        <p className="text-muted">{html === null ? 'The message is empty.' : 'There are no words in it.'}</p>
      ) : (
        // Scrolls, so the keyboard must reach it.
        <p tabIndex={0} role="group" aria-label="Text of the message" className={whole ? TEXT : `${SHORT} ${TEXT}`}>
          {visibleText(text)}
        </p>
      ),
  };
  const tabs: Tab[] = [asText];
  // What most recipients see comes first.
  if (html !== null)
    tabs.unshift({
      id: 'html',
      title: 'As sent',
      content: (
        <div className={`${whole ? '' : SHORT} overflow-auto rounded-md border border-line`}>
          <MailHtml html={html} text={text} title="The message as its recipients see it" loadPart={loadPart} />
        </div>
      ),
    });
  if (loadRaw !== undefined)
    tabs.push({ id: 'raw', title: 'Raw', content: <Raw id={message.consent.id} load={loadRaw} /> });
  return (
    <div className="px-4 pt-2 pb-3">
      <Tabs label="Views of the message" tabs={tabs} />
      {message.text === null && html !== null ? (
        <p className="mt-2 text-muted">The message has only HTML; this text was made from it.</p>
      ) : null}
      <TextAndHtml difference={message.textAndHtml} />
      {message.truncated ? <p className="mt-2 text-wait">It is longer than what is shown here.</p> : null}
    </div>
  );
}

function Raw({ id, load }: { readonly id: string; readonly load: () => Promise<string> }) {
  const raw = useQuery({ queryKey: ['consents', 'raw', id], queryFn: load, staleTime: Number.POSITIVE_INFINITY });
  if (raw.isError) return <Failure query={raw} />;
  return (
    <pre
      tabIndex={0}
      aria-label="Raw message"
      aria-busy={raw.isPending}
      className="max-h-[60vh] min-h-16 overflow-auto rounded-md bg-sunken p-3 font-mono text-[13px] leading-5"
    >
      {raw.data === undefined ? '' : visibleText(raw.data)}
    </pre>
  );
}

type Difference = NonNullable<ConsentMessage['textAndHtml']>;

const PARTS = [
  ['onlyInHtml', 'Words only as sent'],
  ['onlyInText', 'Words only in the text'],
  ['linksOnlyInHtml', 'Links only as sent'],
  ['linksOnlyInText', 'Links only in the text'],
] as const;

const isDifferent = (found: Difference): boolean => !found.complete || PARTS.some(([part]) => found[part].length > 0);

/** Says where the two forms of a message differ: a recipient sees one of them, a person here should know of both. */
function TextAndHtml({ difference }: { readonly difference: Difference | null }) {
  if (difference === null) return null;
  if (!isDifferent(difference)) return <p className="mt-2 text-muted">Text and HTML have the same words and links.</p>;
  return (
    <div role="note" className="mt-3 grid gap-2 rounded-md bg-wait-soft px-3 py-2">
      <p className="flex gap-2 font-medium text-wait">
        <TriangleAlert size={16} aria-hidden className="mt-0.5 shrink-0" />
        {PARTS.some(([part]) => difference[part].length > 0)
          ? 'The text says something else than what most people see under “As sent”.'
          : 'Text and HTML are too long to be compared whole.'}
      </p>
      <dl className="grid gap-x-3 gap-y-1 sm:grid-cols-[max-content_minmax(0,1fr)]">
        {PARTS.map(([part, title]) =>
          difference[part].length === 0 ? null : (
            <div key={part} className="contents">
              <dt className="text-muted">{title}</dt>
              <dd className="max-h-32 min-w-0 overflow-auto wrap-anywhere">
                {difference[part].map((piece, i) => (
                  <bdi key={i} className="block">
                    {visibleText(piece)}
                  </bdi>
                ))}
              </dd>
            </div>
          ),
        )}
      </dl>
      {difference.complete ? null : <p className="text-muted">There may be more: only a part was compared.</p>}
    </div>
  );
}

/** The domain of an address as DNS writes it, if that differs from the text: the text may look like another domain. */
function asciiDomainOf(address: string): string | undefined {
  const domain = address.slice(address.lastIndexOf('@') + 1);
  if (/^[\x00-\x7f]*$/.test(domain)) return undefined;
  return URL.parse(`https://${domain}`)?.hostname ?? 'not a domain of DNS';
}
