import type { ErrorCode } from '#domain/errors.ts';
import type { AuthRule, RouteInfo } from './route.ts';

/** Whether requests of this rule act in an organization, which is what rate limits count by. */
export const actsInOrganization = (auth: AuthRule): boolean =>
  auth !== 'public' && auth !== 'session' && auth !== 'instance';

/** Every error a route can answer with: its own, and those that follow from its input and its auth rule. */
export function errorsOf(route: RouteInfo): readonly ErrorCode[] {
  const { auth } = route;
  const codes = new Set<ErrorCode>(['invalid_request']);
  if (auth !== 'public') codes.add('unauthenticated').add('forbidden');
  if (auth === 'mailbox_token' || (typeof auth === 'object' && 'scope' in auth)) codes.add('insufficient_scope');
  if (route.params !== undefined) codes.add('not_found');
  if (route.method !== 'GET') codes.add('payload_too_large').add('unsupported_media_type');
  if (route.method === 'POST') codes.add('idempotency_conflict');
  if (actsInOrganization(auth) && route.unlimited === undefined) codes.add('rate_limited');
  for (const code of route.errors ?? []) codes.add(code);
  return [...codes, 'request_timeout', 'headers_too_large', 'internal_error', 'unavailable'];
}
