import type { Caller } from '#core/platform/caller.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import { type FactorPerson, recordFactorChange } from './record-change.ts';

/** An account at an OpenID provider. */
export interface OidcSubject {
  readonly issuer: string;
  readonly subject: string;
}

/**
 * Links a person, who has proven to be the owner of the account, in the transaction of the sign-in. The service sends the
 * notice.
 *
 * @throws {CatalogueError} unauthenticated: somebody else is linked to it
 */
export async function linkIdentity(
  services: Pick<Services, 'now'>,
  sql: Sql,
  person: FactorPerson,
  { issuer, subject }: OidcSubject,
  caller: Caller,
): Promise<void> {
  const nowMs = services.now();
  const linked = await sql.query(
    `insert into oidc_identities (id, issuer, subject, user_id, created_at, last_used_at)
     values ($1, $2, $3, $4, $5, $5) on conflict (issuer, subject) do nothing returning 1`,
    [newId('oidcIdentity', nowMs), issuer, subject, person.id, new Date(nowMs)],
  );
  if (linked.length === 0)
    throw new CatalogueError('unauthenticated', 'Another account was linked meanwhile.', {
      fix: 'Sign in with your password, or begin again.',
    });
  await recordFactorChange(services, sql, person, caller, {
    action: 'user.oidc_linked',
    details: { issuer },
    subject: 'Your account signs in by single sign-on too',
    what: `The account ${person.email} was linked to ${issuer}: who signs in there as you signs in here.`,
  });
}
