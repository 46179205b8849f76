/** Deliveries of an endpoint, their attempts, and how many there were. */
import Type, { type Static } from 'typebox';
import { type Route, route } from '#api/http/route.ts';
import {
  closed,
  dateTime,
  decodeCursor,
  listBody,
  nullable,
  pageQuery,
  temporalLink,
  timeOf,
} from '#api/http/schema-parts.ts';
import { MailboxId } from '#api/mailboxes/schema.ts';
import { noteReadingOf, type ReadingRequest } from '#api/messages/note-reading.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import { requireEndpoint } from '#core/webhooks/endpoints/endpoint-queries.ts';
import { resendDelivery } from '#core/webhooks/resend-delivery.ts';
import { sendTestDelivery } from '#core/webhooks/test-delivery.ts';
import {
  type AttemptView,
  countDeliveries,
  type DeliveryFilter,
  type DeliveryWithPayload,
  findDelivery,
  type HourOfDeliveries,
  listAttempts,
  listDeliveries,
  type ResponseCodes,
} from '#db/queries/deliveries/list-deliveries.ts';
import { CatalogueError } from '#domain/errors.ts';
import { idPattern } from '#domain/ids.ts';
import {
  DELIVERIES_PAGE_DEFAULT,
  DELIVERIES_PAGE_MAX,
  STATS_HOURS_DEFAULT,
  STATS_HOURS_MAX,
} from '#domain/webhooks/delivery-limits.ts';
import {
  ATTEMPT_ERRORS,
  ATTEMPT_TRIGGERS,
  DELIVERY_STATUSES,
  EXHAUSTED_REASONS,
} from '#domain/webhooks/delivery-status.ts';
import { EVENT_TYPES } from '#domain/webhooks/event-types.ts';
import { eventExamples, testExamples } from './event-schemas.ts';
import { count, EndpointId, EndpointParams, endpointExample, TestEndpoint } from './schema.ts';

const DeliveryId = Type.String({ pattern: idPattern('delivery'), description: 'Delivery id: the `webhook-id`.' });

const DeliveryParams = closed({ id: EndpointId, did: DeliveryId });

const deliveryFields = {
  id: DeliveryId,
  eventId: Type.String({ pattern: idPattern('event') }),
  eventType: Type.Enum(EVENT_TYPES),
  endpointId: EndpointId,
  mailboxId: nullable(MailboxId),
  status: Type.Enum(DELIVERY_STATUSES, {
    description:
      '`pending`: not attempted yet. `failed`: a retry is scheduled. `success` and `exhausted` are final; `exhausted` has a `reason`.',
  }),
  reason: nullable(Type.Enum(EXHAUSTED_REASONS)),
  attemptCount: count(),
  maxAttempts: count(),
  lastError: nullable(Type.String({ description: 'The last error, for people.' })),
  responseCode: nullable(Type.Integer({ description: 'Of the last attempt that got an answer.' })),
  nextAttemptAt: nullable(dateTime()),
  createdAt: dateTime(),
  completedAt: nullable(dateTime()),
  workflowId: nullable(
    Type.String({
      description:
        'The workflow that processes the delivery, or did so last. Null until a worker takes the delivery; the workflow exists a second or two later: the first attempt does not wait for it.',
    }),
  ),
  temporalUrl: Type.Optional(
    Type.String({ description: 'That workflow in the Temporal UI, where one is configured.' }),
  ),
  payload: Type.Record(Type.String(), Type.Unknown(), {
    description: 'The envelope as recorded; exactly this text is signed and sent.',
  }),
};

export const Delivery = closed(deliveryFields, { title: 'Delivery' });

const Attempt = closed(
  {
    number: Type.Integer({ minimum: 1 }),
    trigger: Type.Enum(ATTEMPT_TRIGGERS, { description: '`manual`: by a resend.' }),
    startedAt: dateTime(),
    durationMs: count(),
    responseCode: nullable(Type.Integer()),
    error: nullable(Type.Enum(ATTEMPT_ERRORS, { description: 'Null when it was acknowledged.' })),
    responseHeaders: nullable(Type.Record(Type.String(), Type.String())),
    responseBody: nullable(Type.String({ description: 'At most the first 16 KiB.' })),
    remoteAddress: nullable(Type.String()),
  },
  { title: 'DeliveryAttempt' },
);

export const DeliveryWithAttempts = closed(
  { ...deliveryFields, attempts: Type.Array(Attempt) },
  { title: 'DeliveryWithAttempts' },
);

export const EndpointStatsQuery = closed({
  hours: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: STATS_HOURS_MAX,
      description: `The current hour and those before it (default ${STATS_HOURS_DEFAULT}).`,
    }),
  ),
});

const byStatus = { pending: count(), success: count(), failed: count(), exhausted: count() };
export const EndpointStats = closed(
  {
    hours: Type.Array(closed({ from: dateTime('A full hour, UTC.'), ...byStatus }, { title: 'WebhookEndpointHour' }), {
      description: 'Oldest first, empty ones included.',
    }),
    total: closed(byStatus, { title: 'DeliveryTotals', description: 'Of all these hours.' }),
  },
  {
    title: 'WebhookEndpointStats',
    description: 'Deliveries by the hour in which they were created and their current status.',
  },
);

const OFFSET_MAX = 1_000_000;

const DeliveryQuery = closed({
  status: Type.Optional(Type.Enum(DELIVERY_STATUSES)),
  eventType: Type.Optional(Type.Enum(EVENT_TYPES)),
  reason: Type.Optional(Type.Enum(EXHAUSTED_REASONS, { description: 'Why it was given up.' })),
  responseCode: Type.Optional(
    Type.String({
      pattern: '^(?:[1-5](?:[0-9]{2}|xx)|none)$',
      description: 'Of the last answer: a code such as `503`, a class such as `5xx`, or `none` without an answer.',
    }),
  ),
  since: Type.Optional(dateTime('Created at this time or later.')),
  until: Type.Optional(dateTime('Created before this time.')),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: DELIVERIES_PAGE_MAX,
      description: `Rows per page (default ${DELIVERIES_PAGE_DEFAULT}).`,
    }),
  ),
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: OFFSET_MAX,
      description: 'Rows to skip. New rows shift it; `cursor` does not have this problem.',
    }),
  ),
  cursor: pageQuery.cursor,
});

export const DeliveryList = closed(
  {
    data: Type.Array(Delivery),
    total: Type.Integer({ minimum: 0, description: 'Deliveries that match, on all pages.' }),
    limit: Type.Integer(),
    offset: Type.Integer(),
    nextCursor: nullable(Type.String({ description: 'Send it as `cursor` for the next page; null on the last one.' })),
  },
  { title: 'DeliveryList' },
);

const tag = 'Webhooks';
/** @param text `503`, `5xx` or `none` */
const responseCodesOf = (text: string): ResponseCodes | null =>
  text === 'none' ? null : { from: Number(text.replaceAll('x', '0')), to: Number(text.replaceAll('x', '9')) };

export const endpointStatsExample = {
  hours: [
    { from: '2026-11-21T08:00:00.000Z', pending: 0, success: 0, failed: 0, exhausted: 0 },
    { from: '2026-11-21T09:00:00.000Z', pending: 0, success: 12, failed: 1, exhausted: 0 },
  ],
  total: { pending: 0, success: 12, failed: 1, exhausted: 0 },
};

const deliveryExample = {
  id: 'dlv_01k8e8f2c0e4x9w2v7a3r5t6y8',
  eventId: 'evt_01k8e8f2c0e4x9w2v7a3r5t6y8',
  eventType: 'email_received',
  endpointId: endpointExample.id,
  mailboxId: 'mbx_01k8e8f2c0e4x9w2v7a3r5t6y8',
  status: 'failed',
  reason: null,
  attemptCount: 1,
  maxAttempts: 5,
  lastError: 'the server answered 503',
  responseCode: 503,
  nextAttemptAt: '2026-11-21T09:16:32.611Z',
  createdAt: '2026-11-21T09:16:02.481Z',
  completedAt: null,
  workflowId: `delivery/${endpointExample.id}/fan-out/01k8e8f2c0e4x9w2v7a3r5t6y8`,
  payload: eventExamples.email_received,
};

const deliveryWithAttemptsExample = {
  ...deliveryExample,
  attempts: [
    {
      number: 1,
      trigger: 'automatic',
      startedAt: '2026-11-21T09:16:02.493Z',
      durationMs: 118,
      responseCode: 503,
      error: 'http_status',
      responseHeaders: { 'content-type': 'text/plain', 'retry-after': '30' },
      responseBody: 'come back later',
      remoteAddress: '203.0.113.10',
    },
  ],
};

export function presentStats(hours: readonly HourOfDeliveries[]): Static<typeof EndpointStats> {
  const total = { pending: 0, success: 0, failed: 0, exhausted: 0 };
  for (const { counts } of hours) for (const status of DELIVERY_STATUSES) total[status] += counts[status];
  return { hours: hours.map(({ from, counts }) => ({ from: from.toISOString(), ...counts })), total };
}

const presentDelivery = (delivery: DeliveryWithPayload, settings: Settings): Static<typeof Delivery> => ({
  id: delivery.id,
  eventId: delivery.eventId,
  eventType: delivery.eventType,
  endpointId: delivery.endpointId,
  mailboxId: delivery.mailboxId,
  status: delivery.status,
  reason: delivery.reason,
  attemptCount: delivery.attemptCount,
  maxAttempts: delivery.maxAttempts,
  lastError: delivery.lastError,
  responseCode: delivery.responseCode,
  nextAttemptAt: timeOf(delivery.nextAttemptAt),
  createdAt: delivery.createdAt.toISOString(),
  completedAt: timeOf(delivery.completedAt),
  workflowId: delivery.workflowId,
  ...temporalLink(delivery.workflowId, settings),
  // The text was made from an object by `core/events/record-event.ts`.
  payload: JSON.parse(delivery.payload) as Record<string, unknown>,
});

const presentDeliveryWithAttempts = (
  delivery: DeliveryWithPayload,
  attempts: readonly AttemptView[],
  settings: Settings,
): Static<typeof DeliveryWithAttempts> => ({
  ...presentDelivery(delivery, settings),
  attempts: attempts.map((attempt) => ({
    number: attempt.number,
    trigger: attempt.trigger,
    startedAt: attempt.startedAt.toISOString(),
    durationMs: attempt.durationMs,
    responseCode: attempt.responseCode,
    error: attempt.error,
    responseHeaders: attempt.responseHeaders === null ? null : { ...attempt.responseHeaders },
    // The response of any server: bytes that are not UTF-8 are shown as U+FFFD.
    responseBody: attempt.responseBody?.toString('utf8') ?? null,
    remoteAddress: attempt.remoteAddress,
  })),
});

/** The events of these deliveries show subject and beginning of mail. */
async function noteReadingEvents(
  request: ReadingRequest,
  shown: readonly Pick<Static<typeof Delivery>, 'mailboxId' | 'payload'>[],
): Promise<void> {
  const messageIds = shown.flatMap(({ payload: { data } }) => {
    const id: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, 'messageId') : undefined;
    return typeof id === 'string' ? [id] : [];
  });
  await noteReadingOf(
    request,
    shown.flatMap(({ mailboxId }) => (mailboxId === null ? [] : [mailboxId])),
    messageIds,
  );
}

const pendingExample = {
  ...deliveryExample,
  status: 'pending',
  attemptCount: 0,
  lastError: null,
  responseCode: null,
  nextAttemptAt: null,
  workflowId: null,
};

/** The filters of a list of deliveries. */
function filterOf({
  status,
  eventType,
  reason,
  responseCode,
  since,
  until,
}: Static<typeof DeliveryQuery>): DeliveryFilter {
  return {
    ...(status === undefined ? {} : { status }),
    ...(eventType === undefined ? {} : { eventType }),
    ...(reason === undefined ? {} : { reason }),
    ...(responseCode === undefined ? {} : { responseCodes: responseCodesOf(responseCode) }),
    ...(since === undefined ? {} : { since: new Date(since) }),
    ...(until === undefined ? {} : { until: new Date(until) }),
  };
}

export const deliveryRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/webhooks/:id/deliveries',
    operationId: 'listDeliveries',
    tag,
    summary: 'List deliveries of an endpoint, newest first',
    description: 'Kept for 30 days. Page by `offset`, or by `cursor`, which new deliveries do not shift.',
    auth: { scope: 'webhook:read' },
    params: EndpointParams,
    query: DeliveryQuery,
    responses: {
      200: {
        description: 'A page of deliveries.',
        schema: DeliveryList,
        example: { data: [deliveryExample], total: 1, limit: DELIVERIES_PAGE_DEFAULT, offset: 0, nextCursor: null },
      },
    },
    errors: ['not_found'],
    async handler({ services, organization, principal, params, query }) {
      const { db, settings } = services;
      await requireEndpoint(db, organization.id, params.id);
      const of = { organizationId: organization.id, endpointId: params.id };
      const { limit = DELIVERIES_PAGE_DEFAULT, offset = 0, cursor } = query;
      const filter = filterOf(query);
      const page = { limit, offset, after: cursor === undefined ? null : decodeCursor('delivery', cursor) };
      const [rows, total] = await Promise.all([
        listDeliveries(db, of, filter, page, services.now()),
        countDeliveries(db, of, filter, services.now()),
      ]);
      const { data, nextCursor } = listBody(rows, page, (row) => presentDelivery(row, settings));
      await noteReadingEvents({ services, principal }, data);
      return { status: 200, body: { data, total, limit, offset, nextCursor } };
    },
  }),
  route({
    method: 'GET',
    path: '/api/webhooks/:id/deliveries/:did',
    operationId: 'getDelivery',
    tag,
    summary: 'Get a delivery with its attempts',
    auth: { scope: 'webhook:read' },
    params: DeliveryParams,
    etag: true,
    responses: {
      200: {
        description: 'The delivery, with the result of each attempt.',
        schema: DeliveryWithAttempts,
        example: deliveryWithAttemptsExample,
      },
    },
    errors: ['not_found'],
    async handler({ services, organization, principal, params }) {
      const { db, settings } = services;
      await requireEndpoint(db, organization.id, params.id);
      const of = { organizationId: organization.id, endpointId: params.id };
      const delivery = await findDelivery(db, of, params.did);
      if (delivery === undefined) throw new CatalogueError('not_found');
      const attempts = await listAttempts(db, delivery.id);
      const body = presentDeliveryWithAttempts(delivery, attempts, settings);
      await noteReadingEvents({ services, principal }, [body]);
      return { status: 200, body };
    },
  }),
  route({
    method: 'POST',
    path: '/api/webhooks/:id/deliveries/:did/resend',
    operationId: 'resendDelivery',
    tag,
    summary: 'Send a delivery again',
    description:
      'A waiting delivery is attempted now. A final one gets one more attempt, marked `manual`, under the same `webhook-id`.',
    auth: { scope: 'webhook:manage' },
    params: DeliveryParams,
    responses: {
      202: { description: 'The attempt is being made.', schema: Delivery, example: deliveryExample },
    },
    errors: ['not_found', 'plan_required', 'conflict', 'unavailable'],
    async handler({ services, temporal, organization, caller, params }) {
      const delivery = await resendDelivery(services, temporal, organization, params.id, params.did, caller);
      return { status: 202, body: presentDelivery(delivery, services.settings) };
    },
  }),
  route({
    method: 'POST',
    path: '/api/webhooks/:id/test',
    operationId: 'testWebhook',
    tag,
    summary: 'Send an example event',
    description:
      'A real delivery to this endpoint only: signed, retried and listed like any other. `data.test` is true in it.',
    auth: { scope: 'webhook:manage' },
    params: EndpointParams,
    body: TestEndpoint,
    bodyExample: { eventType: 'email_received' },
    responses: {
      202: { description: 'The delivery is being sent.', schema: Delivery, example: pendingExample },
    },
    errors: ['not_found', 'plan_required', 'conflict', 'event_type_not_allowed_for_mailbox'],
    async handler({ services, organization, caller, params, body }) {
      const delivery = await sendTestDelivery(services, organization, params.id, caller, testExamples, body.eventType);
      return { status: 202, body: presentDelivery(delivery, services.settings) };
    },
  }),
];
