import Type from 'typebox';
import {
  DELIVERIES_PAGE_DEFAULT,
  DELIVERIES_PAGE_MAX,
  SECRET_OVERLAP_MAX_SECONDS,
} from '../../domain/delivery-limits.ts';
import {
  ATTEMPT_ERRORS,
  ATTEMPT_TRIGGERS,
  DELIVERY_STATUSES,
  DISABLED_REASONS,
  EXHAUSTED_REASONS,
} from '../../domain/delivery-status.ts';
import { STOP_REASONS } from '../../domain/delivery-workflows.ts';
import { ENDPOINT_DESCRIPTION_MAX, ENDPOINT_URL_MAX } from '../../domain/endpoint-limits.ts';
import { EVENT_TYPES } from '../../domain/event-types.ts';
import { idPattern } from '../../domain/ids.ts';
import { RECOVERABLE_STATUSES, RECOVERY_STATES } from '../../domain/recovery.ts';
import { MailboxId } from '../mailboxes/schema.ts';
import { listOf, pageQuery } from '../pagination.ts';
import { closed, dateTime, nullable } from '../schema-parts.ts';

const EndpointId = Type.String({ pattern: idPattern('webhookEndpoint'), description: 'Endpoint id.' });
const DeliveryId = Type.String({ pattern: idPattern('delivery'), description: 'Delivery id: the `webhook-id`.' });

export const EndpointParams = closed({ id: EndpointId });
export const DeliveryParams = closed({ id: EndpointId, did: DeliveryId });
const RecoveryId = Type.String({ pattern: idPattern('recovery'), description: 'Recovery id.' });
export const RecoveryParams = closed({ id: EndpointId, rid: RecoveryId });

const Url = Type.String({
  maxLength: ENDPOINT_URL_MAX,
  description: 'https, resolvable, and all of its addresses publicly routable; checked now and before every attempt.',
});
/** Entries are judged by the use case, whose answer says more than a schema's. */
const EventTypes = Type.Array(Type.String({ maxLength: 64 }), {
  maxItems: 64,
  description: `At least one of ${EVENT_TYPES.map((type) => `\`${type}\``).join(', ')}; each once.`,
});
const Description = Type.String({ maxLength: ENDPOINT_DESCRIPTION_MAX });
const AuthHeader = closed(
  {
    name: Type.String({
      description:
        'An HTTP token. Not taken: Host, Content-Type, User-Agent, webhook-*, X-Forwarded-*, X-Service-*, and headers that frame a message.',
    }),
    value: Type.String({ description: 'Visible ASCII. Kept encrypted and never shown again.' }),
  },
  { description: 'A header sent with each delivery, by which the destination knows the sender.' },
);

export const CreateEndpoint = closed({
  url: Url,
  eventTypes: EventTypes,
  mailboxId: Type.Optional({
    ...MailboxId,
    description: 'Hear of this mailbox only. Left out: of the whole organization. Cannot be changed later.',
  }),
  description: Type.Optional(Description),
  authHeader: Type.Optional(AuthHeader),
});

export const ChangeEndpoint = closed({
  url: Type.Optional(Url),
  eventTypes: Type.Optional(EventTypes),
  active: Type.Optional(
    Type.Boolean({ description: 'false: no new deliveries, and waiting ones are given up at once.' }),
  ),
  description: Type.Optional(nullable(Description)),
  authHeader: Type.Optional(nullable(AuthHeader)),
  mailboxId: Type.Optional(Type.Unknown({ description: 'Cannot be changed: answers `immutable_field`.' })),
});

export const SuspendEndpoint = closed({
  suspended: Type.Boolean(),
  reason: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: ENDPOINT_DESCRIPTION_MAX,
      description: 'For owners and admins, who are told by mail.',
    }),
  ),
});

export const RotateSecret = closed({
  overlapSeconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: SECRET_OVERLAP_MAX_SECONDS,
      description: 'For so long attempts carry the signatures of both secrets. Default 0.',
    }),
  ),
});

export const TestEndpoint = closed({
  eventType: Type.Optional(
    Type.Enum(EVENT_TYPES, { description: 'Default: the first type the endpoint subscribed to.' }),
  ),
});

const count = () => Type.Integer({ minimum: 0 });

const endpointFields = {
  id: EndpointId,
  url: Type.String(),
  eventTypes: Type.Array(Type.Enum(EVENT_TYPES)),
  mailboxId: nullable({ ...MailboxId, description: 'Null: organization scope.' }),
  description: nullable(Type.String()),
  active: Type.Boolean(),
  authHeaderName: nullable(Type.String({ description: 'Of the header sent along; its value is never shown.' })),
  disabledReason: nullable(
    Type.Enum(DISABLED_REASONS, {
      description:
        'Why the service set it inactive: it answered 410 (`gone`), acknowledged nothing for days (`failing`), or was `suspended`.',
    }),
  ),
  secretPrefix: Type.String({ description: 'First characters of the signing secret, to tell it from others.' }),
  createdAt: dateTime(),
  updatedAt: dateTime(),
  lastSuccessAt: nullable(dateTime('When it last acknowledged a delivery, to some seconds.')),
  failingSince: nullable(dateTime('Since when it has acknowledged nothing.')),
  stats: closed({
    last24h: closed(
      { pending: count(), success: count(), failed: count(), exhausted: count() },
      { description: 'Deliveries of the last 24 hours by status.' },
    ),
  }),
};

export const Endpoint = closed(endpointFields, { title: 'WebhookEndpoint' });
export const ChangedEndpoint = closed(
  {
    ...endpointFields,
    recover: Type.Optional(
      closed(
        {
          since: dateTime('Give it to `POST /api/webhooks/:id/recover` to have them sent again.'),
          deliveries: count(),
        },
        { description: 'There when the endpoint was inactive before: deliveries that were given up since it failed.' },
      ),
    ),
  },
  { title: 'ChangedWebhookEndpoint' },
);
export const EndpointList = listOf(Endpoint);
export const EndpointQuery = closed({ ...pageQuery, mailboxId: Type.Optional(MailboxId) });

const secret = (description: string) => nullable(Type.String({ description }));
export const EndpointWithSecret = closed(
  {
    ...endpointFields,
    secret: secret('Signing secret (`whsec_…`, Standard Webhooks). Shown in this answer only.'),
  },
  { title: 'WebhookEndpointWithSecret' },
);
export const RotatedSecretBody = closed({
  secret: secret('The new signing secret. Shown in this answer only.'),
  previousSecretExpiresAt: nullable(dateTime('Until then the old secret signs too; null: it no longer does.')),
});

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
  lastError: nullable(Type.String({ description: 'What went wrong last, for people.' })),
  responseCode: nullable(Type.Integer({ description: 'Of the last attempt that got an answer.' })),
  nextAttemptAt: nullable(dateTime()),
  createdAt: dateTime(),
  completedAt: nullable(dateTime()),
  workflowId: nullable(Type.String({ description: 'Workflow that holds the delivery, or held it last.' })),
  temporalUrl: Type.Optional(
    Type.String({ description: 'That workflow in the Temporal UI, where one is configured.' }),
  ),
  payload: Type.Record(Type.String(), Type.Unknown(), {
    description: 'The envelope as it was recorded; its text is what is signed and sent.',
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

const OFFSET_MAX = 1_000_000;

export const DeliveryQuery = closed({
  status: Type.Optional(Type.Enum(DELIVERY_STATUSES)),
  eventType: Type.Optional(Type.Enum(EVENT_TYPES)),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: DELIVERIES_PAGE_MAX,
      description: `Rows of a page (default ${DELIVERIES_PAGE_DEFAULT}).`,
    }),
  ),
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: OFFSET_MAX,
      description: 'Rows to skip. Rows that arrive meanwhile shift it; `cursor` does not have that fault.',
    }),
  ),
  cursor: pageQuery.cursor,
});

export const DeliveryList = closed({
  data: Type.Array(Delivery),
  total: Type.Integer({ minimum: 0, description: 'Deliveries that match, on all pages.' }),
  limit: Type.Integer(),
  offset: Type.Integer(),
  nextCursor: nullable(Type.String({ description: 'Give it as `cursor` for the next page; null on the last one.' })),
});

export const EventTypeList = listOf(
  closed({
    type: Type.Enum(EVENT_TYPES),
    summary: Type.String(),
    scopes: closed(
      { organization: Type.Boolean(), mailbox: Type.Boolean() },
      { description: 'Endpoints it can reach: those of the organization, those of its mailbox.' },
    ),
    schema: Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema of the body of a delivery.' }),
    example: Type.Record(Type.String(), Type.Unknown()),
  }),
);

export const RecoverDeliveries = closed({
  since: dateTime('Deliveries made from this moment on.'),
  until: Type.Optional(dateTime('And before this one. Default, and at most: now.')),
  status: Type.Optional(
    Type.Enum(RECOVERABLE_STATUSES, {
      description:
        'Which: those that were given up, whatever the reason (`exhausted`, the default), or those that wait for a retry, which is then made now (`failed`).',
    }),
  ),
});

export const Recovery = closed(
  {
    id: RecoveryId,
    endpointId: EndpointId,
    status: Type.Enum(RECOVERABLE_STATUSES, { description: 'Which deliveries are sent again.' }),
    since: dateTime(),
    until: dateTime(),
    state: Type.Enum(RECOVERY_STATES, {
      description:
        '`running` and `paused` go on or can; `completed`: nothing is left; `cancelled`: by a person; `stopped`: see `stopReason`.',
    }),
    stopReason: nullable(Type.Enum(STOP_REASONS, { description: 'Why it was `stopped`; null in every other state.' })),
    total: Type.Integer({ minimum: 0, description: 'Deliveries it found when it began.' }),
    done: Type.Integer({ minimum: 0, description: 'Sent again until now: `succeeded` + `failed`.' }),
    succeeded: count(),
    failed: count(),
    createdAt: dateTime(),
    updatedAt: dateTime(),
    finishedAt: nullable(dateTime()),
    workflowId: Type.String(),
    temporalUrl: Type.Optional(
      Type.String({ description: 'Its workflow in the Temporal UI, where one is configured.' }),
    ),
  },
  { title: 'Recovery' },
);
export const RecoveryList = listOf(Recovery);
