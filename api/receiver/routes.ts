import type { Static } from 'typebox';
import { type Route, route } from '#api/http/route.ts';
import {
  findReceiver,
  openReceiver,
  type ReceivedRequest,
  type WebhookReceiver as Receiver,
  receivedRequests,
} from '#core/webhooks/webhook-receiver.ts';
import {
  RECEIVER_BODY_MAX_BYTES,
  RECEIVER_LIFE_HOURS,
  RECEIVER_REQUESTS_MAX,
} from '#domain/webhooks/webhook-receiver.ts';
import { ReceiverState, WebhookReceiver } from './schema.ts';

const tag = 'Webhooks';

const example = {
  id: 'rcp_01k8e8f2c0e4x9w2v7a3r5t6y8',
  url: 'https://mail.example.com/receiver/Zm9yIHRoZSBkb2N1bWVudHMgb25seSwg',
  createdAt: '2026-11-21T09:15:00.000Z',
  expiresAt: '2026-11-22T09:15:00.000Z',
};

const requestExample = {
  id: 'rrq_01k8e8f2c0e4x9w2v7a3r5t6y8',
  receivedAt: '2026-11-21T09:16:00.000Z',
  headers: {
    'content-type': 'application/json',
    'webhook-id': 'dlv_01k8e8f2c0e4x9w2v7a3r5t6y8',
    'webhook-timestamp': '1795252560',
    'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
    'x-service-event': 'email_received',
  },
  body: '{"id":"evt_01k8e8f2c0e4x9w2v7a3r5t6y8","type":"email_received"}',
  signature: 'verified' as const,
};

const presentReceiver = ({ id, url, createdAt, expiresAt }: Receiver): Static<typeof WebhookReceiver> => ({
  id,
  url,
  createdAt: createdAt.toISOString(),
  expiresAt: expiresAt.toISOString(),
});

const presentRequest = ({ id, receivedAt, headers, body, signature }: ReceivedRequest) => ({
  id,
  receivedAt: receivedAt.toISOString(),
  headers: { ...headers },
  body,
  signature,
});

export const receiverRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/receiver',
    operationId: 'getReceiver',
    tag,
    summary: 'Get the built-in receiver with its requests',
    description: `The last ${RECEIVER_REQUESTS_MAX} requests, each with the result of checking its signature.`,
    auth: { scope: 'webhook:read' },
    responses: {
      200: {
        description: 'The receiver and its requests; null if none was opened in the last day.',
        schema: ReceiverState,
        example: { receiver: example, requests: [requestExample] },
      },
    },
    async handler({ services, organization }) {
      const receiver = await findReceiver(services.db, organization.id, services.now());
      const requests = receiver === undefined ? [] : await receivedRequests(services.db, receiver.id);
      return {
        status: 200,
        body: {
          receiver: receiver === undefined ? null : presentReceiver(receiver),
          requests: requests.map(presentRequest),
        },
      };
    },
  }),
  route({
    method: 'POST',
    path: '/api/receiver',
    operationId: 'openReceiver',
    tag,
    summary: 'Open the built-in receiver',
    description: `An address to try webhooks with, for ${RECEIVER_LIFE_HOURS} hours; one for each organization. It is the only address of this service that an endpoint may have. A request has at most ${RECEIVER_BODY_MAX_BYTES} bytes.`,
    auth: { scope: 'webhook:create' },
    responses: {
      200: { description: 'The existing receiver, or a new one.', schema: WebhookReceiver, example },
    },
    errors: ['plan_required'],
    handler: async ({ services, organization, publicUrl }) => ({
      status: 200,
      body: presentReceiver(await openReceiver(services, organization, publicUrl)),
    }),
  }),
];
