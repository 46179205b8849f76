import Type, { type Static } from 'typebox';
import { closed, dateTime, nullable } from '#api/http/schema-parts.ts';
import type { FactorProof } from '#core/accounts/second-factor/proof.ts';
import type { SignInChallenge } from '#core/accounts/second-factor/sign-in-challenge.ts';
import type { NewSession, OrganizationOfUser, SessionView, SignedInUser } from '#core/accounts/sessions.ts';
import { MEMBER_ROLES } from '#domain/access/api-scopes.ts';
import { PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH } from '#domain/access/credential-format.ts';
import { SECOND_FACTOR_POLICIES } from '#domain/access/second-factor.ts';
import { CatalogueError } from '#domain/errors.ts';
import { idPattern } from '#domain/ids.ts';
import { ANY_TEXT } from '#domain/mail/text-forms.ts';
import { PLAN_NAMES } from '#domain/organizations/plans.ts';
import { PasskeyAssertion } from './passkey-schema.ts';

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
    secondFactor: Type.Enum([...SECOND_FACTOR_POLICIES], {
      description: '`settings.secondFactor` of the organization.',
    }),
  },
  { title: 'OrganizationMembership' },
);

const sessionFields = {
  secondFactor: Type.Boolean({ description: 'Whether the person proved a second factor when the session was opened.' }),
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

export const SecondFactorNeeded = closed(
  {
    challenge: nullable(
      Type.String({ description: 'For POST /api/sessions/second-factor. Opens nothing; shown in this answer only.' }),
    ),
    expiresAt: dateTime(),
    passkey: Type.Boolean({
      description: 'The account has passkeys: begin with POST /api/sessions/second-factor/passkey.',
    }),
  },
  { title: 'SecondFactorNeeded' },
);

const SecondFactorCode = Type.String({
  minLength: 1,
  maxLength: 32,
  description: 'Of the authenticator app, or a recovery code. Each works once; spaces and hyphens do not matter.',
});

const proofFields = { code: Type.Optional(SecondFactorCode), passkey: Type.Optional(PasskeyAssertion) };

export const AnswerChallenge = closed(
  {
    challenge: Type.String({ minLength: 1, maxLength: 128 }),
    ...proofFields,
    cookie: Type.Optional(Type.Boolean({ description: 'For pages of this service, as at sign-in.' })),
  },
  { title: 'SecondFactorAnswer' },
);

export const ProofOfPerson = closed(proofFields, { title: 'SecondFactorProof' });

export const OwnPassword = closed(
  { password: Type.String({ minLength: 1, maxLength: PASSWORD_MAX_LENGTH, pattern: ANY_TEXT }) },
  { title: 'OwnPassword' },
);

export const CodeOfPerson = closed({ code: SecondFactorCode }, { title: 'SecondFactorCode' });

/** @throws {CatalogueError} invalid_request, unless there is exactly one */
export function proofOf(
  { code, passkey }: { readonly code?: string; readonly passkey?: Static<typeof PasskeyAssertion> },
  publicUrl: string,
): FactorProof {
  if (code !== undefined && passkey === undefined) return { code };
  if (passkey !== undefined && code === undefined) return { passkey, publicUrl };
  const message = 'is required, or passkey instead of it, and not both';
  throw new CatalogueError('invalid_request', undefined, { details: [{ path: '/code', message }] });
}

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

export const challengeExample = {
  challenge: 'amq_vB0o2cQ8mJ6wXk1rT4yN7sD9fG3hL5zP0aE2uI8xC6M3q7m2k',
  expiresAt: '2026-11-21T09:20:00.000Z',
  passkey: false,
};

const signedInExample = {
  secondFactor: false,
  expiresAt: '2026-12-21T09:15:00.000Z',
  user: { id: 'usr_01k8e8f2c0e4x9w2v7a3r5t6y8', name: 'Ada Byron', email: 'ada@example.com' },
  organizations: [
    {
      id: 'org_01k8e8f2c0e4x9w2v7a3r5t6y8',
      name: 'Example',
      slug: 'example',
      plan: 'team',
      role: 'owner',
      secondFactor: 'off',
    },
  ],
};

export const sessionExample = { ...signedInExample, changesId: '184467-1795512000000' };

export const sessionListExample = {
  data: [
    {
      id: 'ses_01k8e8f2c0e4x9w2v7a3r5t6y8',
      current: true,
      createdAt: '2026-11-21T09:15:00.000Z',
      lastUsedAt: '2026-11-22T08:01:12.000Z',
      expiresAt: '2026-12-22T08:01:12.000Z',
      ipAddress: '203.0.113.7',
      userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
    },
  ],
};

export const sessionWithTokenExample = {
  token: 'ams_vB0o2cQ8mJ6wXk1rT4yN7sD9fG3hL5zP0aE2uI8xC6M4k7d2q',
  ...signedInExample,
};

export const presentChallenge = ({
  token,
  expiresAt,
  passkey,
}: SignInChallenge): Static<typeof SecondFactorNeeded> => ({
  challenge: token,
  expiresAt: expiresAt.toISOString(),
  passkey,
});

const presentSignedIn = (session: {
  readonly secondFactor: boolean;
  readonly expiresAt: Date;
  readonly user: SignedInUser;
  readonly organizations: readonly OrganizationOfUser[];
}): Omit<Static<typeof Session>, 'changesId'> => ({
  secondFactor: session.secondFactor,
  expiresAt: session.expiresAt.toISOString(),
  user: { id: session.user.id, name: session.user.name, email: session.user.email },
  organizations: session.organizations.map(({ id, name, slug, plan, role, secondFactor }) => ({
    id,
    name,
    slug,
    plan,
    role,
    secondFactor,
  })),
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
