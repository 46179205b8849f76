import type { Static } from 'typebox';
import { type Route, route } from '#api/http/route.ts';
import { decodeCursor, listBody } from '#api/http/schema-parts.ts';
import { requireEndpoint } from '#core/webhooks/endpoints/endpoint-queries.ts';
import { resendDelivery } from '#core/webhooks/resend-delivery.ts';
import { sendTestDelivery } from '#core/webhooks/test-delivery.ts';
import {
  countDeliveries,
  type DeliveryFilter,
  findDelivery,
  listAttempts,
  listDeliveries,
  type ResponseCodes,
} from '#db/queries/deliveries/list-deliveries.ts';
import { CatalogueError } from '#domain/errors.ts';
import { DELIVERIES_PAGE_DEFAULT } from '#domain/webhooks/delivery-limits.ts';
import { Delivery, DeliveryList, DeliveryParams, DeliveryQuery, DeliveryWithAttempts } from './delivery-schema.ts';
import { testExamples } from './event-examples.ts';
import { deliveryExample, deliveryWithAttemptsExample } from './examples.ts';
import { presentDelivery, presentDeliveryWithAttempts } from './present.ts';
import { EndpointParams, TestEndpoint } from './schema.ts';

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

/** @param text `503`, `5xx` or `none` */
const responseCodesOf = (text: string): ResponseCodes | null =>
  text === 'none' ? null : { from: Number(text.replaceAll('x', '0')), to: Number(text.replaceAll('x', '9')) };

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
      const filter = filterOf(query);
      const page = { limit, offset, after: cursor === undefined ? null : decodeCursor('delivery', cursor) };
      const [rows, total] = await Promise.all([
        listDeliveries(db, of, filter, page, services.now()),
        countDeliveries(db, of, filter, services.now()),
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
        description: 'The delivery, with the result of each attempt.',
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
