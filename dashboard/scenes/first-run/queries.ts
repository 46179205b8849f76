import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { bodyOf, type Schemas, service } from '../../api/client.ts';

export type FirstRun = Schemas['FirstRun'];
export type FirstMailbox = NonNullable<FirstRun['mailbox']>;
export type ReceiverState = Schemas['WebhookReceiverState'];
export type ReceivedRequest = ReceiverState['requests'][number];

export const firstRunQuery = queryOptions({
  queryKey: ['first-run'],
  queryFn: () => bodyOf(service.GET('/api/first-run')),
});

/** Plans without webhooks have three steps. */
const PLAN_WITHOUT_WEBHOOKS = 'free';

export const hasWebhookStep = (plan: string): boolean => plan !== PLAN_WITHOUT_WEBHOOKS;

export const isFirstRunDone = ({ mailbox, connected, received, notified }: FirstRun, plan: string): boolean =>
  mailbox !== null && connected && received && (notified || !hasWebhookStep(plan));

/** Where mail programs and the API are reached. */
export const connectionQuery = (mailboxId: string) =>
  queryOptions({
    queryKey: ['mailboxes', 'connection', mailboxId],
    queryFn: () => bodyOf(service.GET('/api/mailboxes/{id}/connection', { params: { path: { id: mailboxId } } })),
    staleTime: Number.POSITIVE_INFINITY,
  });

export const receiverQuery = queryOptions({
  queryKey: ['receiver'],
  queryFn: () => bodyOf(service.GET('/api/receiver')),
});

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

export function useSendTestMail() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (mailboxId: string) =>
      bodyOf(service.POST('/api/mailboxes/{id}/test-mail', { params: { path: { id: mailboxId } } })),
    onSuccess: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: ['first-run'] }),
        queries.invalidateQueries({ queryKey: ['mailboxes'] }),
      ]),
  });
}

/** Opens the built-in receiver and creates an endpoint that goes there. */
export function useOpenReceiver() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      const { url } = await bodyOf(service.POST('/api/receiver'));
      return bodyOf(
        service.POST('/api/webhooks', {
          body: {
            url,
            eventTypes: ['email_received', 'email_sent', 'mailbox_created', 'outbound_consent_requested'],
            description: 'Built-in receiver, for a day',
          },
        }),
      );
    },
    onSuccess: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: ['receiver'] }),
        queries.invalidateQueries({ queryKey: ['webhooks'] }),
      ]),
  });
}

export const useTestEvent = () =>
  useMutation({
    mutationFn: (endpointId: string) =>
      bodyOf(service.POST('/api/webhooks/{id}/test', { params: { path: { id: endpointId } }, body: {} })),
  });
