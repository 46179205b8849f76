/**
 * Who a host belongs to, by the public suffix list (publicsuffix.org): the suffix under which people register names, and
 * one label before it.
 */
import { getDomain } from 'tldts';

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
