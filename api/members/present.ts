import type { Static } from 'typebox';
import type { MemberView } from '../../core/members.ts';
import type { InvitationRow } from '../../db/entities/invitation.ts';
import type { Invitation, InvitationWithToken, Member } from './schema.ts';

export const presentMember = (member: MemberView): Static<typeof Member> => ({
  id: member.id,
  userId: member.userId,
  name: member.name,
  email: member.email,
  role: member.role,
  createdAt: member.createdAt.toISOString(),
});

export const presentInvitation = (row: InvitationRow): Static<typeof Invitation> => ({
  id: row.id,
  email: row.email,
  role: row.role,
  expiresAt: row.expiresAt.toISOString(),
  createdAt: row.createdAt.toISOString(),
});

/** With its token: at creation only. The token is in the fragment of the link, which no server's log sees. */
export const presentNewInvitation = (
  row: InvitationRow,
  token: string,
  publicUrl: string,
): Static<typeof InvitationWithToken> => ({
  ...presentInvitation(row),
  token,
  acceptUrl: `${publicUrl}/accept-invitation#${token}`,
});
