/**
 * DKIM signatures (RFC 6376) with the key of the sender's domain. A customer's domain has its key from the start; the
 * instance's own gets one at its first mail.
 */
import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
import { dkimKeyPlace } from '../../core/domains.ts';
import type { SendingServices } from './deliver-here.ts';
import type { Sender } from './outbound-message.ts';

const DKIM_BITS = 2_048;
const makeKeyPair = promisify(generateKeyPair);

interface DkimKey {
  readonly selector: string;
  readonly privateKey: string;
}

/** Whose mail it is: the domain says with which key. */
interface Signer {
  readonly organization: Pick<Sender['organization'], 'id'>;
  readonly mailbox: Pick<Sender['mailbox'], 'domain'>;
}

const instanceKeyPlace = (domain: string): string => `dkim_key:private_key:${domain}`;

async function keyOf(services: SendingServices, { organization, mailbox }: Signer): Promise<DkimKey | undefined> {
  const { db, secrets, settings } = services;
  if (mailbox.domain.toLowerCase() === settings.MAIL_DOMAIN.toLowerCase()) return instanceKey(services);
  const [row] = await db.query<{ id: string; dkim_selector: string; dkim_private_key_sealed: string }>(
    `select id, dkim_selector, dkim_private_key_sealed from domains
      where organization_id = $1 and name = $2 and status = 'verified'`,
    [organization.id, mailbox.domain.toLowerCase()],
  );
  if (row === undefined) return undefined;
  return { selector: row.dkim_selector, privateKey: secrets.open(row.dkim_private_key_sealed, dkimKeyPlace(row.id)) };
}

const FIND_KEY = `select selector, private_key_sealed from dkim_key where domain = $1`;

async function instanceKey({ db, secrets, settings, now, log }: SendingServices): Promise<DkimKey> {
  const domain = settings.MAIL_DOMAIN.toLowerCase();
  const find = () => db.query<{ selector: string; private_key_sealed: string }>(FIND_KEY, [domain]);
  let [row] = await find();
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
      [domain, selector, publicKey.toString('base64'), secrets.seal(privateKey, instanceKeyPlace(domain))],
    );
    [row] = await find();
    log.info({ domain, selector }, 'made the DKIM key of the instance; its DNS record is in table dkim_key');
  }
  if (row === undefined) throw new Error('the DKIM key of the instance was made and is not there');
  return { selector: row.selector, privateKey: secrets.open(row.private_key_sealed, instanceKeyPlace(domain)) };
}

/** DKIM-Signature field with its line break; empty for a domain without a verified key. */
export async function signMessage(services: SendingServices, sender: Signer, bytes: Buffer): Promise<string> {
  const key = await keyOf(services, sender);
  if (key === undefined) return '';
  const data = { signingDomain: sender.mailbox.domain, ...key };
  const { signatures, errors } = await dkimSign(bytes, {
    canonicalization: 'relaxed/relaxed',
    signTime: new Date(services.now()),
    ...data,
    signatureData: [data],
  });
  if (errors.length > 0)
    throw new Error(`the message could not be signed: ${errors.map(({ err }) => err.message).join(', ')}`);
  return signatures;
}
