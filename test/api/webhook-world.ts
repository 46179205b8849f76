/** A served API over a whole delivery path, with a DNS of its own and a customer's server. */
import assert from 'node:assert/strict';
import { type StartedApi, startApi } from '#api/start.ts';
import { newId } from '#core/platform/new-id.ts';
import { hashCredential, newCredential } from '#core/platform/secrets/credentials.ts';
import { API_SCOPES, type ApiScope } from '#domain/access/api-scopes.ts';
import type { EnvelopeOrganization, EventType } from '#domain/webhooks/event-types.ts';
import { type DeliveryState, type DeliveryWorld, deliveryWorld, waitsForRetry } from '#test/support/delivery-world.ts';
import { type TestDns, testDns } from '#test/support/dns-server.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { waitUntil } from '#test/support/wait-until.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/** Calls the API with one API key. */
export type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer>;

/** An organization with one endpoint at the receiver. */
export interface Subscribed {
  readonly organization: EnvelopeOrganization;
  readonly call: Call;
  readonly id: string;
  /** Path of the endpoint. */
  readonly path: string;
  readonly secret: string;
}

/** Long enough that no automatic retry happens within a test. */
export const LONG_LADDER_MS = '600000,600000,600000,600000';

export const isSuccess = ({ status }: { status: string }): boolean => status === 'success';
/** It failed, and its retry waits in a workflow. */
export const isFailed = waitsForRetry;

export interface WebhookWorld extends DeliveryWorld {
  readonly api: StartedApi;
  readonly dns: TestDns;
  readonly receiver: Receiver;
  /** A client with a new key of the organization. */
  client(organization: EnvelopeOrganization, scopes?: readonly ApiScope[]): Promise<Call>;
  /** A new organization with an endpoint, and a receiver that acknowledges. `body` overrides fields of the creation. */
  setUp(body?: object, plan?: string): Promise<Subscribed>;
  /** Lets events happen. @returns all deliveries, oldest first, once they are through */
  deliver(to: Subscribed, count: number, type?: EventType): Promise<DeliveryState[]>;
  /** The one delivery of an endpoint once its workflow waits for the retry: the row names it a moment before it begins. */
  waitingDelivery(of: Subscribed): Promise<DeliveryState>;
}

export async function webhookWorld(overrides: Readonly<Record<string, string>> = {}): Promise<WebhookWorld> {
  const dns = await testDns();
  const receiver = await startReceiver();
  const world = await deliveryWorld({ DNS_SERVERS: dns.address, ...overrides });
  const api = await startApi(world.services, world.temporal);
  const made: WebhookWorld = {
    ...world,
    api,
    dns,
    receiver,
    async client(organization, scopes = API_SCOPES) {
      const key = newCredential('apiKey');
      await world.sql(
        `insert into api_keys (id, organization_id, name, key_hash, key_hint, scopes) values ($1, $2, 'Test', $3, '', $4)`,
        [newId('apiKey'), organization.id, hashCredential(key, world.services.pepper), scopes],
      );
      return async (method, path, body, headers = {}) => {
        const response = await fetch(`${api.url}${path}`, {
          method,
          headers: {
            'x-organization-key': key,
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...headers,
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
      };
    },
    async setUp(body = {}, plan) {
      receiver.answer(200);
      const organization = await world.organization(plan);
      const call = await made.client(organization);
      const eventTypes = ['email_received', 'email_sent'];
      const created = await call('POST', '/api/webhooks', { url: receiver.url, eventTypes, ...body });
      assert.equal(created.status, 201, JSON.stringify(created.body));
      const id = idOf(created);
      return { organization, call, id, path: `/api/webhooks/${id}`, secret: String(created.body['secret']) };
    },
    async deliver({ organization, id }, count, type = 'email_received') {
      for (let i = 0; i < count; i++) await world.happen({ organization, type, data: { number: i } });
      return waitUntil('all deliveries to be through', async () => {
        const deliveries = await world.deliveries(id);
        return deliveries.every(isSuccess) && deliveries;
      });
    },
    async waitingDelivery({ id }) {
      const delivery = await world.delivery(id, isFailed);
      const handle = world.temporal.client.workflow.getHandle(String(delivery.workflowId));
      await waitUntil(`${delivery.workflowId} to run`, () =>
        handle.describe().then(
          () => true,
          () => false,
        ),
      );
      return delivery;
    },
    async close() {
      await api.close();
      await world.close();
      await receiver.close();
      await dns.close();
    },
  };
  return made;
}

/** Code and details' paths of an error answer. */
export function errorOf(answer: Answer): { status: number; code: string; paths: string[] } {
  const { code, details } = answer.body['error'] as { code: string; details: { path: string }[] };
  return { status: answer.status, code, paths: details.map(({ path }) => path) };
}

/** `nextCursor` of a list as query text for the next page; empty on the last one. */
export function nextPage(answer: Answer): string {
  const { nextCursor } = answer.body;
  return typeof nextCursor === 'string' ? `&cursor=${nextCursor}` : '';
}

/** Statuses of answers, in order of size. */
export const statusesOf = (answers: readonly Answer[]): number[] =>
  answers.map(({ status }) => status).toSorted((a, b) => a - b);

/** An id in an answer. */
export const idOf = (answer: Answer): string => String(answer.body['id']);
