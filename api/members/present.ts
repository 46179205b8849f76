import type { Static } from 'typebox';
import { acceptUrl, type CreatedInvitation, type InvitationLook as Look } from '#core/accounts/invitations.ts';
import type { MemberView } from '#core/accounts/members.ts';
import { type NewPasswordReset, passwordResetUrl } from '#core/accounts/password-resets.ts';
import type { Invitation, InvitationLook, InvitationWithToken, Member, PasswordResetLink } from './schema.ts';

export const presentMember = (member: MemberView): Static<typeof Member> => ({
  id: member.id,
  userId: member.userId,
  name: member.name,
  email: member.email,
  role: member.role,
  createdAt: member.createdAt.toISOString(),
  lastSeenAt: member.lastSeenAt?.toISOString() ?? null,
});

export const presentInvitation = ({
  row,
  inviter,
}: Pick<CreatedInvitation, 'row' | 'inviter'>): Static<typeof Invitation> => ({
  id: row.id,
  email: row.email,
  role: row.role,
  expiresAt: row.expiresAt.toISOString(),
  createdAt: row.createdAt.toISOString(),
  invitedBy: inviter === null ? null : { ...inviter },
});

/** With its link if the inviter has to hand it over: at creation only. */
export const presentNewInvitation = (
  { row, inviter, token }: Pick<CreatedInvitation, 'row' | 'inviter' | 'token'>,
  publicUrl: string,
): Static<typeof InvitationWithToken> => ({
  ...presentInvitation({ row, inviter }),
  delivery: token === null ? 'mail' : 'by_inviter',
  token,
  acceptUrl: token === null ? null : acceptUrl(publicUrl, token),
});

export const presentInvitationLook = (look: Look): Static<typeof InvitationLook> => ({
  organizationName: look.organizationName,
  email: look.email,
  role: look.role,
  invitedBy: look.inviter === null ? null : { ...look.inviter },
  accountExists: look.accountExists,
  expiresAt: look.expiresAt.toISOString(),
});

export const presentReset = (
  { token, expiresAt }: NewPasswordReset,
  publicUrl: string,
): Static<typeof PasswordResetLink> => ({
  token,
  resetUrl: passwordResetUrl(publicUrl, token),
  expiresAt: expiresAt.toISOString(),
});
