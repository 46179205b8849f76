import { randomBytes } from 'node:crypto';
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { sqlOfEntityManager } from '../db/database.ts';
import { Invitation, type InvitationRow } from '../db/entities/invitation.ts';
import { Member } from '../db/entities/member.ts';
import { User } from '../db/entities/user.ts';
import type { MemberRole } from '../domain/api-scopes.ts';
import { INVITATION_LIFE_DAYS } from '../domain/credential-format.ts';
import { CatalogueError } from '../domain/errors.ts';
import { OPEN_INVITATIONS_MAX } from '../domain/organization-limits.ts';
import { recordAudit } from './audit.ts';
import type { Caller } from './caller.ts';
import { hashCredential } from './credentials.ts';
import { lockOrganization } from './lock-organization.ts';
import type { ActingMember } from './members.ts';
import { newId } from './new-id.ts';
import { hashPassword } from './passwords.ts';
import type { Services } from './services.ts';
import type { SignedInUser } from './sessions.ts';
import { verifySignIn } from './sign-in.ts';

const DAY_MS = 86_400_000;
const TOKEN_BYTES = 32;
const NEW_INVITATION = 'Sign in, if you have accepted it already; otherwise ask for another invitation.';

/**
 * Offers a place in the organization to an e-mail address. An open offer to the same address is replaced.
 *
 * @returns the row and the token of the link, for this once
 * @throws {CatalogueError} forbidden (only owners invite owners), conflict (a member already, too many open)
 */
export async function createInvitation(
  services: Services,
  organizationId: string,
  acting: ActingMember,
  caller: Caller,
  input: { readonly email: string; readonly role: MemberRole },
): Promise<{ row: InvitationRow; token: string }> {
  if (input.role === 'owner' && acting.role !== 'owner')
    throw new CatalogueError('forbidden', 'Only an owner may invite an owner.', {
      fix: 'Invite with the role admin or member, or ask an owner to do it.',
    });
  return services.db.em().transactional(async (em) => {
    const email = input.email.toLowerCase();
    if ((await em.count(Member, { organization: organizationId, user: { email } })) > 0)
      throw new CatalogueError('conflict', `${email} is a member already.`, {
        details: [{ path: '/email', message: 'is a member already' }],
        fix: 'To change the role, use PATCH /api/members/:id.',
      });
    await em.nativeDelete(Invitation, { organization: organizationId, email, acceptedAt: null });
    await takePlace(services, em, organizationId);
    return insertInvitation(services, em, organizationId, caller, { email, role: input.role });
  });
}

async function takePlace(services: Services, em: EntityManager, organizationId: string): Promise<void> {
  await lockOrganization(em, organizationId);
  const expiresAt = { $gt: new Date(services.now()) };
  if (
    (await em.count(Invitation, { organization: organizationId, acceptedAt: null, expiresAt })) >= OPEN_INVITATIONS_MAX
  )
    throw new CatalogueError('conflict', `${OPEN_INVITATIONS_MAX} invitations are open, and there may be no more.`, {
      fix: 'Withdraw some that are not needed, DELETE /api/invitations/:id, or wait until they are accepted or expire.',
    });
}

/** Writes an invitation in somebody's transaction. @param input the address in lower case */
export async function insertInvitation(
  services: Services,
  em: EntityManager,
  organizationId: string,
  caller: Caller,
  input: { readonly email: string; readonly role: MemberRole },
): Promise<{ row: InvitationRow; token: string }> {
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
  return { row, token };
}

/** Open invitations, newest first; one more than `limit`. */
export const listInvitations = (
  services: Services,
  organizationId: string,
  page: { readonly limit: number; readonly after: string | null },
): Promise<InvitationRow[]> =>
  services.db.em().find(
    Invitation,
    {
      organization: organizationId,
      acceptedAt: null,
      expiresAt: { $gt: new Date(services.now()) },
      ...(page.after === null ? {} : { id: { $lt: page.after } }),
    },
    { orderBy: { id: 'desc' }, limit: page.limit + 1 },
  );

/** Withdraws an open invitation; its link dies with the commit. @throws {CatalogueError} not_found */
export async function deleteInvitation(services: Services, organizationId: string, id: string, caller: Caller) {
  await services.db.em().transactional(async (em) => {
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

/** What the link's reader sends: a password of the account with this address, or of the account that is made. */
export interface Acceptance {
  readonly token: string;
  /** Needed for a new account. */
  readonly name?: string;
  readonly password: string;
}

/**
 * Makes the invited person a member, and an account when there is none for the address.
 *
 * @throws {CatalogueError} not_found (unknown, used, expired); unauthenticated and rate_limited as at sign-in;
 *   invalid_request (name missing)
 */
export async function acceptInvitation(
  services: Services,
  input: Acceptance,
  origin: { readonly ipAddress: string; readonly requestId: string },
): Promise<SignedInUser> {
  const open = {
    tokenHash: hashCredential(input.token, services.pepper),
    acceptedAt: null,
    expiresAt: { $gt: new Date(services.now()) },
  };
  const offered = await services.db.em().findOne(Invitation, open);
  if (offered === null)
    throw new CatalogueError('not_found', 'The invitation is unknown, used or expired.', { fix: NEW_INVITATION });
  const account = await services.db.em().findOne(User, { email: offered.email });
  // Hashing takes a while: outside the transaction.
  const existing =
    account === null
      ? null
      : await verifySignIn(services, { email: offered.email, password: input.password }, origin.ipAddress);
  const passwordHash = existing === null ? await hashPassword(input.password) : '';
  if (existing === null && input.name === undefined)
    throw new CatalogueError('invalid_request', undefined, {
      details: [{ path: '/name', message: 'is required for a new account' }],
    });
  return services.db.em().transactional(async (em) => {
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
    return { id: user.id, name: user.name, email };
  });
}
