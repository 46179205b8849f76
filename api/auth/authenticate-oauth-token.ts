/** Access tokens of programs with access by OAuth. They are valid at `/mcp` only. */

import type { ActiveOrganization, MailboxPrincipal } from '#api/http/principal.ts';
import { API_USE_KEY, API_WINDOW_MS, LIMITED_PLANS } from '#api/http/rate-limit.ts';
import { noteLogin } from '#core/mailboxes/mailbox-logins.ts';
import type { Services } from '#core/platform/process/services.ts';
import { hashCredential } from '#core/platform/secrets/credentials.ts';
import { countingFound, type FoundCount, foundCount, type UseCount } from '#db/queries/platform/count-use.ts';
import { isCredential } from '#domain/access/credential-format.ts';
import { CatalogueError } from '#domain/errors.ts';
import type { MailboxStatus, TokenAccess } from '#domain/organizations/mailboxes.ts';
import { ORGANIZATION_COLUMNS, type OrganizationColumns, organizationOf } from './credential-lookup.ts';

interface OAuthColumns extends OrganizationColumns, FoundCount {
  id: string;
  name: string;
  address: string;
  status: MailboxStatus;
  grant_id: string;
  access: TokenAccess;
  resource: string;
  is_used_lately: boolean;
}

/** Counted: the request of a valid token, about its own mailbox. */
const FIND = countingFound(/* sql */ `
  select x.id, x.name, x.address, x.status, g.id as grant_id, g.access, g.resource, ${ORGANIZATION_COLUMNS},
         ${API_USE_KEY} as use_key,
         g.last_used_at > to_timestamp($1::bigint / 1000.0) - interval '1 minute' as is_used_lately,
         ($5::bool or x.id = $6::text) and x.status <> 'suspended' and o.plan = any($4::text[]) as is_counted
    from oauth_tokens t join oauth_grants g on g.id = t.grant_id
    join mailboxes x on x.id = g.mailbox_id and x.deleted_at is null
    join organizations o on o.id = g.organization_id
    join members m on m.organization_id = g.organization_id and m.user_id = g.user_id
   where t.hash = $3 and t.kind = 'access' and t.expires_at > to_timestamp($1::bigint / 1000.0)`);

/** @throws {CatalogueError} unauthenticated; forbidden, if the mailbox is suspended */
export async function authenticateOAuthToken(
  services: Services,
  token: string,
  counted: { readonly anyMailbox: boolean; readonly mailboxId: string | null } | undefined,
): Promise<{
  readonly principal: MailboxPrincipal;
  readonly organization: ActiveOrganization;
  readonly counted: UseCount | undefined;
}> {
  const now = services.now();
  const [row] = isCredential('oauthAccess', token)
    ? await services.db.query<OAuthColumns>(FIND, [
        now,
        now + API_WINDOW_MS,
        hashCredential(token, services.pepper),
        LIMITED_PLANS,
        counted?.anyMailbox ?? false,
        counted?.mailboxId ?? null,
      ])
    : [];
  if (row === undefined)
    throw new CatalogueError('unauthenticated', 'The access token is not valid: it is unknown, revoked or expired.', {
      fix: 'Get another one with the refresh token, or ask the person for access again.',
    });
  if (row.status === 'suspended')
    throw new CatalogueError('forbidden', 'The mailbox is suspended: its tokens are refused until it is resumed.', {
      fix: 'Ask a member of the organization to resume the mailbox. Its mail is kept.',
    });
  noteLogin(services, { mailboxId: row.id, tokenId: row.grant_id }, 'api');
  if (row.is_used_lately !== true)
    services.db
      .query(`update oauth_grants set last_used_at = $2 where id = $1`, [row.grant_id, new Date(now)])
      .catch((error: Error) => services.log.debug({ error: error.message }, 'the use of a grant was not written'));
  return {
    principal: {
      kind: 'mailbox',
      id: row.id,
      credentialId: row.grant_id,
      name: row.name,
      address: row.address,
      access: row.access,
      grant: { resource: row.resource },
    },
    organization: organizationOf(row),
    counted: foundCount(row, now),
  };
}
