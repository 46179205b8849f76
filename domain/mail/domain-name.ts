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
