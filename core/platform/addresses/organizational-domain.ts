import { getDomain } from 'tldts';
import { withAsciiDomain } from './ascii-domain.ts';

/**
 * The organizational domain of a domain (RFC 7489 §3.2): the public suffix and one label, by the public suffix list
 * with its private part, so that two customers of one host are two organizations. A domain without one, such as a
 * public suffix itself, is its own.
 */
export function organizationalDomain(domain: string): string {
  const ascii = withAsciiDomain(domain.toLowerCase());
  return getDomain(ascii, { allowPrivateDomains: true, extractHostname: false }) ?? ascii;
}
