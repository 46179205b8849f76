/** Who wrote a message, and whether that is proven. */
import type { MailAddress } from '@agent-mailbox/mime-structure/addresses';
import { organizationalDomain, withAsciiDomain } from '#core/platform/addresses/domain-names.ts';
import { domainOf } from '#domain/mail/mailbox-address.ts';
import type { AuthenticationResults } from './authentication-results.ts';

/** The author as lists know it; empty: there is none, or there are several. */
export function onlyAuthor(from: readonly MailAddress[]): string {
  const [author, ...others] = from;
  return author === undefined || others.length > 0 ? '' : withAsciiDomain(author.address.toLowerCase());
}

/** Whether a host of the author's domain sent the message, or a signature of the domain covers it. */
export function isProvenAuthor(author: string, auth: AuthenticationResults | null): boolean {
  if (author === '' || auth === null) return false;
  const own = organizationalDomain(domainOf(author));
  const isOwn = (domain: string | null) => domain !== null && domain !== '' && organizationalDomain(domain) === own;
  if (auth.dmarc.result === 'fail') return false;
  return (
    (auth.dmarc.result === 'pass' && isOwn(auth.dmarc.domain)) ||
    (auth.spf.result === 'pass' && isOwn(auth.spf.domain)) ||
    auth.dkim.signatures.some(({ result, domain }) => result === 'pass' && isOwn(domain))
  );
}
