import { sqlOfEntityManager } from '../db/database.ts';
import { Session } from '../db/entities/session.ts';
import { User } from '../db/entities/user.ts';
import { recordAudits } from './audit.ts';
import type { Caller } from './caller.ts';
import { hashPassword } from './passwords.ts';
import type { Services } from './services.ts';
import { organizationsOf } from './sessions.ts';
import { verifySignIn } from './sign-in.ts';

/**
 * Changes a person's password and ends all other sessions, which may be those of somebody who knew the old one.
 *
 * @throws {CatalogueError} unauthenticated (wrong present password) and rate_limited, as at sign-in
 */
export async function changePassword(
  services: Services,
  person: { readonly id: string; readonly email: string; readonly sessionId: string },
  caller: Caller & { readonly ipAddress: string },
  input: { readonly currentPassword: string; readonly newPassword: string },
): Promise<void> {
  await verifySignIn(services, { email: person.email, password: input.currentPassword }, caller.ipAddress);
  const passwordHash = await hashPassword(input.newPassword);
  await services.db.em().transactional(async (em) => {
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
  });
}
