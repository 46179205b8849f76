/** Deliveries of an endpoint, their attempts, and how many there were. */
import Type from 'typebox';
import { closed, dateTime, nullable, pageQuery } from '#api/http/schema-parts.ts';
import { MailboxId } from '#api/mailboxes/schema.ts';
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
import { count, EndpointId } from './schema.ts';

const DeliveryId = Type.String({ pattern: idPattern('delivery'), description: 'Delivery id: the `webhook-id`.' });

export const DeliveryParams = closed({ id: EndpointId, did: DeliveryId });

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
        'The workflow that processes the delivery, or did so last. Null for about a second after the event: the first attempt does not wait for it.',
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

export const DeliveryQuery = closed({
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
