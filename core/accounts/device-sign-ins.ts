/**
 * Signing in on a device by confirming a code in the browser (RFC 8628):
 *
 *   device ─▶ begin: device code (secret), user code ─▶ person, signed in, enters the user code and approves
 *   device ─▶ takes its session with the device code, once
 *
 * Only a signed-in person decides; no mail carries a code or a link. The session is one of that person, listed and ended
 * like any other, and has the second factor that the session had in which it was approved. A password change deletes what was approved and not taken.
 */
import { randomInt } from 'node:crypto';
import { sourceOf } from '#core/platform/addresses/source-address.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { hashCredential, newCredential } from '#core/platform/secrets/credentials.ts';
import { sqlOfEntityManager } from '#db/database.ts';
import { countUse } from '#db/queries/platform/count-use.ts';
import {
  DEVICE_CODES_PER_PERSON_AND_HOUR,
  DEVICE_POLL_SECONDS,
  DEVICE_SIGN_IN_LIFE_SECONDS,
  DEVICE_SIGN_INS_PER_SOURCE_AND_HOUR,
  readUserCode,
  USER_CODE_ALPHABET,
  USER_CODE_LENGTH,
} from '#domain/access/sign-in-limits.ts';
import { CatalogueError } from '#domain/errors.ts';
import { insertSession, type NewSession, type SignedInUser, type SignInOrigin } from './sessions.ts';

const HOUR_MS = 3_600_000;
/** A device whose clock is a little fast is not refused. */
const POLL_TOLERANCE_MS = 1_000;

export interface NewDeviceSignIn {
  /** Shown this once, to the device. */
  readonly deviceCode: string;
  /** Without the hyphen. */
  readonly userCode: string;
  readonly expiresAt: Date;
}

/** What the person sees before deciding. */
export interface DeviceSignInView {
  /** What the device calls itself: its own claim. */
  readonly name: string;
  readonly ipAddress: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

const newUserCode = (): string =>
  Array.from({ length: USER_CODE_LENGTH }, () => USER_CODE_ALPHABET[randomInt(USER_CODE_ALPHABET.length)]).join('');

async function limit({ db, now }: Services, key: string, perHour: number): Promise<void> {
  const { used, resetsInMs } = await countUse(db, key, HOUR_MS, now());
  if (used > perHour)
    throw new CatalogueError('rate_limited', undefined, {
      retryAfterSeconds: Math.max(1, Math.ceil(resetsInMs / 1_000)),
    });
}

/** @throws {CatalogueError} rate_limited, by source */
export async function beginDeviceSignIn(services: Services, name: string, ipAddress: string): Promise<NewDeviceSignIn> {
  await limit(services, `device_sign_in:source:${sourceOf(ipAddress)}`, DEVICE_SIGN_INS_PER_SOURCE_AND_HOUR);
  const { db, pepper } = services;
  const now = services.now();
  const deviceCode = newCredential('deviceCode');
  const userCode = newUserCode();
  const expiresAt = new Date(now + DEVICE_SIGN_IN_LIFE_SECONDS * 1_000);
  await db.transaction((sql) =>
    sql.query(
      `insert into device_sign_ins (id, device_code_hash, user_code_hash, name, ip_address, created_at, expires_at)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [
        newId('deviceSignIn', now),
        hashCredential(deviceCode, pepper),
        hashCredential(userCode, pepper),
        name,
        ipAddress,
        new Date(now),
        expiresAt,
      ],
    ),
  );
  return { deviceCode, userCode, expiresAt };
}

/** The hash of a typed code; each is counted. @throws {CatalogueError} not_found, rate_limited */
async function enteredCode(services: Services, userId: string, typed: string): Promise<Buffer> {
  await limit(services, `device_sign_in:person:${userId}`, DEVICE_CODES_PER_PERSON_AND_HOUR);
  const code = readUserCode(typed);
  if (code === undefined) throw unknownCode();
  return hashCredential(code, services.pepper);
}

const unknownCode = (): CatalogueError =>
  new CatalogueError('not_found', 'There is no such code, or it has expired.', {
    fix: 'Compare it with the one on the device; a code is valid for ten minutes.',
  });

/** @throws {CatalogueError} not_found, rate_limited */
export async function findDeviceSignIn(services: Services, userId: string, typed: string): Promise<DeviceSignInView> {
  const hash = await enteredCode(services, userId, typed);
  const [found] = await services.db.query<DeviceSignInView>(
    `select name, ip_address as "ipAddress", created_at as "createdAt", expires_at as "expiresAt"
       from device_sign_ins where user_code_hash = $1 and expires_at > $2 and approved is null`,
    [hash, new Date(services.now())],
  );
  if (found === undefined) throw unknownCode();
  return found;
}

/** @throws {CatalogueError} not_found (also when it was decided before), rate_limited */
export async function decideDeviceSignIn(
  services: Services,
  person: { readonly id: string; readonly secondFactorAt: Date | null },
  typed: string,
  approve: boolean,
): Promise<void> {
  const hash = await enteredCode(services, person.id, typed);
  const decided = await services.db.transaction((sql) =>
    sql.query(
      `update device_sign_ins set user_id = $3, approved = $4, second_factor_at = $5
        where user_code_hash = $1 and expires_at > $2 and approved is null returning id`,
      [hash, new Date(services.now()), person.id, approve, person.secondFactorAt],
    ),
  );
  if (decided.length === 0) throw unknownCode();
}

export type DeviceSignInResult =
  | { readonly status: 'pending' | 'denied' | 'expired' }
  | { readonly status: 'approved'; readonly session: NewSession };

/**
 * The session of a device, once. Also the answer of a code that never was is `expired`.
 *
 * @throws {CatalogueError} rate_limited when it is asked for too often
 */
export function takeDeviceSession(
  services: Services,
  deviceCode: string,
  origin: SignInOrigin,
): Promise<DeviceSignInResult> {
  const now = services.now();
  return services.db.entityTransaction(async (em) => {
    const sql = sqlOfEntityManager(em);
    const [row] = await sql.query<{
      id: string;
      name: string;
      approved: boolean | null;
      /** 0: not yet. */
      polledMs: number | string;
      userId: string | null;
      secondFactorAt: Date | null;
    }>(
      `select id, name, approved, coalesce(extract(epoch from polled_at) * 1000, 0) as "polledMs", user_id as "userId",
              second_factor_at as "secondFactorAt" from device_sign_ins
        where device_code_hash = $1 and expires_at > $2 for update`,
      [hashCredential(deviceCode, services.pepper), new Date(now)],
    );
    if (row === undefined) return { status: 'expired' };
    if (row.approved === null) {
      const earliest = Number(row.polledMs) + DEVICE_POLL_SECONDS * 1_000 - POLL_TOLERANCE_MS;
      if (now < earliest)
        throw new CatalogueError('rate_limited', undefined, { retryAfterSeconds: DEVICE_POLL_SECONDS });
      await sql.query(`update device_sign_ins set polled_at = $2 where id = $1`, [row.id, new Date(now)]);
      return { status: 'pending' };
    }
    await sql.query(`delete from device_sign_ins where id = $1`, [row.id]);
    if (!row.approved) return { status: 'denied' };
    const [user] = await sql.query<SignedInUser>(`select id, name, email from users where id = $1`, [row.userId]);
    if (user === undefined) return { status: 'expired' };
    const session = await insertSession(services, em, user, {
      ...origin,
      userAgent: row.name,
      secondFactorAt: row.secondFactorAt,
    });
    return { status: 'approved', session };
  });
}
