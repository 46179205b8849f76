import { sqlOfEntityManager } from '../db/database.ts';
import { recordAudit } from './audit.ts';
import type { Caller } from './caller.ts';
import { lockEndpoint } from './change-endpoint.ts';
import { auditedUrl } from './endpoint-rules.ts';
import type { Services } from './services.ts';
import { stopDeliveries } from './stop-deliveries.ts';
import type { TemporalClient } from './temporal-client.ts';

/**
 * Deletes an endpoint and stops its waiting deliveries. The row stays, so that they learn of it; the header it was to
 * send and the secret before the last rotation are forgotten.
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
  await services.db.em().transactional(async (em) => {
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
