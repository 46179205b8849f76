/**
 * Writes X.509 v3 certificates (RFC 5280) for development and tests, and requests for real ones (PKCS #10, RFC 2986),
 * which come from a certificate authority.
 *
 * Bounds: values up to 65,535 bytes, IPv4 addresses only, subjects of one common name. Accepted by Node's TLS and by
 * `openssl verify -x509_strict`.
 */
import crypto, { type KeyObject } from 'node:crypto';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

// DER (ITU-T X.690): every value is tag, length, content.
const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectId: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;
const contextTag = (n: number, constructed: boolean) => (constructed ? 0xa0 : 0x80) | n;

function derLength(n: number): Buffer {
  if (n < 0x80) return Buffer.from([n]);
  if (n < 0x100) return Buffer.from([0x81, n]);
  return Buffer.from([0x82, n >> 8, n & 0xff]);
}

function der(tag: number, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag]), derLength(body.length), body]);
}

const sequence = (...items: Buffer[]) => der(TAG.sequence, ...items);
const bytes = (...values: number[]) => Buffer.from(values);
const yes = der(TAG.boolean, bytes(0xff));

function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const encoded = [first * 40 + second];
  for (const arc of rest) {
    const base128 = [arc & 0x7f];
    for (let high = arc >> 7; high > 0; high >>= 7) base128.unshift((high & 0x7f) | 0x80);
    encoded.push(...base128);
  }
  return der(TAG.objectId, Buffer.from(encoded));
}

/** RFC 5280 section 4.1.2.5: UTCTime through 2049, GeneralizedTime from 2050. */
function time(date: Date): Buffer {
  const digits = `${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`;
  return date.getUTCFullYear() < 2050
    ? der(TAG.utcTime, Buffer.from(digits.slice(2)))
    : der(TAG.generalizedTime, Buffer.from(digits));
}

const commonName = (cn: string) =>
  sequence(der(TAG.set, sequence(objectId('2.5.4.3'), der(TAG.utf8String, Buffer.from(cn)))));

const extension = (id: string, critical: boolean, value: Buffer) =>
  sequence(objectId(id), ...(critical ? [yes] : []), der(TAG.octetString, value));

const publicKeyInfo = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });
/** RFC 5280 section 4.2.1.2: SHA-1 of the key bits, which are the last 65 bytes for an uncompressed P-256 point. */
const keyId = (spki: Buffer) => crypto.createHash('sha1').update(spki.subarray(-65)).digest();

const ecdsaWithSha256 = sequence(objectId('1.2.840.10045.4.3.2'));

export interface CertificateOptions {
  readonly commonName: string;
  readonly validDays: number;
  readonly dnsNames?: readonly string[];
  /** Dotted IPv4. */
  readonly ipAddresses?: readonly string[];
  readonly isCa?: boolean;
  /** Absent: self-signed. */
  readonly issuer?: { readonly commonName: string; readonly key: KeyObject };
}

export interface Certificate {
  readonly certPem: string;
  /** PKCS #8. */
  readonly keyPem: string;
  readonly key: KeyObject;
}

function extensions(options: CertificateOptions, subjectSpki: Buffer, issuerSpki: Buffer): Buffer[] {
  const caKeyUsage = bytes(1, 0b0000_0110); // 1 unused bit; keyCertSign, cRLSign
  const leafKeyUsage = bytes(7, 0b1000_0000); // 7 unused bits; digitalSignature
  const list = [
    extension('2.5.29.19', true, sequence(...(options.isCa ? [yes] : []))), // basicConstraints
    extension('2.5.29.15', true, der(TAG.bitString, options.isCa ? caKeyUsage : leafKeyUsage)), // keyUsage
    extension('2.5.29.14', false, der(TAG.octetString, keyId(subjectSpki))), // subjectKeyIdentifier
    extension('2.5.29.35', false, sequence(der(contextTag(0, false), keyId(issuerSpki)))), // authorityKeyIdentifier
  ];
  if (options.isCa) return list;
  const dns = (options.dnsNames ?? []).map((name) => der(contextTag(2, false), Buffer.from(name)));
  const ips = (options.ipAddresses ?? []).map((ip) =>
    der(contextTag(7, false), Buffer.from(ip.split('.').map(Number))),
  );
  return [
    ...list,
    extension('2.5.29.37', false, sequence(objectId('1.3.6.1.5.5.7.3.1'))), // extKeyUsage: serverAuth
    extension('2.5.29.17', false, sequence(...dns, ...ips)), // subjectAltName
  ];
}

function pem(label: string, content: Buffer): string {
  const lines = content.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** A new key pair (ECDSA P-256) and its certificate. */
export function makeCertificate(options: CertificateOptions): Certificate {
  const { privateKey, publicKey } = crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signingKey = options.issuer?.key ?? privateKey;
  const serial = crypto.randomBytes(16);
  serial.writeUInt8((serial.readUInt8(0) & 0x7f) | 0x01, 0); // positive, and no leading zero byte

  const spki = publicKeyInfo(publicKey);
  const issuerSpki = publicKeyInfo(crypto.createPublicKey(signingKey));
  const now = Date.now();
  const toBeSigned = sequence(
    der(contextTag(0, true), der(TAG.integer, bytes(2))), // version 3
    der(TAG.integer, serial),
    ecdsaWithSha256,
    commonName(options.issuer?.commonName ?? options.commonName),
    sequence(time(new Date(now - HOUR_MS)), time(new Date(now + options.validDays * DAY_MS))),
    commonName(options.commonName),
    spki,
    der(contextTag(3, true), sequence(...extensions(options, spki, issuerSpki))),
  );
  const signature = der(TAG.bitString, bytes(0), crypto.sign('sha256', toBeSigned, signingKey));
  return {
    certPem: pem('CERTIFICATE', sequence(toBeSigned, ecdsaWithSha256, signature)),
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    key: privateKey,
  };
}

/** A new key (ECDSA P-256, PKCS #8) and the request for a certificate of these names, in DER. */
export function makeCertificateRequest(dnsNames: readonly string[]): {
  readonly keyPem: string;
  readonly request: Buffer;
} {
  const { privateKey, publicKey } = crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const names = dnsNames.map((name) => der(contextTag(2, false), Buffer.from(name)));
  const wanted = sequence(extension('2.5.29.17', false, sequence(...names))); // subjectAltName
  const toBeSigned = sequence(
    der(TAG.integer, bytes(0)), // version 1
    sequence(), // the subject is in the names
    publicKeyInfo(publicKey),
    der(contextTag(0, true), sequence(objectId('1.2.840.113549.1.9.14'), der(TAG.set, wanted))), // extensionRequest
  );
  const signature = der(TAG.bitString, bytes(0), crypto.sign('sha256', toBeSigned, privateKey));
  return {
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    request: sequence(toBeSigned, ecdsaWithSha256, signature),
  };
}
