/** Recoveries: sending given-up deliveries again. */
import Type, { type Static } from 'typebox';
import { type Route, route } from '#api/http/route.ts';
import {
  closed,
  dateTime,
  listBody,
  listOf,
  nullable,
  PageQuery,
  pageOf,
  temporalLink,
  timeOf,
} from '#api/http/schema-parts.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import { requireEndpoint } from '#core/webhooks/endpoints/endpoint-queries.ts';
import { getRecovery, moveRecovery, startRecovery } from '#core/webhooks/endpoints/recover-deliveries.ts';
import type { RecoveryRow } from '#db/queries/webhooks/recoveries.ts';
import { listRecoveries } from '#db/queries/webhooks/recoveries.ts';
import { idPattern } from '#domain/ids.ts';
import { STOP_REASONS } from '#domain/webhooks/delivery-workflows.ts';
import { RECOVERABLE_STATUSES, RECOVERY_STATES, recoveryWorkflowId } from '#domain/webhooks/recovery.ts';
import { count, EndpointId, EndpointParams, endpointExample } from './schema.ts';

const RecoveryId = Type.String({ pattern: idPattern('recovery'), description: 'Recovery id.' });
const RecoveryParams = closed({ id: EndpointId, rid: RecoveryId });

const RecoverDeliveries = closed(
  {
    since: dateTime('Deliveries created at this time or later.'),
    until: Type.Optional(dateTime('And before this one. Default, and at most: now.')),
    status: Type.Optional(
      Type.Enum(RECOVERABLE_STATUSES, {
        description:
          '`exhausted` (default): deliveries that were given up, whatever the reason. `failed`: deliveries that wait for a retry, which is then made now.',
      }),
    ),
  },
  { title: 'NewRecovery' },
);

export const Recovery = closed(
  {
    id: RecoveryId,
    endpointId: EndpointId,
    status: Type.Enum(RECOVERABLE_STATUSES, { description: 'Which deliveries are sent again.' }),
    since: dateTime(),
    until: dateTime(),
    state: Type.Enum(RECOVERY_STATES, {
      description:
        '`running`; `paused`: can be resumed; `completed`: nothing is left; `cancelled`: by a person; `stopped`: see `stopReason`.',
    }),
    stopReason: nullable(Type.Enum(STOP_REASONS, { description: 'Why it was `stopped`; null in every other state.' })),
    total: Type.Integer({ minimum: 0, description: 'Deliveries found at its start.' }),
    done: Type.Integer({ minimum: 0, description: 'Sent again so far: `succeeded` + `failed`.' }),
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
export const RecoveryList = listOf(Recovery, 'RecoveryList');

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

const recoveryId = 'rcv_01k8e8f2c0e4x9w2v7a3r5t6y8';

const recoveryExample = {
  id: recoveryId,
  endpointId: endpointExample.id,
  status: 'exhausted',
  since: '2026-11-20T22:00:00.000Z',
  until: '2026-11-21T09:15:00.000Z',
  state: 'running',
  stopReason: null,
  total: 418,
  done: 120,
  succeeded: 119,
  failed: 1,
  createdAt: '2026-11-21T09:15:00.000Z',
  updatedAt: '2026-11-21T09:15:02.430Z',
  finishedAt: null,
  workflowId: `recover/${endpointExample.id}/${recoveryId}`,
};

const presentRecovery = (recovery: RecoveryRow, settings: Settings): Static<typeof Recovery> => {
  const { id, endpointId, status, state, stopReason, total, succeeded, failed } = recovery;
  const workflowId = recoveryWorkflowId(endpointId, id);
  return {
    id,
    endpointId,
    status,
    since: recovery.since.toISOString(),
    until: recovery.until.toISOString(),
    state,
    stopReason,
    // Deliveries that failed since it began may have joined.
    total: Math.max(total, succeeded + failed),
    done: succeeded + failed,
    succeeded,
    failed,
    createdAt: recovery.createdAt.toISOString(),
    updatedAt: recovery.updatedAt.toISOString(),
    finishedAt: timeOf(recovery.finishedAt),
    workflowId,
    ...temporalLink(workflowId, settings),
  };
};

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
