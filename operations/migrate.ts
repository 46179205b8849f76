/**
 * Prepares database and Temporal for the processes: `npm run migrate`, and the first step in docker-compose.yml.
 *
 * Migrates the database to the newest schema, writes the settings that all processes must have alike, creates the first organization if there is none, creates the namespace
 * and search attributes that Temporal lacks, and creates development certificates if the file of TLS_CERT does not
 * exist. Sign-in, password and API key of the first organization are printed by each run until its owner has signed in.
 *
 * Safe to run again at any time; runs at the same time wait for each other.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { temporalConnectionOptions } from '#core/platform/engine/temporal-client.ts';
import { requireTemporal } from '#core/platform/engine/temporal-setup.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { createLogger, logDestination } from '#core/platform/log/logger.ts';
import { openServices, type Services } from '#core/platform/process/services.ts';
import {
  ACCEPT_CHANGED_SETTINGS,
  agreedTemporal,
  requireAcceptedSettings,
  storeAgreedSettings,
  storeAgreedTemporal,
} from '#core/platform/settings/agreed-settings.ts';
import { readSettings, type Settings, SettingsError } from '#core/platform/settings/settings.ts';
import { checkDatabase } from '#core/process/check-database.ts';
import { requirePostgres } from '#core/process/dependencies.ts';
import { requireOwnSecretsKeys } from '#core/process/start-checks.ts';
import { migrate, preparingAlone, UnknownSchemaError } from '#db/migrate.ts';
import { developmentCertificateFiles, developmentCertificates } from './certificates.ts';
import { ensureFirstOrganization, type FirstOrganization } from './first-organization.ts';
import { progressOn } from './progress.ts';
import { newFirstCredentials } from './secrets-file.ts';

const STANDARD_ERROR = 2;
const progress = progressOn(process.stderr);

async function prepare(): Promise<void> {
  const settings = readSettings(process.env);
  const { DATABASE_URL } = settings;
  const log = createLogger(settings.LOG_LEVEL, logDestination(STANDARD_ERROR));
  if (DATABASE_URL !== undefined) await progress.step('PostgreSQL', () => requirePostgres(DATABASE_URL));
  const services = await openServices(settings, log);
  try {
    await preparingAlone(
      DATABASE_URL ?? '',
      () => prepareAll(services, settings),
      () => progress.say('Another migration is running; waiting for its end.'),
    );
  } finally {
    await services.close();
  }
}

async function prepareAll(services: Services, settings: Settings): Promise<void> {
  requireCertificatePlace(settings);
  const { TEMPORAL_NAMESPACE: _namespace, TEMPORAL_TASK_QUEUE: _taskQueue, ...withoutTemporal } = settings;
  const agreed = settings.TEMPORAL_ADDRESS === undefined ? withoutTemporal : settings;
  const accept = process.argv.includes(ACCEPT_CHANGED_SETTINGS);
  await requireAcceptedSettings(services.db, agreed, accept);
  await progress.step('Database schema', async () => {
    await migrate(services.db);
    await storeAgreedSettings(services.db, agreed);
  });
  await requireOwnSecretsKeys(services);
  for (const { message } of await checkDatabase(services.db)) progress.warn(`PostgreSQL: ${message}`);
  const made = newFirstCredentials(settings.OWNER_EMAIL ?? `owner@${settings.MAIL_DOMAIN}`);
  const credentials = { ...made, password: settings.OWNER_PASSWORD ?? made.password };
  const first = await progress.step('Organization', () => ensureFirstOrganization(services, credentials));
  // At once: if they get lost after this, the next run shows new ones.
  showCredentials(first, settings);
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
  makeMissingCertificate(settings);
}

function showCredentials({ state, email, password, apiKey }: FirstOrganization, settings: Settings): void {
  if (state === 'in_use') return;
  const shown = settings.OWNER_PASSWORD === undefined ? password : '(OWNER_PASSWORD)';
  const title =
    state === 'made'
      ? 'The first organization was created.'
      : 'Nobody has signed in yet. Credentials shown by an earlier run are no longer valid. The new ones:';
  process.stdout.write(
    `\n${title}\n\n  sign-in   ${email}\n  password  ${shown}\n` +
      `  API key   ${apiKey ?? '(the first one was used already and cannot be shown again; sign in and create another)'}\n\n` +
      'Each run shows new credentials until somebody has signed in, then never again.\n\n',
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

function makeMissingCertificate({ TLS_CERT, MAIL_HOSTNAME, MAIL_DOMAIN }: Settings): void {
  if (TLS_CERT === undefined || existsSync(TLS_CERT)) return;
  const { certFile } = developmentCertificates(path.dirname(TLS_CERT), [MAIL_HOSTNAME, MAIL_DOMAIN]);
  progress.warn(`TLS_CERT did not exist: a development certificate was created as ${certFile}`);
}

try {
  await prepare();
} catch (error) {
  const unexpected =
    error instanceof Error && !(error instanceof SettingsError || error instanceof UnknownSchemaError)
      ? `\n${error.stack}`
      : '';
  process.stderr.write(`\nmigrate: ${reasonOf(error)}${unexpected}\n`);
  process.exitCode = 1;
}
