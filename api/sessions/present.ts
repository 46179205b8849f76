import type { Static } from 'typebox';
import type { NewSession, OrganizationOfUser, SignedInUser } from '../../core/sessions.ts';
import type { Session, SessionWithToken } from './schema.ts';

export const presentSession = (session: {
  readonly expiresAt: Date;
  readonly user: SignedInUser;
  readonly organizations: readonly OrganizationOfUser[];
}): Static<typeof Session> => ({
  expiresAt: session.expiresAt.toISOString(),
  user: { id: session.user.id, name: session.user.name, email: session.user.email },
  organizations: session.organizations.map(({ id, name, slug, plan, role }) => ({ id, name, slug, plan, role })),
});

export const presentNewSession = (session: NewSession): Static<typeof SessionWithToken> => ({
  token: session.token,
  ...presentSession(session),
});
