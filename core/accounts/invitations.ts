/** Invitations of people to an organization, and the mail by which a person is invited. */
import { randomBytes } from 'node:crypto';
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { isHostedAddress } from '#core/mailboxes/domains.ts';
import { recordAudit } from '#core/organizations/audit.ts';
import { lockOrganization } from '#core/organizations/may-decide.ts';
import type { NewMemberNotice } from '#core/organizations/member-notices.ts';
import type { Caller } from '#core/platform/caller.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { hashCredential } from '#core/platform/secrets/credentials.ts';
import { type Sql, sqlOfEntityManager } from '#db/database.ts';
import { Invitation, type InvitationRow, Member, User } from '#db/entities.ts';
import { insertMemberNotices } from '#db/queries/notices/member-notices.ts';
import { countUse } from '#db/queries/platform/count-use.ts';
import type { MemberRole } from '#domain/access/api-scopes.ts';
import { INVITATION_LIFE_DAYS } from '#domain/access/credential-format.ts';
import { CatalogueError } from '#domain/errors.ts';
import { oneLine } from '#domain/mail/text-forms.ts';
import { CREDENTIAL_PLACE } from '#domain/organizations/member-notices.ts';
import { INVITATIONS_PER_DAY_MAX, OPEN_INVITATIONS_MAX } from '#domain/organizations/plans.ts';
import type { Actor } from '#domain/webhooks/event-types.ts';
import type { ActingMember } from './members.ts';
import { type SignInStep, stepAfterPassword } from './second-factor/sign-in-challenge.ts';
import type { SignInOrigin } from './sessions.ts';
import { hashPassword, verifySignIn } from './sign-in.ts';

const DAY_MS = 86_400_000;
const TOKEN_BYTES = 32;
const NEW_INVITATION = 'Sign in, if you have accepted it already; otherwise ask for another invitation.';

/** Who invited. Null where it was not a member: the operator, a program, or a person whose account is gone. */
export interface Inviter {
  readonly name: string;
  readonly email: string;
}

/** An invitation, and how its link reaches the person. */
export interface CreatedInvitation {
  readonly row: InvitationRow;
  readonly inviter: Inviter | null;
  /** Only in this answer, if the inviter must hand the link over; null: it is sent by mail. */
  readonly token: string | null;
  /** To be sent after the commit. */
  readonly notices: readonly NewMemberNotice[];
}

/** The contents of an invitation, except the invited person. */
interface InvitationOrigin {
  readonly organization: { readonly id: string; readonly name: string };
  readonly caller: Caller;
  /** Address of the API, for the link. */
  readonly publicUrl: string;
}

/**
 * Invites an e-mail address to the organization. An open invitation to the same address is replaced. The link is sent
 * by mail, except to an address hosted here, whose mail agents may read, and except when this instance sends no mail:
 * then the inviter gets it. Send `notices` after the commit.
 *
 * @throws {CatalogueError} forbidden (only owners invite owners), conflict (a member already, too many open),
 *   rate_limited (too many mails)
 */
export async function createInvitation(
  services: Services,
  origin: InvitationOrigin,
  acting: ActingMember,
  input: { readonly email: string; readonly role: MemberRole },
): Promise<CreatedInvitation> {
  const organizationId = origin.organization.id;
  if (input.role === 'owner' && acting.role !== 'owner')
    throw new CatalogueError('forbidden', 'Only an owner may invite an owner.', {
      fix: 'Invite with the role admin or member, or ask an owner to invite.',
    });
  await limitInvitations(services, organizationId);
  return services.db.entityTransaction(async (em) => {
    const email = input.email.toLowerCase();
    if ((await em.count(Member, { organization: organizationId, user: { email } })) > 0)
      throw new CatalogueError('conflict', `${email} is a member already.`, {
        details: [{ path: '/email', message: 'is a member already' }],
        fix: 'To change the role, use PATCH /api/members/:id.',
      });
    await em.nativeDelete(Invitation, { organization: organizationId, email, acceptedAt: null });
    await takePlace(services, em, organizationId);
    return insertInvitation(services, em, origin, { email, role: input.role });
  });
}

/** Each may send a mail to an address of the inviter's choice. */
async function limitInvitations(services: Services, organizationId: string): Promise<void> {
  const { used, resetsInMs } = await countUse(services.db, `invitations:${organizationId}`, DAY_MS, services.now());
  if (used > INVITATIONS_PER_DAY_MAX)
    throw new CatalogueError('rate_limited', `More than ${INVITATIONS_PER_DAY_MAX} invitations in a day.`, {
      retryAfterSeconds: Math.max(1, Math.ceil(resetsInMs / 1_000)),
    });
}

async function takePlace(services: Services, em: EntityManager, organizationId: string): Promise<void> {
  await lockOrganization(em, organizationId);
  const expiresAt = { $gt: new Date(services.now()) };
  if (
    (await em.count(Invitation, { organization: organizationId, acceptedAt: null, expiresAt })) >= OPEN_INVITATIONS_MAX
  )
    throw new CatalogueError('conflict', `${OPEN_INVITATIONS_MAX} invitations are open, which is the limit.`, {
      fix: 'Withdraw some that are not needed, DELETE /api/invitations/:id, or wait until they are accepted or expire.',
    });
}

/** Writes an invitation in somebody's transaction. @param input the address in lower case */
export async function insertInvitation(
  services: Services,
  em: EntityManager,
  { organization, caller, publicUrl }: InvitationOrigin,
  input: { readonly email: string; readonly role: MemberRole },
): Promise<CreatedInvitation> {
  const organizationId = organization.id;
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const now = services.now();
  const row = em.create(Invitation, {
    id: newId('invitation', now),
    organization: organizationId,
    email: input.email,
    role: input.role,
    tokenHash: hashCredential(token, services.pepper),
    invitedBy: caller.actor.type === 'user' ? caller.actor.id : null,
    createdAt: new Date(now),
    expiresAt: new Date(now + INVITATION_LIFE_DAYS * DAY_MS),
  });
  await em.flush();
  await recordAudit(sqlOfEntityManager(em), caller, {
    organizationId,
    action: 'invitation.created',
    targetId: row.id,
    details: { ...input },
  });
  const sql = sqlOfEntityManager(em);
  const { MAIL_DOMAIN, OUTBOUND_TRANSPORT } = services.settings;
  const inviter = inviterOf(caller.actor);
  if (await isHostedAddress(sql, MAIL_DOMAIN, [organizationId], input.email))
    return { row, inviter, token, notices: [] };
  const notice = await writeInvitationNotice(services, sql, {
    id: row.id,
    organizationId,
    organizationName: organization.name,
    inviter,
    email: input.email,
    token,
    publicUrl,
  });
  return { row, inviter, token: OUTBOUND_TRANSPORT === 'capture' ? token : null, notices: [notice] };
}

const inviterOf = ({ type, name, email }: Actor): Inviter | null =>
  type === 'user' && email !== null ? { name: name ?? email, email } : null;

interface ListedInvitation {
  /** Its place in the list. */
  readonly id: string;
  readonly row: InvitationRow;
  readonly inviter: Inviter | null;
}

/** Open invitations, newest first; one more than `limit`. */
export async function listInvitations(
  services: Services,
  organizationId: string,
  page: { readonly limit: number; readonly after: string | null },
): Promise<ListedInvitation[]> {
  const em = services.db.em();
  const rows = await em.find(
    Invitation,
    {
      organization: organizationId,
      acceptedAt: null,
      expiresAt: { $gt: new Date(services.now()) },
      ...(page.after === null ? {} : { id: { $lt: page.after } }),
    },
    { orderBy: { id: 'desc' }, limit: page.limit + 1 },
  );
  const users = await em.find(User, { id: { $in: rows.flatMap(({ invitedBy }) => invitedBy ?? []) } });
  const byId = new Map(users.map((user) => [user.id, user]));
  return rows.map((row) => {
    const user = byId.get(row.invitedBy ?? '');
    return { id: row.id, row, inviter: user === undefined ? null : { name: user.name, email: user.email } };
  });
}

/** Withdraws an open invitation; its link is invalid after the commit. @throws {CatalogueError} not_found */
export async function deleteInvitation(services: Services, organizationId: string, id: string, caller: Caller) {
  await services.db.entityTransaction(async (em) => {
    const row = await em.findOne(Invitation, { id, organization: organizationId, acceptedAt: null });
    if (row === null) throw new CatalogueError('not_found');
    em.remove(row);
    await recordAudit(sqlOfEntityManager(em), caller, {
      organizationId,
      action: 'invitation.deleted',
      targetId: id,
      details: { email: row.email },
    });
  });
}

/** The contents of an open invitation, for anybody who has its token. */
export interface InvitationLook {
  readonly organizationName: string;
  readonly email: string;
  readonly role: MemberRole;
  readonly inviter: Inviter | null;
  /** The password to be given is that of the account. */
  readonly accountExists: boolean;
  readonly expiresAt: Date;
}

/** @throws {CatalogueError} not_found (unknown, used, expired) */
export async function lookAtInvitation(services: Services, token: string): Promise<InvitationLook> {
  const [row] = await services.db.query<InvitationLook>(
    `select o.name as "organizationName", i.email, i.role, i.expires_at as "expiresAt",
            (select jsonb_build_object('name', u.name, 'email', u.email) from users u where u.id = i.invited_by) as inviter,
            exists (select from users u where u.email = i.email) as "accountExists"
       from invitations i join organizations o on o.id = i.organization_id
      where i.token_hash = $1 and i.accepted_at is null and i.expires_at > $2`,
    [hashCredential(token, services.pepper), new Date(services.now())],
  );
  if (row === undefined)
    throw new CatalogueError('not_found', 'The invitation is unknown, used or expired.', { fix: NEW_INVITATION });
  return row;
}

/** Sent by the invited person: the password of the existing account, or of the new one. */
export interface Acceptance {
  readonly token: string;
  /** Needed for a new account. */
  readonly name?: string;
  readonly password: string;
}

/**
 * Makes the invited person a member, and an account when there is none for the address, and signs the person in; to an
 * account with a second factor only after that.
 *
 * @throws {CatalogueError} not_found (unknown, used, expired); unauthenticated and rate_limited as at sign-in;
 *   invalid_request (name missing)
 */
export async function acceptInvitation(
  services: Services,
  input: Acceptance,
  { userAgent, ...origin }: SignInOrigin & { readonly ipAddress: string },
): Promise<SignInStep> {
  const open = {
    tokenHash: hashCredential(input.token, services.pepper),
    acceptedAt: null,
    expiresAt: { $gt: new Date(services.now()) },
  };
  const offered = await services.db.em().findOne(Invitation, open);
  if (offered === null)
    throw new CatalogueError('not_found', 'The invitation is unknown, used or expired.', { fix: NEW_INVITATION });
  const account = await services.db.em().findOne(User, { email: offered.email });
  // Hashing is slow, so it runs outside the transaction.
  const existing =
    account === null
      ? undefined
      : (await verifySignIn(services, { email: offered.email, password: input.password }, origin.ipAddress)).user;
  const passwordHash = existing === undefined ? await hashPassword(input.password) : '';
  if (existing === undefined && input.name === undefined)
    throw new CatalogueError('invalid_request', undefined, {
      details: [{ path: '/name', message: 'is required for a new account' }],
    });
  return services.db.entityTransaction(async (em) => {
    const invitation = await em.findOne(Invitation, open, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (invitation === null)
      throw new CatalogueError('not_found', 'The invitation is unknown, used or expired.', { fix: NEW_INVITATION });
    const now = new Date(services.now());
    invitation.acceptedAt = now;
    const organizationId = invitation.organization.id;
    const { email } = invitation;
    const user =
      existing ??
      em.create(User, {
        id: newId('user'),
        email,
        name: input.name ?? email,
        passwordHash,
        createdAt: now,
        updatedAt: now,
      });
    if ((await em.count(Member, { organization: organizationId, user: user.id })) === 0)
      em.create(Member, {
        id: newId('member'),
        organization: organizationId,
        user: user.id,
        role: invitation.role,
        createdAt: now,
        updatedAt: now,
      });
    await em.flush();
    await recordAudit(
      sqlOfEntityManager(em),
      { actor: { type: 'user', id: user.id, name: user.name, email, address: null }, ...origin },
      {
        organizationId,
        action: 'invitation.accepted',
        targetId: invitation.id,
        details: { email, role: invitation.role },
      },
    );
    return stepAfterPassword(services, em, { id: user.id, name: user.name, email }, { ...origin, userAgent });
  });
}

/** Identity of the credential in its sealed form. */
export const noticeCredentialPlace = (noticeId: string): string => `member_notices:credential:${noticeId}`;

/** The link a person accepts with. The token is in its fragment, which no server's log sees. */
export const acceptUrl = (publicUrl: string, token: string): string => `${publicUrl}/accept-invitation#${token}`;

/**
 * Writes the notice in the transaction of the invitation; start it by `sendNotices` after the commit. Its text, which can
 * be read in the API, has a place instead of the credential.
 */
async function writeInvitationNotice(
  services: Pick<Services, 'secrets' | 'now'>,
  sql: Sql,
  invitation: {
    readonly id: string;
    readonly organizationId: string;
    readonly organizationName: string;
    /** Null: not a member. */
    readonly inviter: { readonly name: string; readonly email: string } | null;
    readonly email: string;
    readonly token: string;
    readonly publicUrl: string;
  },
): Promise<NewMemberNotice> {
  const now = services.now();
  const id = newId('notice', now);
  const organization = oneLine(invitation.organizationName);
  const notice = {
    id,
    organizationId: invitation.organizationId,
    kind: 'invitation' as const,
    targetId: invitation.id,
    recipient: invitation.email,
    subject: `Invitation to ${organization}`,
    text: `${invited(invitation.inviter)} to join ${organization} at ${invitation.publicUrl}.

To accept, open this link:

  ${acceptUrl(invitation.publicUrl, CREDENTIAL_PLACE)}

It is valid for ${INVITATION_LIFE_DAYS} days and works once. Anybody who has it can accept, so do not forward this mail. If you expected no invitation, delete it: nothing happens then.
`,
  };
  const sealed = services.secrets.seal(invitation.token, noticeCredentialPlace(id));
  await insertMemberNotices(sql, [notice], new Date(now), sealed);
  return notice;
}

const invited = (inviter: { readonly name: string; readonly email: string } | null): string =>
  inviter === null ? 'You are invited' : `${oneLine(inviter.name)} (${inviter.email}) invites you`;
