import { withAsciiDomain } from '#core/platform/addresses/domain-names.ts';
import type { Sql } from '#db/database.ts';
import { domainOf } from '#domain/mail/email-address.ts';

/**
 * Whether mail to an address is, or may soon be, read in a mailbox of this instance, and so by agents: its domain or
 * one above it is the instance's own, a verified one, or one that one of the organizations is about to verify. Only the
 * domain is compared, so role addresses, tags and forwarded addresses count too.
 *
 * @param organizationIds those of the person
 */
export async function isHostedAddress(
  sql: Sql,
  defaultDomain: string,
  organizationIds: readonly string[],
  address: string,
): Promise<boolean> {
  const domain = domainOf(withAsciiDomain(address.toLowerCase())).replace(/\.+$/, '');
  const own = defaultDomain.toLowerCase();
  if (domain === own || domain.endsWith(`.${own}`)) return true;
  const rows = await sql.query(CLAIMED, [domain, organizationIds]);
  return rows.length > 0;
}

const CLAIMED = `
  select 1 from domains
   where (status = 'verified' or organization_id = any($2::text[]))
     and (name = $1 or right($1, length(name) + 1) = '.' || name) limit 1`;
