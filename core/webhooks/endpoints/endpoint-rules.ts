/** What a webhook endpoint may be: every rejection of interface §7 that is about its own fields. */

import type { Services } from '#core/platform/process/services.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import { checkDestination, destinationPolicy } from '#core/webhooks/requests/destination-guard.ts';
import { isOwnReceiver } from '#core/webhooks/webhook-receiver.ts';
import { countUse } from '#db/queries/platform/count-use.ts';
import { CatalogueError, type ErrorDetail } from '#domain/errors.ts';
import { type PlanName, requireWebhookPlan } from '#domain/organizations/plans.ts';
import { URL_CHECKS_PER_MINUTE } from '#domain/webhooks/delivery-limits.ts';
import { authHeaderProblem, ENDPOINT_URL_MAX } from '#domain/webhooks/endpoint-limits.ts';
import { EVENT_TYPES, type EventType, isEventType, MAILBOX_EVENT_TYPES } from '#domain/webhooks/event-types.ts';

export interface AuthHeader {
  readonly name: string;
  readonly value: string;
}

/**
 * The subscription of an endpoint: supported types, each once, all within its scope.
 *
 * @throws {CatalogueError} invalid_event_types, event_type_not_allowed_for_mailbox; details name each wrong entry
 */
export function requireEventTypes(given: readonly string[], mailboxScope: boolean): EventType[] {
  if (given.length === 0)
    throw new CatalogueError('invalid_event_types', undefined, {
      details: [{ path: '/eventTypes', message: 'must name at least one event type' }],
    });
  const problems: ErrorDetail[] = [];
  const types = new Set<EventType>();
  for (const [index, text] of given.entries()) {
    const path = `/eventTypes/${index}`;
    if (!isEventType(text)) problems.push({ path, message: `must be one of ${EVENT_TYPES.join(', ')}` });
    else if (types.has(text)) problems.push({ path, message: `contains ${text} twice` });
    else types.add(text);
  }
  if (problems.length > 0) throw new CatalogueError('invalid_event_types', undefined, { details: problems });
  if (mailboxScope) {
    const outside = given.flatMap((text, index) =>
      isEventType(text) && !MAILBOX_EVENT_TYPES.includes(text)
        ? [{ path: `/eventTypes/${index}`, message: `must be one of ${MAILBOX_EVENT_TYPES.join(', ')}` }]
        : [],
    );
    if (outside.length > 0)
      throw new CatalogueError('event_type_not_allowed_for_mailbox', undefined, { details: outside });
  }
  return [...types];
}

/** @throws {CatalogueError} invalid_auth_header */
export function requireAuthHeader(header: AuthHeader): void {
  const problem = authHeaderProblem(header);
  if (problem !== undefined)
    throw new CatalogueError('invalid_auth_header', undefined, {
      details: [{ path: '/authHeader', message: problem }],
    });
}

/**
 * Asks DNS, so it must not be called within a transaction.
 *
 * @returns the URL in its normal form, in which it is stored, shown and used
 * @throws {CatalogueError} invalid_url, unresolvable_destination, unsafe_destination
 */
export async function requireSafeDestination(settings: Settings, url: string): Promise<string> {
  const check = await checkDestination(url, destinationPolicy(settings));
  if (!check.ok)
    throw new CatalogueError(check.problem, undefined, { details: [{ path: '/url', message: check.message }] });
  const { href } = check.url;
  if (href.length > ENDPOINT_URL_MAX)
    throw new CatalogueError('invalid_url', undefined, {
      details: [
        {
          path: '/url',
          message: `has ${href.length} characters in its normal form (percent-encoded), but may have ${ENDPOINT_URL_MAX}`,
        },
      ],
    });
  return href;
}

/**
 * A destination as shown in the audit log, which more people can read: without the query, which may contain a token.
 */
export const auditedUrl = (url: string): string => url.replace(/[?#].*$/s, '');

/**
 * Where an endpoint of an organization may send to: a safe destination, or the organization's own built-in receiver,
 * to which no connection is made.
 *
 * Asks DNS, so it must not be called within a transaction of its own.
 *
 * @returns the URL in its stored form
 * @throws {CatalogueError} invalid_url, unresolvable_destination, unsafe_destination
 */
export async function requireEndpointDestination(
  { db, settings, now }: Pick<Services, 'db' | 'settings' | 'now'>,
  organizationId: string,
  url: string,
): Promise<string> {
  return (await isOwnReceiver(db, organizationId, url, now())) ? url : requireSafeDestination(settings, url);
}

const MINUTE_MS = 60_000;

/**
 * Checks the URL of an endpoint as its creation would, while a person types it. Nothing is sent to it.
 *
 * @returns the URL in its normal form
 * @throws {CatalogueError} plan_required, rate_limited, invalid_url, unresolvable_destination, unsafe_destination
 */
export async function checkEndpointUrl(
  services: Services,
  organization: { readonly id: string; readonly plan: PlanName },
  url: string,
): Promise<string> {
  requireWebhookPlan(organization.plan);
  const key = `url-check:${organization.id}`;
  const { used, resetsInMs } = await countUse(services.db, key, MINUTE_MS, services.now());
  if (used > URL_CHECKS_PER_MINUTE)
    throw new CatalogueError('rate_limited', `At most ${URL_CHECKS_PER_MINUTE} URLs can be checked in a minute.`, {
      retryAfterSeconds: Math.max(1, Math.ceil(resetsInMs / 1_000)),
    });
  return requireSafeDestination(services.settings, url);
}
