import { requireScope } from '#api/auth/authorize.ts';
import { type Route, route } from '#api/http/route.ts';
import { listBody, pageOf, timeOf } from '#api/http/schema-parts.ts';
import { changeEndpoint, deleteEndpoint, rotateSecret } from '#core/webhooks/endpoints/change-endpoint.ts';
import { createEndpoint } from '#core/webhooks/endpoints/create-endpoint.ts';
import { liftSuspension, suspendEndpoint } from '#core/webhooks/endpoints/disable-endpoint.ts';
import { getEndpoint, listEndpoints, requireEndpoint } from '#core/webhooks/endpoints/endpoint-queries.ts';
import { checkEndpointUrl } from '#core/webhooks/endpoints/endpoint-rules.ts';
import { countByHour } from '#db/queries/deliveries/list-deliveries.ts';
import { CatalogueError } from '#domain/errors.ts';
import { STATS_HOURS_DEFAULT, URL_CHECKS_PER_MINUTE } from '#domain/webhooks/delivery-limits.ts';
import {
  deliveryRoutes,
  EndpointStats,
  EndpointStatsQuery,
  endpointStatsExample,
  presentStats,
} from './delivery-routes.ts';
import { webhookEvents } from './event-schemas.ts';
import { recoveryRoutes } from './recovery-routes.ts';
import {
  ChangedEndpoint,
  ChangeEndpoint,
  CheckedUrl,
  CheckUrl,
  CreateEndpoint,
  Endpoint,
  EndpointList,
  EndpointParams,
  EndpointQuery,
  EndpointWithSecret,
  EventTypeList,
  endpointExample,
  presentEndpoint,
  RotatedSecretBody,
  RotateSecret,
  SuspendEndpoint,
  secretExample,
} from './schema.ts';
import { signingKeyRoutes } from './signing-key-routes.ts';

const tag = 'Webhooks';
const WHY_READING = 'Codes and links of mail go where this endpoint is.';

const endpointRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/api/webhooks',
    operationId: 'createWebhook',
    tag,
    summary: 'Create an endpoint',
    description: 'Answers the endpoint and its signing secret, which is shown only once.',
    auth: { scope: 'webhook:create' },
    body: CreateEndpoint,
    bodyExample: {
      url: endpointExample.url,
      eventTypes: endpointExample.eventTypes,
      description: endpointExample.description,
      authHeader: { name: 'X-Hook-Token', value: 'a long random text' },
    },
    secretFields: ['secret'],
    responses: {
      201: {
        description: 'The new endpoint.',
        schema: EndpointWithSecret,
        example: { ...endpointExample, secret: secretExample },
      },
    },
    errors: [
      'plan_required',
      'plan_limit_reached',
      'not_found',
      'invalid_url',
      'unresolvable_destination',
      'unsafe_destination',
      'invalid_event_types',
      'event_type_not_allowed_for_mailbox',
      'invalid_auth_header',
    ],
    async handler({ services, organization, principal, caller, body }) {
      if (body.includeExtracts === true) requireScope(principal, 'mailbox:read', WHY_READING);
      const { endpoint, secret } = await createEndpoint(services, organization, caller, body);
      return { status: 201, body: { ...presentEndpoint(endpoint), secret } };
    },
  }),
  route({
    method: 'GET',
    path: '/api/webhooks',
    operationId: 'listWebhooks',
    tag,
    summary: 'List endpoints, newest first',
    auth: { scope: 'webhook:read' },
    query: EndpointQuery,
    responses: {
      200: {
        description: 'A page of endpoints.',
        schema: EndpointList,
        example: { data: [endpointExample], nextCursor: null },
      },
    },
    async handler({ services, organization, query }) {
      const page = pageOf('webhookEndpoint', query);
      const rows = await listEndpoints(services.db, organization.id, query, page, services.now());
      return { status: 200, body: listBody(rows, page, presentEndpoint) };
    },
  }),
  // Before `/:id`, which would match it as an id.
  route({
    method: 'GET',
    path: '/api/webhooks/event-types',
    operationId: 'listEventTypes',
    tag,
    summary: 'Event types with scopes, schema and example',
    auth: { scope: 'webhook:read' },
    responses: {
      200: {
        description: 'All event types.',
        schema: EventTypeList,
        // An element has `type` and `example`, which linters of the document take for a schema: see /docs/events instead.
        example: { data: [], nextCursor: null },
      },
    },
    handler: async () => ({
      status: 200,
      body: {
        data: webhookEvents.map(({ type, summary, scopes, schema, example }) => ({
          type,
          summary,
          scopes: { ...scopes },
          schema: { ...schema },
          example: { ...example },
        })),
        nextCursor: null,
      },
    }),
  }),
  route({
    method: 'POST',
    path: '/api/webhooks/check-url',
    operationId: 'checkWebhookUrl',
    tag,
    summary: 'Check the URL of an endpoint',
    description: `Makes the same checks as creating an endpoint with this URL, and sends nothing to it. At most ${URL_CHECKS_PER_MINUTE} a minute.`,
    auth: { scope: 'webhook:create' },
    body: CheckUrl,
    bodyExample: { url: endpointExample.url },
    responses: {
      200: { description: 'It can be used.', schema: CheckedUrl, example: { url: endpointExample.url } },
    },
    errors: ['plan_required', 'invalid_url', 'unresolvable_destination', 'unsafe_destination'],
    handler: async ({ services, organization, body }) => ({
      status: 200,
      body: { url: await checkEndpointUrl(services, organization, body.url) },
    }),
  }),
  route({
    method: 'GET',
    path: '/api/webhooks/:id/stats',
    operationId: 'getWebhookStats',
    tag,
    summary: 'Count deliveries by hour and outcome',
    auth: { scope: 'webhook:read' },
    params: EndpointParams,
    query: EndpointStatsQuery,
    responses: {
      200: { description: 'The hours until now.', schema: EndpointStats, example: endpointStatsExample },
    },
    errors: ['not_found'],
    async handler({ services, organization, params, query }) {
      await requireEndpoint(services.db, organization.id, params.id);
      const of = { organizationId: organization.id, endpointId: params.id };
      const hours = await countByHour(services.db, of, query.hours ?? STATS_HOURS_DEFAULT, services.now());
      return { status: 200, body: presentStats(hours) };
    },
  }),
  route({
    method: 'GET',
    path: '/api/webhooks/:id',
    operationId: 'getWebhook',
    tag,
    summary: 'Get an endpoint',
    auth: { scope: 'webhook:read' },
    params: EndpointParams,
    etag: true,
    responses: { 200: { description: 'The endpoint.', schema: Endpoint, example: endpointExample } },
    errors: ['not_found'],
    handler: async ({ services, organization, params }) => ({
      status: 200,
      body: presentEndpoint(await getEndpoint(services.db, organization.id, params.id, services.now())),
    }),
  }),
  route({
    method: 'PATCH',
    path: '/api/webhooks/:id',
    operationId: 'updateWebhook',
    tag,
    summary: 'Change an endpoint',
    description:
      'Omitted fields do not change. `authHeader: null` removes the header. `active: false` gives up waiting deliveries at once. When an inactive endpoint is set active, `recover` says which deliveries were given up since it failed; `POST /api/webhooks/:id/recover` sends them again.',
    auth: { scope: 'webhook:manage' },
    params: EndpointParams,
    body: ChangeEndpoint,
    bodyExample: { eventTypes: ['email_received'], active: true, description: 'Order intake', authHeader: null },
    responses: {
      200: {
        description: 'The endpoint as it is now.',
        schema: ChangedEndpoint,
        example: { ...endpointExample, recover: { since: '2026-11-20T22:00:00.000Z', deliveries: 418 } },
      },
    },
    errors: [
      'not_found',
      'conflict',
      'immutable_field',
      'invalid_url',
      'unresolvable_destination',
      'unsafe_destination',
      'invalid_event_types',
      'event_type_not_allowed_for_mailbox',
      'invalid_auth_header',
    ],
    async handler({ services, temporal, organization, principal, caller, params, body }) {
      const { mailboxId, ...changes } = body;
      if (mailboxId !== undefined)
        throw new CatalogueError('immutable_field', 'The scope of an endpoint cannot be changed.', {
          details: [{ path: '/mailboxId', message: 'cannot be changed after creation' }],
        });
      const { includeExtracts } = await requireEndpoint(services.db, organization.id, params.id);
      // To another address codes would go as well, and switched off those that are recorded already.
      const switches = (changes.includeExtracts ?? includeExtracts) !== includeExtracts;
      if (switches || (includeExtracts && changes.url !== undefined))
        requireScope(principal, 'mailbox:read', WHY_READING);
      const given = await changeEndpoint(services, temporal, organization.id, params.id, caller, changes);
      const endpoint = await getEndpoint(services.db, organization.id, params.id, services.now());
      const recover = given === undefined ? {} : { recover: { ...given, since: given.since.toISOString() } };
      return { status: 200, body: { ...presentEndpoint(endpoint), ...recover } };
    },
  }),
  route({
    method: 'PUT',
    path: '/api/webhooks/:id/suspension',
    operationId: 'suspendWebhook',
    tag,
    summary: 'Suspend an endpoint, or lift its suspension',
    description:
      'For the operator of the instance, against abuse. A suspended endpoint is inactive, its waiting deliveries are given up at once, and its organization cannot set it active; owners and admins are notified by mail. After the suspension is lifted, it stays inactive until the organization sets it active. To disable all webhooks of an organization, move it to a plan without them. With several organizations on the instance, x-organization-id says which.',
    auth: 'operator',
    params: EndpointParams,
    body: SuspendEndpoint,
    bodyExample: { suspended: true, reason: 'It answers every delivery after 14 seconds.' },
    responses: {
      200: {
        description: 'The endpoint as it is now.',
        schema: Endpoint,
        example: { ...endpointExample, active: false, disabledReason: 'suspended' },
      },
    },
    errors: ['not_found'],
    async handler({ services, temporal, organization, caller, params, body }) {
      if (body.suspended)
        await suspendEndpoint(
          services,
          temporal,
          organization,
          params.id,
          caller,
          body.reason ?? 'No reason was given.',
        );
      else await liftSuspension(services, organization.id, params.id, caller);
      const endpoint = await getEndpoint(services.db, organization.id, params.id, services.now());
      return { status: 200, body: presentEndpoint(endpoint) };
    },
  }),
  route({
    method: 'POST',
    path: '/api/webhooks/:id/rotate-secret',
    operationId: 'rotateWebhookSecret',
    tag,
    summary: 'Replace the signing secret',
    description: 'With `overlapSeconds` both secrets sign for that time; without it the old secret ends at once.',
    auth: { scope: 'webhook:manage' },
    params: EndpointParams,
    body: RotateSecret,
    bodyExample: { overlapSeconds: 3_600 },
    secretFields: ['secret'],
    responses: {
      200: {
        description: 'The new secret.',
        schema: RotatedSecretBody,
        example: { secret: secretExample, previousSecretExpiresAt: '2026-11-21T10:15:00.000Z' },
      },
    },
    errors: ['not_found'],
    async handler({ services, organization, caller, params, body }) {
      const rotated = await rotateSecret(services, organization.id, params.id, caller, body.overlapSeconds ?? 0);
      const previousSecretExpiresAt = timeOf(rotated.previousSecretExpiresAt);
      return { status: 200, body: { secret: rotated.secret, previousSecretExpiresAt } };
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/webhooks/:id',
    operationId: 'deleteWebhook',
    tag,
    summary: 'Delete an endpoint',
    description: 'Its waiting deliveries are given up at once; its history can no longer be read.',
    auth: { scope: 'webhook:manage' },
    params: EndpointParams,
    responses: { 204: { description: 'Deleted.' } },
    errors: ['not_found'],
    async handler({ services, temporal, organization, caller, params }) {
      await deleteEndpoint(services, temporal, organization.id, params.id, caller);
      return { status: 204 };
    },
  }),
];

export const webhookRoutes: readonly Route[] = [
  // Before `/:id`, which would match these paths too.
  ...signingKeyRoutes,
  ...endpointRoutes,
  ...deliveryRoutes,
  ...recoveryRoutes,
];
