/**
 * `Idempotency-Key` on POST.
 *
 *   new ──reserve──▶ running ──2xx──▶ answered (kept 24 h, replayed)
 *                       ├──error──▶ gone: an error changed nothing, so the request may be made again
 *                       └──connection to the database lost: nobody knows, so it stays
 *
 * The answer is stored with its secrets replaced by null; the full answer is kept beside it, sealed, and used for
 * replays within ten minutes. A reservation whose process died, or that stayed, is taken over after five minutes.
 */
import { createHmac } from 'node:crypto';
import type { Services } from '../core/services.ts';
import { CatalogueError } from '../domain/errors.ts';
import {
  IDEMPOTENCY_KEY_LIFE_HOURS,
  IDEMPOTENCY_KEY_MAX_LENGTH,
  IDEMPOTENCY_SECRETS_MINUTES,
  IDEMPOTENCY_TAKE_OVER_MINUTES,
} from '../domain/idempotency-limits.ts';
import type { ReplyHeaders, RouteInfo } from './route.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

export interface StoredAnswer {
  readonly status: number;
  readonly headers: ReplyHeaders;
  readonly text: string;
}

export type Reservation =
  | { readonly kind: 'run'; store(answer: StoredAnswer): Promise<void>; release(): Promise<void> }
  | { readonly kind: 'replay'; readonly answer: StoredAnswer };

interface StoredRow {
  request_hash: Buffer;
  status: number | null;
  headers: ReplyHeaders | null;
  body: string | null;
  body_sealed: string | null;
  created_at: Date;
}

const placeOf = (principal: string, key: string): string => `idempotency_keys:body_sealed:${principal}:${key}`;

/**
 * Claims a key for a request, or finds the answer it had.
 *
 * @param principal who sent it; keys of different senders are apart
 * @param request method, path and body: what must be the same for a replay
 * @throws {CatalogueError} invalid_request, idempotency_conflict
 */
export async function reserve(
  services: Services,
  route: RouteInfo,
  principal: string,
  key: string,
  request: { readonly method: string; readonly path: string; readonly organizationId: string; readonly text: string },
): Promise<Reservation> {
  if (key.length === 0 || key.length > IDEMPOTENCY_KEY_MAX_LENGTH)
    throw new CatalogueError('invalid_request', undefined, {
      details: [{ path: 'header/idempotency-key', message: `must have 1 to ${IDEMPOTENCY_KEY_MAX_LENGTH} characters` }],
    });
  // Peppered, because bodies hold passwords.
  const hash = createHmac('sha256', services.pepper)
    .update(JSON.stringify([request.method, request.path, request.organizationId, request.text]))
    .digest();
  const now = services.now();
  const [claimed] = await services.db.query<{ created_at: Date }>(
    `insert into idempotency_keys as k (principal, key, request_hash, created_at) values ($1, $2, $3, $4)
     on conflict (principal, key) do update
        set request_hash = $3, created_at = $4, status = null, headers = null, body = null, body_sealed = null
      where k.created_at <= $5 or (k.status is null and k.request_hash = $3 and k.created_at <= $6)
     returning created_at`,
    [
      principal,
      key,
      hash,
      new Date(now),
      new Date(now - IDEMPOTENCY_KEY_LIFE_HOURS * HOUR_MS),
      new Date(now - IDEMPOTENCY_TAKE_OVER_MINUTES * MINUTE_MS),
    ],
  );
  if (claimed !== undefined) return running(services, route, principal, key, claimed.created_at);
  const [stored] = await services.db.query<StoredRow>(
    `select request_hash, status, headers, body, body_sealed, created_at from idempotency_keys
      where principal = $1 and key = $2`,
    [principal, key],
  );
  if (stored === undefined || !stored.request_hash.equals(hash))
    throw new CatalogueError('idempotency_conflict', 'This Idempotency-Key was used with another request.', {
      fix: 'Use a new key for this request; to repeat the other one, send its very body.',
    });
  if (stored.status === null)
    throw new CatalogueError('idempotency_conflict', 'A request with this Idempotency-Key is still running.', {
      fix: 'Send the same request again after the seconds in Retry-After: it answers what the running one does.',
      retryAfterSeconds: 1,
    });
  const withSecrets =
    stored.body_sealed !== null && now - stored.created_at.getTime() <= IDEMPOTENCY_SECRETS_MINUTES * MINUTE_MS;
  const text = withSecrets
    ? services.secrets.open(stored.body_sealed ?? '', placeOf(principal, key))
    : (stored.body ?? '');
  return { kind: 'replay', answer: { status: stored.status, headers: stored.headers ?? {}, text } };
}

function running(services: Services, route: RouteInfo, principal: string, key: string, createdAt: Date): Reservation {
  return {
    kind: 'run',
    async store(answer) {
      const secretFields = route.secretFields ?? [];
      const sealed = secretFields.length === 0 ? null : services.secrets.seal(answer.text, placeOf(principal, key));
      await services.db.query(
        `update idempotency_keys set status = $3, headers = $4, body = $5, body_sealed = $6
          where principal = $1 and key = $2 and created_at = $7`,
        [
          principal,
          key,
          answer.status,
          JSON.stringify(answer.headers),
          withoutSecrets(answer.text, secretFields),
          sealed,
          createdAt,
        ],
      );
    },
    async release() {
      await services.db.query(
        `delete from idempotency_keys where principal = $1 and key = $2 and status is null and created_at = $3`,
        [principal, key, createdAt],
      );
    },
  };
}

/** The JSON text with its secret top-level fields set to null. */
function withoutSecrets(text: string, secretFields: readonly string[]): string {
  if (secretFields.length === 0) return text;
  const body = JSON.parse(text) as Record<string, unknown>;
  for (const field of secretFields) body[field] = null;
  return JSON.stringify(body);
}
