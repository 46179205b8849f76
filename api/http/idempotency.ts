/**
 * `Idempotency-Key` on POST.
 *
 *   known? ──yes──▶ replay
 *     └─no──▶ the request's unit of work: lock of the key ─▶ changes ─▶ answer ─▶ one commit ─▶ wake-ups, workflows
 *                                            └ held: 409      └─error, crash: rolled back, and the key is free
 *
 * The answer is committed with the change, so there is never one without the other: after a crash, an error or a lost
 * answer to the commit there are either both or none, and the same request may be repeated at once. An advisory lock of
 * its transaction marks a running request, which ends with its connection.
 *
 * The answer is stored with its secrets replaced by null; the full answer is kept beside it, sealed, and used for
 * replays within ten minutes.
 */
import { createHmac } from 'node:crypto';
import type { Services } from '#core/platform/process/services.ts';
import { pepperKey } from '#core/platform/secrets/credentials.ts';
import { idempotencyAnswerPlace } from '#core/platform/secrets/sealed-secrets.ts';
import type { Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import {
  IDEMPOTENCY_KEY_LIFE_HOURS,
  IDEMPOTENCY_KEY_MAX_LENGTH,
  IDEMPOTENCY_SECRETS_MINUTES,
} from '#domain/idempotency-limits.ts';
import type { ReplyHeaders, RouteInfo } from './route.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

export interface StoredAnswer {
  readonly status: number;
  readonly headers: ReplyHeaders;
  readonly text: string;
}

/** A request with an Idempotency-Key. */
export interface KeyedRequest {
  /** The sender; keys of different senders are apart. */
  readonly principal: string;
  readonly key: string;
  /** Hash of the parts that must be the same for a replay: method, path, organization and body. */
  readonly hash: Buffer;
}

/** An equal request was answered before this one began its transaction. */
export class AnsweredMeanwhile extends Error {
  readonly answer: StoredAnswer;
  constructor(answer: StoredAnswer) {
    super('an equal request was answered meanwhile');
    this.answer = answer;
  }
}

interface StoredRow {
  request_hash: Buffer;
  status: number;
  headers: ReplyHeaders | null;
  body: string | null;
  body_sealed: string | null;
  created_at: Date;
}

const placeOf = ({ principal, key }: KeyedRequest): string => idempotencyAnswerPlace(principal, key);

const oldest = (services: Services): Date => new Date(services.now() - IDEMPOTENCY_KEY_LIFE_HOURS * HOUR_MS);

const stillRunning = (): CatalogueError =>
  new CatalogueError('idempotency_conflict', 'A request with this Idempotency-Key is still running.', {
    fix: 'Wait for the number of seconds in Retry-After, then send the same request again. It gets the answer of the one that is running.',
    retryAfterSeconds: 1,
  });

/** @throws {CatalogueError} invalid_request, when the key is empty or too long */
export function keyedRequest(
  services: Services,
  principal: string,
  key: string,
  request: { readonly method: string; readonly path: string; readonly organizationId: string; readonly text: string },
): KeyedRequest {
  if (key.length === 0 || key.length > IDEMPOTENCY_KEY_MAX_LENGTH)
    throw new CatalogueError('invalid_request', undefined, {
      details: [{ path: 'header/idempotency-key', message: `must have 1 to ${IDEMPOTENCY_KEY_MAX_LENGTH} characters` }],
    });
  // Peppered, because bodies contain passwords.
  const hash = createHmac('sha256', pepperKey(services.pepper))
    .update(JSON.stringify([request.method, request.path, request.organizationId, request.text]))
    .digest();
  return { principal, key, hash };
}

/** The answer an equal request had. @throws {CatalogueError} idempotency_conflict, when the key was used for another one */
export async function findAnswer(
  services: Services,
  sql: Sql,
  request: KeyedRequest,
): Promise<StoredAnswer | undefined> {
  const [stored] = await sql.query<StoredRow>(
    `select request_hash, status, headers, body, body_sealed, created_at from idempotency_keys
      where principal = $1 and key = $2 and status is not null and created_at > $3`,
    [request.principal, request.key, oldest(services)],
  );
  if (stored === undefined) return undefined;
  if (!stored.request_hash.equals(request.hash))
    throw new CatalogueError('idempotency_conflict', 'This Idempotency-Key was used with another request.', {
      fix: 'Use a new key for this request; to repeat the other request, send exactly its body.',
    });
  const withSecrets =
    stored.body_sealed !== null &&
    services.now() - stored.created_at.getTime() <= IDEMPOTENCY_SECRETS_MINUTES * MINUTE_MS;
  const text = withSecrets ? services.secrets.open(stored.body_sealed ?? '', placeOf(request)) : (stored.body ?? '');
  return { status: stored.status, headers: stored.headers ?? {}, text };
}

/**
 * Takes the key for the transaction of its request, as the first thing in it.
 *
 * @throws {CatalogueError} idempotency_conflict, while an equal request runs
 * @throws {AnsweredMeanwhile}
 */
export async function takeKey(services: Services, sql: Sql, request: KeyedRequest): Promise<void> {
  const locking = sql.query<{ taken: boolean }>(`select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as taken`, [
    JSON.stringify(['idempotency', request.principal, request.key]),
  ]);
  // Sent together, and executed after the lock was taken.
  const finding = findAnswer(services, sql, request);
  finding.catch(() => {});
  const [lock] = await locking;
  if (lock?.taken !== true) throw stillRunning();
  const answer = await finding;
  if (answer !== undefined) throw new AnsweredMeanwhile(answer);
}

/** Stores the answer in the transaction of the change. */
export async function storeAnswer(
  services: Services,
  sql: Sql,
  route: RouteInfo,
  request: KeyedRequest,
  answer: StoredAnswer,
): Promise<void> {
  const secretFields = route.secretFields ?? [];
  const stored = await sql.query(
    `insert into idempotency_keys as k (principal, key, request_hash, status, headers, body, body_sealed, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (principal, key) do update
        set request_hash = excluded.request_hash, status = excluded.status, headers = excluded.headers,
            body = excluded.body, body_sealed = excluded.body_sealed, created_at = excluded.created_at
      where k.status is null or k.created_at <= $9
     returning 1`,
    [
      request.principal,
      request.key,
      request.hash,
      answer.status,
      JSON.stringify(answer.headers),
      withoutSecrets(answer.text, secretFields),
      secretFields.length === 0 ? null : services.secrets.seal(answer.text, placeOf(request)),
      new Date(services.now()),
      oldest(services),
    ],
  );
  if (stored.length === 0) throw stillRunning();
}

/** The JSON text with its secret top-level fields set to null. */
function withoutSecrets(text: string, secretFields: readonly string[]): string {
  if (secretFields.length === 0) return text;
  const body = JSON.parse(text) as Record<string, unknown>;
  for (const field of secretFields) if (field in body) body[field] = null;
  return JSON.stringify(body);
}
