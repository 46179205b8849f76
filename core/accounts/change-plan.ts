import { LockMode } from '@mikro-orm/core';
import { recordAudit } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import type { Services } from '#core/platform/process/services.ts';
import { stopDeliveries } from '#core/webhooks/endpoints/stop-deliveries.ts';
import { sqlOfEntityManager } from '#db/database.ts';
import { Organization, type OrganizationRow } from '#db/entities/organization.ts';
import { PLANS, type PlanName, planHasWebhooks } from '#domain/organizations/plans.ts';

/** Locked in the order of the mail store (ascending), so that this cannot deadlock with mail being filed. */
const NEW_QUOTAS = /* sql */ `
  with locked as (
    select c.mailbox_id from mailbox_counter c join mailboxes x on x.id = c.mailbox_id
     where x.organization_id = $1 order by c.mailbox_id for no key update of c
  )
  update mailbox_counter c set quota_bytes = $2 from locked where c.mailbox_id = locked.mailbox_id`;

/**
 * Moves an organization to another plan, at once. Mailboxes and endpoints above the new limits stay usable; only
 * creating new ones is limited. If the plan has no webhooks, waiting deliveries are stopped and endpoints are kept;
 * after an upgrade they receive new events.
 */
export async function changePlan(
  services: Services,
  temporal: TemporalClient,
  organizationId: string,
  caller: Caller,
  plan: PlanName,
): Promise<OrganizationRow> {
  const row = await services.db.entityTransaction(async (em) => {
    const organization = await em.findOneOrFail(
      Organization,
      { id: organizationId },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
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
  if (!planHasWebhooks(plan)) stopDeliveries(services, temporal, { organizationId }, 'plan_downgraded');
  return row;
}
