/** The settings of a running `npm start`, from the files it keeps in DATA_DIR. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** As environment variables. Without a running service only the secrets that were generated, or nothing. */
export function settingsOfStartedService(dataDir: string): Record<string, string> {
  const service = readObject(path.join(dataDir, 'service.json'));
  const secrets = readObject(path.join(dataDir, 'secrets.json'));
  const values = {
    ...(typeof service['settings'] === 'object' ? service['settings'] : {}),
    ...(service['databaseUrl'] === undefined ? {} : { DATABASE_URL: service['databaseUrl'] }),
    SECRETS_KEYS: secrets['secretsKeys'],
    CREDENTIAL_PEPPER: secrets['credentialPepper'],
  };
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function readObject(file: string): Record<string, unknown> {
  if (!existsSync(file)) return {};
  const read: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return typeof read === 'object' && read !== null ? { ...read } : {};
}
