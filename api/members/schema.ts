import Type, { type Static } from 'typebox';
import { closed, dateTime, listOf, nullable, timeOf } from '#api/http/schema-parts.ts';
import { Email } from '#api/sessions/schema.ts';
import { acceptUrl, type CreatedInvitation, type InvitationLook as Look } from '#core/accounts/invitations.ts';
import type { MemberView } from '#core/accounts/members.ts';
import { type NewPasswordReset, passwordResetUrl } from '#core/accounts/passwords.ts';
import { MEMBER_ROLES } from '#domain/access/api-scopes.ts';
import { PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH } from '#domain/access/credential-format.ts';
import { idPattern } from '#domain/ids.ts';
import { ANY_TEXT } from '#domain/mail/text-forms.ts';

const USER_NAME_MAX = 200;

const Role = Type.Enum(MEMBER_ROLES);
const MemberId = Type.String({ pattern: idPattern('member') });
const InvitationId = Type.String({ pattern: idPattern('invitation') });

export const MemberParams = closed({ id: MemberId });
export const InvitationParams = closed({ id: InvitationId });

export const Member = closed(
  {
    id: MemberId,
    userId: Type.String({ pattern: idPattern('user') }),
    name: Type.String(),
    email: Type.String(),
    role: Role,
    createdAt: dateTime(),
    lastSeenAt: nullable(
      dateTime(
        'When the person used the service last, to the minute; null: no session is open, or none was used for 30 days.',
      ),
    ),
    hasSecondFactor: Type.Boolean({ description: 'Whether the account has a second factor.' }),
  },
  { title: 'Member' },
);
export const MemberList = listOf(Member, 'MemberList');

export const InviteMember = closed(
  {
    email: Email,
    role: Type.Optional(Type.Enum(MEMBER_ROLES, { default: 'member' })),
  },
  { title: 'NewInvitation' },
);
export const ChangeRole = closed({ role: Role }, { title: 'MemberChanges' });

const InvitedBy = nullable(
  closed(
    { name: Type.String(), email: Type.String() },
    {
      title: 'Inviter',
      description: 'The person who invites; null: the operator of the service, or an account that is gone.',
    },
  ),
);

const invitationFields = {
  id: InvitationId,
  email: Type.String(),
  role: Role,
  expiresAt: dateTime(),
  createdAt: dateTime(),
  invitedBy: InvitedBy,
};
export const Invitation = closed(invitationFields, { title: 'Invitation' });
export const InvitationList = listOf(Invitation, 'InvitationList');
export const InvitationWithToken = closed(
  {
    ...invitationFields,
    delivery: Type.Enum(['mail', 'by_inviter'], {
      description: '`mail`: the link is sent to the address. `by_inviter`: you hand it over; no mail is sent.',
    }),
    token: nullable(
      Type.String({
        description: 'For POST /api/invitations/accept. Shown in this answer only; null if it is sent by mail.',
      }),
    ),
    acceptUrl: nullable(
      Type.String({ description: 'The link to hand over. It contains the token; null if it is sent by mail.' }),
    ),
  },
  { title: 'InvitationWithToken' },
);

export const AcceptInvitation = closed(
  {
    token: Type.String({ minLength: 1, maxLength: 128 }),
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: USER_NAME_MAX,
        description: 'Needed when the address has no account yet.',
      }),
    ),
    password: Type.String({
      minLength: PASSWORD_MIN_LENGTH,
      maxLength: PASSWORD_MAX_LENGTH,
      pattern: ANY_TEXT,
      description: 'Of the new account, or of the existing account of the address.',
    }),
    cookie: Type.Optional(
      Type.Boolean({ description: 'For pages of this service, as at sign-in: the session is stored in a cookie.' }),
    ),
  },
  { title: 'InvitationAcceptance' },
);

const InvitationToken = Type.String({ minLength: 1, maxLength: 128, description: "Of the invitation's link." });

export const LookAtInvitation = closed({ token: InvitationToken }, { title: 'LookAtInvitation' });
export const InvitationLook = closed(
  {
    organizationName: Type.String(),
    email: Type.String(),
    role: Role,
    invitedBy: InvitedBy,
    accountExists: Type.Boolean({
      description: 'The address has an account: accept with its password, and without a name.',
    }),
    expiresAt: dateTime(),
  },
  { title: 'InvitationLook' },
);

export const PasswordResetLink = closed(
  {
    token: nullable(
      Type.String({ description: 'For POST /api/password-resets/accept. Shown in this answer only; works once.' }),
    ),
    resetUrl: nullable(Type.String({ description: 'The link to hand over. It contains the token.' })),
    expiresAt: dateTime(),
  },
  { title: 'PasswordResetLink' },
);

export const memberExample = {
  id: 'mem_01k8e8f2c0e4x9w2v7a3r5t6y8',
  userId: 'usr_01k8e8f2c0e4x9w2v7a3r5t6y8',
  name: 'Ada Byron',
  email: 'ada@example.com',
  role: 'admin',
  createdAt: '2026-11-21T09:15:00.000Z',
  lastSeenAt: '2026-11-22T08:01:00.000Z',
  hasSecondFactor: true,
};
export const invitationExample = {
  id: 'inv_01k8e8f2c0e4x9w2v7a3r5t6y8',
  email: 'grace@example.com',
  role: 'member',
  expiresAt: '2026-11-28T09:15:00.000Z',
  createdAt: '2026-11-21T09:15:00.000Z',
  invitedBy: { name: 'Ada Byron', email: 'ada@example.com' },
};
const token = 'Zm9yIHRoZSBkb2N1bWVudHMgb25seSwgbm90IGEgdG9rZW4';

export const invitationWithTokenExample = {
  ...invitationExample,
  delivery: 'by_inviter',
  token,
  acceptUrl: `https://mail.example.com/accept-invitation#${token}`,
};

export const invitationLookExample = {
  organizationName: 'Example',
  email: 'grace@example.com',
  role: 'member',
  invitedBy: { name: 'Ada Byron', email: 'ada@example.com' },
  accountExists: false,
  expiresAt: '2026-11-28T09:15:00.000Z',
};

const resetToken = 'amr_vB0o2cQ8mJ6wXk1rT4yN7sD9fG3hL5zP0aE2uI8xC6M0ht3ep';

export const passwordResetExample = {
  token: resetToken,
  resetUrl: `https://mail.example.com/reset-password#${resetToken}`,
  expiresAt: '2026-11-21T10:15:00.000Z',
};

export const presentMember = (member: MemberView): Static<typeof Member> => ({
  id: member.id,
  userId: member.userId,
  name: member.name,
  email: member.email,
  role: member.role,
  createdAt: member.createdAt.toISOString(),
  lastSeenAt: timeOf(member.lastSeenAt),
  hasSecondFactor: member.hasSecondFactor,
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
