/**
 * A new password without the old one, by a link that works once. The link is sent to the address of the account, unless
 * this instance hosts that address: then another owner or the operator hands it over.
 */

import { isHostedAddress } from '#core/mailboxes/domains.ts';
import { deleteOAuthInProgress } from '#core/oauth/requests.ts';
import { recordAudit, recordAudits } from '#core/organizations/audit.ts';
import type { NewMemberNotice } from '#core/organizations/member-notices.ts';
import { sourceOf } from '#core/platform/addresses/source-address.ts';
import type { Caller } from '#core/platform/caller.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { hashCredential, newCredential } from '#core/platform/secrets/credentials.ts';
import { type Sql, sqlOfEntityManager } from '#db/database.ts';
import { Session, User } from '#db/entities.ts';
import { insertMemberNotices } from '#db/queries/notices/member-notices.ts';
import { countUse } from '#db/queries/platform/count-use.ts';
import {
  PASSWORD_RESET_LIFE_MINUTES,
  PASSWORD_RESETS_PER_ADDRESS_AND_HOUR,
  PASSWORD_RESETS_PER_SOURCE_AND_HOUR,
} from '#domain/access/credential-format.ts';
import { CatalogueError } from '#domain/errors.ts';
import { deleteLinksOfUser } from './approval-links.ts';
import { organizationsOf } from './sessions.ts';
import { hashPassword, verifySignIn } from './sign-in.ts';

/**
 * Changes a person's password and ends all other sessions, because somebody who knew the old one may have opened them.
 * Send the notices after the commit.
 *
 * @throws {CatalogueError} unauthenticated (wrong current password) and rate_limited, as at sign-in
 */
export async function changePassword(
  services: Services,
  person: { readonly id: string; readonly email: string; readonly sessionId: string },
  caller: Caller & { readonly ipAddress: string },
  input: { readonly currentPassword: string; readonly newPassword: string },
): Promise<NewMemberNotice[]> {
  await verifySignIn(services, { email: person.email, password: input.currentPassword }, caller.ipAddress);
  const passwordHash = await hashPassword(input.newPassword);
  return services.db.entityTransaction(async (em) => {
    const user = await em.findOneOrFail(User, { id: person.id });
    user.passwordHash = passwordHash;
    await em.nativeDelete(Session, { user: person.id, id: { $ne: person.sessionId } });
    const sql = sqlOfEntityManager(em);
    const organizations = await organizationsOf(sql, person.id);
    await recordAudits(
      sql,
      organizations.map(({ id }) => ({
        caller,
        entry: { organizationId: id, action: 'user.password_changed', targetId: person.id },
      })),
    );
    return afterPasswordChange(sql, { id: user.id, email: user.email }, new Date(services.now()));
  });
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** The page of a reset. The token is in its fragment, which no server's log sees. */
export const passwordResetUrl = (publicUrl: string, token: string): string => `${publicUrl}/reset-password#${token}`;

interface ResetAccount {
  readonly userId: string;
  readonly organizationIds: readonly string[];
}

/** @param email in any case */
export async function findResetAccount(sql: Sql, email: string): Promise<ResetAccount | undefined> {
  const [row] = await sql.query<ResetAccount>(
    `select u.id as "userId",
            array(select m.organization_id from members m where m.user_id = u.id) as "organizationIds"
       from users u where u.email = $1`,
    [email.toLowerCase()],
  );
  return row;
}

export interface NewPasswordReset {
  readonly token: string;
  readonly expiresAt: Date;
}

/** Makes a reset in somebody's transaction. */
export async function createPasswordReset(
  { pepper, now }: Pick<Services, 'pepper' | 'now'>,
  sql: Sql,
  userId: string,
): Promise<NewPasswordReset> {
  const token = newCredential('passwordReset');
  const nowMs = now();
  const expiresAt = new Date(nowMs + PASSWORD_RESET_LIFE_MINUTES * MINUTE_MS);
  await sql.query(
    `insert into password_resets (id, user_id, token_hash, created_at, expires_at) values ($1, $2, $3, $4, $5)`,
    [newId('passwordReset', nowMs), userId, hashCredential(token, pepper), new Date(nowMs), expiresAt],
  );
  return { token, expiresAt };
}

/**
 * Requests a link by mail. The steps are the same whether the address has an account or not, so neither the answer nor
 * its duration reveals it; the sender of notices checks it. Send the notices after the commit.
 *
 * @returns none if too many were requested for this address
 * @throws {CatalogueError} rate_limited, by source
 */
export async function requestPasswordReset(
  services: Services,
  email: string,
  ipAddress: string,
): Promise<NewMemberNotice[]> {
  const { db } = services;
  const now = services.now();
  const recipient = email.toLowerCase();
  const bySource = await countUse(db, `password_reset:source:${sourceOf(ipAddress)}`, HOUR_MS, now);
  if (bySource.used > PASSWORD_RESETS_PER_SOURCE_AND_HOUR)
    throw new CatalogueError('rate_limited', 'Too many password resets were asked for.', {
      retryAfterSeconds: Math.max(1, Math.ceil(bySource.resetsInMs / 1_000)),
    });
  const byAddress = await countUse(db, `password_reset:address:${recipient}`, HOUR_MS, now);
  if (byAddress.used > PASSWORD_RESETS_PER_ADDRESS_AND_HOUR) return [];
  const id = newId('notice', now);
  const notice = { id, organizationId: null, kind: 'password_reset' as const, targetId: id, recipient };
  await db.transaction((sql) =>
    insertMemberNotices(sql, [{ ...notice, subject: 'Reset of your password', text: '' }], new Date(now)),
  );
  return [notice];
}

/**
 * A link for another owner to hand over, if it may not be sent by mail: the member's address is hosted here, or this
 * instance sends no mail. The caller must own every organization of the person, because the link gives access to all of
 * them.
 *
 * @throws {CatalogueError} not_found, conflict
 */
export async function createResetToHandOver(
  services: Services,
  organizationId: string,
  memberId: string,
  acting: { readonly id: string },
  caller: Caller,
): Promise<NewPasswordReset> {
  const { MAIL_DOMAIN, OUTBOUND_TRANSPORT } = services.settings;
  return services.db.transaction(async (sql) => {
    const [member] = await sql.query<{ userId: string; email: string; ownsAll: boolean }>(MEMBER_TO_RESET, [
      organizationId,
      memberId,
      acting.id,
    ]);
    if (member === undefined) throw new CatalogueError('not_found');
    if (member.userId === acting.id)
      throw new CatalogueError('conflict', 'This is your own password.', {
        fix: 'Change it with PUT /api/sessions/current/password, or ask another owner.',
      });
    if (!member.ownsAll)
      throw new CatalogueError('conflict', 'This person is a member of an organization that you do not own.', {
        fix: 'The operator of this service can create the link: npm run reset-password.',
      });
    const account = await findResetAccount(sql, member.email);
    const isHosted = await isHostedAddress(sql, MAIL_DOMAIN, account?.organizationIds ?? [], member.email);
    if (!isHosted && OUTBOUND_TRANSPORT !== 'capture')
      throw new CatalogueError('conflict', 'This person gets the link by mail.', {
        fix: 'Let the person request a link on the sign-in page, or request it yourself: POST /api/password-resets.',
      });
    await recordAudit(sql, caller, {
      organizationId,
      action: 'member.password_reset_created',
      targetId: memberId,
      details: { userId: member.userId },
    });
    return createPasswordReset(services, sql, member.userId);
  });
}

const MEMBER_TO_RESET = `
  select u.id as "userId", u.email,
         not exists (
           select from members other
            where other.user_id = u.id and not exists (
              select from members mine
               where mine.organization_id = other.organization_id and mine.user_id = $3 and mine.role = 'owner')
         ) as "ownsAll"
    from members m join users u on u.id = m.user_id where m.organization_id = $1 and m.id = $2`;

const NEW_RESET = 'Ask for another link: POST /api/password-resets.';

/**
 * Sets the new password, and ends everything that the old one or the account's mailbox gave: sessions, links of approvals,
 * other resets. Send the notices after the commit.
 *
 * @throws {CatalogueError} not_found (unknown, used, expired)
 */
export async function acceptPasswordReset(
  services: Services,
  input: { readonly token: string; readonly password: string },
  origin: Pick<Caller, 'ipAddress' | 'requestId'>,
): Promise<NewMemberNotice[]> {
  const tokenHash = hashCredential(input.token, services.pepper);
  const now = new Date(services.now());
  const open = `token_hash = $1 and expires_at > $2`;
  const unknown = () => new CatalogueError('not_found', 'The link is unknown, used or expired.', { fix: NEW_RESET });
  if ((await services.db.query(`select 1 from password_resets where ${open}`, [tokenHash, now])).length === 0)
    throw unknown();
  // Hashing is slow, so it runs outside the transaction.
  const passwordHash = await hashPassword(input.password);
  return services.db.entityTransaction(async (em) => {
    const sql = sqlOfEntityManager(em);
    const [used] = await sql.query<{ user_id: string }>(`delete from password_resets where ${open} returning user_id`, [
      tokenHash,
      now,
    ]);
    if (used === undefined) throw unknown();
    const user = await em.findOneOrFail(User, { id: used.user_id });
    user.passwordHash = passwordHash;
    await em.flush();
    await em.nativeDelete(Session, { user: user.id });
    const actor = { type: 'user', id: user.id, name: user.name, email: user.email, address: null } as const;
    const organizations = await organizationsOf(sql, user.id);
    await recordAudits(
      sql,
      organizations.map(({ id }) => ({
        caller: { actor, ...origin },
        entry: { organizationId: id, action: 'user.password_reset', targetId: user.id },
      })),
    );
    return afterPasswordChange(sql, { id: user.id, email: user.email }, now);
  });
}

/**
 * Ends everything that depends on a password, and writes a notice to its owner. Call it in the transaction of the
 * change.
 */
async function afterPasswordChange(
  sql: Sql,
  person: { readonly id: string; readonly email: string },
  now: Date,
): Promise<NewMemberNotice[]> {
  await deleteLinksOfUser(sql, person.id);
  await sql.query(`delete from password_resets where user_id = $1`, [person.id]);
  await sql.query(`delete from device_sign_ins where user_id = $1`, [person.id]);
  await sql.query(`delete from sign_in_challenges where user_id = $1`, [person.id]);
  await deleteOAuthInProgress(sql, person.id);
  const notice = {
    id: newId('notice', now.getTime()),
    organizationId: null,
    kind: 'password_changed' as const,
    targetId: person.id,
    recipient: person.email,
    subject: 'Your password was changed',
    text: `The password of ${person.email} was changed at ${now.toISOString()}. All other sessions were ended.

If it was not you, reset your password at once, or ask an owner of your organization or the operator of the service.
`,
  };
  await insertMemberNotices(sql, [notice], now);
  return [notice];
}
