import { sourceOf } from '#core/platform/addresses/source-address.ts';
import type { Services } from '#core/platform/process/services.ts';
import { countUse, type UseCount, usesOf } from '#db/queries/platform/count-use.ts';
import {
  LINK_TOKEN_TRIES_PER_MINUTE,
  OPERATOR_KEY_TRIES_PER_MINUTE,
  UNGUESSABLE_KEY_CHARACTERS,
} from '#domain/access/credential-format.ts';
import {
  OAUTH_REGISTRATIONS_PER_SOURCE_AND_HOUR,
  OAUTH_TOKEN_REQUESTS_PER_SOURCE_AND_MINUTE,
} from '#domain/access/oauth.ts';
import { CatalogueError } from '#domain/errors.ts';
import { PLAN_NAMES, PLANS } from '#domain/organizations/plans.ts';
import { APPROVAL_LINK_REQUESTS_PER_MINUTE } from '#domain/sending/approval-notices.ts';
import type { ActiveOrganization } from './principal.ts';
import type { ReplyHeaders } from './route.ts';

const WINDOW_SECONDS = 60;
export const API_WINDOW_MS = WINDOW_SECONDS * 1_000;
const HOUR_MS = 3_600_000;
/** Name of an organization's count of requests, in SQL. */
export const API_USE_KEY = `'api:' || o.id`;
export const LIMITED_PLANS = PLAN_NAMES.filter((name) => PLANS[name].apiRequestsPerMinute !== null);

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
 * @param counted the count, if it was made while the credential was looked up (`authenticate.ts`)
 * @returns the RateLimit-* headers; none for plans without a limit
 * @throws {RateLimited}
 */
export async function limitRate(
  services: Services,
  organization: ActiveOrganization,
  counted: UseCount | undefined,
): Promise<ReplyHeaders> {
  const limit = PLANS[organization.plan].apiRequestsPerMinute;
  if (limit === null) return {};
  const { used, resetsInMs } =
    counted ?? (await countUse(services.db, `api:${organization.id}`, API_WINDOW_MS, services.now()));
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

/**
 * Limits a use by the source of the request, before anything of it is checked.
 *
 * @throws {CatalogueError} rate_limited
 */
async function limitSource(
  services: Services,
  use: string,
  ipAddress: string,
  uses: number,
  windowMs = API_WINDOW_MS,
): Promise<void> {
  const key = `${use}:${sourceOf(ipAddress)}`;
  const { used, resetsInMs } = await countUse(services.db, key, windowMs, services.now());
  if (used > uses)
    throw new CatalogueError('rate_limited', undefined, {
      retryAfterSeconds: Math.max(1, Math.ceil(resetsInMs / 1_000)),
    });
}

export const limitApprovalLinks = (services: Services, ipAddress: string): Promise<void> =>
  limitSource(services, 'approval_link', ipAddress, APPROVAL_LINK_REQUESTS_PER_MINUTE);

/** For the endpoints of OAuth. */
export const limitOAuthTokens = (services: Services, ipAddress: string): Promise<void> =>
  limitSource(services, 'oauth', ipAddress, OAUTH_TOKEN_REQUESTS_PER_SOURCE_AND_MINUTE);

export const limitOAuthRegistrations = (services: Services, ipAddress: string): Promise<void> =>
  limitSource(services, 'oauth_register', ipAddress, OAUTH_REGISTRATIONS_PER_SOURCE_AND_HOUR, HOUR_MS);

/**
 * Counts wrong operator keys by their source, also on routes that take none. Beyond the limit a right one that is long
 * enough is still accepted: nobody finds it by trying, and a neighbour behind the same address does not lock the operator
 * out. A shorter one is not even compared, so that nobody learns by trying.
 *
 * @param isRight compares in constant time
 * @returns whether it is right
 * @throws {CatalogueError} rate_limited
 */
export async function limitOperatorKeys(
  services: Services,
  ipAddress: string,
  isRight: () => boolean,
): Promise<boolean> {
  const key = `operator_key:${ipAddress === '' ? '' : sourceOf(ipAddress)}`;
  const now = services.now();
  const { used, resetsInMs } = await usesOf(services.db, key, now);
  if (used >= OPERATOR_KEY_TRIES_PER_MINUTE) {
    if ((services.settings.OPERATOR_KEY ?? '').length >= UNGUESSABLE_KEY_CHARACTERS && isRight()) return true;
    throw new CatalogueError('rate_limited', 'Too many wrong operator keys came from this address.', {
      retryAfterSeconds: Math.max(1, Math.ceil(resetsInMs / 1_000)),
    });
  }
  if (isRight()) return true;
  await countUse(services.db, key, API_WINDOW_MS, now);
  return false;
}

/** For tokens of invitations and password resets. */
export const limitLinkTokens = (services: Services, ipAddress: string): Promise<void> =>
  limitSource(services, 'link_token', ipAddress, LINK_TOKEN_TRIES_PER_MINUTE);
