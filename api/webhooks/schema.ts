import Type, { type Static } from 'typebox';
import { closed, dateTime, listOf, nullable, pageQuery, timeOf } from '#api/http/schema-parts.ts';
import { MailboxId } from '#api/mailboxes/schema.ts';
import type { EndpointView } from '#core/webhooks/endpoints/endpoint-queries.ts';
import { idPattern } from '#domain/ids.ts';
import { ANY_TEXT, LINES } from '#domain/mail/text-forms.ts';
import { SECRET_OVERLAP_MAX_SECONDS } from '#domain/webhooks/delivery-limits.ts';
import { DISABLED_REASONS } from '#domain/webhooks/delivery-status.ts';
import { ENDPOINT_DESCRIPTION_MAX, ENDPOINT_URL_MAX } from '#domain/webhooks/endpoint-limits.ts';
import { EVENT_TYPES } from '#domain/webhooks/event-types.ts';

export const EndpointId = Type.String({ pattern: idPattern('webhookEndpoint'), description: 'Endpoint id.' });

export const EndpointParams = closed({ id: EndpointId });

const Url = Type.String({
  maxLength: ENDPOINT_URL_MAX,
  pattern: ANY_TEXT,
  description: 'https, resolvable, and all of its addresses publicly routable; checked now and before every attempt.',
});
/** Entries are checked by the use case, whose answer says more than a schema's, as are URL and header. */
const EventTypes = Type.Array(Type.String({ maxLength: 64 }), {
  maxItems: 64,
  description: `At least one of ${EVENT_TYPES.map((type) => `\`${type}\``).join(', ')}; each once.`,
});
const Description = Type.String({ maxLength: ENDPOINT_DESCRIPTION_MAX, pattern: LINES });
const AuthHeader = closed(
  {
    name: Type.String({
      pattern: ANY_TEXT,
      description:
        'An HTTP token. Not allowed: Host, Content-Type, User-Agent, webhook-*, X-Forwarded-*, X-Service-*, and headers that frame a message.',
    }),
    value: Type.String({ pattern: ANY_TEXT, description: 'Visible ASCII. Stored encrypted and never shown again.' }),
  },
  {
    title: 'WebhookAuthHeader',
    description: 'A header sent with each delivery, by which the destination recognizes the sender.',
  },
);

const PublicKeySignature = Type.Boolean({
  description:
    'Also sign deliveries with the key pair of the organization (`v1a`, Ed25519). The receiver verifies this signature with a public key and needs no secret.',
});
const IncludeExtracts = Type.Boolean({
  description:
    'Include one-time codes and links of received mail in `data.extracts` of `email_received`. Anybody who can read the delivery, its history here, or the logs of the receiver can then use the codes.',
});

export const CreateEndpoint = closed(
  {
    url: Url,
    eventTypes: EventTypes,
    mailboxId: Type.Optional({
      ...MailboxId,
      description: 'Receive events of this mailbox only. Default: of the whole organization. Cannot be changed later.',
    }),
    description: Type.Optional(Description),
    authHeader: Type.Optional(AuthHeader),
    publicKeySignature: Type.Optional(PublicKeySignature),
    includeExtracts: Type.Optional(IncludeExtracts),
  },
  { title: 'NewWebhookEndpoint' },
);

export const ChangeEndpoint = closed(
  {
    url: Type.Optional(Url),
    eventTypes: Type.Optional(EventTypes),
    active: Type.Optional(
      Type.Boolean({ description: 'false: no new deliveries, and waiting ones are given up at once.' }),
    ),
    description: Type.Optional(nullable(Description)),
    authHeader: Type.Optional(nullable(AuthHeader)),
    publicKeySignature: Type.Optional(PublicKeySignature),
    includeExtracts: Type.Optional(IncludeExtracts),
    mailboxId: Type.Optional(Type.Unknown({ description: 'Cannot be changed: answers `immutable_field`.' })),
  },
  { title: 'WebhookEndpointChanges' },
);

export const SuspendEndpoint = closed(
  {
    suspended: Type.Boolean(),
    reason: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: ENDPOINT_DESCRIPTION_MAX,
        pattern: LINES,
        description: 'Included in the notice to owners and admins.',
      }),
    ),
  },
  { title: 'WebhookEndpointSuspension' },
);

export const RotateSecret = closed(
  {
    overlapSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: SECRET_OVERLAP_MAX_SECONDS,
        description: 'Time during which attempts have the signatures of both secrets. Default 0.',
      }),
    ),
  },
  { title: 'SecretRotation' },
);

export const TestEndpoint = closed(
  {
    eventType: Type.Optional(
      Type.Enum(EVENT_TYPES, { description: 'Default: the first type the endpoint subscribed to.' }),
    ),
  },
  { title: 'DeliveryTest' },
);

export const count = () => Type.Integer({ minimum: 0 });

const endpointFields = {
  id: EndpointId,
  url: Type.String(),
  eventTypes: Type.Array(Type.Enum(EVENT_TYPES)),
  mailboxId: nullable({ ...MailboxId, description: 'Null: organization scope.' }),
  description: nullable(Type.String()),
  active: Type.Boolean(),
  authHeaderName: nullable(
    Type.String({ description: 'Name of the header sent with each delivery; its value is never shown.' }),
  ),
  disabledReason: nullable(
    Type.Enum(DISABLED_REASONS, {
      description:
        'Why the service set it inactive: all attempts of a delivery were answered with 410 (`gone`), it acknowledged nothing for days (`failing`), or it was `suspended`.',
    }),
  ),
  secretPrefix: Type.String({ description: 'First characters of the signing secret, to tell it from others.' }),
  createdAt: dateTime(),
  updatedAt: dateTime(),
  lastSuccessAt: nullable(dateTime('When it last acknowledged a delivery, accurate to some seconds.')),
  failingSince: nullable(dateTime('Since when it has acknowledged nothing.')),
  previousSecretExpiresAt: nullable(
    dateTime('Until then attempts also have the signature of the previous secret; null: of this one only.'),
  ),
  publicKeySignature: Type.Boolean({ description: 'Whether deliveries also have `v1a` signatures.' }),
  includeExtracts: Type.Boolean({ description: 'Whether `email_received` has codes and links in `data.extracts`.' }),
  oldestWaitingAt: nullable(
    dateTime('When the oldest waiting delivery of the last 24 hours was created; null: none waits.'),
  ),
  stats: closed(
    {
      last24h: closed(
        { pending: count(), success: count(), failed: count(), exhausted: count() },
        { title: 'DeliveryCounts', description: 'Deliveries of the last 24 hours by status.' },
      ),
    },
    { title: 'WebhookEndpointLastDay' },
  ),
};

export const Endpoint = closed(endpointFields, { title: 'WebhookEndpoint' });
export const ChangedEndpoint = closed(
  {
    ...endpointFields,
    recover: Type.Optional(
      closed(
        {
          since: dateTime('Send it to `POST /api/webhooks/:id/recover` to send them again.'),
          deliveries: count(),
        },
        {
          title: 'RecoverableDeliveries',
          description: 'Only if the endpoint was inactive before: deliveries that were given up since it failed.',
        },
      ),
    ),
  },
  { title: 'ChangedWebhookEndpoint' },
);
export const EndpointList = listOf(Endpoint, 'WebhookEndpointList');
export const EndpointQuery = closed({ ...pageQuery, mailboxId: Type.Optional(MailboxId) });

const secret = (description: string) => nullable(Type.String({ description }));
export const EndpointWithSecret = closed(
  {
    ...endpointFields,
    secret: secret('Signing secret (`whsec_…`, Standard Webhooks). Shown in this answer only.'),
  },
  { title: 'WebhookEndpointWithSecret' },
);
export const RotatedSecretBody = closed(
  {
    secret: secret('The new signing secret. Shown in this answer only.'),
    previousSecretExpiresAt: nullable(dateTime('Until then the old secret signs too; null: it is not used any more.')),
  },
  { title: 'RotatedSecret' },
);

export const CheckUrl = closed({ url: Url }, { title: 'WebhookUrlCheck' });
export const CheckedUrl = closed(
  {
    url: Type.String({ description: 'In its normal form, in which it would be stored and used.' }),
  },
  { title: 'CheckedWebhookUrl' },
);

const WebhookEventType = closed(
  {
    type: Type.Enum(EVENT_TYPES),
    summary: Type.String(),
    scopes: closed(
      { organization: Type.Boolean(), mailbox: Type.Boolean() },
      {
        title: 'EventTypeScopes',
        description: 'Endpoints it can reach: those of the organization, those of its mailbox.',
      },
    ),
    schema: Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema of the body of a delivery.' }),
    example: Type.Record(Type.String(), Type.Unknown()),
  },
  { title: 'WebhookEventType' },
);
export const EventTypeList = listOf(WebhookEventType, 'WebhookEventTypeList');

export const endpointExample = {
  id: 'whe_01k8e8f2c0e4x9w2v7a3r5t6y8',
  url: 'https://hooks.example.com/agent-mailbox',
  eventTypes: ['email_received', 'mailbox_deleted'],
  mailboxId: null,
  description: 'Order intake',
  active: true,
  authHeaderName: 'X-Hook-Token',
  disabledReason: null,
  secretPrefix: 'whsec_c2Vj',
  createdAt: '2026-11-21T09:15:00.000Z',
  updatedAt: '2026-11-21T09:15:00.000Z',
  lastSuccessAt: '2026-11-21T09:16:02.512Z',
  failingSince: null,
  previousSecretExpiresAt: null,
  publicKeySignature: false,
  includeExtracts: false,
  oldestWaitingAt: '2026-11-21T09:16:02.481Z',
  stats: { last24h: { pending: 0, success: 12, failed: 1, exhausted: 0 } },
};

export const secretExample = 'whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3I=';

export const presentEndpoint = (endpoint: EndpointView): Static<typeof Endpoint> => ({
  id: endpoint.id,
  url: endpoint.url,
  eventTypes: [...endpoint.eventTypes],
  mailboxId: endpoint.mailboxId,
  description: endpoint.description,
  active: endpoint.active,
  authHeaderName: endpoint.authHeaderName,
  disabledReason: endpoint.disabledReason,
  secretPrefix: endpoint.secretPrefix,
  createdAt: endpoint.createdAt.toISOString(),
  updatedAt: endpoint.updatedAt.toISOString(),
  lastSuccessAt: timeOf(endpoint.lastSuccessAt),
  failingSince: timeOf(endpoint.failingSince),
  previousSecretExpiresAt: timeOf(endpoint.previousSecretExpiresAt),
  publicKeySignature: endpoint.publicKeySignature,
  includeExtracts: endpoint.includeExtracts,
  oldestWaitingAt: timeOf(endpoint.oldestWaitingAt),
  stats: { last24h: { ...endpoint.last24h } },
});
