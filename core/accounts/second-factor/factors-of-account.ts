/** What follows from the first second factor of an account, and from the end of the last one. */
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { hasSecondFactor } from '#db/queries/accounts/second-factors.ts';
import { replaceRecoveryCodes } from './codes.ts';

/** A signed-in person who changes the own second factors. */
export interface FactorOwner {
  readonly id: string;
  readonly email: string;
  readonly sessionId: string;
}

/**
 * Takes the account for a change of its factors, in somebody's transaction: two changes at the same time must not both
 * take themselves for the first or the last.
 *
 * @returns whether it has a factor
 */
export async function lockFactors(sql: Sql, userId: string): Promise<boolean> {
  await sql.query(`select 1 from users where id = $1 for no key update`, [userId]);
  const [{ has } = { has: false }] = await sql.query<{ has: boolean }>(`select ${hasSecondFactor('$1')} as has`, [
    userId,
  ]);
  return has;
}

/**
 * After a factor was added. The session has proven it. With the first one all other sessions of the person end, because
 * they were opened without it.
 *
 * @param had what {@link lockFactors} answered before
 * @returns recovery codes, to be shown once; null: the person has some already
 */
export async function factorAdded(
  services: Pick<Services, 'pepper' | 'now'>,
  sql: Sql,
  { id, sessionId }: FactorOwner,
  had: boolean,
): Promise<string[] | null> {
  await sql.query(`update sessions set second_factor_at = $2 where id = $1`, [sessionId, new Date(services.now())]);
  if (had) return null;
  await sql.query(`delete from sessions where user_id = $1 and id <> $2`, [id, sessionId]);
  await sql.query(`delete from device_sign_ins where user_id = $1`, [id]);
  return replaceRecoveryCodes(services, sql, id);
}

/** After a factor was removed: a session has none that its account has not. */
export async function factorRemoved(sql: Sql, userId: string): Promise<void> {
  if (await lockFactors(sql, userId)) return;
  await endFactors(sql, userId);
  await sql.query(`update sessions set second_factor_at = null where user_id = $1`, [userId]);
}

/** Removes all factors, and sign-ins that wait for one. */
export async function endFactors(sql: Sql, userId: string): Promise<void> {
  await sql.query(`delete from totp_factor where user_id = $1`, [userId]);
  await sql.query(`delete from passkeys where user_id = $1`, [userId]);
  await sql.query(`delete from passkey_ceremonies where user_id = $1`, [userId]);
  await sql.query(`delete from recovery_code where user_id = $1`, [userId]);
  await sql.query(`delete from sign_in_challenges where user_id = $1`, [userId]);
  // Approved ones become sessions that count as proven.
  await sql.query(`delete from device_sign_ins where user_id = $1`, [userId]);
}
