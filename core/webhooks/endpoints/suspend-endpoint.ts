import { recordAudit } from '#core/organizations/audit.ts';
import { sendNotices, writeNotices } from '#core/organizations/member-notices.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import type { Services } from '#core/platform/process/services.ts';
import { sqlOfEntityManager } from '#db/database.ts';
import { lockEndpoint } from './change-endpoint.ts';
import { suspendedNotice } from './endpoint-notices.ts';
import { stopDeliveries } from './stop-deliveries.ts';

/**
 * Sets an endpoint inactive until the operator lifts it, stops its deliveries and writes notices for owners and admins.
 * An endpoint that is already suspended does not change.
 *
 * @throws {CatalogueError} not_found
 */
export async function suspendEndpoint(
  services: Services,
  temporal: TemporalClient,
  organization: { readonly id: string; readonly name: string },
  endpointId: string,
  caller: Caller,
  reason: string,
): Promise<void> {
  const notices = await services.db.entityTransaction(async (em) => {
    const endpoint = await lockEndpoint(em, organization.id, endpointId);
    if (endpoint.disabledReason === 'suspended') return [];
    endpoint.active = false;
    endpoint.disabledReason = 'suspended';
    await em.flush();
    const sql = sqlOfEntityManager(em);
    await recordAudit(sql, caller, {
      organizationId: organization.id,
      action: 'webhook.suspended',
      targetId: endpointId,
      details: { reason },
    });
    const text = suspendedNotice({ id: endpointId, url: endpoint.url, organizationName: organization.name }, reason);
    const notice = {
      organizationId: organization.id,
      kind: 'webhook_suspended' as const,
      targetId: endpointId,
      ...text,
    };
    return writeNotices(sql, notice, services.now());
  });
  stopDeliveries(services, temporal, { endpointIds: [endpointId] }, 'endpoint_inactive');
  await sendNotices(services, temporal, notices);
}

/** Lets an organization set its endpoint active again. @throws {CatalogueError} not_found */
export async function liftSuspension(
  services: Services,
  organizationId: string,
  endpointId: string,
  caller: Caller,
): Promise<void> {
  await services.db.entityTransaction(async (em) => {
    const endpoint = await lockEndpoint(em, organizationId, endpointId);
    if (endpoint.disabledReason !== 'suspended') return;
    endpoint.disabledReason = null;
    await em.flush();
    await recordAudit(sqlOfEntityManager(em), caller, {
      organizationId,
      action: 'webhook.suspension_lifted',
      targetId: endpointId,
    });
  });
}
