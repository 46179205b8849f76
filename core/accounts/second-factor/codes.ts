/**
 * What a person types as second factor: a code of the authenticator app (RFC 6238), or a recovery code. Each is accepted
 * once; of an app's codes also none that is older than an accepted one (RFC 6238 §5.2).
 */
import { randomBytes, randomInt } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import type { NewMemberNotice } from '#core/organizations/member-notices.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { Services } from '#core/platform/process/services.ts';
import { hashCredential } from '#core/platform/secrets/credentials.ts';
import type { Sql } from '#db/database.ts';
import {
  RECOVERY_CODE_ALPHABET,
  RECOVERY_CODE_LENGTH,
  RECOVERY_CODES,
  readSecondFactorCode,
  shownRecoveryCode,
  TOTP_DIGITS,
  TOTP_PERIOD_SECONDS,
  TOTP_SECRET_BYTES,
  TOTP_WINDOW_STEPS,
} from '#domain/access/second-factor.ts';
import { CatalogueError } from '#domain/errors.ts';
import { type FactorPerson, recordFactorChange } from './record-change.ts';

const ISSUER = 'Agent Mailbox';

/** Identity of the secret in its sealed form. */
export const totpSecretPlace = (userId: string): string => `totp_factor:secret_sealed:${userId}`;

const totpOf = (secret: string, label = ''): TOTP =>
  new TOTP({
    issuer: ISSUER,
    label,
    algorithm: 'SHA1',
    digits: TOTP_DIGITS,
    period: TOTP_PERIOD_SECONDS,
    secret: Secret.fromBase32(secret),
  });

/** A new secret in base32, and the address that authenticator apps read from the picture. */
export function newTotpSecret(email: string): { readonly secret: string; readonly uri: string } {
  const secret = new Secret({ buffer: new Uint8Array(randomBytes(TOTP_SECRET_BYTES)).buffer }).base32;
  return { secret, uri: totpOf(secret, email).toString() };
}

const wrong = (): CatalogueError =>
  new CatalogueError('unauthenticated', 'The code is wrong, or was used before.', {
    fix: 'Wait for the next code of the app, and check that the clock of its device is right. A recovery code works once.',
  });

/**
 * Takes a code of the app, in somebody's transaction.
 *
 * @param confirmed whether the app was set up before
 * @throws {CatalogueError} unauthenticated
 */
export async function takeTotpCode(
  { secrets, now }: Pick<Services, 'secrets' | 'now'>,
  sql: Sql,
  userId: string,
  digits: string,
  confirmed: boolean,
): Promise<void> {
  const [row] = await sql.query<{ sealed: string }>(
    `select secret_sealed as sealed from totp_factor where user_id = $1 and (confirmed_at is not null) = $2 for update`,
    [userId, confirmed],
  );
  if (row === undefined) throw wrong();
  const nowMs = now();
  const totp = totpOf(secrets.open(row.sealed, totpSecretPlace(userId)));
  const delta = totp.validate({ token: digits, timestamp: nowMs, window: TOTP_WINDOW_STEPS });
  if (delta === null) throw wrong();
  const step = Math.floor(nowMs / 1_000 / TOTP_PERIOD_SECONDS) + delta;
  const taken = await sql.query(
    `update totp_factor set last_step = $2 where user_id = $1 and coalesce(last_step < $2, true) returning 1`,
    [userId, step],
  );
  if (taken.length === 0) throw wrong();
}

/**
 * Takes a code of either kind, in somebody's transaction. The use of a recovery code is audited and noticed.
 *
 * @throws {CatalogueError} unauthenticated
 */
export async function acceptCode(
  services: Services,
  sql: Sql,
  person: FactorPerson,
  typed: string,
  caller: Caller,
): Promise<NewMemberNotice[]> {
  const code = readSecondFactorCode(typed);
  if (code === undefined) throw wrong();
  if (code.kind === 'totp') {
    await takeTotpCode(services, sql, person.id, code.digits, true);
    return [];
  }
  const used = await sql.query(
    `update recovery_code set used_at = $3 where user_id = $1 and code_hash = $2 and used_at is null returning 1`,
    [person.id, hashCredential(code.code, services.pepper), new Date(services.now())],
  );
  if (used.length === 0) throw wrong();
  const left = await recoveryCodesLeft(sql, person.id);
  return recordFactorChange(services, sql, person, caller, {
    action: 'user.recovery_code_used',
    details: { left },
    subject: 'A recovery code of your account was used',
    what: `A recovery code was used instead of the second factor of ${person.email}; ${left} of ${RECOVERY_CODES} are left.`,
  });
}

export async function recoveryCodesLeft(sql: Sql, userId: string): Promise<number> {
  const [row] = await sql.query<{ n: number }>(
    `select count(*)::int as n from recovery_code where user_id = $1 and used_at is null`,
    [userId],
  );
  return row?.n ?? 0;
}

const newCode = (): string =>
  Array.from(
    { length: RECOVERY_CODE_LENGTH },
    () => RECOVERY_CODE_ALPHABET[randomInt(RECOVERY_CODE_ALPHABET.length)],
  ).join('');

/** Makes new recovery codes, in somebody's transaction; the former ones end. @returns them as they are shown, once */
export async function replaceRecoveryCodes(
  { pepper, now }: Pick<Services, 'pepper' | 'now'>,
  sql: Sql,
  userId: string,
): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, newCode);
  await sql.query(`delete from recovery_code where user_id = $1`, [userId]);
  await sql.query(
    `insert into recovery_code (user_id, code_hash, created_at) select $1, h, $3 from unnest($2::bytea[]) as h`,
    [userId, codes.map((code) => hashCredential(code, pepper)), new Date(now())],
  );
  return codes.map(shownRecoveryCode);
}
