import type { EntityManager } from '@mikro-orm/postgresql';
import { recordAudit } from '#core/organizations/audit.ts';
import { lockOrganization } from '#core/organizations/may-decide.ts';
import type { Caller } from '#core/platform/caller.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { ensureSigningKey } from '#core/webhooks/signing/signing-keys.ts';
import {
  authHeaderPlace,
  newWebhookSecret,
  webhookSecretHint,
  webhookSecretPlace,
} from '#core/webhooks/signing/webhook-signature.ts';
import { sqlOfEntityManager } from '#db/database.ts';
import { WebhookEndpoint } from '#db/entities.ts';
import { CatalogueError } from '#domain/errors.ts';
import { MAX_ENDPOINTS_PER_MAILBOX, PLANS, type PlanName, requireWebhookPlan } from '#domain/organizations/plans.ts';
import { type EndpointView, getEndpoint } from './endpoint-queries.ts';
import {
  type AuthHeader,
  auditedUrl,
  requireAuthHeader,
  requireEndpointDestination,
  requireEventTypes,
} from './endpoint-rules.ts';

interface NewEndpoint {
  readonly url: string;
  readonly eventTypes: readonly string[];
  /** Left out: organization scope. */
  readonly mailboxId?: string;
  readonly description?: string;
  readonly authHeader?: AuthHeader;
  /** Deliveries have `v1a` signatures too. Default: no. */
  readonly publicKeySignature?: boolean;
  /** Events of received mail have its codes and links. Default: no. */
  readonly includeExtracts?: boolean;
}

/**
 * Creates a webhook endpoint.
 *
 * @returns the endpoint and its signing secret, which cannot be read again
 * @throws {CatalogueError} plan_required, plan_limit_reached, not_found (mailbox), and the rejections of
 *   `core/webhooks/endpoints/endpoint-rules.ts`
 */
export async function createEndpoint(
  services: Services,
  organization: { readonly id: string; readonly plan: PlanName },
  caller: Caller,
  input: NewEndpoint,
): Promise<{ endpoint: EndpointView; secret: string }> {
  const { db, secrets } = services;
  requireWebhookPlan(organization.plan);
  const eventTypes = requireEventTypes(input.eventTypes, input.mailboxId !== undefined);
  if (input.authHeader !== undefined) requireAuthHeader(input.authHeader);
  const url = await requireEndpointDestination(services, organization.id, input.url);

  const now = services.now();
  const id = newId('webhookEndpoint', now);
  const secret = newWebhookSecret();
  await db.entityTransaction(async (em) => {
    await takePlace(em, organization.id);
    if (input.mailboxId !== undefined) await takePlaceAtMailbox(em, organization.id, input.mailboxId);
    em.create(WebhookEndpoint, {
      id,
      organization: organization.id,
      mailbox: input.mailboxId ?? null,
      url,
      eventTypes,
      description: input.description ?? null,
      authHeaderName: input.authHeader?.name ?? null,
      authHeaderValueSealed:
        input.authHeader === undefined ? null : secrets.seal(input.authHeader.value, authHeaderPlace(id)),
      secretSealed: secrets.seal(secret, webhookSecretPlace(id)),
      secretPrefix: webhookSecretHint(secret),
      publicKeySignature: input.publicKeySignature ?? false,
      includeExtracts: input.includeExtracts ?? false,
      createdAt: new Date(now),
      updatedAt: new Date(now),
    });
    await em.flush();
    const sql = sqlOfEntityManager(em);
    if (input.publicKeySignature === true) await ensureSigningKey(sql, secrets, organization.id);
    await recordAudit(sql, caller, {
      organizationId: organization.id,
      action: 'webhook.created',
      targetId: id,
      details: {
        url: auditedUrl(url),
        eventTypes,
        mailboxId: input.mailboxId ?? null,
        ...(input.includeExtracts === true ? { includeExtracts: true } : {}),
      },
    });
  });
  return { endpoint: await getEndpoint(db, organization.id, id, now), secret };
}

/** Counts under the organization's lock, so that concurrent creations cannot both use the last place. */
async function takePlace(em: EntityManager, organizationId: string): Promise<void> {
  const sql = sqlOfEntityManager(em);
  const plan = await lockOrganization(em, organizationId);
  if (plan === undefined) throw new CatalogueError('not_found');
  requireWebhookPlan(plan);
  const limit = PLANS[plan].maxWebhookEndpoints;
  if (limit === null) return;
  const [row] = await sql.query<{ count: number }>(
    `select count(*)::int as count from webhook_endpoints where organization_id = $1 and deleted_at is null`,
    [organizationId],
  );
  if ((row?.count ?? 0) >= limit)
    throw new CatalogueError(
      'plan_limit_reached',
      `The plan ${plan} allows ${limit} webhook endpoints, and all are in use.`,
      {
        fix: 'Delete an endpoint that is not needed, add the event types to an existing one, or move to a larger plan.',
      },
    );
}

/** The lock also prevents a concurrent deletion of the mailbox, which deletes its endpoints. */
async function takePlaceAtMailbox(em: EntityManager, organizationId: string, mailboxId: string): Promise<void> {
  const sql = sqlOfEntityManager(em);
  const [mailbox] = await sql.query(
    `select id from mailboxes where organization_id = $1 and id = $2 and deleted_at is null for no key update`,
    [organizationId, mailboxId],
  );
  if (mailbox === undefined)
    throw new CatalogueError('not_found', 'There is no such mailbox in this organization.', {
      details: [{ path: '/mailboxId', message: 'is not a mailbox of this organization' }],
      fix: 'Use an id from GET /api/mailboxes, or omit mailboxId to receive events of the whole organization.',
    });
  const [row] = await sql.query<{ count: number }>(
    `select count(*)::int as count from webhook_endpoints where mailbox_id = $1 and deleted_at is null`,
    [mailboxId],
  );
  if ((row?.count ?? 0) >= MAX_ENDPOINTS_PER_MAILBOX)
    throw new CatalogueError(
      'plan_limit_reached',
      `A mailbox may have ${MAX_ENDPOINTS_PER_MAILBOX} webhook endpoints, and all are in use.`,
      {
        fix: 'Delete an endpoint of this mailbox that is not needed, or use an endpoint of the whole organization; no plan allows more.',
      },
    );
}
