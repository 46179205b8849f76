import { recordAudits } from '#core/organizations/audit.ts';
import type { NewMemberNotice } from '#core/organizations/member-notices.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { Services } from '#core/platform/process/services.ts';
import { sqlOfEntityManager } from '#db/database.ts';
import { Session } from '#db/entities/session.ts';
import { User } from '#db/entities/user.ts';
import { afterPasswordChange } from './password-resets.ts';
import { organizationsOf } from './sessions.ts';
import { hashPassword, verifySignIn } from './sign-in.ts';

/**
 * Changes a person's password and ends all other sessions, because somebody who knew the old one may have opened them.
 * Send the notices after the commit.
 *
 * @throws {CatalogueError} unauthenticated (wrong current password) and rate_limited, as at sign-in
 */
export async function changePassword(
  services: Services,
  person: { readonly id: string; readonly email: string; readonly sessionId: string },
  caller: Caller & { readonly ipAddress: string },
  input: { readonly currentPassword: string; readonly newPassword: string },
): Promise<NewMemberNotice[]> {
  await verifySignIn(services, { email: person.email, password: input.currentPassword }, caller.ipAddress);
  const passwordHash = await hashPassword(input.newPassword);
  return services.db.entityTransaction(async (em) => {
    const user = await em.findOneOrFail(User, { id: person.id });
    user.passwordHash = passwordHash;
    await em.nativeDelete(Session, { user: person.id, id: { $ne: person.sessionId } });
    const sql = sqlOfEntityManager(em);
    const organizations = await organizationsOf(sql, person.id);
    await recordAudits(
      sql,
      organizations.map(({ id }) => ({
        caller,
        entry: { organizationId: id, action: 'user.password_changed', targetId: person.id },
      })),
    );
    return afterPasswordChange(sql, { id: user.id, email: user.email }, new Date(services.now()));
  });
}
