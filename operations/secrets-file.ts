/**
 * `DATA_DIR/secrets.json`, mode 0600: values that `npm start` generates once so that nothing has to be configured, and
 * the credentials of the first organization. Settings of the same name take precedence.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { newCredential } from '#core/platform/secrets/credentials.ts';
import { writeWhole } from '#core/platform/write-file.ts';

const KEY_BYTES = 32;
const PASSWORD_BYTES = 15;

export interface FirstCredentials {
  readonly email: string;
  readonly password: string;
  readonly apiKey: string;
}

export interface SecretsFile {
  /** Value of the setting SECRETS_KEYS. */
  readonly secretsKeys: string;
  /** Value of the setting CREDENTIAL_PEPPER. */
  readonly credentialPepper: string;
  /** Value of the setting OPERATOR_KEY. */
  readonly operatorKey: string;
  /** Distinguishes this installation from others that use the same Temporal server. */
  readonly installation: string;
  readonly first: FirstCredentials;
}

/** A password that can be typed: 24 characters in four groups. */
function readablePassword(): string {
  const text = randomBytes(PASSWORD_BYTES).toString('hex').slice(0, 24);
  return text.match(/.{6}/g)?.join('-') ?? text;
}

/** Credentials for a first organization that does not exist yet. */
export const newFirstCredentials = (email: string): FirstCredentials => ({
  email,
  password: readablePassword(),
  apiKey: newCredential('apiKey'),
});

/** Secrets of an installation that does not exist yet. */
export const newSecrets = (): Pick<SecretsFile, 'secretsKeys' | 'credentialPepper' | 'operatorKey'> => ({
  secretsKeys: `k1:${randomBytes(KEY_BYTES).toString('base64')}`,
  credentialPepper: randomBytes(KEY_BYTES).toString('base64'),
  operatorKey: newCredential('operator'),
});

/**
 * Reads the file; creates it at the first start.
 *
 * @throws if it is damaged: a new file would lock everybody out of the existing data
 */
export function secretsFile(file: string, ownerEmail: string): SecretsFile {
  if (!existsSync(file)) {
    const made: SecretsFile = {
      ...newSecrets(),
      installation: randomBytes(4).toString('hex'),
      first: newFirstCredentials(ownerEmail),
    };
    writeWhole(file, `${JSON.stringify(made, null, 2)}\n`, 0o600);
  }
  try {
    const read = JSON.parse(readFileSync(file, 'utf8')) as SecretsFile;
    if ([read.secretsKeys, read.credentialPepper, read.operatorKey, read.first?.apiKey].every((each) => each))
      return read;
  } catch {
    // Said below.
  }
  throw new Error(
    `${file} is damaged. Restore it from a backup; without it the sealed secrets in the database cannot be opened.`,
  );
}
