import { useQuery } from '@tanstack/react-query';
import { Check, X } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useSignedIn } from '../../api/session.ts';
import { Button } from '../../components/frame/button.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { movesContent } from '../../components/frame/shift-guard.ts';
import { ConnectStep } from './connect-step.tsx';
import { dismiss, isDismissed } from './dismissed.ts';
import { MailStep } from './mail-step.tsx';
import { MailboxStep } from './mailbox-step.tsx';
import { firstRunQuery, hasWebhookStep, isFirstRunDone, type FirstRun as Steps } from './queries.ts';
import { WebhookStep } from './webhook-step.tsx';

/**
 * The four first steps of an organization, which tick themselves. Shown until all were done, or until somebody puts
 * them away; what was done before the page was opened needs no list.
 */
export function FirstRun() {
  const { organization } = useSignedIn();
  const [hidden, setHidden] = useState(organization === undefined || isDismissed(organization.id));
  const steps = useQuery({ ...firstRunQuery, enabled: !hidden });
  const [wasOpen, setWasOpen] = useState(false);
  // The token is shown in the second step, so it is kept here: in memory, until the page is left.
  const [token, setToken] = useState<string>();
  if (hidden || organization === undefined || steps.data === undefined) return null;
  const hasWebhooks = hasWebhookStep(organization.plan);
  const done = isFirstRunDone(steps.data, organization.plan);
  if (done && !wasOpen) return null;
  if (!done && !wasOpen) setWasOpen(true);
  const putAway = (): void => {
    dismiss(organization.id);
    setHidden(true);
  };
  return (
    <section ref={movesContent} aria-labelledby="first-run" className="mb-6 rounded-lg border border-line bg-panel">
      <div className="flex items-start gap-3 px-4 pt-3">
        <div className="flex-1">
          <h2 id="first-run">{done ? 'Everything is set up' : 'First steps'}</h2>
          <p className="text-muted">
            {done
              ? 'Your agent has a mailbox, mail comes in, and your server is notified.'
              : 'Each ticks itself when it is done.'}
          </p>
        </div>
        <Button look="quiet" aria-label="Dismiss the first steps" onClick={putAway}>
          <X size={16} aria-hidden />
        </Button>
      </div>
      {steps.isError ? <ProblemNote error={steps.error} onRetry={() => void steps.refetch()} /> : null}
      <StepList steps={steps.data} hasWebhooks={hasWebhooks} token={token} onToken={setToken} />
    </section>
  );
}

interface StepListProps {
  readonly steps: Steps;
  readonly hasWebhooks: boolean;
  readonly token: string | undefined;
  readonly onToken: (token: string) => void;
}

function StepList({ steps, hasWebhooks, token, onToken }: StepListProps) {
  const { mailbox, connected, received, notified } = steps;
  const all = [
    { title: 'Make a mailbox', done: mailbox !== null, content: <MailboxStep onToken={onToken} /> },
    {
      title: 'Connect an agent',
      done: connected,
      content: mailbox === null ? null : <ConnectStep mailbox={mailbox} token={token} />,
    },
    {
      title: 'Receive a mail',
      done: received,
      content: mailbox === null ? null : <MailStep mailbox={mailbox} />,
    },
    {
      title: 'Get notified by a webhook',
      done: notified,
      content: hasWebhooks ? (
        <WebhookStep mailbox={mailbox} />
      ) : (
        <p className="text-muted">Webhooks are part of the paid plans. Agents can also wait for mail by the API.</p>
      ),
    },
  ];
  const [chosen, setChosen] = useState<number>();
  const next = all.findIndex(({ done }) => !done);
  const open = chosen ?? (next < 0 ? all.length - 1 : next);
  return (
    <ol className="grid gap-0.5 p-2">
      {all.map(({ title, done, content }, index) => (
        <Step
          key={title}
          number={index + 1}
          title={title}
          done={done}
          open={index === open}
          onOpen={() => setChosen(index)}
        >
          {content ?? <p className="text-muted">Make a mailbox first.</p>}
        </Step>
      ))}
    </ol>
  );
}

function Step({
  number,
  title,
  done,
  open,
  onOpen,
  children,
}: {
  readonly number: number;
  readonly title: string;
  readonly done: boolean;
  readonly open: boolean;
  readonly onOpen: () => void;
  readonly children: ReactNode;
}) {
  return (
    <li>
      <h3>
        <button
          type="button"
          aria-expanded={open}
          onClick={onOpen}
          className="flex h-10 w-full items-center gap-3 rounded-md px-2 text-left font-medium hover:bg-sunken max-sm:h-11"
        >
          <span
            aria-hidden
            className={`grid size-6 shrink-0 place-items-center rounded-full border text-xs ${done ? 'border-ok bg-ok-soft text-ok' : 'border-line-strong text-muted'}`}
          >
            {done ? <Check size={14} /> : number}
          </span>
          <span className={done ? 'text-muted' : ''}>{title}</span>
          <span className="sr-only">{done ? '(done)' : '(to do)'}</span>
        </button>
      </h3>
      {open ? <div className="grid min-w-0 gap-3 py-2 pr-2 pl-11 max-sm:pl-2">{children}</div> : null}
    </li>
  );
}
