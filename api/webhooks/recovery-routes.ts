import { type Route, route } from '#api/http/route.ts';
import { listBody, PageQuery, pageOf } from '#api/http/schema-parts.ts';
import { requireEndpoint } from '#core/webhooks/endpoints/endpoint-queries.ts';
import { getRecovery, moveRecovery, startRecovery } from '#core/webhooks/endpoints/recover-deliveries.ts';
import { listRecoveries } from '#db/queries/webhooks/recoveries.ts';
import { recoveryExample } from './examples.ts';
import { presentRecovery } from './present.ts';
import { RecoverDeliveries, Recovery, RecoveryList, RecoveryParams } from './recovery-schema.ts';
import { EndpointParams } from './schema.ts';

const tag = 'Webhooks';

/** Actions on a recovery that has not ended. */
function move(
  verb: 'cancel' | 'pause' | 'resume',
  state: 'cancelled' | 'paused' | 'running',
  more: { readonly summary: string; readonly description: string; readonly example: object },
): Route {
  return route({
    method: 'POST',
    path: `/api/webhooks/:id/recoveries/:rid/${verb}`,
    operationId: `${verb}Recovery`,
    tag,
    summary: more.summary,
    description: more.description,
    auth: { scope: 'webhook:manage' },
    params: RecoveryParams,
    responses: { 200: { description: 'The recovery as it is now.', schema: Recovery, example: more.example } },
    errors: ['not_found', 'conflict'],
    async handler({ services, temporal, organization, caller, params }) {
      const of = { organizationId: organization.id, endpointId: params.id };
      const row = await moveRecovery(services, temporal, of, params.rid, caller, state);
      return { status: 200, body: presentRecovery(row, services.settings) };
    },
  });
}

export const recoveryRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/api/webhooks/:id/recover',
    operationId: 'recoverDeliveries',
    tag,
    summary: 'Send given-up deliveries again',
    description:
      'Every delivery of the endpoint that was created in the time range and given up gets one more attempt, marked `manual`, under the same `webhook-id`, oldest first. At most 50 a second, and never more than half of what the endpoint and the plan allow, so that live deliveries are not delayed. It stops when the endpoint is set inactive or deleted, or the plan loses webhooks. An endpoint has one recovery at a time. Events of a time in which the endpoint was inactive were never recorded for it and cannot be recovered.',
    auth: { scope: 'webhook:manage' },
    params: EndpointParams,
    body: RecoverDeliveries,
    bodyExample: { since: '2026-11-20T22:00:00.000Z' },
    responses: {
      202: {
        description: 'The recovery has started.',
        schema: Recovery,
        example: { ...recoveryExample, done: 0, succeeded: 0, failed: 0 },
      },
    },
    errors: ['not_found', 'plan_required', 'conflict'],
    async handler({ services, temporal, organization, caller, params, body }) {
      const row = await startRecovery(services, temporal, organization, params.id, caller, {
        since: new Date(body.since),
        ...(body.until === undefined ? {} : { until: new Date(body.until) }),
        ...(body.status === undefined ? {} : { status: body.status }),
      });
      return { status: 202, body: presentRecovery(row, services.settings) };
    },
  }),
  route({
    method: 'GET',
    path: '/api/webhooks/:id/recoveries',
    operationId: 'listRecoveries',
    tag,
    summary: 'List recoveries of an endpoint, newest first',
    auth: { scope: 'webhook:read' },
    params: EndpointParams,
    query: PageQuery,
    responses: {
      200: {
        description: 'A page of recoveries.',
        schema: RecoveryList,
        example: { data: [recoveryExample], nextCursor: null },
      },
    },
    errors: ['not_found'],
    async handler({ services, organization, params, query }) {
      await requireEndpoint(services.db, organization.id, params.id);
      const page = pageOf('recovery', query);
      const rows = await listRecoveries(services.db, { organizationId: organization.id, endpointId: params.id }, page);
      return { status: 200, body: listBody(rows, page, (row) => presentRecovery(row, services.settings)) };
    },
  }),
  route({
    method: 'GET',
    path: '/api/webhooks/:id/recoveries/:rid',
    operationId: 'getRecovery',
    tag,
    summary: 'Get a recovery with its progress',
    auth: { scope: 'webhook:read' },
    params: RecoveryParams,
    responses: { 200: { description: 'The recovery.', schema: Recovery, example: recoveryExample } },
    errors: ['not_found'],
    async handler({ services, organization, params }) {
      const row = await getRecovery(services, { organizationId: organization.id, endpointId: params.id }, params.rid);
      return { status: 200, body: presentRecovery(row, services.settings) };
    },
  }),
  move('cancel', 'cancelled', {
    summary: 'End a recovery',
    description: 'Attempts in flight finish; nothing is sent afterwards. Cancelling again changes nothing.',
    example: { ...recoveryExample, state: 'cancelled', finishedAt: '2026-11-21T09:15:02.430Z' },
  }),
  move('pause', 'paused', {
    summary: 'Pause a recovery',
    description: 'It keeps its position until it is resumed or cancelled. Pausing again changes nothing.',
    example: { ...recoveryExample, state: 'paused' },
  }),
  move('resume', 'running', {
    summary: 'Resume a paused recovery',
    description: 'Does nothing if it runs.',
    example: recoveryExample,
  }),
];
