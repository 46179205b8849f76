/**
 * DANE for outgoing mail (RFC 7672): a domain whose DNS is signed can say in TLSA records which certificates its mail
 * hosts have. Then TLS with one of them is required, and nobody on the path can take the mail by suppressing STARTTLS or
 * with a certificate of an authority.
 *
 *   MX validated? ─▶ addresses of the host validated? ─▶ TLSA of _25._tcp.<host> ─▶ usable records ─▶ compare certificate
 *         └ no              └ no                             └ none                   └ none: TLS with any certificate
 *         ▼                 ▼                                ▼
 *   as without DANE: opportunistic TLS, or MTA-STS
 */
import { createHash, timingSafeEqual, type X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { AskValidated } from './validated-dns.ts';

/** Usages of RFC 7218 §2.1 that mail has (RFC 7672 §3.1): a certificate authority of their own, or the host's own key. */
const USAGES = { 2: 'DANE-TA', 3: 'DANE-EE' } as const;

export interface TlsaRecord {
  readonly usage: (typeof USAGES)[keyof typeof USAGES];
  /** What is compared: the whole certificate, or its public key. */
  readonly selector: 'Cert' | 'SPKI';
  readonly matching: 'Full' | 'SHA2-256' | 'SHA2-512';
  readonly data: Buffer;
}

export type DaneAnswer =
  | { readonly kind: 'none' }
  /** `records` empty: none that can be used, so TLS is required, with any certificate (RFC 7672 §2.2). */
  | { readonly kind: 'required'; readonly records: readonly TlsaRecord[] }
  /** Whether there are records cannot be known, so the host may not be used now. */
  | { readonly kind: 'unknown' };

export interface Dane {
  /** Whether the mail hosts of a domain are known for certain; otherwise DANE protects nothing. `unknown`: no answer. */
  covers(domain: string): Promise<'yes' | 'no' | 'unknown'>;
  of(host: string, port: number): Promise<DaneAnswer>;
}

export function dane(ask: AskValidated): Dane {
  return {
    async covers(domain) {
      const answer = await ask(domain, 'MX');
      if (answer.kind === 'failed') return 'unknown';
      return answer.secure ? 'yes' : 'no';
    },
    async of(host, port) {
      // Name servers of unsigned zones often fail at TLSA, so they are not asked for it (RFC 7672 §2.2.1).
      const [four, six] = await Promise.all([ask(host, 'A'), ask(host, 'AAAA')]);
      if (![four, six].some((each) => each.kind === 'answered' && each.secure))
        return four.kind === 'failed' && six.kind === 'failed' ? { kind: 'unknown' } : { kind: 'none' };
      const answer = await ask(`_${port}._tcp.${host}`, 'TLSA');
      if (answer.kind === 'failed') return { kind: 'unknown' };
      if (!answer.secure || answer.records.length === 0) return { kind: 'none' };
      return { kind: 'required', records: answer.records.flatMap((record) => usable(Reflect.get(record, 'data'))) };
    },
  };
}

const SELECTORS = ['Cert', 'SPKI'] as const;
const MATCHINGS = ['Full', 'SHA2-256', 'SHA2-512'] as const;

function usable(data: unknown): TlsaRecord[] {
  const field = (name: string): unknown => Reflect.get(Object(data), name);
  const usage = USAGES[Number(field('usage')) as keyof typeof USAGES];
  const selector = SELECTORS[Number(field('selector'))];
  const matching = MATCHINGS[Number(field('matchingType'))];
  const bytes = field('certificate');
  if (usage === undefined || selector === undefined || matching === undefined || !Buffer.isBuffer(bytes)) return [];
  return bytes.length === 0 ? [] : [{ usage, selector, matching, data: bytes }];
}

function matches({ selector, matching, data }: TlsaRecord, certificate: X509Certificate): boolean {
  const compared =
    selector === 'Cert' ? certificate.raw : certificate.publicKey.export({ type: 'spki', format: 'der' });
  const value =
    matching === 'Full'
      ? compared
      : createHash(matching === 'SHA2-256' ? 'sha256' : 'sha512')
          .update(compared)
          .digest();
  return value.length === data.length && timingSafeEqual(value, data);
}

/** Certificates that the host sent, its own first; at most this many are read. */
const CHAIN_MAX = 10;

function chainOf(socket: TLSSocket): X509Certificate[] {
  const chain: X509Certificate[] = [];
  for (
    let at = socket.getPeerX509Certificate();
    at !== undefined && chain.length < CHAIN_MAX;
    at = at.issuerCertificate
  )
    chain.push(at);
  return chain;
}

const isValidAt = (certificate: X509Certificate, at: Date): boolean =>
  certificate.validFromDate <= at && at <= certificate.validToDate;

/**
 * Whether the certificate of a session is one that the records allow.
 *
 * `DANE-EE`: it matches; its names and dates do not count (RFC 7672 §3.1.1). `DANE-TA`: one above it matches, each of them
 * is signed by the next and valid now, and it is for one of the names (§3.1.2).
 *
 * @param records with none, every certificate is
 * @param names of the host, and of the domain it receives for
 */
export function isAllowedByTlsa(
  socket: TLSSocket,
  records: readonly TlsaRecord[],
  names: readonly string[],
  now: Date = new Date(),
): boolean {
  if (records.length === 0) return true;
  const [own, ...above] = chainOf(socket);
  if (own === undefined) return false;
  return records.some((record) => {
    if (record.usage === 'DANE-EE') return matches(record, own);
    const anchor = above.findIndex((certificate) => matches(record, certificate));
    if (anchor < 0 || !names.some((name) => own.checkHost(name) !== undefined)) return false;
    const path = [own, ...above.slice(0, anchor + 1)];
    return path.every((certificate, i) => {
      const issuer = path[i + 1];
      return (
        isValidAt(certificate, now) &&
        (issuer === undefined || (issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)))
      );
    });
  });
}
