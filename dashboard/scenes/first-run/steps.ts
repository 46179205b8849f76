import { type QueryClient, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { activeOrganizationId, bodyOf, type Schemas, service } from '../../api/client.ts';
import { singleQuery, useChange, waitingQuery } from '../../api/queries.ts';
import { sessionQuery } from '../../api/session.ts';

export type FirstRun = Schemas['FirstRun'];
export type FirstMailbox = NonNullable<FirstRun['mailbox']>;
type ReceiverState = Schemas['WebhookReceiverState'];
export type ReceivedRequest = ReceiverState['requests'][number];

export const firstRunQuery = singleQuery(['first-run'], () => bodyOf(service.GET('/api/first-run')));

/** Plans without webhooks have three steps. */
const PLAN_WITHOUT_WEBHOOKS = 'free';

export const hasWebhookStep = (plan: string): boolean => plan !== PLAN_WITHOUT_WEBHOOKS;

export const isFirstRunDone = ({ mailbox, connected, received, notified }: FirstRun, plan: string): boolean =>
  mailbox !== null && connected && received && (notified || !hasWebhookStep(plan));

export const receiverQuery = singleQuery(['receiver'], () => bodyOf(service.GET('/api/receiver')));

/** An endpoint at the built-in receiver; undefined: none. */
export const receiverEndpointQuery = (url: string) =>
  queryOptions({
    queryKey: ['webhooks', 'of-receiver', url],
    queryFn: async () => {
      const { data } = await bodyOf(service.GET('/api/webhooks', { params: { query: { limit: 200 } } }));
      return data.find((endpoint) => endpoint.url === url && endpoint.active)?.id ?? null;
    },
  });

/** @param onToken is given the token before anything else happens: the step that asked for it goes away */
export function useAddFirstMailbox(onToken: (token: string) => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (key: string) =>
      bodyOf(service.POST('/api/mailboxes', { body: {}, params: { header: { 'Idempotency-Key': key } } })),
    onSuccess: ({ token }) => {
      if (token !== null) onToken(token);
      return Promise.all([
        queries.invalidateQueries({ queryKey: ['first-run'] }),
        queries.invalidateQueries({ queryKey: ['mailboxes'] }),
      ]);
    },
  });
}

export const useSendTestMail = () =>
  useChange(
    (mailboxId: string) =>
      bodyOf(service.POST('/api/mailboxes/{id}/test-mail', { params: { path: { id: mailboxId } } })),
    ['first-run'],
    ['mailboxes'],
  );

const RECEIVER = {
  eventTypes: ['email_received', 'email_sent', 'mailbox_created', 'outbound_consent_requested'],
  description: 'Built-in receiver, for a day',
} satisfies Partial<Schemas['NewWebhookEndpoint']>;

/** Opens the built-in receiver and creates an endpoint that goes there. */
export const useOpenReceiver = () =>
  useChange<void, unknown>(
    async () => {
      const { url } = await bodyOf(service.POST('/api/receiver'));
      return bodyOf(service.POST('/api/webhooks', { body: { url, ...RECEIVER } }));
    },
    ['receiver'],
    ['webhooks'],
  );

export const useTestEvent = () =>
  useMutation({
    mutationFn: (endpointId: string) =>
      bodyOf(service.POST('/api/webhooks/{id}/test', { params: { path: { id: endpointId } }, body: {} })),
  });

/** Which organizations' first steps the person has put away, in this browser. */
const KEY = 'agent-mailbox.first-run-dismissed';

const dismissed = (): string[] => (localStorage.getItem(KEY) ?? '').split(' ').filter((id) => id !== '');

export const isDismissed = (organizationId: string): boolean => dismissed().includes(organizationId);

export const dismiss = (organizationId: string): void =>
  localStorage.setItem(KEY, [...new Set([...dismissed(), organizationId])].join(' '));

/** Where a person begins: at the first steps while there are some and nothing waits for a decision. */
export async function landingPage(queries: QueryClient): Promise<'/approvals' | '/mailboxes'> {
  const session = await queries.ensureQueryData(sessionQuery);
  const organization = session?.organizations.find(({ id }) => id === activeOrganizationId());
  if (organization === undefined || isDismissed(organization.id)) return '/approvals';
  try {
    const [steps, waiting] = await Promise.all([queries.fetchQuery(firstRunQuery), queries.fetchQuery(waitingQuery)]);
    return waiting.total > 0 || isFirstRunDone(steps, organization.plan) ? '/approvals' : '/mailboxes';
  } catch {
    // The page says what is wrong.
    return '/approvals';
  }
}
