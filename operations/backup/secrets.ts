/**
 * Keys and settings of an installation, in a file of their own: a person who has them and the rows can read every sealed
 * secret. A passphrase seals the file (scrypt, AES-256-GCM).
 */
import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { SETTINGS } from '#core/platform/settings/settings.ts';
import { BackupError, SECRETS_FILE, writeDurably } from './backup-folder.ts';

/** OWASP's least cost of scrypt: 128 MiB for one guess. */
const SCRYPT = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };
const KEY_BYTES = 32;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;

export interface BackedUpSecrets {
  /** Settings that were set when the backup was made: environment variables. */
  readonly settings: Readonly<Record<string, string>>;
  /** `DATA_DIR/secrets.json` of `npm start`, as it was; null: there was none. */
  readonly generated: Readonly<Record<string, unknown>> | null;
}

/** In `DATA_DIR`. */
export const generatedSecretsFile = (dataDir: string): string => path.join(dataDir, 'secrets.json');

/** What is known here. @returns undefined: neither set nor generated, so what is sealed in the database could not be opened */
export function knownSecrets(
  environment: Readonly<Record<string, string | undefined>>,
  dataDir: string,
): BackedUpSecrets | undefined {
  const file = generatedSecretsFile(dataDir);
  const generated = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>) : null;
  const settings = Object.fromEntries(
    Object.keys(SETTINGS).flatMap((name) => {
      const value = environment[name]?.trim();
      return value === undefined || value === '' ? [] : [[name, value]];
    }),
  );
  const known = { settings, generated };
  return secretsKeysOf(known) === undefined ? undefined : known;
}

/** The values of the settings SECRETS_KEYS and CREDENTIAL_PEPPER. */
export function secretsKeysOf({
  settings,
  generated,
}: BackedUpSecrets): { readonly SECRETS_KEYS: string; readonly CREDENTIAL_PEPPER: string } | undefined {
  const keys = settings['SECRETS_KEYS'] ?? generated?.['secretsKeys'];
  const pepper = settings['CREDENTIAL_PEPPER'] ?? generated?.['credentialPepper'];
  return typeof keys === 'string' && typeof pepper === 'string'
    ? { SECRETS_KEYS: keys, CREDENTIAL_PEPPER: pepper }
    : undefined;
}

interface SealedFile {
  readonly sealed: string;
  readonly salt: string;
  readonly nonce: string;
  readonly tag: string;
}

const keyOf = (passphrase: string, salt: Uint8Array): Buffer =>
  scryptSync(passphrase.normalize('NFC'), salt, KEY_BYTES, SCRYPT);

export async function writeSecrets(
  folder: string,
  secrets: BackedUpSecrets,
  passphrase: string | undefined,
): Promise<'contained' | 'sealed'> {
  const file = path.join(folder, SECRETS_FILE);
  const text = Buffer.from(JSON.stringify(secrets, null, 2));
  if (passphrase === undefined) {
    await writeDurably(file, text);
    return 'contained';
  }
  const [salt, nonce] = [randomBytes(SALT_BYTES), randomBytes(NONCE_BYTES)];
  const cipher = createCipheriv('aes-256-gcm', keyOf(passphrase, salt), nonce);
  const sealed = Buffer.concat([cipher.update(text), cipher.final()]);
  const base64 = (bytes: Buffer) => bytes.toString('base64');
  const content: SealedFile = {
    sealed: base64(sealed),
    salt: base64(salt),
    nonce: base64(nonce),
    tag: base64(cipher.getAuthTag()),
  };
  await writeDurably(file, Buffer.from(JSON.stringify(content, null, 2)));
  return 'sealed';
}

/**
 * @returns undefined: the folder has none
 * @throws {BackupError} if they are sealed and the passphrase is missing or wrong
 */
export async function readSecrets(
  folder: string,
  passphrase: string | undefined,
): Promise<BackedUpSecrets | undefined> {
  const file = path.join(folder, SECRETS_FILE);
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const content = JSON.parse(text) as BackedUpSecrets | SealedFile;
  if (!('sealed' in content)) return content;
  if (passphrase === undefined)
    throw new BackupError(`${file} is sealed. Name the file that contains its passphrase: --passphrase-file <file>`);
  const bytes = (base64: string) => Buffer.from(base64, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', keyOf(passphrase, bytes(content.salt)), bytes(content.nonce));
  decipher.setAuthTag(bytes(content.tag));
  try {
    const opened = Buffer.concat([decipher.update(bytes(content.sealed)), decipher.final()]);
    return JSON.parse(opened.toString()) as BackedUpSecrets;
  } catch {
    throw new BackupError(`${file} does not open with this passphrase, or was changed. Check the passphrase`);
  }
}
