import { domainToASCII } from 'node:url';

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
