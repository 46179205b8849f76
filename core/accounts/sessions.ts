import type { EntityManager } from '@mikro-orm/postgresql';
import { recordAudits } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { hashCredential, newCredential } from '#core/platform/secrets/credentials.ts';
import { type Sql, sqlOfEntityManager } from '#db/database.ts';
import { Session } from '#db/entities.ts';
import type { MemberRole } from '#domain/access/api-scopes.ts';
import {
  SESSION_LIFE_DAYS,
  SESSION_LIFE_MAX_DAYS,
  USER_AGENT_MAX_CHARACTERS,
} from '#domain/access/credential-format.ts';
import type { SecondFactorPolicy } from '#domain/access/second-factor.ts';
import { CatalogueError } from '#domain/errors.ts';
import { oneLine } from '#domain/mail/text-forms.ts';
import type { AuditAction } from '#domain/organizations/audit-actions.ts';
import type { PlanName } from '#domain/organizations/plans.ts';
import type { EnvelopeOrganization } from '#domain/webhooks/event-types.ts';
import { rememberSource } from './guess-limits.ts';

const DAY_MS = 86_400_000;
const SESSIONS_SHOWN_MAX = 100;

/** The source address and the program from which a person signs in. */
export interface SignInOrigin extends Pick<Caller, 'ipAddress' | 'requestId'> {
  /** The header User-Agent. */
  readonly userAgent?: string | undefined;
  /** When the person proved a second factor; left out: not at all. */
  readonly secondFactorAt?: Date | null;
}

export interface SignedInUser {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

/** An organization of a person, with the role there. */
export interface OrganizationOfUser extends EnvelopeOrganization {
  readonly plan: PlanName;
  readonly role: MemberRole;
  /** What it requires of sessions without a second factor. */
  readonly secondFactor: SecondFactorPolicy;
}

export interface NewSession {
  /** Shown this once. */
  readonly token: string;
  readonly expiresAt: Date;
  /** The person proved a second factor. */
  readonly secondFactor: boolean;
  readonly user: SignedInUser;
  readonly organizations: readonly OrganizationOfUser[];
}

/** When a session ends that is used now, and then no more. @param signedInAtMs Unix time, as is `nowMs` */
export const sessionEnd = (signedInAtMs: number, nowMs: number): Date =>
  new Date(Math.min(nowMs + SESSION_LIFE_DAYS * DAY_MS, signedInAtMs + SESSION_LIFE_MAX_DAYS * DAY_MS));

/** Organizations a person is a member of. */
export function organizationsOf(sql: Sql, userId: string): Promise<OrganizationOfUser[]> {
  return sql.query<OrganizationOfUser>(
    `select o.id, o.name, o.slug, o.plan, m.role, coalesce(o.settings ->> 'secondFactor', 'off') as "secondFactor"
       from members m join organizations o on o.id = m.organization_id
      where m.user_id = $1 order by m.id`,
    [userId],
  );
}

/** Signs a person in whose credentials were verified before, in somebody's transaction. */
export async function insertSession(
  services: Services,
  em: EntityManager,
  user: SignedInUser,
  { userAgent, secondFactorAt = null, ...origin }: SignInOrigin,
): Promise<NewSession> {
  const token = newCredential('session');
  const now = services.now();
  const expiresAt = sessionEnd(now, now);
  const id = newId('session', now);
  em.create(Session, {
    id,
    user: user.id,
    tokenHash: hashCredential(token, services.pepper),
    ipAddress: origin.ipAddress,
    userAgent: userAgent === undefined ? null : oneLine(userAgent).slice(0, USER_AGENT_MAX_CHARACTERS),
    secondFactorAt,
    createdAt: new Date(now),
    lastUsedAt: new Date(now),
    expiresAt,
  });
  const sql = sqlOfEntityManager(em);
  await sql.query(NOTE_FIRST_SIGN_IN, [user.id, new Date(now)]);
  if (origin.ipAddress !== null) await rememberSource(sql, user.id, origin.ipAddress, now);
  const organizations = await organizationsOf(sql, user.id);
  await auditInAll(sql, organizations, userCaller(user, origin), 'session.created', id);
  const signedIn = { id: user.id, name: user.name, email: user.email };
  return { token, expiresAt, secondFactor: secondFactorAt !== null, user: signedIn, organizations };
}

/** From then on the credentials of a new installation are not shown any more (`operations/first-organization.ts`). */
const NOTE_FIRST_SIGN_IN = `update users set first_signed_in_at = $2 where id = $1 and first_signed_in_at is null`;

/** A session as its person sees it. */
export interface SessionView {
  readonly id: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
  readonly expiresAt: Date;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
}

/** Sessions of a person that have not expired, the last used first. */
export const listSessions = (sql: Sql, userId: string, now: Date): Promise<SessionView[]> =>
  sql.query<SessionView>(
    `select id, created_at as "createdAt", last_used_at as "lastUsedAt", expires_at as "expiresAt",
            ip_address as "ipAddress", user_agent as "userAgent"
       from sessions where user_id = $1 and expires_at > $2 order by last_used_at desc, id desc limit $3`,
    [userId, now, SESSIONS_SHOWN_MAX],
  );

/**
 * Ends sessions of a person: the one named, or all but the one named.
 *
 * @throws {CatalogueError} not_found, when it is not a session of this person
 */
export async function endSessions(
  services: Services,
  userId: string,
  which: { readonly only: string } | { readonly allBut: string },
  caller: Caller,
): Promise<void> {
  await services.db.entityTransaction(async (em) => {
    const sql = sqlOfEntityManager(em);
    const ended = await sql.query<{ id: string }>(
      `delete from sessions where user_id = $1 and case when $3::bool then id = $2 else id <> $2 end returning id`,
      'only' in which ? [userId, which.only, true] : [userId, which.allBut, false],
    );
    if ('only' in which && ended.length === 0) throw new CatalogueError('not_found');
    const organizations = await organizationsOf(sql, userId);
    for (const { id } of ended) await auditInAll(sql, organizations, caller, 'session.deleted', id);
  });
}

/** Signs out: the token is invalid after the commit. */
export async function deleteSession(services: Services, sessionId: string, userId: string, caller: Caller) {
  await services.db.entityTransaction(async (em) => {
    const sql = sqlOfEntityManager(em);
    await em.nativeDelete(Session, { id: sessionId });
    await auditInAll(sql, await organizationsOf(sql, userId), caller, 'session.deleted', sessionId);
  });
}

export const userCaller = (user: SignedInUser, origin: Pick<Caller, 'ipAddress' | 'requestId'>): Caller => ({
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
