/**
 * The webhook endpoint of a trigger at the service. It is found by its description, which names the workflow and the
 * node, so that it is never made twice and is found also when n8n has lost its id.
 */
import type { Fields, HookHost, TriggerHost, WebhookHost } from '../../n8n-interfaces.ts';
import { callService, isMailboxToken, listAll, textOf, unlessMissing } from '../../service.ts';

/** What n8n keeps about the endpoint; empty texts: nothing yet. */
export interface Registration {
  readonly endpointId: string;
  readonly secret: string;
  readonly url: string;
}

/** What the fields of the node ask for. */
export interface Wanted {
  readonly eventTypes: readonly string[];
  /** Empty: of the whole organization. */
  readonly mailboxId: string;
  readonly includeExtracts: boolean;
}

/** What a repair did. */
export interface Repair {
  readonly endpoint: Fields;
  readonly did: 'nothing' | 'created' | 'changed' | 'activated';
  /** Events since then had no delivery, because the endpoint was inactive. */
  readonly unsentSince?: string;
}

const ENDPOINTS_MAX = 1_000;
const NAME_MAX = 80;

export const pathOf = ({ id }: Fields): string => `/api/webhooks/${encodeURIComponent(String(id))}`;

type Purpose = 'production' | 'test';

const keptFor = (host: TriggerHost, purpose: Purpose): Partial<Registration> | undefined =>
  host.getWorkflowStaticData('node')[purpose] as Partial<Registration> | undefined;

/**
 * A test of the editor has an endpoint of its own beside that of the active workflow. When a test ends, n8n asks to
 * delete its endpoint in the mode of an active workflow; only the address says that it is that of the test.
 */
function purposeOf(host: TriggerHost): Purpose {
  if (host.getMode() === 'manual') return 'test';
  const url = host.getNodeWebhookUrl?.('default');
  return url !== undefined && url === keptFor(host, 'test')?.url ? 'test' : 'production';
}

export function registrationOf(host: TriggerHost): Registration {
  const { endpointId = '', secret = '', url = '' } = keptFor(host, purposeOf(host)) ?? {};
  return { endpointId, secret, url };
}

/** Kept with the workflow; undefined: forgotten. */
export function keepRegistration(host: TriggerHost, registration: Registration | undefined): void {
  const [data, purpose] = [host.getWorkflowStaticData('node'), purposeOf(host)];
  if (registration === undefined) delete data[purpose];
  else data[purpose] = registration;
}

/** As `keepRegistration`, with a secret that the service has just made. */
function keepNew(host: TriggerHost, registration: Registration): void {
  keepRegistration(host, registration);
  noteNewSecret(keyOf(host), registration.secret);
}

export function wantedOf(host: TriggerHost): Wanted {
  return {
    eventTypes: host.getNodeParameter('eventTypes') as string[],
    mailboxId: String(host.getNodeParameter('mailboxId', '')),
    includeExtracts: host.getNodeParameter('includeExtracts', false) === true,
  };
}

/** Names the node among all of all n8n servers. */
export const keyOf = (host: TriggerHost): string =>
  `${host.getInstanceId()}/${host.getWorkflow().id ?? ''}/${host.getNode().id}/${purposeOf(host)}`;

/** @throws unless the credential is an API key */
export async function requireApiKey(host: TriggerHost): Promise<void> {
  if (await isMailboxToken(host))
    throw new Error('The trigger needs an API key: a mailbox token opens a mailbox, but manages no webhooks.');
}

/** The endpoint of this node at the service, if there is one. */
export async function findEndpoint(host: TriggerHost, endpointId: string): Promise<Fields | undefined> {
  if (endpointId !== '') {
    const known = await unlessMissing(callService(host, 'GET', pathOf({ id: endpointId })));
    if (known !== undefined) return known.body;
  }
  const endpoints = await listAll(host, '/api/webhooks', {}, ENDPOINTS_MAX);
  return endpoints.find(({ description }) => textOf(description).endsWith(`(${keyOf(host)})`));
}

const sorted = (values: unknown): string => JSON.stringify([...(values as string[])].toSorted());

/** Fields of the endpoint that are not as wanted. */
function differences(endpoint: Fields, { eventTypes, includeExtracts }: Wanted, url: string): Fields {
  return {
    ...(url === '' || endpoint['url'] === url ? {} : { url }),
    ...(sorted(endpoint['eventTypes']) === sorted(eventTypes) ? {} : { eventTypes }),
    ...(endpoint['includeExtracts'] === includeExtracts ? {} : { includeExtracts }),
    ...(endpoint['active'] === true ? {} : { active: true }),
  };
}

/** Since when an inactive endpoint has got no deliveries: its last one, or its creation. */
async function lastDeliveryAt(host: TriggerHost, endpoint: Fields): Promise<string> {
  const { body } = await callService(host, 'GET', `${pathOf(endpoint)}/deliveries`, { query: { limit: 1 } });
  const [last] = body['data'] as Fields[];
  return String((last ?? endpoint)['createdAt']);
}

/**
 * Makes an existing endpoint work as wanted: active, with this URL and these events.
 *
 * @param url empty: unknown here, so it is not compared
 * @throws {ServiceError} that of the service, such as a suspension by its operator
 */
export async function repairEndpoint(
  host: TriggerHost,
  endpoint: Fields,
  wanted: Wanted,
  url: string,
): Promise<Repair> {
  const body = differences(endpoint, wanted, url);
  if (Object.keys(body).length === 0) return { endpoint, did: 'nothing' };
  const unsentSince = body['active'] === true ? await lastDeliveryAt(host, endpoint) : undefined;
  const { body: changed } = await callService(host, 'PATCH', pathOf(endpoint), { body });
  if (unsentSince === undefined) return { endpoint: changed, did: 'changed' };
  return { endpoint: changed, did: 'activated', unsentSince };
}

/** @returns the endpoint with its secret, which is shown only now */
export async function createEndpoint(host: TriggerHost, wanted: Wanted, url: string): Promise<Fields> {
  const { eventTypes, includeExtracts, mailboxId } = wanted;
  const name = (host.getWorkflow().name ?? '').slice(0, NAME_MAX);
  const description = `n8n: ${name} (${keyOf(host)})`;
  const body = { url, eventTypes, includeExtracts, description, ...(mailboxId === '' ? {} : { mailboxId }) };
  return (await callService(host, 'POST', '/api/webhooks', { body })).body;
}

/** Deletes it, also if it is gone already. */
export async function deleteEndpoint(host: TriggerHost, endpoint: Fields): Promise<void> {
  await unlessMissing(callService(host, 'DELETE', pathOf(endpoint)));
}

export const hasScope = (endpoint: Fields, { mailboxId }: Wanted): boolean =>
  (endpoint['mailboxId'] ?? '') === mailboxId;

/** Whether the secret that n8n keeps is the one the endpoint signs with. */
export const knowsSecret = (endpoint: Fields, { endpointId, secret }: Registration): boolean =>
  secret !== '' && endpoint['id'] === endpointId && secret.startsWith(String(endpoint['secretPrefix']));

/** Replaces the secret of the endpoint and keeps the new one. Deliveries that wait are signed with it. */
export async function renewSecret(host: TriggerHost, endpoint: Fields, registration: Registration): Promise<void> {
  const { body } = await callService(host, 'POST', `${pathOf(endpoint)}/rotate-secret`, { body: {} });
  keepNew(host, { ...registration, endpointId: String(endpoint['id']), secret: String(body['secret']) });
}

/** As `repairEndpoint`, but leaves an inactive endpoint to the poll that follows, which looks for what was missed. */
export async function adjustEndpoint(host: TriggerHost, endpoint: Fields, wanted: Wanted, url: string): Promise<void> {
  if (endpoint['active'] === true || host.getMode() === 'manual') await repairEndpoint(host, endpoint, wanted, url);
}

/**
 * Registers the endpoint: the existing one is used, so that its waiting deliveries stay.
 *
 * @throws {ServiceError} that of the service, such as an address that is not https
 */
export async function registerEndpoint(host: HookHost): Promise<void> {
  await requireApiKey(host);
  const [wanted, registration] = [wantedOf(host), registrationOf(host)];
  const url = host.getNodeWebhookUrl('default') ?? '';
  const existing = await findEndpoint(host, registration.endpointId);
  if (existing !== undefined && hasScope(existing, wanted)) {
    await adjustEndpoint(host, existing, wanted, url);
    if (knowsSecret(existing, registration)) keepRegistration(host, { ...registration, url });
    else await renewSecret(host, existing, { ...registration, url });
    return;
  }
  // Its mailbox cannot be changed.
  if (existing !== undefined) await deleteEndpoint(host, existing);
  const { id, secret } = await createEndpoint(host, wanted, url);
  keepNew(host, { endpointId: String(id), secret: String(secret), url });
}

/**
 * Secrets that this process has just got. n8n stores them some time after a workflow was published: deliveries that
 * arrive before are verified with these.
 */
const KEPT_MS = 60_000;
const secrets = new Map<string, { readonly secret: string; readonly untilMs: number }>();

export function noteNewSecret(key: string, secret: string, nowMs: number = Date.now()): void {
  for (const [other, { untilMs }] of secrets) if (untilMs <= nowMs) secrets.delete(other);
  secrets.set(key, { secret, untilMs: nowMs + KEPT_MS });
}

/** Empty: none in the last minute. */
export function newSecret(key: string, nowMs: number = Date.now()): string {
  const { secret, untilMs } = secrets.get(key) ?? { secret: '', untilMs: 0 };
  return untilMs > nowMs ? secret : '';
}

/** Forged requests do not make n8n ask the service more often. */
const ASK_EVERY_MS = 5_000;
const askedAt = new Map<string, number>();

/**
 * After a request that the kept secret does not verify: if the endpoint has another secret, because a person rotated it
 * or n8n has lost it, it gets a new one that is kept. The service sends the delivery again, signed with it.
 */
export async function renewUnknownSecret(host: WebhookHost, nowMs: number = Date.now()): Promise<void> {
  const key = keyOf(host);
  if (nowMs - (askedAt.get(key) ?? 0) < ASK_EVERY_MS) return;
  askedAt.set(key, nowMs);
  const registration = registrationOf(host);
  const endpoint = await findEndpoint(host, registration.endpointId);
  if (endpoint === undefined) return;
  // n8n may not have stored it yet.
  const latest = { ...registration, endpointId: String(endpoint['id']), secret: newSecret(key, nowMs) };
  if (knowsSecret(endpoint, registration) || knowsSecret(endpoint, latest)) return;
  await renewSecret(host, endpoint, registration);
  host.logger.warn(`Agent Mailbox: the secret of the webhook endpoint ${String(endpoint['id'])} was replaced.`);
}
