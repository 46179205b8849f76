/**
 * Domains of mail: the form of their names, and to whom a host belongs by the public suffix list (publicsuffix.org): the
 * suffix under which people register names, and one label before it.
 */
import { getDomain } from 'tldts';

/** RFC 1035 §2.3.4. */
export const DOMAIN_NAME_MAX = 253;
const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/;

/** What is wrong with a domain name (lower-case, IDNA ASCII form) for receiving mail; undefined: nothing. */
export function domainNameProblem(name: string): string | undefined {
  const labels = name.split('.');
  if (name.length > DOMAIN_NAME_MAX) return `must have at most ${DOMAIN_NAME_MAX} characters`;
  if (labels.length < 2) return 'must have at least two labels, such as example.com';
  if (!labels.every((label) => LABEL.test(label))) return 'is not a domain name';
  if (/^\d+$/.test(labels.at(-1) ?? '')) return 'is not a domain name';
  return undefined;
}

export interface RegistrableDomainOptions {
  /**
   * Whether names that a provider gives to its customers count as registered (`alice.github.io`). False where a reader
   * may take all names of the provider for one owner. Default: true.
   */
  readonly privateSuffixes?: boolean;
}

/** In lower case; the host itself if it is an IP address, a public suffix or a single label. */
export function registrableDomain(
  host: string,
  { privateSuffixes: allowPrivateDomains = true }: RegistrableDomainOptions = {},
): string {
  const name = host.toLowerCase().replace(/\.$/, '');
  return getDomain(name, { allowPrivateDomains }) ?? name;
}
