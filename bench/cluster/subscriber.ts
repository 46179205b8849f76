/** The customer of the run: an organization, its endpoints and the mailboxes that the load writes to, made by the API. */
import { pino } from 'pino';
import { createSubscribers } from '#bench/subscribers.ts';
import { createLogger } from '#core/platform/log/logger.ts';
import { openServices } from '#core/platform/process/services.ts';
import { readSettings } from '#core/platform/settings/settings.ts';
import type { EventType } from '#domain/webhooks/event-types.ts';

export interface LoadMailbox {
  readonly id: string;
  readonly address: string;
  readonly token: string;
}

export interface LoadEndpoint {
  readonly id: string;
  readonly path: string;
  readonly secret: string;
  readonly eventTypes: readonly EventType[];
}

export interface LoadSubscriber {
  readonly organizationId: string;
  readonly apiKey: string;
  readonly mailboxes: readonly LoadMailbox[];
  readonly endpoints: readonly LoadEndpoint[];
}

const MAILBOXES = 20;
const ALL_TYPES: readonly EventType[] = ['email_received', 'email_sent', 'mailbox_created'];

export type WantedEndpoint = Pick<LoadEndpoint, 'path' | 'eventTypes'>;

const ENDPOINTS: readonly WantedEndpoint[] = [
  { path: '/ok-1', eventTypes: ALL_TYPES },
  { path: '/ok-2', eventTypes: ALL_TYPES },
  { path: '/faulty', eventTypes: ALL_TYPES },
  { path: '/slow', eventTypes: ['email_sent'] },
];

async function createOrganization(environment: Readonly<Record<string, string>>) {
  const services = await openServices(
    readSettings({ ...environment, DATABASE_POOL_MAX: '2' }),
    createLogger('warn', pino.destination(2)),
  );
  try {
    const [subscriber] = await createSubscribers(services, { organizations: 1, mailboxesEach: 1, urls: () => [] });
    if (subscriber === undefined) throw new Error('no organization was made');
    const settings = JSON.stringify({ outboundConsent: 'off' });
    await services.db.query('update organizations set settings = $2 where id = $1', [
      subscriber.organization.id,
      settings,
    ]);
    return { organizationId: subscriber.organization.id, apiKey: subscriber.apiKey };
  } finally {
    await services.close();
  }
}

/** @param receiverUrl address of the receiver, to which the paths of the endpoints are added */
export async function createSubscriber(
  environment: Readonly<Record<string, string>>,
  apiUrl: string,
  receiverUrl: string,
  wanted: readonly WantedEndpoint[] = ENDPOINTS,
): Promise<LoadSubscriber> {
  const { organizationId, apiKey } = await createOrganization(environment);

  async function post<Answer>(path: string, body: unknown): Promise<Answer> {
    const response = await fetch(apiUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-organization-key': apiKey },
      body: JSON.stringify(body),
    });
    if (response.status !== 201) throw new Error(`POST ${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as Answer;
  }

  // Before the endpoints, so that no event of theirs is owed.
  const mailboxes: LoadMailbox[] = [];
  for (let n = 0; n < MAILBOXES; n++) mailboxes.push(await post<LoadMailbox>('/api/mailboxes', { name: `load ${n}` }));
  const endpoints: LoadEndpoint[] = [];
  for (const { path, eventTypes } of wanted) {
    const made = await post<{ id: string; secret: string }>('/api/webhooks', { url: receiverUrl + path, eventTypes });
    endpoints.push({ ...made, path, eventTypes });
  }
  return { organizationId, apiKey, mailboxes, endpoints };
}
