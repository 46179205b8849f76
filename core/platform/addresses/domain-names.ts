/** Names of domains as DNS and lists compare them. */
import { domainToASCII } from 'node:url';
import { getDomain } from 'tldts';

/**
 * An address, or a domain, with the domain as DNS asks for it (RFC 5891), in lower case: `ann@bücher.example`,
 * `ann@xn--bcher-kva.example` and full-width letters are the same destination for mail, so lists must treat them as the
 * same. Text that is not a domain does not change.
 */
export function withAsciiDomain(value: string): string {
  const at = value.lastIndexOf('@') + 1;
  const domain = value.slice(at);
  if (/^[\x21-\x7e]*$/.test(domain)) return value.slice(0, at) + domain.toLowerCase();
  const ascii = domainToASCII(domain);
  return ascii === '' ? value : value.slice(0, at) + ascii;
}

/**
 * The organizational domain of a domain (RFC 7489 §3.2): the public suffix and one label, by the public suffix list
 * with its private part, so that two customers of one host are two organizations. A domain without one, such as a
 * public suffix itself, is its own.
 */
export function organizationalDomain(domain: string): string {
  const ascii = withAsciiDomain(domain.toLowerCase());
  return getDomain(ascii, { allowPrivateDomains: true, extractHostname: false }) ?? ascii;
}
