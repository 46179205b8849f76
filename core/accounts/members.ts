import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { endGrantsOfMember } from '#core/oauth/grants.ts';
import { recordAudit } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { Services } from '#core/platform/process/services.ts';
import { type Sql, sqlOfEntityManager } from '#db/database.ts';
import { Member } from '#db/entities.ts';
import { hasSecondFactor } from '#db/queries/accounts/second-factors.ts';
import { type MemberRole, roleIncludes } from '#domain/access/api-scopes.ts';
import { CatalogueError } from '#domain/errors.ts';
import { deleteLinksOfMember } from './approval-links.ts';

export interface MemberView {
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  readonly role: MemberRole;
  readonly createdAt: Date;
  /** Last use of a session that is kept, to the minute. */
  readonly lastSeenAt: Date | null;
  readonly hasSecondFactor: boolean;
}

/** Who acts: the member of the session. */
export interface ActingMember {
  readonly memberId: string | null;
  readonly role: MemberRole | null;
}

const SELECT = /* sql */ `
  select m.id, m.user_id as "userId", u.name, u.email, m.role, m.created_at as "createdAt",
         (select max(s.last_used_at) from sessions s where s.user_id = m.user_id) as "lastSeenAt",
         ${hasSecondFactor('m.user_id')} as "hasSecondFactor"
    from members m join users u on u.id = m.user_id where m.organization_id = $1`;

/** In the order they joined; one more than `limit`. */
export const listMembers = (
  sql: Sql,
  organizationId: string,
  page: { readonly limit: number; readonly after: string | null },
): Promise<MemberView[]> =>
  sql.query<MemberView>(`${SELECT} and ($2::text is null or m.id > $2) order by m.id limit $3`, [
    organizationId,
    page.after,
    page.limit + 1,
  ]);

/** @throws {CatalogueError} not_found */
export async function getMember(sql: Sql, organizationId: string, memberId: string): Promise<MemberView> {
  const [row] = await sql.query<MemberView>(`${SELECT} and m.id = $2`, [organizationId, memberId]);
  if (row === undefined) throw new CatalogueError('not_found');
  return row;
}

/**
 * All owners are locked before one of them changes, so that two cannot leave at the same time.
 *
 * @throws {CatalogueError} not_found
 */
async function lockMember(em: EntityManager, organizationId: string, memberId: string) {
  const owners = await em.find(
    Member,
    { organization: organizationId, role: 'owner' },
    { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: 'asc' } },
  );
  const member = await em.findOne(
    Member,
    { id: memberId, organization: organizationId },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  if (member === null) throw new CatalogueError('not_found');
  return { member, lastOwner: member.role === 'owner' && owners.length <= 1 };
}

const ANOTHER_OWNER = 'Make another member an owner first: PATCH /api/members/:id.';
const LAST_OWNER = 'The last owner cannot leave or change to another role; make somebody else an owner first.';

/** Only owners make owners or change them. */
function checkOwnership(acting: ActingMember, ...roles: readonly MemberRole[]): void {
  if (roles.includes('owner') && acting.role !== 'owner')
    throw new CatalogueError('forbidden', 'Only an owner may grant or remove the role owner.', {
      fix: 'Ask an owner of the organization to do it.',
    });
}

/** @throws {CatalogueError} not_found, forbidden, conflict */
export async function changeMemberRole(
  services: Services,
  organizationId: string,
  memberId: string,
  acting: ActingMember,
  caller: Caller,
  role: MemberRole,
): Promise<void> {
  await services.db.entityTransaction(async (em) => {
    const { member, lastOwner } = await lockMember(em, organizationId, memberId);
    checkOwnership(acting, member.role, role);
    if (lastOwner && role !== 'owner') throw new CatalogueError('conflict', LAST_OWNER, { fix: ANOTHER_OWNER });
    const before = member.role;
    member.role = role;
    if (before !== role) await deleteLinksOfMember(sqlOfEntityManager(em), memberId);
    await recordAudit(sqlOfEntityManager(em), caller, {
      organizationId,
      action: 'member.role_changed',
      targetId: memberId,
      details: { from: before, to: role },
    });
  });
}

/** Removes a member; everybody may remove themselves. @throws {CatalogueError} not_found, forbidden, conflict */
export async function removeMember(
  services: Services,
  organizationId: string,
  memberId: string,
  acting: ActingMember,
  caller: Caller,
): Promise<void> {
  await services.db.entityTransaction(async (em) => {
    const { member, lastOwner } = await lockMember(em, organizationId, memberId);
    if (memberId !== acting.memberId) {
      if (acting.role === null || !roleIncludes(acting.role, 'admin'))
        throw new CatalogueError('forbidden', 'Only an admin or owner may remove others.', {
          fix: 'Ask an admin or owner to do it; you can only remove yourself.',
        });
      checkOwnership(acting, member.role);
    }
    if (lastOwner) throw new CatalogueError('conflict', LAST_OWNER, { fix: ANOTHER_OWNER });
    em.remove(member);
    const sql = sqlOfEntityManager(em);
    await endGrantsOfMember(sql, { organizationId, userId: member.user.id }, caller);
    await recordAudit(sql, caller, {
      organizationId,
      action: 'member.removed',
      targetId: memberId,
      details: { userId: member.user.id },
    });
  });
}
