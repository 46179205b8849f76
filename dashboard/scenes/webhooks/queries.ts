import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { bodyOf, done, type Schemas, service } from '../../api/client.ts';

export type Webhook = Schemas['WebhookEndpoint'];
export type ChangedWebhook = Schemas['ChangedWebhookEndpoint'];
export type NewWebhook = Schemas['WebhookEndpointWithSecret'];
export type EventType = Webhook['eventTypes'][number];
export type WebhookEventType = Schemas['WebhookEventType'];
export type Delivery = Schemas['Delivery'];
export type DeliveryWithAttempts = Schemas['DeliveryWithAttempts'];
export type Attempt = DeliveryWithAttempts['attempts'][number];
export type Recovery = Schemas['Recovery'];
export type StatusCounts = Schemas['WebhookEndpointStats']['total'];

const PAGE_LENGTH = 50;

export const organizationQuery = queryOptions({
  queryKey: ['organization'],
  queryFn: () => bodyOf(service.GET('/api/organization')),
  staleTime: 60_000,
});

/** @param mailboxId only endpoints of this mailbox; empty: all */
export const webhooksQuery = (mailboxId: string) =>
  infiniteQueryOptions({
    queryKey: ['webhooks', 'list', mailboxId],
    queryFn: ({ pageParam }) =>
      bodyOf(
        service.GET('/api/webhooks', {
          params: {
            query: {
              limit: PAGE_LENGTH,
              ...(mailboxId === '' ? {} : { mailboxId }),
              ...(pageParam === null ? {} : { cursor: pageParam }),
            },
          },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  });

export const webhookQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', 'one', id],
    queryFn: () => bodyOf(service.GET('/api/webhooks/{id}', { params: { path: { id } } })),
  });

/** The keys with which deliveries of the organization are signed, beside the secret of each endpoint. */
export const signingKeysQuery = queryOptions({
  queryKey: ['webhooks', 'signing-keys'],
  queryFn: () => bodyOf(service.GET('/api/webhooks/signing-keys')),
});

export const statsQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', 'one', id, 'stats'],
    queryFn: () => bodyOf(service.GET('/api/webhooks/{id}/stats', { params: { path: { id }, query: { hours: 24 } } })),
  });

export const eventTypesQuery = queryOptions({
  queryKey: ['event-types'],
  queryFn: () => bodyOf(service.GET('/api/webhooks/event-types')),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Whether an endpoint could be made with this URL; the answer is an error when not. */
export const urlCheckQuery = (url: string) =>
  queryOptions({
    queryKey: ['webhook-url', url],
    queryFn: () => bodyOf(service.POST('/api/webhooks/check-url', { body: { url } })),
    staleTime: 60_000,
    retry: false,
  });

export const mailboxQuery = (id: string) =>
  queryOptions({
    queryKey: ['mailboxes', 'one', id],
    queryFn: () => bodyOf(service.GET('/api/mailboxes/{id}', { params: { path: { id } } })),
    staleTime: 60_000,
  });

/** Mailboxes to choose from. @param q part of an address or a name */
export const mailboxChoicesQuery = (q: string) =>
  queryOptions({
    queryKey: ['mailboxes', 'choices', q],
    queryFn: () =>
      bodyOf(service.GET('/api/mailboxes', { params: { query: { limit: 20, ...(q === '' ? {} : { q }) } } })),
    staleTime: 10_000,
  });

/** The filters of the list of deliveries; the address of the page has them. */
export interface DeliveryFilters {
  readonly status?: Delivery['status'];
  readonly eventType?: EventType;
  readonly reason?: NonNullable<Delivery['reason']>;
  readonly responseCode?: string;
  readonly since?: string;
  readonly until?: string;
}

export const deliveriesQuery = (id: string, filters: DeliveryFilters) =>
  infiniteQueryOptions({
    queryKey: ['webhooks', 'one', id, 'deliveries', filters],
    queryFn: ({ pageParam }) =>
      bodyOf(
        service.GET('/api/webhooks/{id}/deliveries', {
          params: {
            path: { id },
            query: { limit: PAGE_LENGTH, ...filters, ...(pageParam === null ? {} : { cursor: pageParam }) },
          },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    // Further down, all loaded pages would be loaded again, to show rows that are out of sight.
  });

export const deliveryQuery = (id: string, did: string) =>
  queryOptions({
    queryKey: ['webhooks', 'delivery', id, did],
    queryFn: () => bodyOf(service.GET('/api/webhooks/{id}/deliveries/{did}', { params: { path: { id, did } } })),
  });

/** The newest recovery; undefined: there was none. */
export const recoveryQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', 'one', id, 'recovery'],
    queryFn: async (): Promise<Recovery | null> => {
      const path = { params: { path: { id }, query: { limit: 1 } } };
      return (await bodyOf(service.GET('/api/webhooks/{id}/recoveries', path))).data[0] ?? null;
    },
  });

/** A change of webhooks, after which their queries are repeated. */
function useChange<Input, Result>(change: (input: Input) => Promise<Result>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () => queries.invalidateQueries({ queryKey: ['webhooks'] }),
  });
}

export const useCreateWebhook = () =>
  useChange(
    ({
      key,
      ...body
    }: {
      key: string;
      url: string;
      eventTypes: EventType[];
      mailboxId?: string;
      description?: string;
      authHeader?: { name: string; value: string };
      publicKeySignature?: boolean;
      includeExtracts?: boolean;
    }) => bodyOf(service.POST('/api/webhooks', { body, params: { header: { 'Idempotency-Key': key } } })),
  );

export interface WebhookChanges {
  url?: string;
  eventTypes?: EventType[];
  active?: boolean;
  description?: string | null;
  authHeader?: { name: string; value: string } | null;
  publicKeySignature?: boolean;
  includeExtracts?: boolean;
}

export const useChangeWebhook = (id: string) =>
  useChange((body: WebhookChanges) => bodyOf(service.PATCH('/api/webhooks/{id}', { params: { path: { id } }, body })));

export const useRotateSecret = (id: string) =>
  useChange((overlapSeconds: number) =>
    bodyOf(service.POST('/api/webhooks/{id}/rotate-secret', { params: { path: { id } }, body: { overlapSeconds } })),
  );

export const useTestWebhook = (id: string) =>
  useChange((eventType: EventType) =>
    bodyOf(service.POST('/api/webhooks/{id}/test', { params: { path: { id } }, body: { eventType } })),
  );

export function useDeleteWebhook(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => done(service.DELETE('/api/webhooks/{id}', { params: { path: { id } } })),
    onSuccess: () => {
      queries.removeQueries({ queryKey: ['webhooks', 'one', id] });
      return queries.invalidateQueries({ queryKey: ['webhooks', 'list'] });
    },
  });
}

export const useResend = (id: string, did: string) =>
  useChange(() =>
    bodyOf(service.POST('/api/webhooks/{id}/deliveries/{did}/resend', { params: { path: { id, did } } })),
  );

export interface RecoveryRange {
  since: string;
  until?: string;
  status: Recovery['status'];
}

export const useRecover = (id: string) =>
  useChange((body: RecoveryRange) =>
    bodyOf(service.POST('/api/webhooks/{id}/recover', { params: { path: { id } }, body })),
  );

export const useMoveRecovery = (id: string, rid: string) =>
  useChange((verb: 'pause' | 'resume' | 'cancel') => {
    const params = { params: { path: { id, rid } } };
    if (verb === 'pause') return bodyOf(service.POST('/api/webhooks/{id}/recoveries/{rid}/pause', params));
    if (verb === 'resume') return bodyOf(service.POST('/api/webhooks/{id}/recoveries/{rid}/resume', params));
    return bodyOf(service.POST('/api/webhooks/{id}/recoveries/{rid}/cancel', params));
  });
