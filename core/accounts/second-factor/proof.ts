/** How a person proves a second factor: a code of the app or a recovery code, or a passkey. */

import { countGuess } from '#core/accounts/guess-limits.ts';
import type { NewMemberNotice } from '#core/organizations/member-notices.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import { acceptCode } from './codes.ts';
import type { FactorOwner } from './factors-of-account.ts';
import { holdPasskey, type PasskeyAssertion, verifyAssertion } from './passkey-assertions.ts';
import type { CeremonyOf } from './passkey-ceremonies.ts';
import type { FactorPerson } from './record-change.ts';

export type FactorProof =
  | { readonly code: string }
  | {
      readonly passkey: PasskeyAssertion;
      /** Address of this service, to which the passkey belongs. */
      readonly publicUrl: string;
    };

export type CallerFrom = Caller & { readonly ipAddress: string };

/** Accepts the proof in the transaction that relies on it. */
type AcceptProof = (sql: Sql) => Promise<readonly NewMemberNotice[]>;

/**
 * Checks what can be checked before the transaction.
 *
 * @param of what an answer by passkey must be for
 * @throws {CatalogueError} unauthenticated; so does the function that is returned
 */
export async function readProof(
  services: Services,
  person: FactorPerson,
  proof: FactorProof,
  of: Pick<CeremonyOf, 'purpose' | 'boundTo'>,
  caller: Caller,
): Promise<AcceptProof> {
  if ('code' in proof) return (sql) => acceptCode(services, sql, person, proof.code, caller);
  const proven = await verifyAssertion(services, proof, { ...of, userId: person.id }, caller);
  return async (sql) => {
    await holdPasskey(sql, proven);
    return [];
  };
}

/**
 * Changes the factors of a person who proves one of them again. Guesses are counted as at sign-in.
 *
 * @param change gets the notices of the proof
 * @throws {CatalogueError} unauthenticated, rate_limited
 */
export function withProof<Result>(
  services: Services,
  person: FactorOwner,
  proof: FactorProof,
  caller: CallerFrom,
  change: (sql: Sql, used: readonly NewMemberNotice[]) => Promise<Result>,
): Promise<Result> {
  return withGuess(services, person, caller, async () => {
    const of = { purpose: 'confirm', boundTo: person.sessionId } as const;
    const accept = await readProof(services, person, proof, of, caller);
    return services.db.transaction(async (sql) => change(sql, await accept(sql)));
  });
}

/** Counts a guess around work that fails when the guess is wrong. */
export async function withGuess<Result>(
  services: Services,
  person: FactorPerson,
  { ipAddress }: Pick<CallerFrom, 'ipAddress'>,
  work: () => Promise<Result>,
): Promise<Result> {
  const guess = await countGuess(services, { of: 'second_factor', account: person.email, ipAddress });
  try {
    const done = await work();
    await guess.passed();
    return done;
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    if (error.code === 'unauthenticated') guess.failed('second factor is wrong');
    else await guess.passed();
    throw error;
  }
}
