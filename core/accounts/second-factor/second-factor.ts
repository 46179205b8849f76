/**
 * The second factor of an account: set up, renewed and removed by its person, and reset by somebody else.
 *
 *   app: none ─▶ begun: a secret is shown ─▶ on: a code of it was entered ─▶ removed by a code or passkey, or reset
 *
 * Passkeys, which are second factors too, are in `passkeys.ts`.
 */

import { deleteLinksOfUser } from '#core/accounts/approval-links.ts';
import { verifySignIn } from '#core/accounts/sign-in.ts';
import type { NewMemberNotice } from '#core/organizations/member-notices.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { readSecondFactorCode } from '#domain/access/second-factor.ts';
import { CatalogueError } from '#domain/errors.ts';
import { newTotpSecret, recoveryCodesLeft, replaceRecoveryCodes, takeTotpCode, totpSecretPlace } from './codes.ts';
import { endFactors, type FactorOwner, factorAdded, factorRemoved, lockFactors } from './factors-of-account.ts';
import { type CallerFrom, type FactorProof, withGuess, withProof } from './proof.ts';
import { type FactorPerson, recordFactorChange } from './record-change.ts';

interface SecondFactorView {
  /** Since when codes of an app are asked for; null: they are not. */
  readonly totpSince: Date | null;
  readonly recoveryCodesLeft: number;
}

export async function secondFactorOf(sql: Sql, userId: string): Promise<SecondFactorView> {
  const [row] = await sql.query<{ since: Date | null }>(
    `select confirmed_at as since from totp_factor where user_id = $1`,
    [userId],
  );
  return { totpSince: row?.since ?? null, recoveryCodesLeft: await recoveryCodesLeft(sql, userId) };
}

/**
 * Begins the set-up of an authenticator app. The password is asked for, so that a stolen session cannot lock its person
 * out. A set-up that was begun before is replaced.
 *
 * @throws {CatalogueError} conflict (there is one); unauthenticated and rate_limited, as at sign-in
 */
export async function beginTotp(
  services: Services,
  person: FactorPerson,
  password: string,
  ipAddress: string,
): Promise<{ readonly secret: string; readonly uri: string }> {
  await verifySignIn(services, { email: person.email, password }, ipAddress);
  const made = newTotpSecret(person.email);
  return services.db.transaction(async (sql) => {
    const begun = await sql.query(
      `insert into totp_factor (user_id, secret_sealed, created_at) values ($1, $2, $3)
       on conflict (user_id) do update set secret_sealed = excluded.secret_sealed, created_at = excluded.created_at
        where totp_factor.confirmed_at is null
       returning 1`,
      [person.id, services.secrets.seal(made.secret, totpSecretPlace(person.id)), new Date(services.now())],
    );
    if (begun.length === 0)
      throw new CatalogueError('conflict', 'Your account has an authenticator app already.', {
        fix: 'Remove it first, with a code of it or a recovery code.',
      });
    return made;
  });
}

/**
 * Turns the app on by a code of it. If it is the first factor, the other sessions of the person end, because they were
 * opened without it. Send the notices after the commit.
 *
 * @returns the recovery codes, to be shown once; null: the person has some already
 * @throws {CatalogueError} unauthenticated (wrong code, or no set-up was begun), rate_limited
 */
export function confirmTotp(
  services: Services,
  person: FactorOwner,
  typed: string,
  caller: CallerFrom,
): Promise<{ readonly recoveryCodes: string[] | null; readonly notices: readonly NewMemberNotice[] }> {
  return withGuess(services, person, caller, () =>
    services.db.transaction(async (sql) => {
      const had = await lockFactors(sql, person.id);
      const code = readSecondFactorCode(typed);
      await takeTotpCode(services, sql, person.id, code?.kind === 'totp' ? code.digits : '', false);
      const now = new Date(services.now());
      await sql.query(`update totp_factor set confirmed_at = $2 where user_id = $1`, [person.id, now]);
      const recoveryCodes = await factorAdded(services, sql, person, had);
      const notices = await recordFactorChange(services, sql, person, caller, {
        action: 'user.second_factor_added',
        details: { factor: 'totp' },
        subject: had ? 'Your account has an authenticator app' : 'Your account has a second factor',
        what: `An authenticator app was added to the account ${person.email}.${had ? '' : ' All other sessions were ended.'}`,
      });
      return { recoveryCodes, notices };
    }),
  );
}

/**
 * Removes the app by a fresh proof, and the recovery codes with the last factor.
 *
 * @throws {CatalogueError} unauthenticated, rate_limited
 */
export function removeTotp(
  services: Services,
  person: FactorOwner,
  proof: FactorProof,
  caller: CallerFrom,
): Promise<readonly NewMemberNotice[]> {
  return withProof(services, person, proof, caller, async (sql, used) => {
    await sql.query(`delete from totp_factor where user_id = $1`, [person.id]);
    await factorRemoved(sql, person.id);
    const notices = await recordFactorChange(services, sql, person, caller, {
      action: 'user.second_factor_removed',
      details: { factor: 'totp' },
      subject: 'The second factor of your account was removed',
      what: `The authenticator app was removed from the account ${person.email}.`,
    });
    return [...used, ...notices];
  });
}

/**
 * New recovery codes by a fresh proof; the former ones end.
 *
 * @returns the codes, to be shown once
 * @throws {CatalogueError} unauthenticated, rate_limited
 */
export function renewRecoveryCodes(
  services: Services,
  person: FactorOwner,
  proof: FactorProof,
  caller: CallerFrom,
): Promise<{ readonly recoveryCodes: string[]; readonly notices: readonly NewMemberNotice[] }> {
  return withProof(services, person, proof, caller, async (sql, used) => {
    const recoveryCodes = await replaceRecoveryCodes(services, sql, person.id);
    const notices = await recordFactorChange(services, sql, person, caller, {
      action: 'user.recovery_codes_renewed',
      subject: 'You have new recovery codes',
      what: `The recovery codes of the account ${person.email} were replaced.`,
    });
    return { recoveryCodes, notices: [...used, ...notices] };
  });
}

/**
 * Removes the second factor of a person who cannot prove it, passkeys included, in somebody's transaction. All sessions and links of the
 * person end: a thief of the device may have opened them. Send the notices after the commit.
 */
export async function resetSecondFactor(
  services: Pick<Services, 'now'>,
  sql: Sql,
  person: FactorPerson,
  caller: Caller,
): Promise<NewMemberNotice[]> {
  await endFactors(sql, person.id);
  await sql.query(`delete from sessions where user_id = $1`, [person.id]);
  await deleteLinksOfUser(sql, person.id);
  return recordFactorChange(services, sql, person, caller, {
    action: 'member.second_factor_reset',
    details: { userId: person.id },
    subject: 'The second factor of your account was reset',
    what: `${caller.actor.name ?? 'Somebody'} reset the second factor of the account ${person.email}: the password alone signs in until you add another one. All sessions were ended.`,
  });
}

interface MemberToReset extends FactorPerson {
  /** The caller manages every organization of this person, as an owner where the person is one. */
  readonly managed: boolean;
}

const MEMBER_TO_RESET = `
  select u.id, u.email,
         not exists (
           select from members other
             left join members mine on mine.organization_id = other.organization_id and mine.user_id = $3
            where other.user_id = u.id
              and not coalesce(mine.role = 'owner' or (mine.role = 'admin' and other.role <> 'owner'), false)) as managed
    from members m join users u on u.id = m.user_id where m.organization_id = $1 and m.id = $2`;

/**
 * Resets the second factor of a member. It weakens the account in every organization of the person, so the caller must
 * manage all of them.
 *
 * @throws {CatalogueError} not_found, conflict
 */
export function resetMemberSecondFactor(
  services: Services,
  organizationId: string,
  memberId: string,
  acting: { readonly id: string },
  caller: Caller,
): Promise<NewMemberNotice[]> {
  return services.db.transaction(async (sql) => {
    const [member] = await sql.query<MemberToReset>(MEMBER_TO_RESET, [organizationId, memberId, acting.id]);
    if (member === undefined) throw new CatalogueError('not_found');
    if (member.id === acting.id)
      throw new CatalogueError('conflict', 'This is your own second factor.', {
        fix: 'Remove it with a code of the app or a recovery code, or ask another owner.',
      });
    if (!member.managed)
      throw new CatalogueError(
        'conflict',
        'This person is an owner, or a member of an organization you do not manage.',
        {
          fix: 'Ask an owner of all organizations of this person, or the operator of this service: agent-mailbox-admin reset-password --second-factor.',
        },
      );
    return resetSecondFactor(services, sql, member, caller);
  });
}
