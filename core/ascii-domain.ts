import { domainToASCII } from 'node:url';

/**
 * An address, or a domain, with the domain as DNS asks for it (RFC 5891), in lower case: `ann@bücher.example`,
 * `ann@xn--bcher-kva.example` and full-width letters are one place to send mail to, so they must be one to lists too.
 * What is no domain stays as it is.
 */
export function withAsciiDomain(value: string): string {
  const at = value.lastIndexOf('@') + 1;
  const domain = value.slice(at);
  if (/^[\x21-\x7e]*$/.test(domain)) return value.slice(0, at) + domain.toLowerCase();
  const ascii = domainToASCII(domain);
  return ascii === '' ? value : value.slice(0, at) + ascii;
}
