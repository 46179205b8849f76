/** The session of a signed-in person. Each use moves its end, at most once a minute. */

import type { ActiveOrganization, UserPrincipal } from '#api/http/principal.ts';
import type { AuthRule } from '#api/http/route.ts';
import { sessionEnd } from '#core/accounts/sessions.ts';
import type { Services } from '#core/platform/process/services.ts';
import { hashCredential } from '#core/platform/secrets/credentials.ts';
import type { MemberRole } from '#domain/access/api-scopes.ts';
import { isCredential } from '#domain/access/credential-format.ts';
import { CatalogueError } from '#domain/errors.ts';
import {
  chooseOrganization,
  invalidCredential,
  LAST_USED_INTERVAL_MS,
  ORGANIZATION_COLUMNS,
  type OrganizationColumns,
  organizationOf,
  touch,
  unauthenticated,
} from './credential-lookup.ts';

interface SessionColumns extends OrganizationColumns {
  session_id: string;
  created_at: Date;
  expires_at: Date;
  last_used_at: Date;
  second_factor_at: Date | null;
  user_id: string;
  user_name: string;
  email: string;
  member_id: string | null;
  role: MemberRole | null;
}

/** @throws {CatalogueError} unauthenticated; invalid_request or forbidden, if no organization follows from the request, or it is suspended */
export async function authenticateSession(
  services: Services,
  rule: AuthRule,
  token: string,
  chosen: string | undefined,
): Promise<{ principal: UserPrincipal; organization: ActiveOrganization | null }> {
  if (!isCredential('session', token)) throw unauthenticated('The session token is not well-formed.');
  const rows = await services.db.query<SessionColumns>(
    `select s.id as session_id, s.created_at, s.expires_at, s.last_used_at, s.second_factor_at,
            u.id as user_id, u.name as user_name, u.email,
            m.id as member_id, m.role, ${ORGANIZATION_COLUMNS}
       from sessions s join users u on u.id = s.user_id
       left join members m on m.user_id = u.id and ($2::text is null or m.organization_id = $2)
       left join organizations o on o.id = m.organization_id
      where s.token_hash = $1 order by o.suspended_at is not null, m.id limit 2`,
    [hashCredential(token, services.pepper), chosen ?? null],
  );
  const [row] = rows;
  const now = services.now();
  if (row === undefined || row.expires_at.getTime() <= now) throw invalidCredential('session');
  const latest = sessionEnd(row.created_at.getTime(), now);
  // A session of before this limit may have been stored with a later end.
  if (latest.getTime() <= now) throw invalidCredential('session');
  // Those that are not suspended come first: this person may act in none.
  if (row.organization_suspended && row.member_id !== null) organizationOf(row);
  let expiresAt = row.expires_at;
  if (now - row.last_used_at.getTime() >= LAST_USED_INTERVAL_MS) {
    expiresAt = latest;
    touch(services, `update sessions set last_used_at = $2, expires_at = $3 where id = $1`, [
      row.session_id,
      new Date(now),
      expiresAt,
    ]);
  }
  const needsOrganization = rule !== 'session';
  const members = rows.filter((each) => each.member_id !== null);
  const active = needsOrganization || members.length === 1 ? members[0] : undefined;
  const organization = needsOrganization ? chooseOrganization(members, chosen) : undefined;
  const policy = organization?.organization_second_factor ?? 'off';
  const missesSecondFactor = policy !== 'off' && row.second_factor_at === null;
  const acts = organization === undefined ? null : organizationOf(organization);
  if (missesSecondFactor && policy === 'everyone') throw new CatalogueError('second_factor_required');
  return {
    principal: {
      kind: 'user',
      id: row.user_id,
      name: row.user_name,
      email: row.email,
      sessionId: row.session_id,
      sessionExpiresAt: expiresAt,
      secondFactorAt: row.second_factor_at,
      missesSecondFactor,
      memberId: active?.member_id ?? null,
      role: active?.role ?? null,
    },
    organization: acts,
  };
}
