import type { Services } from '#core/platform/process/services.ts';
import { requireAgreedSettings } from '#core/platform/settings/agreed-settings.ts';
import { SettingsError } from '#core/platform/settings/settings.ts';
import { checkSecretsKeys } from './check-secrets-keys.ts';

/**
 * Whether this process belongs to the installation of its database. Call it before anything is listened on, sent or
 * started.
 *
 * @throws {SettingsError} if it has the keys or settings of another one
 */
export async function requireOwnInstallation(services: Pick<Services, 'db' | 'secrets' | 'settings'>): Promise<void> {
  await requireAgreedSettings(services.db, services.settings);
  await requireOwnSecretsKeys(services);
}

/**
 * Some missing keys are a warning of `/readyz`, because everything else works.
 *
 * @throws {SettingsError} if no sealed value of the database can be opened
 */
export async function requireOwnSecretsKeys({ db, secrets }: Pick<Services, 'db' | 'secrets'>): Promise<void> {
  const { state, missingIds } = await checkSecretsKeys(db, secrets);
  if (state === 'missing')
    throw new SettingsError([
      `SECRETS_KEYS has the keys of another installation: no secret in this database was sealed with one of them. ` +
        `Set the keys of this one, or DATABASE_URL to its database (needed: ${missingIds.map((id) => `"${id}"`).join(', ')})`,
    ]);
}
