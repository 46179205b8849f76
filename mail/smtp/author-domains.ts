/**
 * The domains that a mail reader may show as the author's: those of every address in every From field. DMARC is checked
 * for each of them (RFC 9989 §5.3.1), so none may be missing: two parsers read the field, and if neither finds an
 * address, anything that looks like one in the decoded text counts.
 */

import { readableAddresses } from '@agent-mailbox/mime-structure/addresses';
import { decodeWords } from '@agent-mailbox/mime-structure/encoded-words';
import type { HeaderField } from '@agent-mailbox/mime-structure/header-fields';
import addressparser from 'nodemailer/lib/addressparser';
import { withAsciiDomain } from '#core/platform/addresses/domain-names.ts';
import { AUTHOR_DOMAINS_MAX, AUTHOR_FIELDS_MAX_BYTES } from '#domain/mail/mail-limits.ts';

export interface AuthorDomains {
  /** In DNS form. */
  readonly domains: readonly string[];
  /** There are more than are checked. */
  readonly excessive: boolean;
}

const DOMAIN = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_][a-z0-9_-]{0,62})*$/;
const LIKE_AN_ADDRESS = /@([^\s@<>()[\],;:"\\]{1,253})/g;

export function authorDomains(header: readonly HeaderField[]): AuthorDomains {
  const from = header.filter(({ name }) => name === 'from');
  const bytes = from.reduce((sum, { value }) => sum + value.length, 0);
  if (bytes > AUTHOR_FIELDS_MAX_BYTES) return { domains: [], excessive: true };
  const all = [...new Set(from.flatMap(({ value }) => domainsOf(value)))];
  return { domains: all.slice(0, AUTHOR_DOMAINS_MAX), excessive: all.length > AUTHOR_DOMAINS_MAX };
}

/**
 * The usual form of an author: a name of plain words and one address, in which no parser finds another address. It
 * contains no quotes, comments, lists, encoded words or non-ASCII characters.
 */
const PLAIN_AUTHOR = /^(?:[A-Za-z0-9][A-Za-z0-9 .'_-]* )?<[A-Za-z0-9._+-]+@([A-Za-z0-9.-]+)>$/;

function domainsOf(value: string): string[] {
  const plain = PLAIN_AUTHOR.exec(value)?.[1]?.toLowerCase();
  if (plain !== undefined && DOMAIN.test(plain)) return [plain];
  const text = Buffer.from(value, 'latin1').toString('utf8');
  const addresses = [
    ...readableAddresses(value).map(({ address }) => address),
    ...addressparser(text, { flatten: true }).map(({ address }) => address),
  ];
  const domains = addresses.flatMap((address) => domainsAfterAt(address));
  if (domains.length > 0) return domains;
  return [...decodeWords(value).matchAll(LIKE_AN_ADDRESS)].flatMap(([, domain = '']) => domainsAfterAt(`@${domain}`));
}

/** Of a damaged address with several `@` each one that may be meant. */
const domainsAfterAt = (address: string): string[] =>
  address
    .split('@')
    .slice(1)
    .map((domain) => withAsciiDomain(domain.trim()).toLowerCase().replace(/\.+$/, ''))
    .filter((domain) => DOMAIN.test(domain));
