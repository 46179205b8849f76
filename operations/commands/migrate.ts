/**
 * `migrate`: prepares database and Temporal for the processes; the first step in docker-compose.yml. Safe to run again at
 * any time; runs at the same time wait for each other.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { temporalConnectionOptions } from '#core/platform/engine/temporal-client.ts';
import { requireTemporal } from '#core/platform/engine/temporal-setup.ts';
import type { Services } from '#core/platform/process/services.ts';
import {
  agreedTemporal,
  requireAcceptedSettings,
  storeAgreedSettings,
  storeAgreedTemporal,
} from '#core/platform/settings/agreed-settings.ts';
import { type Settings, SettingsError } from '#core/platform/settings/settings.ts';
import { checkDatabase } from '#core/process/check-database.ts';
import { requireOwnSecretsKeys } from '#core/process/start-checks.ts';
import { migrate, pendingMigrations, preparingAlone } from '#db/migrate.ts';
import { developmentCertificateFiles, developmentCertificates } from '#operations/certificates.ts';
import { type CommandContext, command } from '#operations/command.ts';
import { ensureFirstOrganization, type FirstOrganization } from '#operations/first-organization.ts';
import type { Progress } from '#operations/progress.ts';
import { newFirstCredentials } from '#operations/secrets-file.ts';

const options = {
  acceptChangedSettings: {
    text: 'confirm another TEMPORAL_NAMESPACE, TEMPORAL_TASK_QUEUE, CREDENTIAL_PEPPER or Temporal than the database has; stop all processes before',
  },
} as const;

export const migrateCommand = command({
  name: 'migrate',
  summary: 'prepare database and Temporal: before the first start and after each upgrade',
  description:
    'Migrates the database to the newest schema, writes the settings that all processes must have alike, creates the first organization if there is none, creates the namespace and search attributes that Temporal lacks, and creates development certificates if the file of TLS_CERT does not exist. Sign-in, password and API key of the first organization are shown by each run until its owner has signed in.',
  arguments: {},
  options,
  async run(context) {
    const { DATABASE_URL } = context.settings('DATABASE_URL', 'SECRETS_KEYS', 'CREDENTIAL_PEPPER');
    const services = await context.progress.step('PostgreSQL', () => context.services());
    await preparingAlone(
      DATABASE_URL,
      () => prepareAll(services, context),
      () => context.progress.say('Another migration is running; waiting for its end.'),
    );
    return 'done';
  },
});

async function prepareAll(
  services: Services,
  {
    progress,
    options: { acceptChangedSettings: accept },
    output,
  }: CommandContext<Record<never, never>, typeof options>,
): Promise<void> {
  const { settings } = services;
  requireCertificatePlace(settings);
  const { TEMPORAL_NAMESPACE: _namespace, TEMPORAL_TASK_QUEUE: _taskQueue, ...withoutTemporal } = settings;
  const agreed = settings.TEMPORAL_ADDRESS === undefined ? withoutTemporal : settings;
  await requireAcceptedSettings(services.db, agreed, accept);
  const pending = await pendingMigrations(services.db);
  await progress.step('Database schema', async (note) => {
    await migrate(services.db, Date.now(), () => note('a backup is being made; waiting for its end'));
    await storeAgreedSettings(services.db, agreed);
  });
  await requireOwnSecretsKeys(services);
  for (const { message } of await checkDatabase(services.db)) progress.warn(`PostgreSQL: ${message}`);
  const made = newFirstCredentials(settings.OWNER_EMAIL ?? `owner@${settings.MAIL_DOMAIN}`);
  const credentials = { ...made, password: settings.OWNER_PASSWORD ?? made.password };
  const first = await progress.step('Organization', () => ensureFirstOrganization(services, credentials));
  // At once: if they get lost after this, the next run shows new ones.
  output({ migrations: pending, organization: shownCredentials(first, settings) }, credentialsText(first, settings));
  if (settings.TEMPORAL_ADDRESS !== undefined)
    await progress.step('Temporal namespace and search attributes', async (note) => {
      const { made: added, temporal } = await requireTemporal(
        temporalConnectionOptions(settings),
        settings.TEMPORAL_NAMESPACE,
        { mayCreateNamespace: true, agreed: accept ? undefined : await agreedTemporal(services.db) },
      );
      await storeAgreedTemporal(services.db, temporal);
      if (added.length > 0) note(`made ${added.join(', ')}`);
    });
  makeMissingCertificate(settings, progress);
}

/** What is shown until somebody has signed in. The password of OWNER_PASSWORD is known already. */
function shownCredentials({ state, organizationId, email, password, apiKey }: FirstOrganization, settings: Settings) {
  if (state === 'in_use') return { state, organizationId };
  return {
    state,
    organizationId,
    email: email ?? null,
    password: settings.OWNER_PASSWORD === undefined ? (password ?? null) : null,
    apiKey: apiKey ?? null,
  };
}

function credentialsText({ state, email, password, apiKey }: FirstOrganization, settings: Settings): string {
  if (state === 'in_use') return 'The database is migrated.';
  const shown = settings.OWNER_PASSWORD === undefined ? password : '(OWNER_PASSWORD)';
  const title =
    state === 'made'
      ? 'The first organization was created.'
      : 'Nobody has signed in yet. Credentials shown by an earlier run are no longer valid. The new ones:';
  return (
    `\n${title}\n\n  sign-in   ${email}\n  password  ${shown}\n` +
    `  API key   ${apiKey ?? '(the first one was used already and cannot be shown again; sign in and create another)'}\n\n` +
    'Each run shows new credentials until somebody has signed in, then never again.\n'
  );
}

/** @throws {SettingsError} if a certificate is missing, and a development certificate would have another name */
function requireCertificatePlace({ TLS_CERT, TLS_KEY }: Settings): void {
  if (TLS_CERT === undefined || TLS_KEY === undefined || existsSync(TLS_CERT)) return;
  const { certFile, keyFile } = developmentCertificateFiles(path.dirname(TLS_CERT));
  if (certFile !== path.resolve(TLS_CERT) || keyFile !== path.resolve(TLS_KEY))
    throw new SettingsError([
      `TLS_CERT: there is no ${TLS_CERT}. Put the certificate there; for a development certificate set TLS_CERT=${certFile} and TLS_KEY=${keyFile}`,
    ]);
}

function makeMissingCertificate({ TLS_CERT, MAIL_HOSTNAME, MAIL_DOMAIN }: Settings, progress: Progress): void {
  if (TLS_CERT === undefined || existsSync(TLS_CERT)) return;
  const { certFile } = developmentCertificates(path.dirname(TLS_CERT), [MAIL_HOSTNAME, MAIL_DOMAIN]);
  progress.warn(`TLS_CERT did not exist: a development certificate was created as ${certFile}`);
}
