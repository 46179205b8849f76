import type { Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import { type PlanName, requireWebhookPlan } from '#domain/organizations/plans.ts';
import { type EndpointView, requireEndpoint } from './endpoint-queries.ts';

/**
 * An endpoint that may receive requests now: a manual attempt follows the same rules as an automatic one.
 *
 * @throws {CatalogueError} not_found, plan_required, conflict (inactive)
 */
export async function requireSendableEndpoint(
  sql: Sql,
  organization: { readonly id: string; readonly plan: PlanName },
  endpointId: string,
): Promise<Pick<EndpointView, 'mailboxId' | 'eventTypes' | 'includeExtracts'>> {
  const endpoint = await requireEndpoint(sql, organization.id, endpointId);
  requireWebhookPlan(organization.plan);
  if (!endpoint.active)
    throw new CatalogueError('conflict', 'The endpoint is inactive, so nothing is sent to it.', {
      fix: 'Set it active first: PATCH /api/webhooks/:id {"active": true}; disabledReason says why it is not.',
    });
  return endpoint;
}
