import { recordAudit } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { Services } from '#core/platform/process/services.ts';
import { webhookSecretPlace } from '#core/webhooks/signing/webhook-secrets.ts';
import { newWebhookSecret, webhookSecretHint } from '#core/webhooks/signing/webhook-signature.ts';
import { sqlOfEntityManager } from '#db/database.ts';
import { lockEndpoint } from './change-endpoint.ts';

const SECOND_MS = 1_000;

export interface RotatedSecret {
  /** For this once. */
  readonly secret: string;
  /** Until then attempts carry the signature of the old secret too; null: it signs nothing any more. */
  readonly previousSecretExpiresAt: Date | null;
}

/**
 * Replaces the signing secret. The secret before the one replaced now, should its overlap still run, ends.
 *
 * @param overlapSeconds how long attempts are signed with both secrets; 0: not at all
 * @throws {CatalogueError} not_found
 */
export async function rotateSecret(
  services: Services,
  organizationId: string,
  endpointId: string,
  caller: Caller,
  overlapSeconds: number,
): Promise<RotatedSecret> {
  const secret = newWebhookSecret();
  const previousSecretExpiresAt = overlapSeconds === 0 ? null : new Date(services.now() + overlapSeconds * SECOND_MS);
  await services.db.entityTransaction(async (em) => {
    const endpoint = await lockEndpoint(em, organizationId, endpointId);
    endpoint.previousSecretSealed = previousSecretExpiresAt === null ? null : endpoint.secretSealed;
    endpoint.previousSecretExpiresAt = previousSecretExpiresAt;
    endpoint.secretSealed = services.secrets.seal(secret, webhookSecretPlace(endpointId));
    endpoint.secretPrefix = webhookSecretHint(secret);
    await em.flush();
    await recordAudit(sqlOfEntityManager(em), caller, {
      organizationId,
      action: 'webhook.secret_rotated',
      targetId: endpointId,
      details: { overlapSeconds },
    });
  });
  return { secret, previousSecretExpiresAt };
}
