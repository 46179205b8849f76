import Type from 'typebox';
import { closed, dateTime, nullable } from '#api/http/schema-parts.ts';
import { MEMBER_ROLES } from '#domain/access/api-scopes.ts';
import { PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH } from '#domain/access/credential-format.ts';
import { idPattern } from '#domain/ids.ts';
import { ANY_TEXT } from '#domain/mail/text-forms.ts';
import { PLAN_NAMES } from '#domain/organizations/plans.ts';

export const Email = Type.String({ format: 'email', maxLength: 254 });

export const SignIn = closed(
  {
    email: Email,
    password: Type.String({ minLength: 1, maxLength: PASSWORD_MAX_LENGTH, pattern: ANY_TEXT }),
    cookie: Type.Optional(
      Type.Boolean({
        description:
          'For pages of this service: the session is stored in an HttpOnly cookie, and `token` is null. Such a request is accepted from our own origin only.',
      }),
    ),
  },
  { title: 'SignIn' },
);

export const User = closed(
  {
    id: Type.String({ pattern: idPattern('user') }),
    name: Type.String(),
    email: Type.String(),
  },
  { title: 'User' },
);

const OrganizationOfUser = closed(
  {
    id: Type.String({ pattern: idPattern('organization') }),
    name: Type.String(),
    slug: Type.String(),
    plan: Type.Enum(PLAN_NAMES),
    role: Type.Enum(MEMBER_ROLES),
  },
  { title: 'OrganizationMembership' },
);

const sessionFields = {
  expiresAt: dateTime('30 days after the last request, and 90 days after the sign-in at the latest.'),
  user: User,
  organizations: Type.Array(OrganizationOfUser, {
    description: 'If there are several, the header x-organization-id chooses one.',
  }),
};

export const Session = closed(
  {
    ...sessionFields,
    changesId: Type.String({
      description:
        'The present position in `GET /api/organization/events/stream`. As its `Last-Event-ID` it misses nothing that changed after this answer.',
    }),
  },
  { title: 'Session' },
);

export const SessionWithToken = closed(
  {
    token: nullable(
      Type.String({ description: 'Send it as Authorization: Bearer. Shown in this answer only; null with `cookie`.' }),
    ),
    ...sessionFields,
  },
  { title: 'SessionWithToken' },
);

export const SessionParams = closed({ id: Type.String({ pattern: idPattern('session') }) });

export const SessionOfList = closed(
  {
    id: Type.String({ pattern: idPattern('session') }),
    current: Type.Boolean({ description: 'The session of this request.' }),
    createdAt: dateTime(),
    lastUsedAt: dateTime('To the minute.'),
    expiresAt: dateTime(),
    ipAddress: nullable(
      Type.String({ description: 'Where the person signed in; null for sessions of earlier versions.' }),
    ),
    userAgent: nullable(Type.String({ description: 'User-Agent header of the browser or program.' })),
  },
  { title: 'SessionOfList' },
);
export const SessionList = closed({ data: Type.Array(SessionOfList) }, { title: 'SessionList' });

export const ChangePassword = closed(
  {
    currentPassword: Type.String({ minLength: 1, maxLength: PASSWORD_MAX_LENGTH, pattern: ANY_TEXT }),
    newPassword: Type.String({ minLength: PASSWORD_MIN_LENGTH, maxLength: PASSWORD_MAX_LENGTH, pattern: ANY_TEXT }),
  },
  { title: 'PasswordChange' },
);
