import type { Services } from '../core/services.ts';
import { countUse } from '../db/queries/count-use.ts';
import { CatalogueError } from '../domain/errors.ts';
import { PLANS } from '../domain/plans.ts';
import type { ActiveOrganization } from './principal.ts';
import type { ReplyHeaders } from './route.ts';

const WINDOW_SECONDS = 60;

/** A request over the limit, with the headers that belong on its answer too. */
export class RateLimited extends CatalogueError {
  readonly headers: ReplyHeaders;
  constructor(headers: ReplyHeaders, retryAfterSeconds: number) {
    super('rate_limited', undefined, { retryAfterSeconds });
    this.headers = headers;
  }
}

/**
 * Counts a request of an organization in its window of a minute, shared by all API processes.
 *
 * @returns the RateLimit-* headers; none for plans without a limit
 * @throws {RateLimited}
 */
export async function limitRate(services: Services, organization: ActiveOrganization): Promise<ReplyHeaders> {
  const limit = PLANS[organization.plan].apiRequestsPerMinute;
  if (limit === null) return {};
  const { used, resetsInMs } = await countUse(
    services.db,
    `api:${organization.id}`,
    WINDOW_SECONDS * 1_000,
    services.now(),
  );
  const resetSeconds = Math.ceil(resetsInMs / 1_000);
  const headers = {
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(Math.max(0, limit - used)),
    'RateLimit-Reset': String(resetSeconds),
    'RateLimit-Policy': `${limit};w=${WINDOW_SECONDS}`,
  };
  if (used > limit) throw new RateLimited(headers, Math.max(1, resetSeconds));
  return headers;
}
