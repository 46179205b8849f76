import { useQuery } from '@tanstack/react-query';
import { Button } from '../../components/frame/button.tsx';
import { Failure, ProblemNote, Skeleton } from '../../components/frame/page.tsx';
import { type State, StateBadge } from '../../components/shown/badge.tsx';
import { Copy } from '../../components/shown/copy.tsx';
import { Time } from '../../components/shown/time.tsx';
import {
  type FirstMailbox,
  type ReceivedRequest,
  receiverEndpointQuery,
  receiverQuery,
  useOpenReceiver,
  useSendTestMail,
  useTestEvent,
} from './steps.ts';

/** A webhook to a receiver that the service has built in, whose requests appear as they come. */
export function WebhookStep({ mailbox }: { readonly mailbox: FirstMailbox | null }) {
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
