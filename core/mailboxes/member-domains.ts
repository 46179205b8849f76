/**
 * Whether a domain is hosted here decides what may be sent to people in it (`hosted-address.ts`). So a program does not
 * add or delete a domain in which members have their addresses: that is for a person.
 */
import { domainToUnicode } from 'node:url';
import type { Caller } from '#core/platform/caller.ts';
import type { Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';

/**
 * @param organizationId whose members count; null: those of all organizations of the instance
 * @throws {CatalogueError} forbidden, to an API key, where a member's address is in the domain or below it
 */
export async function requirePersonForMembersDomain(
  sql: Sql,
  caller: Caller,
  organizationId: string | null,
  name: string,
): Promise<void> {
  if (caller.actor.type !== 'api_key') return;
  const rows = await sql.query(MEMBER_IN_DOMAIN, [organizationId, [name, domainToUnicode(name)]]);
  if (rows.length === 0) return;
  throw new CatalogueError('forbidden', `Members have addresses in ${name}: only a person can add or delete it.`, {
    fix: 'Ask a member of the organization to do it in the dashboard, or with a session.',
  });
}

const MEMBER_IN_DOMAIN = `
  select 1 from members m join users u on u.id = m.user_id
   where ($1::text is null or m.organization_id = $1)
     and exists (select from unnest($2::text[]) as d (name)
                  where right(lower(u.email), length(d.name) + 1) in ('@' || d.name, '.' || d.name)) limit 1`;
