import { recordAudit } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import type { Services } from '#core/platform/process/services.ts';
import { sqlOfEntityManager } from '#db/database.ts';
import { lockEndpoint } from './change-endpoint.ts';
import { auditedUrl } from './endpoint-rules.ts';
import { stopDeliveries } from './stop-deliveries.ts';

/**
 * Deletes an endpoint and stops its waiting deliveries. The row stays, so that their workflows can read it; the
 * authentication header and the previous secret are deleted.
 *
 * @throws {CatalogueError} not_found
 */
export async function deleteEndpoint(
  services: Services,
  temporal: TemporalClient,
  organizationId: string,
  endpointId: string,
  caller: Caller,
): Promise<void> {
  await services.db.entityTransaction(async (em) => {
    const endpoint = await lockEndpoint(em, organizationId, endpointId);
    endpoint.deletedAt = new Date(services.now());
    endpoint.authHeaderName = null;
    endpoint.authHeaderValueSealed = null;
    endpoint.previousSecretSealed = null;
    endpoint.previousSecretExpiresAt = null;
    await em.flush();
    await recordAudit(sqlOfEntityManager(em), caller, {
      organizationId,
      action: 'webhook.deleted',
      targetId: endpointId,
      details: { url: auditedUrl(endpoint.url) },
    });
  });
  stopDeliveries(services, temporal, { endpointIds: [endpointId] }, 'endpoint_deleted');
}
