import { requireEndpoint } from '../../core/endpoint-queries.ts';
import { resendDelivery } from '../../core/resend-delivery.ts';
import { sendTestDelivery } from '../../core/test-delivery.ts';
import { countDeliveries, findDelivery, listAttempts, listDeliveries } from '../../db/queries/list-deliveries.ts';
import { DELIVERIES_PAGE_DEFAULT } from '../../domain/delivery-limits.ts';
import { CatalogueError } from '../../domain/errors.ts';
import { decodeCursor, listBody } from '../pagination.ts';
import { type Route, route } from '../route.ts';
import { eventExamples } from './event-examples.ts';
import { deliveryExample, deliveryWithAttemptsExample } from './examples.ts';
import { presentDelivery, presentDeliveryWithAttempts } from './present.ts';
import {
  Delivery,
  DeliveryList,
  DeliveryParams,
  DeliveryQuery,
  DeliveryWithAttempts,
  EndpointParams,
  TestEndpoint,
} from './schema.ts';

const tag = 'Webhooks';
const pendingExample = {
  ...deliveryExample,
  status: 'pending',
  attemptCount: 0,
  lastError: null,
  responseCode: null,
  nextAttemptAt: null,
  workflowId: null,
};

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
    async handler({ services, organization, params, query }) {
      const { db, settings } = services;
      await requireEndpoint(db, organization.id, params.id);
      const of = { organizationId: organization.id, endpointId: params.id };
      const { limit = DELIVERIES_PAGE_DEFAULT, offset = 0, cursor } = query;
      const page = { limit, offset, after: cursor === undefined ? null : decodeCursor('delivery', cursor) };
      const [rows, total] = await Promise.all([
        listDeliveries(db, of, query, page, services.now()),
        countDeliveries(db, of, query, services.now()),
      ]);
      const { data, nextCursor } = listBody(rows, page, (row) => presentDelivery(row, settings));
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
        description: 'The delivery, and what came of each attempt.',
        schema: DeliveryWithAttempts,
        example: deliveryWithAttemptsExample,
      },
    },
    errors: ['not_found'],
    async handler({ services, organization, params }) {
      const { db, settings } = services;
      await requireEndpoint(db, organization.id, params.id);
      const of = { organizationId: organization.id, endpointId: params.id };
      const delivery = await findDelivery(db, of, params.did);
      if (delivery === undefined) throw new CatalogueError('not_found');
      const attempts = await listAttempts(db, delivery.id);
      return { status: 200, body: presentDeliveryWithAttempts(delivery, attempts, settings) };
    },
  }),
  route({
    method: 'POST',
    path: '/api/webhooks/:id/deliveries/:did/resend',
    operationId: 'resendDelivery',
    tag,
    summary: 'Send a delivery again',
    description:
      'A delivery that waits is attempted now instead of later. One that is final gets one more attempt, marked `manual`, under the same `webhook-id`.',
    auth: { scope: 'webhook:manage' },
    params: DeliveryParams,
    responses: {
      202: { description: 'The attempt is on its way.', schema: Delivery, example: deliveryExample },
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
      'A real delivery to this endpoint alone: signed, retried and listed like any other. `data.test` is true in it.',
    auth: { scope: 'webhook:manage' },
    params: EndpointParams,
    body: TestEndpoint,
    bodyExample: { eventType: 'email_received' },
    responses: {
      202: { description: 'The delivery is on its way.', schema: Delivery, example: pendingExample },
    },
    errors: ['not_found', 'plan_required', 'conflict', 'event_type_not_allowed_for_mailbox'],
    async handler({ services, organization, caller, params, body }) {
      const delivery = await sendTestDelivery(services, organization, params.id, caller, eventExamples, body.eventType);
      return { status: 202, body: presentDelivery(delivery, services.settings) };
    },
  }),
];
