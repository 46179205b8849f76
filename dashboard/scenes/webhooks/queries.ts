import { queryOptions } from '@tanstack/react-query';
import { bodyOf, done, type Schemas, service } from '../../api/client.ts';
import { pagedQuery, singleQuery, useAttempt, useDeletion } from '../../api/queries.ts';

export type Webhook = Schemas['WebhookEndpoint'];
export type NewWebhook = Schemas['WebhookEndpointWithSecret'];
export type EventType = Webhook['eventTypes'][number];
export type Delivery = Schemas['Delivery'];
export type DeliveryWithAttempts = Schemas['DeliveryWithAttempts'];
export type Attempt = DeliveryWithAttempts['attempts'][number];
export type Recovery = Schemas['Recovery'];
export type StatusCounts = Schemas['WebhookEndpointStats']['total'];

const PAGE_LENGTH = 50;

/** @param mailboxId only endpoints of this mailbox; empty: all */
export const webhooksQuery = (mailboxId: string) =>
  pagedQuery(['webhooks', 'list', mailboxId], (from) => {
    const query = { limit: PAGE_LENGTH, ...(mailboxId === '' ? {} : { mailboxId }), ...from };
    return bodyOf(service.GET('/api/webhooks', { params: { query } }));
  });

export const webhookQuery = (id: string) =>
  singleQuery(['webhooks', 'one', id], () => bodyOf(service.GET('/api/webhooks/{id}', { params: { path: { id } } })));

/** The keys with which deliveries of the organization are signed, beside the secret of each endpoint. */
export const signingKeysQuery = singleQuery(['webhooks', 'signing-keys'], () =>
  bodyOf(service.GET('/api/webhooks/signing-keys')),
);

export const statsQuery = (id: string) =>
  singleQuery(['webhooks', 'one', id, 'stats'], () =>
    bodyOf(service.GET('/api/webhooks/{id}/stats', { params: { path: { id }, query: { hours: 24 } } })),
  );

export const eventTypesQuery = singleQuery(['event-types'], () => bodyOf(service.GET('/api/webhooks/event-types')), {
  staleTime: Number.POSITIVE_INFINITY,
});

/** Whether an endpoint could be made with this URL; the answer is an error when not. */
export const urlCheckQuery = (url: string) =>
  singleQuery(['webhook-url', url], () => bodyOf(service.POST('/api/webhooks/check-url', { body: { url } })), {
    staleTime: 60_000,
    retry: false,
  });

/** Mailboxes to choose from. @param q part of an address or a name */
export const mailboxChoicesQuery = (q: string) =>
  singleQuery(
    ['mailboxes', 'choices', q],
    () => bodyOf(service.GET('/api/mailboxes', { params: { query: { limit: 20, ...(q === '' ? {} : { q }) } } })),
    { staleTime: 10_000 },
  );

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
  pagedQuery(['webhooks', 'one', id, 'deliveries', filters], (from) =>
    bodyOf(
      service.GET('/api/webhooks/{id}/deliveries', {
        params: { path: { id }, query: { limit: PAGE_LENGTH, ...filters, ...from } },
      }),
    ),
  );

export const deliveryQuery = (id: string, did: string) =>
  singleQuery(['webhooks', 'delivery', id, did], () =>
    bodyOf(service.GET('/api/webhooks/{id}/deliveries/{did}', { params: { path: { id, did } } })),
  );

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
const useWebhookChange = <Input, Result>(change: (input: Input) => Promise<Result>) => useAttempt(change, ['webhooks']);

export interface WebhookChanges {
  url?: string;
  eventTypes?: EventType[];
  active?: boolean;
  description?: string | null;
  authHeader?: { name: string; value: string } | null;
  publicKeySignature?: boolean;
  includeExtracts?: boolean;
}

export const useCreateWebhook = () =>
  useWebhookChange(({ key, ...body }: Schemas['NewWebhookEndpoint'] & { key: string }) =>
    bodyOf(service.POST('/api/webhooks', { body, params: { header: { 'Idempotency-Key': key } } })),
  );

export const useChangeWebhook = (id: string) =>
  useWebhookChange((body: WebhookChanges) =>
    bodyOf(service.PATCH('/api/webhooks/{id}', { params: { path: { id } }, body })),
  );

export const useRotateSecret = (id: string) =>
  useWebhookChange((overlapSeconds: number) =>
    bodyOf(service.POST('/api/webhooks/{id}/rotate-secret', { params: { path: { id } }, body: { overlapSeconds } })),
  );

export const useTestWebhook = (id: string) =>
  useWebhookChange((eventType: EventType) =>
    bodyOf(service.POST('/api/webhooks/{id}/test', { params: { path: { id } }, body: { eventType } })),
  );

export const useDeleteWebhook = (id: string) =>
  useDeletion(
    () => done(service.DELETE('/api/webhooks/{id}', { params: { path: { id } } })),
    webhookQuery(id).queryKey,
    ['webhooks', 'list'],
  );

export const useResend = (id: string, did: string) =>
  useWebhookChange(() =>
    bodyOf(service.POST('/api/webhooks/{id}/deliveries/{did}/resend', { params: { path: { id, did } } })),
  );

interface RecoveryRange {
  since: string;
  until?: string;
  status: Recovery['status'];
}

export const useRecover = (id: string) =>
  useWebhookChange((body: RecoveryRange) =>
    bodyOf(service.POST('/api/webhooks/{id}/recover', { params: { path: { id } }, body })),
  );

export const useMoveRecovery = (id: string, rid: string) =>
  useWebhookChange((verb: 'pause' | 'resume' | 'cancel') => {
    const params = { params: { path: { id, rid } } };
    if (verb === 'pause') return bodyOf(service.POST('/api/webhooks/{id}/recoveries/{rid}/pause', params));
    if (verb === 'resume') return bodyOf(service.POST('/api/webhooks/{id}/recoveries/{rid}/resume', params));
    return bodyOf(service.POST('/api/webhooks/{id}/recoveries/{rid}/cancel', params));
  });
