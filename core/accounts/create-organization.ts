import { UniqueConstraintViolationException } from '@mikro-orm/core';
import { recordAudit } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { sqlOfEntityManager } from '#db/database.ts';
import { Organization, type OrganizationRow } from '#db/entities/organization.ts';
import { CatalogueError } from '#domain/errors.ts';
import { slugOf } from '#domain/organizations/organization-limits.ts';
import type { PlanName } from '#domain/organizations/plans.ts';
import { type CreatedInvitation, insertInvitation } from './invitations.ts';

export interface NewOrganization {
  readonly name: string;
  /** Made of the name when left out. */
  readonly slug?: string;
  readonly plan: PlanName;
  readonly ownerEmail: string;
}

/**
 * Makes an organization and invites its first owner, who sets the password.
 *
 * @returns the row and the invitation, whose notices must be sent after the commit
 * @throws {CatalogueError} conflict when the slug is taken
 */
export async function createOrganization(
  services: Services,
  caller: Caller,
  publicUrl: string,
  input: NewOrganization,
): Promise<{ row: OrganizationRow; invitation: CreatedInvitation }> {
  const now = new Date(services.now());
  const id = newId('organization', now.getTime());
  const slug = input.slug ?? slugOf(input.name);
  if (slug === '')
    throw new CatalogueError('invalid_request', undefined, {
      details: [{ path: '/slug', message: 'is required, because none can be derived from this name' }],
    });
  try {
    return await services.db.entityTransaction(async (em) => {
      const row = em.create(Organization, {
        id,
        name: input.name,
        slug,
        plan: input.plan,
        settings: {},
        createdAt: now,
        updatedAt: now,
      });
      await em.flush();
      await recordAudit(sqlOfEntityManager(em), caller, {
        organizationId: id,
        action: 'organization.created',
        targetId: id,
        details: { name: input.name, plan: input.plan },
      });
      const owner = { email: input.ownerEmail.toLowerCase(), role: 'owner' } as const;
      const origin = { organization: { id, name: input.name }, caller, publicUrl };
      return { row, invitation: await insertInvitation(services, em, origin, owner) };
    });
  } catch (error) {
    if (error instanceof UniqueConstraintViolationException)
      throw new CatalogueError('conflict', 'The slug belongs to another organization.', {
        fix: 'Choose another slug.',
        details: [{ path: '/slug', message: 'is taken' }],
      });
    throw error;
  }
}

/** All organizations of the instance, oldest first; one more than `limit`. */
export const listOrganizations = (
  services: Services,
  page: { readonly limit: number; readonly after: string | null },
): Promise<OrganizationRow[]> =>
  services.db.em().find(Organization, page.after === null ? {} : { id: { $gt: page.after } }, {
    orderBy: { id: 'asc' },
    limit: page.limit + 1,
  });
