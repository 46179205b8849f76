import type { EntityManager } from '@mikro-orm/postgresql';
import { sqlOfEntityManager } from '#db/database.ts';
import type { PlanName } from '#domain/organizations/plans.ts';

/**
 * Locks an organization until the transaction ends, so that counts stay valid: concurrent creations cannot both use the
 * last place.
 *
 * @returns its plan; undefined when there is no such organization
 */
export async function lockOrganization(em: EntityManager, organizationId: string): Promise<PlanName | undefined> {
  const [organization] = await sqlOfEntityManager(em).query<{ plan: PlanName }>(
    `select plan from organizations where id = $1 for no key update`,
    [organizationId],
  );
  return organization?.plan;
}
