import { LockMode, UniqueConstraintViolationException } from '@mikro-orm/core';
import { goOn, handOversEnded, lockBrakes } from '#core/mailboxes/sending-brakes.ts';
import { recordAudit } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import type { Services } from '#core/platform/process/services.ts';
import { stopDeliveries } from '#core/webhooks/endpoints/stop-deliveries.ts';
import { sqlOfEntityManager } from '#db/database.ts';
import { Organization, type OrganizationRow, type OrganizationSettings } from '#db/entities.ts';
import { CatalogueError } from '#domain/errors.ts';
import { PLANS, type PlanName, planHasWebhooks } from '#domain/organizations/plans.ts';
import type { OrganizationBrakes } from '#domain/sending/sending-brakes.ts';

export interface OrganizationChanges {
  readonly name?: string;
  readonly slug?: string;
  /** Settings not named keep their value. */
  readonly settings?: OrganizationSettings;
}

/** @throws {CatalogueError} not_found */
export async function getOrganization(services: Services, organizationId: string): Promise<OrganizationRow> {
  const row = await services.db.em().findOne(Organization, { id: organizationId });
  if (row === null) throw new CatalogueError('not_found');
  return row;
}

interface UpdatedOrganization {
  readonly row: OrganizationRow;
  /** Messages whose workflows are to be woken, because a stop ended. */
  readonly woken: readonly string[];
}

/**
 * For people only: the change may loosen a brake. A request that sets a stop is answered when no transmission is in
 * flight any more, after ten seconds at most.
 *
 * @throws {CatalogueError} conflict when the slug is taken
 */
export async function updateOrganization(
  services: Services,
  organizationId: string,
  caller: Caller,
  changes: OrganizationChanges,
): Promise<UpdatedOrganization> {
  const { settings } = changes;
  try {
    const updated = await services.db.entityTransaction(async (em) => {
      const sql = sqlOfEntityManager(em);
      // Settings are read and written as a whole, so changes are serialized.
      if (settings !== undefined) await lockBrakes(sql, organizationId);
      const row = await em.findOneOrFail(Organization, { id: organizationId });
      const before = brakesOf(row);
      if (changes.name !== undefined) row.name = changes.name;
      if (changes.slug !== undefined) row.slug = changes.slug;
      if (settings !== undefined) row.settings = { ...row.settings, ...settings };
      await recordAudit(sql, caller, {
        organizationId,
        action: 'organization.updated',
        targetId: organizationId,
        details: { ...changes },
      });
      const after = brakesOf(row);
      if (JSON.stringify(before) !== JSON.stringify(after))
        await recordAudit(sql, caller, {
          organizationId,
          action: 'organization.brakes_changed',
          targetId: organizationId,
          details: { before, after },
        });
      await em.flush();
      const ended = before.stopped && !after.stopped;
      const now = new Date(services.now());
      return { row, woken: ended ? await goOn(sql, { organizationId, mailboxId: null }, now) : [] };
    });
    if (settings?.sendingStopped === true) await handOversEnded(services.db, { organizationId, mailboxId: null });
    return updated;
  } catch (error) {
    if (error instanceof UniqueConstraintViolationException)
      throw new CatalogueError('conflict', 'The slug belongs to another organization.', {
        fix: 'Choose another slug.',
        details: [{ path: '/slug', message: 'is taken' }],
      });
    throw error;
  }
}

/** The brakes among its settings. */
export const brakesOf = ({ settings }: Pick<OrganizationRow, 'settings'>): OrganizationBrakes => ({
  stopped: settings.sendingStopped ?? false,
  budgets: {
    messagesPerDay: settings.dailyMessages ?? null,
    newRecipientsPerDay: settings.dailyNewRecipients ?? null,
  },
});

/** Locked in the order of the mail store (ascending), so that this cannot deadlock with mail being filed. */
const NEW_QUOTAS = /* sql */ `
  with locked as (
    select c.mailbox_id from mailbox_counter c join mailboxes x on x.id = c.mailbox_id
     where x.organization_id = $1 order by c.mailbox_id for no key update of c
  )
  update mailbox_counter c set quota_bytes = $2 from locked where c.mailbox_id = locked.mailbox_id`;

/** As `setPlan`, and wakes deliveries that wait on a plan without webhooks, so that they end at once. */
export async function changePlan(
  services: Services,
  temporal: TemporalClient,
  organizationId: string,
  caller: Caller,
  plan: PlanName,
): Promise<OrganizationRow> {
  const row = await setPlan(services, organizationId, caller, plan);
  if (!planHasWebhooks(plan)) stopDeliveries(services, temporal, { organizationId }, 'plan_downgraded');
  return row;
}

/**
 * Moves an organization to another plan, at once. Mailboxes and endpoints above the new limits stay usable; only
 * creating new ones is limited. If the plan has no webhooks, waiting deliveries are stopped and endpoints are kept;
 * after an upgrade they receive new events.
 *
 * @throws {CatalogueError} not_found
 */
export async function setPlan(
  services: Services,
  organizationId: string,
  caller: Caller,
  plan: PlanName,
): Promise<OrganizationRow> {
  return services.db.entityTransaction(async (em) => {
    const organization = await em.findOne(
      Organization,
      { id: organizationId },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (organization === null) throw new CatalogueError('not_found');
    const sql = sqlOfEntityManager(em);
    const before = organization.plan;
    if (before === plan) return organization;
    organization.plan = plan;
    await em.flush();
    await sql.query(NEW_QUOTAS, [organizationId, PLANS[plan].quotaBytesPerMailbox]);
    await recordAudit(sql, caller, {
      organizationId,
      action: 'organization.plan_changed',
      targetId: organizationId,
      details: { from: before, to: plan },
    });
    return organization;
  });
}
