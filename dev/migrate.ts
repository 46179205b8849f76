/**
 * Prepares what the processes work on: `npm run migrate`, and the step before them in docker-compose.yml.
 *
 * Brings the database to the newest schema, makes the first organization where there is none (its credentials are
 * printed once, here), adds the search attributes Temporal lacks, and makes development certificates where
 * TLS_CERT names a file that is not there. Safe to run again at any time.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { pino } from 'pino';
import { requirePostgres, requireTemporal } from '../core/dependencies.ts';
import { createLogger } from '../core/logger.ts';
import { openServices } from '../core/services.ts';
import { readSettings, SettingsError } from '../core/settings.ts';
import { temporalConnectionOptions } from '../core/temporal-client.ts';
import { migrate } from '../db/migrate.ts';
import { developmentCertificates } from './certificates.ts';
import { ensureFirstOrganization } from './first-organization.ts';
import { progressOn } from './progress.ts';
import { addSearchAttributes } from './search-attributes.ts';
import { newFirstCredentials } from './secrets-file.ts';

const progress = progressOn(process.stderr);

async function prepare(): Promise<void> {
  const settings = readSettings(process.env);
  const { DATABASE_URL, TLS_CERT, TLS_KEY } = settings;
  if (DATABASE_URL !== undefined) await progress.step('PostgreSQL', () => requirePostgres(DATABASE_URL));
  const services = await openServices(settings, createLogger(settings.LOG_LEVEL, pino.destination(2)));
  try {
    await progress.step('Database schema', () => migrate(services.db));
    const email = settings.OWNER_EMAIL ?? `owner@${settings.MAIL_DOMAIN}`;
    const made = newFirstCredentials(email);
    const credentials = { ...made, password: settings.OWNER_PASSWORD ?? made.password };
    const first = await progress.step('Organization', () => ensureFirstOrganization(services, credentials));
    if (settings.TEMPORAL_ADDRESS !== undefined) {
      const connection = temporalConnectionOptions(settings);
      const namespace = settings.TEMPORAL_NAMESPACE;
      await progress.step('Temporal search attributes', async (note) => {
        await requireTemporal(connection, namespace);
        const added = await addSearchAttributes(connection, namespace);
        if (added.length > 0) note(`added ${added.join(', ')}`);
      });
    }
    if (TLS_CERT !== undefined && TLS_KEY !== undefined && !existsSync(TLS_CERT)) {
      const { certFile, keyFile } = developmentCertificates(path.dirname(TLS_CERT), [
        settings.MAIL_HOSTNAME,
        settings.MAIL_DOMAIN,
      ]);
      if (certFile !== path.resolve(TLS_CERT) || keyFile !== path.resolve(TLS_KEY))
        throw new SettingsError([
          `TLS_CERT: there is no ${TLS_CERT}. A development certificate was made as ${certFile}`,
        ]);
      progress.warn(`TLS_CERT did not exist: a development certificate was made as ${certFile}`);
    }
    if (first.created) {
      const shown = settings.OWNER_PASSWORD === undefined ? first.password : '(OWNER_PASSWORD)';
      process.stdout.write(
        `\nThe first organization was made. This is shown once:\n\n  sign-in   ${first.email}\n  password  ${shown}\n  API key   ${first.apiKey}\n\n`,
      );
    }
  } finally {
    await services.close();
  }
}

try {
  await prepare();
} catch (error) {
  process.stderr.write(
    `\nmigrate: ${error instanceof SettingsError ? error.message : error instanceof Error ? error.stack : error}\n`,
  );
  process.exitCode = 1;
}
