import type { Services } from '#core/platform/process/services.ts';
import { countUse } from '#db/queries/platform/count-use.ts';
import { CatalogueError } from '#domain/errors.ts';
import { type PlanName, requireWebhookPlan } from '#domain/organizations/plans.ts';
import { URL_CHECKS_PER_MINUTE } from '#domain/webhooks/delivery-limits.ts';
import { requireSafeDestination } from './endpoint-rules.ts';

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
