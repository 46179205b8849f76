import { UniqueConstraintViolationException } from '@mikro-orm/core';
import { recordAudit } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { type Sql, sqlOfEntityManager } from '#db/database.ts';
import { Organization, type OrganizationRow } from '#db/entities.ts';
import { CatalogueError } from '#domain/errors.ts';
import { NEW_ORGANIZATION_SCREENING } from '#domain/mail/screening.ts';
import { type PlanName, slugOf } from '#domain/organizations/plans.ts';
import { NEW_ORGANIZATION_ASK_AFTER_READING_MINUTES } from '#domain/sending/unknown-senders.ts';
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
        settings: {
          screening: NEW_ORGANIZATION_SCREENING,
          askAfterReadingMinutes: NEW_ORGANIZATION_ASK_AFTER_READING_MINUTES,
        },
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

/** The first steps of an organization, each true once it was done. */
export interface FirstRun {
  /** The oldest mailbox, which the steps are about. */
  readonly mailbox: { readonly id: string; readonly address: string } | null;
  /** The token of a mailbox was used. */
  readonly connected: boolean;
  /** A mailbox received mail. */
  readonly received: boolean;
  /** A webhook delivery was acknowledged. */
  readonly notified: boolean;
}

const FIND = /* sql */ `
  select (select jsonb_build_object('id', x.id, 'address', x.address) from mailboxes x
           where x.organization_id = $1 and x.deleted_at is null order by x.id limit 1) as mailbox,
         exists (select from mailbox_login l join mailboxes x on x.id = l.mailbox_id
                  where x.organization_id = $1) as connected,
         exists (select from mailboxes x join message m on m.mailbox_id = x.id
                  where x.organization_id = $1 and m.origin in ('smtp', 'local', 'system')) as received,
         exists (select from webhook_endpoints e
                  where e.organization_id = $1 and e.last_success_at is not null) as notified`;

export async function firstRun(sql: Sql, organizationId: string): Promise<FirstRun> {
  const [row] = await sql.query<FirstRun>(FIND, [organizationId]);
  return row ?? { mailbox: null, connected: false, received: false, notified: false };
}
