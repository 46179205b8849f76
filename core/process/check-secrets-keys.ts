import type { SealedSecrets } from '#core/platform/secrets/sealed-secrets.ts';
import { sealedSamples } from '#core/reseal/reseal.ts';
import type { Sql } from '#db/database.ts';

/**
 * - `missing_some`: some values are sealed with a key that SECRETS_KEYS lacks; operations that need them fail, the rest
 *   works.
 * - `missing`: there are sealed values, and SECRETS_KEYS has the key of none of them: these keys belong to another
 *   installation.
 */
export type SecretsKeysState = 'ok' | 'missing_some' | 'missing';

/**
 * Opens some sealed values of each key id: another installation may have another key under the same id. Reads every
 * sealed value: not for each request.
 *
 * @returns ids of the keys that SECRETS_KEYS lacks, or has with another value
 */
export async function checkSecretsKeys(
  db: Sql,
  secrets: SealedSecrets,
): Promise<{ readonly state: SecretsKeysState; readonly missingIds: readonly string[] }> {
  const used = Map.groupBy(await sealedSamples(db), ({ keyId }) => keyId);
  // One that opens is enough: a value can be damaged.
  const missingIds = [...used].flatMap(([id, samples]) =>
    samples.some(({ sealed, place }) => opens(secrets, sealed, place)) ? [] : [id],
  );
  if (missingIds.length === 0) return { state: 'ok', missingIds };
  return { state: missingIds.length === used.size ? 'missing' : 'missing_some', missingIds };
}

function opens(secrets: SealedSecrets, sealed: string, place: string): boolean {
  try {
    secrets.open(sealed, place);
    return true;
  } catch {
    return false;
  }
}
