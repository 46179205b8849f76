/**
 * Signing in with a passkey alone: it is something the person has, unlocked by something the person knows or is. So the
 * session has the second factor.
 */
import { insertSession, type NewSession, type SignInOrigin } from '#core/accounts/sessions.ts';
import { requireActive } from '#core/accounts/sign-in.ts';
import { sourceOf } from '#core/platform/addresses/source-address.ts';
import { loginsTotal } from '#core/platform/log/metrics.ts';
import type { Services } from '#core/platform/process/services.ts';
import { sqlOfEntityManager } from '#db/database.ts';
import { countUse } from '#db/queries/platform/count-use.ts';
import { SIGN_IN_WINDOW_SECONDS } from '#domain/access/credential-format.ts';
import { PASSKEY_SIGN_INS_PER_SOURCE } from '#domain/access/passkeys.ts';
import { CatalogueError } from '#domain/errors.ts';
import { holdPasskey, type PasskeyAssertion, verifyAssertion } from './passkey-assertions.ts';
import { askForPasskey, type PasskeyRequest } from './passkey-requests.ts';

const OF = { purpose: 'sign_in', userId: null, boundTo: null } as const;

/** Begins it for whoever has a passkey of this site. @throws {CatalogueError} rate_limited, conflict */
export async function beginPasskeySignIn(
  services: Services,
  ipAddress: string,
  publicUrl: string,
): Promise<PasskeyRequest> {
  const { db, now } = services;
  // A signature cannot be guessed: what is limited is the number of ceremonies that wait.
  const key = `passkey:address:${sourceOf(ipAddress)}`;
  const { used, resetsInMs } = await countUse(db, key, SIGN_IN_WINDOW_SECONDS * 1_000, now());
  if (used > PASSKEY_SIGN_INS_PER_SOURCE)
    throw new CatalogueError('rate_limited', undefined, {
      retryAfterSeconds: Math.max(1, Math.ceil(resetsInMs / 1_000)),
    });
  return db.transaction((sql) => askForPasskey(services, sql, OF, publicUrl));
}

/** @throws {CatalogueError} unauthenticated; forbidden, if all organizations of the person are suspended */
export async function signInByPasskey(
  services: Services,
  input: { readonly passkey: PasskeyAssertion; readonly publicUrl: string },
  origin: SignInOrigin & { readonly ipAddress: string },
): Promise<NewSession> {
  const { db, mailLog } = services;
  const proven = await verifyAssertion(services, input, OF, origin).catch((error: unknown) => {
    if (error instanceof CatalogueError && error.code === 'unauthenticated') {
      loginsTotal.inc({ protocol: 'web', outcome: 'failed' });
      const reply = 'passkey was refused';
      const client = origin.ipAddress;
      mailLog.refused({ mail: 'login', outcome: 'refused', listener: 'sign-in', client, reply });
    }
    throw error;
  });
  await requireActive(db, proven.id);
  const session = await db.entityTransaction(async (em) => {
    await holdPasskey(sqlOfEntityManager(em), proven);
    return insertSession(services, em, proven, { ...origin, secondFactorAt: new Date(services.now()) });
  });
  loginsTotal.inc({ protocol: 'web', outcome: 'passed' });
  return session;
}
