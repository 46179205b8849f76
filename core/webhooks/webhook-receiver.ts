/**
 * The built-in receiver of webhooks: an address of this service that shows what reaches it, so that webhooks can be
 * tried without a server. Each organization has one, for a day, with its last hundred requests.
 *
 *   delivery ─▶ sender ─▶ is the URL, character by character, that of a receiver in the table? ─▶ receiveRequest
 *   request from the network ─▶ POST /receiver/<token> ─▶ receiveRequest
 *
 * The sender makes no connection to its own host: it passes the request, signed like every request, in memory. So the
 * destination guard needs no exception, and this works if the service has no public address or cannot reach it. Anybody
 * who knows the address can add requests to the list and do nothing else.
 */
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { noteChange } from '#db/queries/organizations/note-change.ts';
import { countUse } from '#db/queries/platform/count-use.ts';
import { CatalogueError } from '#domain/errors.ts';
import { isId } from '#domain/ids.ts';
import { type PlanName, requireWebhookPlan } from '#domain/organizations/plans.ts';
import { EVENT_HEADER } from '#domain/webhooks/delivery-limits.ts';
import {
  mayBeReceiver,
  RECEIVER_BODY_MAX_BYTES,
  RECEIVER_LIFE_HOURS,
  RECEIVER_REQUESTS_MAX,
  RECEIVER_REQUESTS_PER_MINUTE,
  RECEIVER_TOKEN_BYTES,
  receiverPath,
  type SignatureVerdict,
} from '#domain/webhooks/endpoint-limits.ts';
import { webhookSecretPlace } from './signing/webhook-signature.ts';

export interface WebhookReceiver {
  readonly id: string;
  /** The URL for creating an endpoint. */
  readonly url: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export interface ReceivedRequest {
  readonly id: string;
  readonly receivedAt: Date;
  /** Those of the signature and the event; others may contain credentials and are not stored. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signature: SignatureVerdict;
}

export interface IncomingRequest {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

interface ReceiverRow {
  readonly id: string;
  readonly organization_id: string;
  readonly url: string;
  readonly created_at: Date;
  readonly expires_at: Date;
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const KEPT_HEADERS = [
  'content-type',
  'user-agent',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
  EVENT_HEADER.toLowerCase(),
] as const;
const HEADER_MAX_CHARACTERS = 1_024;
const COLUMNS = 'id, organization_id, url, created_at, expires_at';

const viewOf = (row: ReceiverRow): WebhookReceiver => ({
  id: row.id,
  url: row.url,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
});

/**
 * The receiver of an organization: the one there is, or a new one.
 *
 * @param publicUrl address of the API as clients see it
 * @throws {CatalogueError} plan_required
 */
export async function openReceiver(
  { db, now }: Pick<Services, 'db' | 'now'>,
  organization: { readonly id: string; readonly plan: PlanName },
  publicUrl: string,
): Promise<WebhookReceiver> {
  requireWebhookPlan(organization.plan);
  const nowMs = now();
  const token = randomBytes(RECEIVER_TOKEN_BYTES).toString('base64url');
  const url = new URL(receiverPath(token), publicUrl).href;
  const expiresAt = new Date(nowMs + RECEIVER_LIFE_HOURS * HOUR_MS);
  return db.transaction(async (sql) => {
    await sql.query(`delete from webhook_receiver where organization_id = $1 and expires_at <= $2`, [
      organization.id,
      new Date(nowMs),
    ]);
    await sql.query(
      `insert into webhook_receiver (id, organization_id, url, token, created_at, expires_at)
       values ($1, $2, $3, $4, $5, $6) on conflict (organization_id) do nothing`,
      [newId('receiver', nowMs), organization.id, url, token, new Date(nowMs), expiresAt],
    );
    const receiver = await findReceiver(sql, organization.id, nowMs);
    if (receiver === undefined) throw new CatalogueError('conflict');
    return receiver;
  });
}

/** The receiver of an organization, unless its time is over. */
export async function findReceiver(
  sql: Sql,
  organizationId: string,
  nowMs: number,
): Promise<WebhookReceiver | undefined> {
  const [row] = await sql.query<ReceiverRow>(
    `select ${COLUMNS} from webhook_receiver where organization_id = $1 and expires_at > $2`,
    [organizationId, new Date(nowMs)],
  );
  return row && viewOf(row);
}

/** Requests that a receiver got, newest first. */
export async function receivedRequests(sql: Sql, receiverId: string): Promise<ReceivedRequest[]> {
  const rows = await sql.query<{
    id: string;
    received_at: Date;
    headers: Record<string, string>;
    body: string;
    signature: SignatureVerdict;
  }>(
    `select id, received_at, headers, body, signature from received_request
      where receiver_id = $1 order by id desc limit ${RECEIVER_REQUESTS_MAX}`,
    [receiverId],
  );
  return rows.map(({ received_at: receivedAt, ...row }) => ({ ...row, receivedAt }));
}

/** Whether a URL is that of the organization's own receiver: the one address of this service that webhooks may have. */
export async function isOwnReceiver(sql: Sql, organizationId: string, url: string, nowMs: number): Promise<boolean> {
  return mayBeReceiver(url) && (await findReceiver(sql, organizationId, nowMs))?.url === url;
}

/** The answer of a receiver: 200, 410 after its expiry, 413. */
export interface ReceiverAnswer {
  readonly status: 200 | 410 | 413;
  readonly text: string;
}

/**
 * Passes a delivery to the receiver of its URL.
 *
 * @returns undefined if it is the URL of no receiver
 */
export async function deliverToReceiver(
  services: Pick<Services, 'db' | 'secrets' | 'now'>,
  url: string,
  request: () => IncomingRequest,
): Promise<ReceiverAnswer | undefined> {
  if (!mayBeReceiver(url)) return undefined;
  const [row] = await services.db.query<ReceiverRow>(`select ${COLUMNS} from webhook_receiver where url = $1`, [url]);
  return row && take(services, row, request());
}

/**
 * A request from the network.
 *
 * @throws {CatalogueError} not_found, rate_limited
 */
export async function receiveFromNetwork(
  services: Pick<Services, 'db' | 'secrets' | 'now'>,
  token: string,
  request: IncomingRequest,
): Promise<ReceiverAnswer> {
  const { db, now } = services;
  const [row] = await db.query<ReceiverRow>(`select ${COLUMNS} from webhook_receiver where token = $1`, [token]);
  if (row === undefined) throw new CatalogueError('not_found', 'There is no such receiver.');
  const { used, resetsInMs } = await countUse(db, `receiver:${row.id}`, MINUTE_MS, now());
  if (used > RECEIVER_REQUESTS_PER_MINUTE)
    throw new CatalogueError('rate_limited', undefined, {
      retryAfterSeconds: Math.max(1, Math.ceil(resetsInMs / 1_000)),
    });
  return take(services, row, request);
}

async function take(
  services: Pick<Services, 'db' | 'secrets' | 'now'>,
  receiver: ReceiverRow,
  { headers: given, body }: IncomingRequest,
): Promise<ReceiverAnswer> {
  const { db, now } = services;
  if (receiver.expires_at.getTime() <= now()) return { status: 410, text: 'This receiver has expired.' };
  if (Buffer.byteLength(body) > RECEIVER_BODY_MAX_BYTES)
    return { status: 413, text: `A request has at most ${RECEIVER_BODY_MAX_BYTES} bytes.` };
  const headers: Record<string, string> = {};
  for (const name of KEPT_HEADERS) {
    const value = given[name];
    if (value !== undefined) headers[name] = value.replaceAll('\0', '').slice(0, HEADER_MAX_CHARACTERS);
  }
  const signature = await verdictOf(services, receiver, headers, body);
  await db.transaction(async (sql) => {
    await sql.query(
      `with added as (
         insert into received_request (id, receiver_id, received_at, headers, body, signature)
         values ($1, $2, $3, $4, $5, $6) returning receiver_id
       ), changed as (
         select r.organization_id, r.id from added a join webhook_receiver r on r.id = a.receiver_id
       ) ${noteChange('receiver', 'changed', 'id')}`,
      [
        newId('receivedRequest', now()),
        receiver.id,
        new Date(now()),
        JSON.stringify(headers),
        body.replaceAll('\0', '\uFFFD'),
        signature,
      ],
    );
    await sql.query(
      `delete from received_request where receiver_id = $1 and id <= (
         select id from received_request where receiver_id = $1 order by id desc offset ${RECEIVER_REQUESTS_MAX} limit 1)`,
      [receiver.id],
    );
  });
  return { status: 200, text: 'Received.' };
}

interface SecretsRow {
  readonly id: string;
  readonly secret_sealed: string;
  readonly previous_secret_sealed: string | null;
}

/** Checks a signature as a customer would, with the secrets of the endpoint that the delivery belongs to. */
async function verdictOf(
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  receiver: ReceiverRow,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<SignatureVerdict> {
  const deliveryId = headers['webhook-id'];
  if (deliveryId === undefined || headers['webhook-signature'] === undefined) return 'unsigned';
  if (!isId('delivery', deliveryId)) return 'failed';
  const [endpoint] = await db.query<SecretsRow>(
    `select e.id, e.secret_sealed, e.previous_secret_sealed
       from deliveries d join webhook_endpoints e on e.id = d.endpoint_id and e.organization_id = d.organization_id
      where d.id = $1 and d.organization_id = $2 and e.url = $3`,
    [deliveryId, receiver.organization_id, receiver.url],
  );
  if (endpoint === undefined) return 'failed';
  const sealed = [endpoint.secret_sealed, endpoint.previous_secret_sealed].filter((each) => each !== null);
  const isGenuine = sealed.some((each) => {
    try {
      new Webhook(secrets.open(each, webhookSecretPlace(endpoint.id))).verify(body, { ...headers });
      return true;
    } catch {
      return false;
    }
  });
  return isGenuine ? 'verified' : 'failed';
}
