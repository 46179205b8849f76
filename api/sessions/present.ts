import type { Static } from 'typebox';
import type { NewSession, OrganizationOfUser, SessionView, SignedInUser } from '#core/accounts/sessions.ts';
import type { Session, SessionOfList, SessionWithToken } from './schema.ts';

const presentSignedIn = (session: {
  readonly expiresAt: Date;
  readonly user: SignedInUser;
  readonly organizations: readonly OrganizationOfUser[];
}): Omit<Static<typeof Session>, 'changesId'> => ({
  expiresAt: session.expiresAt.toISOString(),
  user: { id: session.user.id, name: session.user.name, email: session.user.email },
  organizations: session.organizations.map(({ id, name, slug, plan, role }) => ({ id, name, slug, plan, role })),
});

export const presentSession = (
  session: Parameters<typeof presentSignedIn>[0],
  changesId: string,
): Static<typeof Session> => ({ ...presentSignedIn(session), changesId });

export const presentSessionOfList = (row: SessionView, currentId: string): Static<typeof SessionOfList> => ({
  id: row.id,
  current: row.id === currentId,
  createdAt: row.createdAt.toISOString(),
  lastUsedAt: row.lastUsedAt.toISOString(),
  expiresAt: row.expiresAt.toISOString(),
  ipAddress: row.ipAddress,
  userAgent: row.userAgent,
});

export const presentNewSession = (session: NewSession): Static<typeof SessionWithToken> => ({
  token: session.token,
  ...presentSignedIn(session),
});
