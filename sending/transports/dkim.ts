/**
 * DKIM signatures (RFC 6376) with the key of the sender's domain. A customer's domain has its key from the start; the
 * instance's own gets one at its first mail.
 */
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
import { dkimKeyPlace } from '#core/mailboxes/domains.ts';
import { instanceDkimKey } from '#core/mailboxes/instance-dkim.ts';
import type { Sender } from '#sending/outbox/outbound-message.ts';
import type { SendingServices } from '#sending/outbox/sending-services.ts';

interface DkimKey {
  readonly selector: string;
  readonly privateKey: string;
}

/** Whose mail it is: the domain says with which key. */
interface Signer {
  readonly organization: Pick<Sender['organization'], 'id'>;
  readonly mailbox: Pick<Sender['mailbox'], 'domain'>;
}

async function keyOf(services: SendingServices, { organization, mailbox }: Signer): Promise<DkimKey | undefined> {
  const { db, secrets, settings } = services;
  if (mailbox.domain.toLowerCase() === settings.MAIL_DOMAIN.toLowerCase()) return instanceDkimKey(services);
  const [row] = await db.query<{ id: string; dkim_selector: string; dkim_private_key_sealed: string }>(
    `select id, dkim_selector, dkim_private_key_sealed from domains
      where organization_id = $1 and name = $2 and status = 'verified'`,
    [organization.id, mailbox.domain.toLowerCase()],
  );
  if (row === undefined) return undefined;
  return { selector: row.dkim_selector, privateKey: secrets.open(row.dkim_private_key_sealed, dkimKeyPlace(row.id)) };
}

/** DKIM-Signature field with its line break; empty for a domain without a verified key. */
export async function signMessage(services: SendingServices, sender: Signer, bytes: Buffer): Promise<string> {
  const key = await keyOf(services, sender);
  if (key === undefined) return '';
  const { selector, privateKey } = key;
  const data = { signingDomain: sender.mailbox.domain, selector, privateKey };
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
