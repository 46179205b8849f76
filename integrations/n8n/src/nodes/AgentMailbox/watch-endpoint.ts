/**
 * What keeps a trigger from dying unnoticed. n8n calls `watchEndpoint` on activation and at each of its poll times. The
 * endpoint is repaired, deliveries that were given up are sent again, mail without a delivery starts the workflow, and
 * what cannot be repaired is an error, which n8n shows and gives to the error workflow.
 *
 * n8n stores no static data after a poll: this only reads it. A secret that n8n does not know is replaced when the first
 * delivery signed with it arrives (`renewUnknownSecret`).
 */
import type { Fields, TriggerHost } from '../../n8n-interfaces.ts';
import { callService, listAll, ServiceError } from '../../service.ts';
import {
  createEndpoint,
  findEndpoint,
  keyOf,
  pathOf,
  type Repair,
  registrationOf,
  repairEndpoint,
  requireApiKey,
  type Wanted,
  wantedOf,
} from './endpoint.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How often a delivery is sent again beyond its attempts before it is left to a person. */
const RESENDS_MAX = 5;
const LOOKED_AT_DELIVERIES = 50;
/** An endpoint that fails for longer is reported, once nothing can be sent again. */
const FAILING_MAX_MS = 15 * 60_000;

/** When this process last saw the endpoint work, by its key. */
const workedAt = new Map<string, number>();

/**
 * @returns events for the workflow that reached no delivery
 * @throws what a person must repair
 */
export async function watchEndpoint(host: TriggerHost, nowMs: number = Date.now()): Promise<Fields[]> {
  await requireApiKey(host);
  const wanted = wantedOf(host);
  const { did, endpoint, unsentSince } = await repaired(host);
  if (did !== 'nothing') host.logger.warn(`Agent Mailbox: the webhook endpoint ${String(endpoint['id'])} was ${did}.`);
  workedAt.set(keyOf(host), nowMs);
  const isRecovering = await recoverDeliveries(host, endpoint, nowMs);
  const failingSince = endpoint['failingSince'];
  if (!isRecovering && typeof failingSince === 'string' && nowMs - Date.parse(failingSince) > FAILING_MAX_MS)
    throw new Error(
      `The service has not reached ${String(endpoint['url'])} since ${failingSince}. Check that this address is reachable from the internet.`,
    );
  return unsentSince === undefined ? [] : missedMail(host, endpoint, wanted, unsentSince);
}

async function repaired(host: TriggerHost): Promise<Repair> {
  const wanted = wantedOf(host);
  const { endpointId, url } = registrationOf(host);
  const existing = await findEndpoint(host, endpointId);
  if (existing !== undefined) return repairEndpoint(host, existing, wanted, url);
  if (url === '')
    throw new Error('The webhook endpoint is missing. Deactivate the workflow and activate it again to register it.');
  const endpoint = await createEndpoint(host, wanted, url);
  const lastMs = workedAt.get(keyOf(host));
  return {
    endpoint,
    did: 'created',
    ...(lastMs === undefined ? {} : { unsentSince: new Date(lastMs).toISOString() }),
  };
}

/** Sends deliveries again that were given up. @returns whether there are any */
async function recoverDeliveries(host: TriggerHost, endpoint: Fields, nowMs: number): Promise<boolean> {
  const { failingSince, recover, stats } = endpoint as {
    failingSince: string | null;
    recover?: { since: string };
    stats: { last24h: { exhausted: number } };
  };
  if (failingSince === null && recover === undefined && stats.last24h.exhausted === 0) return false;
  const dates = [nowMs - DAY_MS, ...[failingSince, recover?.since].map((each) => Date.parse(each ?? '') - HOUR_MS)];
  const since = new Date(Math.min(...dates.filter((each) => !Number.isNaN(each)))).toISOString();
  const query = { status: 'exhausted', since, limit: LOOKED_AT_DELIVERIES };
  const { body } = await callService(host, 'GET', `${pathOf(endpoint)}/deliveries`, { query });
  const deliveries = body['data'] as { createdAt: string; attemptCount: number; maxAttempts: number }[];
  const due = deliveries.filter(({ attemptCount, maxAttempts }) => attemptCount < maxAttempts + RESENDS_MAX);
  if (due.length === 0) return false;
  try {
    // If there are more than one page, those before it are given up in the same time.
    const from = deliveries.length < LOOKED_AT_DELIVERIES ? due.at(-1)?.createdAt : since;
    await callService(host, 'POST', `${pathOf(endpoint)}/recover`, { body: { since: from } });
  } catch (error) {
    // One is running: what it does not find is sent again at the next poll.
    if (!(error instanceof ServiceError && error.code === 'conflict')) throw error;
  }
  return true;
}

const MISSED_MAX = 1_000;
/** Mail is stored and reported in one transaction; its times differ by less. */
const MARGIN_MS = 60_000;
const DELIVERIES_PAGE = 200;

/**
 * @param since ISO 8601
 * @returns an event for each mail since then that the endpoint has no delivery of, oldest first; `missed` marks them
 */
export async function missedMail(
  host: TriggerHost,
  endpoint: Fields,
  { eventTypes, mailboxId }: Wanted,
  since: string,
): Promise<Fields[]> {
  if (!eventTypes.includes('email_received')) return [];
  const scope = mailboxId === '' ? {} : { mailboxId };
  // First the mail, then the deliveries: mail that arrives now has one already.
  const messages = await listAll(host, '/api/messages', { since, ...scope }, MISSED_MAX);
  const from = new Date(Date.parse(since) - MARGIN_MS).toISOString();
  const reported = await reportedMessages(host, endpoint, from);
  return messages
    .filter(({ id }) => !reported.has(String(id)))
    .toReversed()
    .map(asEvent);
}

async function reportedMessages(host: TriggerHost, endpoint: Fields, since: string): Promise<Set<string>> {
  const found = new Set<string>();
  let cursor: unknown;
  do {
    const query = { eventType: 'email_received', since, limit: DELIVERIES_PAGE };
    const page = cursor === undefined ? query : { ...query, cursor };
    const { body } = await callService(host, 'GET', `${pathOf(endpoint)}/deliveries`, { query: page });
    for (const { payload } of body['data'] as { payload: { data: { messageId?: string } } }[])
      found.add(String(payload.data.messageId));
    cursor = body['nextCursor'] ?? undefined;
  } while (cursor !== undefined);
  return found;
}

/** As `email_received` has it, as far as a list of messages says it. */
function asEvent({ id, threadId, mailboxId, from, to, cc, subject, preview, receivedAt, sizeBytes }: Fields): Fields {
  return {
    type: 'email_received',
    occurredAt: receivedAt,
    mailbox: { id: mailboxId },
    data: { messageId: id, threadId, from, to, cc, subject, preview, receivedAt, sizeBytes },
    missed: true,
  };
}
