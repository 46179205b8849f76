import { type Sql, sqlOfEntityManager } from '../db/database.ts';
import { Session } from '../db/entities/session.ts';
import type { MemberRole } from '../domain/api-scopes.ts';
import type { AuditAction } from '../domain/audit-actions.ts';
import { SESSION_LIFE_DAYS } from '../domain/credential-format.ts';
import type { EnvelopeOrganization } from '../domain/event-envelope.ts';
import type { PlanName } from '../domain/plans.ts';
import { recordAudits } from './audit.ts';
import type { Caller } from './caller.ts';
import { hashCredential, newCredential } from './credentials.ts';
import { newId } from './new-id.ts';
import type { Services } from './services.ts';

const DAY_MS = 86_400_000;

export interface SignedInUser {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

/** An organization of a person, with the role there. */
export interface OrganizationOfUser extends EnvelopeOrganization {
  readonly plan: PlanName;
  readonly role: MemberRole;
}

export interface NewSession {
  /** Shown this once. */
  readonly token: string;
  readonly expiresAt: Date;
  readonly user: SignedInUser;
  readonly organizations: readonly OrganizationOfUser[];
}

/** Organizations a person is a member of. */
export function organizationsOf(sql: Sql, userId: string): Promise<OrganizationOfUser[]> {
  return sql.query<OrganizationOfUser>(
    `select o.id, o.name, o.slug, o.plan, m.role from members m join organizations o on o.id = m.organization_id
      where m.user_id = $1 order by m.id`,
    [userId],
  );
}

/** Signs a person in whose password was verified before. */
export async function createSession(
  services: Services,
  user: SignedInUser,
  origin: Pick<Caller, 'ipAddress' | 'requestId'>,
): Promise<NewSession> {
  const token = newCredential('session');
  const now = services.now();
  const expiresAt = new Date(now + SESSION_LIFE_DAYS * DAY_MS);
  const organizations = await services.db.em().transactional(async (em) => {
    const id = newId('session', now);
    em.create(Session, {
      id,
      user: user.id,
      tokenHash: hashCredential(token, services.pepper),
      createdAt: new Date(now),
      lastUsedAt: new Date(now),
      expiresAt,
    });
    const sql = sqlOfEntityManager(em);
    const found = await organizationsOf(sql, user.id);
    await auditInAll(sql, found, userCaller(user, origin), 'session.created', id);
    return found;
  });
  return { token, expiresAt, user: { id: user.id, name: user.name, email: user.email }, organizations };
}

/** Signs out: the token dies with the commit. */
export async function deleteSession(services: Services, sessionId: string, userId: string, caller: Caller) {
  await services.db.em().transactional(async (em) => {
    const sql = sqlOfEntityManager(em);
    await em.nativeDelete(Session, { id: sessionId });
    await auditInAll(sql, await organizationsOf(sql, userId), caller, 'session.deleted', sessionId);
  });
}

const userCaller = (user: SignedInUser, origin: Pick<Caller, 'ipAddress' | 'requestId'>): Caller => ({
  actor: { type: 'user', id: user.id, name: user.name, email: user.email, address: null },
  ...origin,
});

/** A session is not of one organization: each of the person's organizations sees it. */
const auditInAll = (
  sql: Sql,
  organizations: readonly OrganizationOfUser[],
  caller: Caller,
  action: AuditAction,
  targetId: string,
): Promise<void> =>
  recordAudits(
    sql,
    organizations.map(({ id }) => ({ caller, entry: { organizationId: id, action, targetId } })),
  );
