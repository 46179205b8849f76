import Type from 'typebox';
import { MEMBER_ROLES } from '../../domain/api-scopes.ts';
import { PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH } from '../../domain/credential-format.ts';
import { idPattern } from '../../domain/ids.ts';
import { PLAN_NAMES } from '../../domain/plans.ts';
import { closed, dateTime, nullable } from '../schema-parts.ts';

export const Email = Type.String({ format: 'email', maxLength: 254 });

export const SignIn = closed({
  email: Email,
  password: Type.String({ minLength: 1, maxLength: PASSWORD_MAX_LENGTH }),
});

export const User = closed({
  id: Type.String({ pattern: idPattern('user') }),
  name: Type.String(),
  email: Type.String(),
});

const OrganizationOfUser = closed({
  id: Type.String({ pattern: idPattern('organization') }),
  name: Type.String(),
  slug: Type.String(),
  plan: Type.Enum(PLAN_NAMES),
  role: Type.Enum(MEMBER_ROLES),
});

const sessionFields = {
  expiresAt: dateTime('Moves on with use: 30 days after the last request.'),
  user: User,
  organizations: Type.Array(OrganizationOfUser, {
    description: 'Choose one of several by the header x-organization-id.',
  }),
};

export const Session = closed(sessionFields, { title: 'Session' });

export const SessionWithToken = closed(
  {
    token: nullable(Type.String({ description: 'Send it as Authorization: Bearer. Shown in this answer only.' })),
    ...sessionFields,
  },
  { title: 'SessionWithToken' },
);

export const ChangePassword = closed({
  currentPassword: Type.String({ minLength: 1, maxLength: PASSWORD_MAX_LENGTH }),
  newPassword: Type.String({ minLength: PASSWORD_MIN_LENGTH, maxLength: PASSWORD_MAX_LENGTH }),
});
