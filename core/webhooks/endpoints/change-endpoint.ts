/** What an organization changes at its endpoint: fields, the secret, its deletion. Each locks the row, and is audited. */
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { recordAudit } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import type { Services } from '#core/platform/process/services.ts';
import { ensureSigningKey } from '#core/webhooks/signing/signing-keys.ts';
import {
  authHeaderPlace,
  newWebhookSecret,
  webhookSecretHint,
  webhookSecretPlace,
} from '#core/webhooks/signing/webhook-signature.ts';
import { sqlOfEntityManager } from '#db/database.ts';
import { WebhookEndpoint, type WebhookEndpointRow } from '#db/entities.ts';
import { givenUpSince, type Recoverable } from '#db/queries/webhooks/endpoint-health.ts';
import { CatalogueError } from '#domain/errors.ts';
import { requireEndpoint } from './endpoint-queries.ts';
import {
  type AuthHeader,
  auditedUrl,
  requireAuthHeader,
  requireEndpointDestination,
  requireEventTypes,
} from './endpoint-rules.ts';
import { stopDeliveries } from './stop-deliveries.ts';

/** Omitted fields do not change. */
interface EndpointChanges {
  readonly url?: string;
  readonly eventTypes?: readonly string[];
  /** False stops waiting deliveries at once; true also forgets why the service had set the endpoint inactive. */
  readonly active?: boolean;
  readonly description?: string | null;
  /** Null removes the header. */
  readonly authHeader?: AuthHeader | null;
  readonly publicKeySignature?: boolean;
  /** Applies to later events only. */
  readonly includeExtracts?: boolean;
}

/** The row of an endpoint that is not deleted, locked until the transaction ends. @throws {CatalogueError} not_found */
export async function lockEndpoint(
  em: EntityManager,
  organizationId: string,
  endpointId: string,
): Promise<WebhookEndpointRow> {
  const endpoint = await em.findOne(
    WebhookEndpoint,
    { id: endpointId, organization: organizationId, deletedAt: null },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  if (endpoint === null) throw new CatalogueError('not_found');
  return endpoint;
}

/**
 * Changes an endpoint. An attempt in flight is not affected; every later attempt uses the new fields.
 *
 * @returns if it was inactive and is active now: the deliveries given up since it began to fail, if any
 * @throws {CatalogueError} not_found, conflict (suspended), and the rejections of `core/webhooks/endpoints/endpoint-rules.ts`
 */
export async function changeEndpoint(
  services: Services,
  temporal: TemporalClient,
  organizationId: string,
  endpointId: string,
  caller: Caller,
  changes: EndpointChanges,
): Promise<Recoverable | undefined> {
  // The scope never changes, so this check is still valid in the transaction.
  const { mailboxId } = await requireEndpoint(services.db, organizationId, endpointId);
  const eventTypes =
    changes.eventTypes === undefined ? undefined : requireEventTypes(changes.eventTypes, mailboxId !== null);
  const { authHeader, active, publicKeySignature, includeExtracts } = changes;
  if (authHeader !== undefined && authHeader !== null) requireAuthHeader(authHeader);
  const url =
    changes.url === undefined ? undefined : await requireEndpointDestination(services, organizationId, changes.url);

  const failedFrom = await services.db.entityTransaction(async (em) => {
    const endpoint = await lockEndpoint(em, organizationId, endpointId);
    const { createdAt, lastSuccessAt, failingSince } = endpoint;
    const reactivated = active === true && !endpoint.active;
    if (active === true && endpoint.disabledReason === 'suspended')
      throw new CatalogueError('conflict', 'The endpoint was suspended by the operator of this service.', {
        fix: 'Ask the operator to lift the suspension; GET /api/notices shows its reason.',
      });
    if (url !== undefined && url !== endpoint.url) {
      endpoint.url = url;
      endpoint.urlChangedAt = new Date(services.now());
      // Another server, which has not failed yet.
      endpoint.failingSince = null;
    }
    if (eventTypes !== undefined) endpoint.eventTypes = eventTypes;
    if (changes.description !== undefined) endpoint.description = changes.description;
    if (authHeader !== undefined) {
      endpoint.authHeaderName = authHeader?.name ?? null;
      endpoint.authHeaderValueSealed =
        authHeader === null ? null : services.secrets.seal(authHeader.value, authHeaderPlace(endpointId));
    }
    if (publicKeySignature !== undefined) endpoint.publicKeySignature = publicKeySignature;
    if (includeExtracts !== undefined) endpoint.includeExtracts = includeExtracts;
    if (active !== undefined) endpoint.active = active;
    if (active === true) {
      endpoint.disabledReason = null;
      endpoint.failingSince = null;
    }
    await em.flush();
    const sql = sqlOfEntityManager(em);
    if (publicKeySignature === true) await ensureSigningKey(sql, services.secrets, organizationId);
    const fields = Object.keys(changes);
    if (fields.length > 0)
      await recordAudit(sql, caller, {
        organizationId,
        action: 'webhook.updated',
        targetId: endpointId,
        details: {
          fields,
          ...(url === undefined ? {} : { url: auditedUrl(url) }),
          ...(eventTypes === undefined ? {} : { eventTypes }),
          ...(active === undefined ? {} : { active }),
          ...(includeExtracts === undefined ? {} : { includeExtracts }),
        },
      });
    return reactivated ? (failingSince ?? lastSuccessAt ?? createdAt) : undefined;
  });
  // Also when it was inactive already: a signal may have been lost.
  if (active === false) stopDeliveries(services, temporal, { endpointIds: [endpointId] }, 'endpoint_inactive');
  return failedFrom === undefined ? undefined : givenUpSince(services.db, endpointId, failedFrom, services.now());
}

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
