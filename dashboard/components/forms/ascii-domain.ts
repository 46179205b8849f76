/** The domain of an address as DNS writes it, if that differs from the text: the text may look like another domain. */
export function asciiDomainOf(address: string): string | undefined {
  const domain = address.slice(address.lastIndexOf('@') + 1);
  if (/^[\x00-\x7f]*$/.test(domain)) return undefined;
  return URL.parse(`https://${domain}`)?.hostname ?? 'not a domain of DNS';
}
