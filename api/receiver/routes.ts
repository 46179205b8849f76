/** `POST /receiver/<token>`: requests to a built-in receiver from the network, not from our own sender. */

import type Router from '@koa/router';
import Type, { type Static } from 'typebox';
import type { RequestState } from '#api/handle.ts';
import { readText } from '#api/http/read-body.ts';
import { type Route, route } from '#api/http/route.ts';
import { closed, dateTime, nullable } from '#api/http/schema-parts.ts';
import type { Services } from '#core/platform/process/services.ts';
import {
  findReceiver,
  openReceiver,
  type ReceivedRequest,
  type WebhookReceiver as Receiver,
  receivedRequests,
  receiveFromNetwork,
} from '#core/webhooks/webhook-receiver.ts';
import { idPattern } from '#domain/ids.ts';
import {
  RECEIVER_BODY_MAX_BYTES,
  RECEIVER_LIFE_HOURS,
  RECEIVER_REQUESTS_MAX,
  SIGNATURE_VERDICTS,
} from '#domain/webhooks/endpoint-limits.ts';

export const WebhookReceiver = closed(
  {
    id: Type.String({ pattern: idPattern('receiver') }),
    url: Type.String({ description: 'Create a webhook endpoint with this URL. Requests to it are listed here.' }),
    createdAt: dateTime(),
    expiresAt: dateTime('The receiver and its requests are deleted then.'),
  },
  { title: 'WebhookReceiver' },
);

const ReceivedRequest = closed(
  {
    id: Type.String({ pattern: idPattern('receivedRequest') }),
    receivedAt: dateTime(),
    headers: Type.Record(Type.String(), Type.String(), {
      description: 'Those of the signature and of the event, in lower case.',
    }),
    body: Type.String(),
    signature: Type.Enum(SIGNATURE_VERDICTS, {
      description:
        '`verified`: a valid signature of a delivery to this address. `failed`: the signature is wrong, or there is no such delivery. `unsigned`: there is no signature.',
    }),
  },
  { title: 'ReceivedRequest' },
);

export const ReceiverState = closed(
  {
    receiver: nullable(WebhookReceiver),
    requests: Type.Array(ReceivedRequest, { description: 'Newest first.' }),
  },
  { title: 'WebhookReceiverState' },
);

export function addReceiver(router: Router<RequestState>, services: Services): void {
  router.post('/receiver/:token', async (context) => {
    const { token = '' } = context.params;
    const body = await readText(context.req, RECEIVER_BODY_MAX_BYTES);
    const headers = Object.fromEntries(
      Object.entries(context.req.headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
    );
    const { status, text } = await receiveFromNetwork(services, token, { headers, body });
    context.status = status;
    context.type = 'text/plain';
    context.body = `${text}\n`;
  });
}

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
