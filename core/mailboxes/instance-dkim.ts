/** DKIM key of the instance's own domain, MAIL_DOMAIN. It is made when it is asked for first. */
import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import type { Services } from '#core/platform/process/services.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import type { Sql } from '#db/database.ts';

const DKIM_BITS = 2_048;
const makeKeyPair = promisify(generateKeyPair);

export interface InstanceDkimKey {
  readonly selector: string;
  /** Base64 of the SubjectPublicKeyInfo. */
  readonly publicKey: string;
  /** PEM. */
  readonly privateKey: string;
}

interface KeyRow {
  selector: string;
  public_key: string;
  private_key_sealed: string;
}

/** Place of the instance's DKIM keys (see `core/platform/secrets/sealed-secrets.ts`). */
export const instanceDkimPlace = (domain: string): string => `dkim_key:private_key:${domain}`;
const FIND_KEY = `select selector, public_key, private_key_sealed from dkim_key where domain = $1`;

/** What DNS publishes of that key; undefined: it was not made yet. */
export async function instanceDkimRecord(
  db: Sql,
  { MAIL_DOMAIN }: Pick<Settings, 'MAIL_DOMAIN'>,
): Promise<Omit<InstanceDkimKey, 'privateKey'> | undefined> {
  const [row] = await db.query<KeyRow>(FIND_KEY, [MAIL_DOMAIN.toLowerCase()]);
  return row === undefined ? undefined : { selector: row.selector, publicKey: row.public_key };
}

export async function instanceDkimKey({
  db,
  secrets,
  settings,
  now,
  log,
}: Pick<Services, 'db' | 'secrets' | 'settings' | 'now' | 'log'>): Promise<InstanceDkimKey> {
  const domain = settings.MAIL_DOMAIN.toLowerCase();
  let [row] = await db.query<KeyRow>(FIND_KEY, [domain]);
  if (row === undefined) {
    const { publicKey, privateKey } = await makeKeyPair('rsa', {
      modulusLength: DKIM_BITS,
      publicKeyEncoding: { type: 'spki', format: 'der' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    const selector = `am${new Date(now()).toISOString().slice(0, 7).replace('-', '')}`;
    // Another process may be quicker; its key is the one then.
    await db.query(
      `insert into dkim_key (domain, selector, public_key, private_key_sealed) values ($1, $2, $3, $4) on conflict do nothing`,
      [domain, selector, publicKey.toString('base64'), secrets.seal(privateKey, instanceDkimPlace(domain))],
    );
    [row] = await db.query<KeyRow>(FIND_KEY, [domain]);
    log.info({ domain, selector }, 'made the DKIM key of the instance; GET /api/domains/default shows its DNS record');
  }
  if (row === undefined) throw new Error('the DKIM key of the instance was made and is not there');
  const { selector, public_key: publicKey, private_key_sealed: sealed } = row;
  return { selector, publicKey, privateKey: secrets.open(sealed, instanceDkimPlace(domain)) };
}
