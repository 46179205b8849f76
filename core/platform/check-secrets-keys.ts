import { keysInUse } from '#core/reseal/reseal.ts';
import type { Sql } from '#db/database.ts';
import type { SealedSecrets } from './sealed-secrets.ts';

/**
 * - `missing_some`: some values are sealed with a key that SECRETS_KEYS lacks; operations that need them fail, the rest
 *   works.
 * - `missing`: there are sealed values, and SECRETS_KEYS has the key of none of them: these keys belong to another
 *   installation.
 */
export type SecretsKeysState = 'ok' | 'missing_some' | 'missing';

/** Compares the key ids of sealed values with those of SECRETS_KEYS. Reads every sealed value: not for each request. */
export async function checkSecretsKeys(
  db: Sql,
  secrets: SealedSecrets,
): Promise<{ readonly state: SecretsKeysState; readonly missingIds: readonly string[] }> {
  const used = [...(await keysInUse(db)).keys()];
  const missingIds = used.filter((id) => !secrets.keyIds.includes(id));
  if (missingIds.length === 0) return { state: 'ok', missingIds };
  return { state: missingIds.length === used.length ? 'missing' : 'missing_some', missingIds };
}
