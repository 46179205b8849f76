/** A served API over a whole delivery path, with a DNS of its own and a customer's server. */
import { type StartedApi, startApi } from '../../api/start.ts';
import { hashCredential, newCredential } from '../../core/credentials.ts';
import { newId } from '../../core/new-id.ts';
import { API_SCOPES, type ApiScope } from '../../domain/api-scopes.ts';
import type { EnvelopeOrganization } from '../../domain/event-envelope.ts';
import { type DeliveryWorld, deliveryWorld } from '../support/delivery-world.ts';
import { type TestDns, testDns } from '../support/dns-server.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';

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

export interface WebhookWorld extends DeliveryWorld {
  readonly api: StartedApi;
  readonly dns: TestDns;
  readonly receiver: Receiver;
  /** A client with a new key of the organization. */
  client(organization: EnvelopeOrganization, scopes?: readonly ApiScope[]): Promise<Call>;
}

export async function webhookWorld(overrides: Readonly<Record<string, string>> = {}): Promise<WebhookWorld> {
  const dns = await testDns();
  const receiver = await startReceiver();
  const world = await deliveryWorld({ DNS_SERVERS: dns.address, ...overrides });
  const api = await startApi(world.services, world.temporal);
  return {
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
    async close() {
      await api.close();
      await world.close();
      await receiver.close();
      await dns.close();
    },
  };
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
