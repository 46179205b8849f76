/** The AsyncAPI 3 document of the webhooks, made from the schemas of the events. */
import { ATTEMPT_TIMEOUT_MS } from '#domain/webhooks/delivery-limits.ts';
import { RETRY_DELAYS_MS } from '#domain/webhooks/retry-ladder.ts';
import { DELIVERY_HEADERS, type DocumentedEvent, hoist } from './openapi.ts';

type Json = Record<string, unknown>;

const MINUTE_MS = 60_000;

const timeText = (ms: number): string => (ms < MINUTE_MS ? `${ms / 1_000} seconds` : `${ms / MINUTE_MS} minutes`);
const SUCCESS = `Any status from 200 to 299 within ${timeText(ATTEMPT_TIMEOUT_MS)} acknowledges a delivery. After any other answer, or none, the next attempts follow after ${RETRY_DELAYS_MS.map(timeText).join(', ')}.`;

/** A header value of each, in the order of `DELIVERY_HEADERS`. */
const headerExamples = (type: string): string[] => [
  'dlv_01k8e8f2c0e4x9w2v7a3r5t6y8',
  '1795252562',
  'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  type,
];

function message(event: DocumentedEvent, schemas: Json): Json {
  const values = headerExamples(event.type);
  return {
    name: event.type,
    title: event.type,
    summary: event.summary,
    contentType: 'application/json',
    headers: { $ref: '#/components/schemas/DeliveryHeaders' },
    payload: hoist(event.schema, schemas),
    examples: [
      {
        name: event.type,
        headers: Object.fromEntries(DELIVERY_HEADERS.map(([name], i) => [name, values[i]])),
        payload: event.example,
      },
    ],
  };
}

export function asyncApiDocument(options: {
  readonly events: readonly DocumentedEvent[];
  readonly publicUrl: string;
  readonly version: string;
}): Json {
  const { events, publicUrl, version } = options;
  const schemas: Json = {
    DeliveryHeaders: {
      type: 'object',
      properties: Object.fromEntries(
        DELIVERY_HEADERS.map(([name, description]) => [name, { type: 'string', description }]),
      ),
      required: DELIVERY_HEADERS.map(([name]) => name),
    },
  };
  const messages = Object.fromEntries(events.map((event) => [event.type, message(event, schemas)]));
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Agent Mailbox webhooks',
      version,
      description: `Signed JSON notifications to HTTPS endpoints that are managed by the API (${publicUrl}/openapi.json). They follow Standard Webhooks 1.0.`,
      license: { name: 'MIT' },
      externalDocs: { url: `${publicUrl}/docs/events`, description: 'The events, and how to verify them.' },
    },
    defaultContentType: 'application/json',
    servers: {
      endpoint: {
        host: '{host}',
        pathname: '/{path}',
        protocol: 'https',
        description: 'The server of the customer, whose address is the `url` of an endpoint.',
        variables: {
          host: { default: 'hooks.example.com', description: 'Host and port.' },
          path: { default: 'agent-mailbox', description: 'Path and query.' },
        },
      },
    },
    channels: {
      webhook: {
        title: 'An endpoint',
        description: 'Receives the event types that it subscribed to, from its mailbox or its organization.',
        servers: [{ $ref: '#/servers/endpoint' }],
        messages: Object.fromEntries(events.map(({ type }) => [type, { $ref: `#/components/messages/${type}` }])),
      },
    },
    operations: {
      deliver: {
        action: 'send',
        title: 'Deliver an event',
        description: SUCCESS,
        channel: { $ref: '#/channels/webhook' },
        messages: events.map(({ type }) => ({ $ref: `#/channels/webhook/messages/${type}` })),
        bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
      },
    },
    components: { messages, schemas },
  };
}
