/** Mail with real DKIM signatures of example.com, and the check of it. */
import { generateKeyPairSync } from 'node:crypto';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
import { checkSender } from '#mail/smtp/sender-checks.ts';
import { dnsStub } from '#test/support/mail-world.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
/** SPF allows 192.0.2.1. */
export const RECORDS = {
  'example.com': 'v=spf1 ip4:192.0.2.1 -all',
  '_dmarc.example.com': 'v=DMARC1; p=reject',
  's1._domainkey.example.com': `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}`,
};

export interface Signing {
  readonly maxBodyLength?: number;
  readonly headerList?: string;
}

/** Signed by example.com, with CRLF. */
export async function signed(message: string | Buffer, { maxBodyLength, headerList }: Signing = {}): Promise<Buffer> {
  const bytes = typeof message === 'string' ? Buffer.from(message.replace(/\r?\n/g, '\r\n')) : message;
  const key = { signingDomain: 'example.com', selector: 's1', privateKey };
  const { signatures } = await dkimSign(bytes, {
    ...key,
    canonicalization: 'relaxed/relaxed',
    ...(headerList === undefined ? {} : { headerList }),
    signatureData: [{ ...key, ...(maxBodyLength === undefined ? {} : { maxBodyLength }) }],
  });
  return Buffer.concat([Buffer.from(signatures), bytes]);
}

/** From a host that SPF does not allow, as a forwarder is. */
export const authenticate = (received: Buffer, remoteAddress = '198.51.100.9') =>
  checkSender(
    { received, remoteAddress, helo: 'mx.example.net', envelopeFrom: 'bob@example.com', hostname: 'mail.test' },
    dnsStub(RECORDS),
  );
