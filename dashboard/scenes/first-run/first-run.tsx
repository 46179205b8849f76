import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Check, X } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { connectionSnippets, TOKEN_PLACEHOLDER } from '../../../client/snippets.ts';
import { connectionQuery } from '../../api/queries.ts';
import { useSignedIn } from '../../api/session.ts';
import { Secret } from '../../components/forms/secret-dialog.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Failure, movesContent, ProblemNote, Skeleton } from '../../components/frame/page.tsx';
import { type State, StateBadge } from '../../components/shown/badge.tsx';
import { Copy } from '../../components/shown/copy.tsx';
import { SnippetTabs } from '../../components/shown/snippet-tabs.tsx';
import { Time } from '../../components/shown/time.tsx';
import { isFinal } from '../../problem.ts';
import {
  dismiss,
  type FirstMailbox,
  firstRunQuery,
  hasWebhookStep,
  isDismissed,
  isFirstRunDone,
  type ReceivedRequest,
  receiverEndpointQuery,
  receiverQuery,
  type FirstRun as Steps,
  useAddFirstMailbox,
  useOpenReceiver,
  useSendTestMail,
  useTestEvent,
} from './steps.ts';

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
      <Failure query={steps} />
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

interface StepProps {
  readonly number: number;
  readonly title: string;
  readonly done: boolean;
  readonly open: boolean;
  readonly onOpen: () => void;
  readonly children: ReactNode;
}

function Step({ number, title, done, open, onOpen, children }: StepProps) {
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

/** @param onToken the token of the new mailbox, which the next step shows */
function MailboxStep({ onToken }: { readonly onToken: (token: string) => void }) {
  const add = useAddFirstMailbox(onToken);
  // A repeated request after a lost answer gives the same mailbox and its token.
  const [key, setKey] = useState(() => crypto.randomUUID());
  return (
    <>
      <p className="text-muted">
        An address for one agent, with its token. You can choose the address yourself with “Add mailbox”.
      </p>
      <ProblemNote error={add.error} />
      <div>
        <Button
          look="primary"
          busy={add.isPending}
          onClick={() =>
            add.mutate(key, {
              onError: (error) => {
                if (isFinal(error)) setKey(crypto.randomUUID());
              },
            })
          }
        >
          Make a mailbox
        </Button>
      </div>
    </>
  );
}

interface ConnectStepProps {
  readonly mailbox: FirstMailbox;
  /** Of a mailbox that was made on this page; the snippets then hold it. */
  readonly token: string | undefined;
}

function ConnectStep({ mailbox, token }: ConnectStepProps) {
  const connection = useQuery(connectionQuery(mailbox.id));
  return (
    <>
      <p className="text-muted">
        Run one of these with the token of{' '}
        <Link to="/mailboxes/$id" params={{ id: mailbox.id }} className="underline">
          {mailbox.address}
        </Link>
        . The step ticks when the token was used.
      </p>
      {token === undefined ? (
        <p className="text-muted">
          The token was shown when the mailbox was made. On the page of the mailbox you can rotate it for another one.
        </p>
      ) : (
        <Secret
          label="Mailbox token"
          value={token}
          note="It is shown this once. It is the password for IMAP, POP3 and SMTP and the token for the API, the CLI and MCP."
        />
      )}
      <Failure query={connection} />
      {connection.data === undefined ? null : (
        <SnippetTabs
          label="Ways to connect"
          snippets={connectionSnippets({
            apiUrl: location.origin,
            address: mailbox.address,
            token: token ?? TOKEN_PLACEHOLDER,
            ...connection.data,
          })}
        />
      )}
    </>
  );
}

function MailStep({ mailbox }: { readonly mailbox: FirstMailbox }) {
  const send = useSendTestMail();
  return (
    <>
      <p className="text-muted">
        Write to <span className="font-medium break-all text-text">{mailbox.address}</span> from anywhere, or have the
        service put a test mail there.
      </p>
      <ProblemNote error={send.error} />
      <div className="flex flex-wrap items-center gap-2">
        <Button look="primary" busy={send.isPending} onClick={() => send.mutate(mailbox.id)}>
          Send a test mail
        </Button>
        <Copy text={mailbox.address} what="address" />
        <span role="status" className="text-ok">
          {send.isSuccess ? 'It is in the INBOX.' : ''}
        </span>
        {send.isSuccess ? (
          <Link to="/mailboxes/$id" params={{ id: mailbox.id }}>
            Open the mailbox
          </Link>
        ) : null}
      </div>
    </>
  );
}

/** A webhook to a receiver that the service has built in, whose requests appear as they come. */
function WebhookStep({ mailbox }: { readonly mailbox: FirstMailbox | null }) {
  const state = useQuery(receiverQuery);
  const url = state.data?.receiver?.url ?? '';
  const endpoint = useQuery({ ...receiverEndpointQuery(url), enabled: url !== '' });
  const open = useOpenReceiver();
  if (state.isPending) return <Skeleton rows={2} />;
  if (state.data === undefined) return <Failure query={state} />;
  if (url === '' || endpoint.data === null)
    return (
      <>
        <p className="text-muted">
          The service notifies a server of yours when something happens. Before you have one, try it with a receiver
          that is built in: it lasts for a day and shows every request with its signature verified.
        </p>
        <ProblemNote error={open.error} />
        <div>
          <Button look="primary" busy={open.isPending} onClick={() => open.mutate()}>
            Try the built-in receiver
          </Button>
        </div>
      </>
    );
  return (
    <>
      <ProblemNote error={endpoint.error} />
      <div className="flex min-w-0 items-center gap-2 rounded-lg border border-line bg-sunken py-1 pr-1 pl-3">
        <span className="min-w-0 flex-1 font-mono text-[13px] break-all">{url}</span>
        <Copy text={url} what="address of the receiver" />
      </div>
      {endpoint.data === undefined ? null : <Triggers mailbox={mailbox} endpointId={endpoint.data} />}
      <Requests requests={state.data.requests} />
    </>
  );
}

function Triggers({ mailbox, endpointId }: { readonly mailbox: FirstMailbox | null; readonly endpointId: string }) {
  const mail = useSendTestMail();
  const event = useTestEvent();
  return (
    <>
      <ProblemNote error={mail.error ?? event.error} />
      <div className="flex flex-wrap gap-2">
        {mailbox === null ? null : (
          <Button look="primary" busy={mail.isPending} onClick={() => mail.mutate(mailbox.id)}>
            Send a test mail
          </Button>
        )}
        <Button busy={event.isPending} onClick={() => event.mutate(endpointId)}>
          Send a test event
        </Button>
      </div>
    </>
  );
}

const SIGNATURES: Readonly<Record<ReceivedRequest['signature'], State>> = {
  verified: ['ok', 'Signature verified'],
  failed: ['stop', 'Signature wrong'],
  unsigned: ['wait', 'Not signed'],
};

function Requests({ requests }: { readonly requests: readonly ReceivedRequest[] }) {
  if (requests.length === 0)
    return (
      <p role="status" className="rounded-lg border border-dashed border-line-strong px-4 py-6 text-center text-muted">
        Requests appear here as they come.
      </p>
    );
  return (
    <ul aria-label="Received requests" className="max-h-96 overflow-y-auto rounded-lg border border-line">
      {requests.map((request) => (
        <li key={request.id} className="border-t border-line px-4 py-2 first:border-t-0">
          <Request request={request} />
        </li>
      ))}
    </ul>
  );
}

function Request({ request: { receivedAt, headers, body, signature } }: { readonly request: ReceivedRequest }) {
  return (
    <details>
      <summary className="flex cursor-pointer flex-wrap items-center gap-x-3 gap-y-1">
        <span className="font-medium">{headers['x-service-event'] ?? 'Request'}</span>
        <StateBadge of={SIGNATURES[signature]} />
        <span className="ml-auto text-muted">
          <Time value={receivedAt} />
        </span>
      </summary>
      <pre
        // Scrolls, so the keyboard must reach it.
        tabIndex={0}
        aria-label="Headers and body"
        className="mt-2 max-h-80 overflow-auto rounded-lg bg-sunken p-3 font-mono text-[13px] whitespace-pre-wrap break-all"
      >
        {Object.entries(headers)
          .map(([name, value]) => `${name}: ${value}`)
          .join('\n')}
        {'\n\n'}
        {readable(body)}
      </pre>
    </details>
  );
}

/** JSON with its lines; anything else as it is. */
function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
