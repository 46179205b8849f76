import type { ActiveOrganization } from '#api/http/principal.ts';
import type { PlanName } from '#domain/organizations/plans.ts';

/** What a request knows of the organization it acts in, as read beside its credential. */
export interface OrganizationColumns {
  organization_id: string;
  organization_name: string;
  organization_slug: string;
  organization_plan: PlanName;
}

/** Of a table `organizations o`. */
export const ORGANIZATION_COLUMNS = `o.id as organization_id, o.name as organization_name, o.slug as organization_slug,
  o.plan as organization_plan`;

export const organizationOf = (row: OrganizationColumns): ActiveOrganization => ({
  id: row.organization_id,
  name: row.organization_name,
  slug: row.organization_slug,
  plan: row.organization_plan,
});
