import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Empty, Failure, PageHead, ProblemNote, Skeleton } from '../../components/frame/page.tsx';
import { PagedList } from '../../components/lists/steady-list.tsx';
import { ForeignText } from '../../components/mail/foreign-text.tsx';
import { Signals } from '../../components/mail/signals.tsx';
import { Badge } from '../../components/shown/badge.tsx';
import { Time } from '../../components/shown/time.tsx';
import { type Decision, type HeldMail, heldMailQuery, oneHeldMailQuery, useDecideHeldMail } from './queries.ts';

type State = HeldMail['state'];
const STATES: readonly (readonly [State, string])[] = [
  ['held', 'Waiting'],
  ['released', 'Released'],
  ['blocked', 'Blocked'],
  ['spam', 'Reported'],
];

const REASONS: Readonly<Record<HeldMail['reasons'][number], string>> = {
  commands_assistant: 'commands an assistant',
  hidden_commands: 'hidden commands',
  smuggled_text: 'invisible text',
  forged_boundary: 'forged boundary',
  lookalike_domain: 'look-alike domain',
  disguised_program: 'program in disguise',
  first_sender: 'unknown sender',
  unlisted_sender: 'not a sender of this alias',
};

/** Arriving mail that waits until somebody has decided about it. */
export function HeldMailPage() {
  const [state, setState] = useState<State>('held');
  const list = useInfiniteQuery(heldMailQuery(state));
  const [open, setOpen] = useState<string>();
  return (
    <>
      <PageHead title="Held mail" />
      <p className="mb-4 max-w-2xl text-muted">
        This mail arrived and waits outside its mailbox. No agent sees it, on any protocol, until somebody releases it.
        After 30 days it is deleted.
      </p>
      <nav aria-label="Held mail by state" className="mb-3 flex flex-wrap gap-1">
        {STATES.map(([value, title]) => (
          <Button
            key={value}
            look="quiet"
            aria-current={value === state ? 'page' : undefined}
            className="aria-[current]:bg-sunken aria-[current]:text-text"
            onClick={() => setState(value)}
          >
            {title}
          </Button>
        ))}
      </nav>
      <PagedList
        key={state}
        label="Held mail"
        query={list}
        empty={
          <Empty title={state === 'held' ? 'No mail is held' : 'There is none'}>
            <p>The settings of the organization and of each mailbox say which arriving mail is held.</p>
          </Empty>
        }
      >
        {(mail) => (
          <div className="grid min-w-0 gap-2">
            <div className="grid items-center gap-x-4 gap-y-1 sm:grid-cols-[minmax(0,1fr)_130px_auto]">
              <div className="min-w-0 [overflow-wrap:anywhere]">
                <p className="font-medium">
                  <ForeignText text={mail.subject === '' ? '(no subject)' : mail.subject} max={200} />
                </p>
                <p className="text-muted">
                  <ForeignText text={mail.from ?? '(no sender)'} max={200} /> to {mail.mailboxAddress}
                </p>
                <p className="flex flex-wrap gap-1">
                  {mail.reasons.map((reason) => (
                    <Badge key={reason} meaning={reason === 'first_sender' ? 'info' : 'wait'}>
                      {REASONS[reason]}
                    </Badge>
                  ))}
                </p>
              </div>
              <span className="text-muted">
                <Time value={mail.receivedAt} />
              </span>
              {mail.state === 'held' ? (
                <Button
                  aria-expanded={open === mail.id}
                  aria-label={`${open === mail.id ? 'Close' : 'Open'} ${mail.subject}`}
                  onClick={() => setOpen(open === mail.id ? undefined : mail.id)}
                >
                  {open === mail.id ? 'Close' : 'Open'}
                </Button>
              ) : (
                <span />
              )}
            </div>
            {open === mail.id && mail.state === 'held' ? <Opened mail={mail} /> : null}
          </div>
        )}
      </PagedList>
    </>
  );
}

/** The text of a held mail as text alone, and the decisions. */
function Opened({ mail }: { readonly mail: HeldMail }) {
  const found = useQuery(oneHeldMailQuery(mail.id));
  const decide = useDecideHeldMail();
  const [asked, setAsked] = useState<Decision>();
  const content = found.data?.content;
  return (
    <section aria-label="Held mail" className="grid min-w-0 gap-3 border-t border-line pt-3">
      {found.isError ? <Failure query={found} /> : null}
      {found.isPending ? <Skeleton rows={6} /> : null}
      {mail.signals.length === 0 ? null : <Signals signals={mail.signals} />}
      {content === undefined || content === null ? null : (
        <>
          <p className="max-h-96 overflow-auto rounded-md bg-sunken px-3 py-2 whitespace-pre-wrap [overflow-wrap:anywhere]">
            <ForeignText text={content.text === '' ? '(no text)' : content.text} long max={100_000} />
          </p>
          {content.attachments.length === 0 ? null : (
            <ul aria-label="Attachments">
              {content.attachments.map(({ id, filename, contentType, risks }) => (
                <li key={id} className="[overflow-wrap:anywhere]">
                  <ForeignText text={`${filename ?? 'without a name'} (${contentType})`} max={300} />
                  {risks.length === 0 ? '' : `, careful: ${risks.join(', ')}`}
                </li>
              ))}
            </ul>
          )}
        </>
      )}
      <ProblemNote error={decide.error} />
      <div className="flex flex-wrap gap-2">
        <Button
          look="primary"
          busy={decide.isPending}
          onClick={() => decide.mutate({ id: mail.id, decision: 'release' })}
        >
          Release
        </Button>
        <Button onClick={() => setAsked('release_and_trust')}>Release and trust the sender</Button>
        <Button onClick={() => setAsked('block')}>Block the sender</Button>
        <Button onClick={() => setAsked('report_spam')}>Report as spam</Button>
      </div>
      {asked === undefined ? null : (
        <Confirm
          {...QUESTIONS[asked]}
          change={decide}
          onConfirm={() => decide.mutate({ id: mail.id, decision: asked }, { onSuccess: () => setAsked(undefined) })}
          onClose={() => setAsked(undefined)}
        />
      )}
    </section>
  );
}

const QUESTIONS: Readonly<
  Record<Decision, { readonly title: string; readonly consequence: string; readonly action: string }>
> = {
  release: { title: 'Release this mail?', consequence: 'The agent gets it.', action: 'Release' },
  release_and_trust: {
    title: 'Release it and trust the sender?',
    consequence:
      'The agent gets it, and all later mail of this sender to this mailbox that is proven to be the sender’s.',
    action: 'Release and trust',
  },
  block: {
    title: 'Block the sender?',
    consequence: 'This mail is deleted, and later mail of the sender to this mailbox is refused.',
    action: 'Block',
  },
  report_spam: {
    title: 'Report it as spam?',
    consequence: 'This mail is deleted. Later mail of the sender is screened as before.',
    action: 'Report',
  },
};
