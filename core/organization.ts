import { UniqueConstraintViolationException } from '@mikro-orm/core';
import { sqlOfEntityManager } from '../db/database.ts';
import { Organization, type OrganizationRow, type OrganizationSettings } from '../db/entities/organization.ts';
import { CatalogueError } from '../domain/errors.ts';
import { recordAudit } from './audit.ts';
import type { Caller } from './caller.ts';
import type { Services } from './services.ts';

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

/** @throws {CatalogueError} conflict when the slug is taken */
export async function updateOrganization(
  services: Services,
  organizationId: string,
  caller: Caller,
  changes: OrganizationChanges,
): Promise<OrganizationRow> {
  try {
    return await services.db.em().transactional(async (em) => {
      const row = await em.findOneOrFail(Organization, { id: organizationId });
      if (changes.name !== undefined) row.name = changes.name;
      if (changes.slug !== undefined) row.slug = changes.slug;
      if (changes.settings !== undefined) row.settings = { ...row.settings, ...changes.settings };
      await recordAudit(sqlOfEntityManager(em), caller, {
        organizationId,
        action: 'organization.updated',
        targetId: organizationId,
        details: { ...changes },
      });
      return row;
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
