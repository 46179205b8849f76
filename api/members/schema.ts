import Type from 'typebox';
import { MEMBER_ROLES } from '../../domain/api-scopes.ts';
import { PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH } from '../../domain/credential-format.ts';
import { idPattern } from '../../domain/ids.ts';
import { listOf } from '../pagination.ts';
import { closed, dateTime, nullable } from '../schema-parts.ts';
import { Email } from '../sessions/schema.ts';

export const USER_NAME_MAX = 200;

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
  },
  { title: 'Member' },
);
export const MemberList = listOf(Member);

export const InviteMember = closed({
  email: Email,
  role: Type.Optional(Type.Enum(MEMBER_ROLES, { default: 'member' })),
});
export const ChangeRole = closed({ role: Role });

const invitationFields = {
  id: InvitationId,
  email: Type.String(),
  role: Role,
  expiresAt: dateTime(),
  createdAt: dateTime(),
};
export const Invitation = closed(invitationFields, { title: 'Invitation' });
export const InvitationList = listOf(Invitation);
export const InvitationWithToken = closed(
  {
    ...invitationFields,
    token: nullable(Type.String({ description: 'For POST /api/invitations/accept. Shown in this answer only.' })),
    acceptUrl: nullable(Type.String({ description: 'The link to send to the invited person. Holds the token.' })),
  },
  { title: 'InvitationWithToken' },
);

export const AcceptInvitation = closed({
  token: Type.String({ minLength: 1, maxLength: 128 }),
  name: Type.Optional(
    Type.String({ minLength: 1, maxLength: USER_NAME_MAX, description: 'Needed when the address has no account yet.' }),
  ),
  password: Type.String({
    minLength: PASSWORD_MIN_LENGTH,
    maxLength: PASSWORD_MAX_LENGTH,
    description: 'Of the new account, or of the account the address has.',
  }),
});
