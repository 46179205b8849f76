/** Programs to which a person granted access to a mailbox. */
import { recordAudit } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import type { TokenAccess } from '#domain/organizations/mailboxes.ts';

export interface Grant {
  readonly id: string;
  readonly clientId: string;
  /** Name in the document of the program; nobody has verified it. */
  readonly clientName: string;
  readonly access: TokenAccess;
  /** The person who granted the access. */
  readonly userName: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** Newest first. */
export const listGrants = (sql: Sql, organizationId: string, mailboxId: string, now: Date): Promise<Grant[]> =>
  sql.query<Grant>(
    `select g.id, g.client_id as "clientId", g.client_name as "clientName", g.access, u.name as "userName",
            g.created_at as "createdAt", g.last_used_at as "lastUsedAt"
       from oauth_grants g join users u on u.id = g.user_id
       join members m on m.organization_id = g.organization_id and m.user_id = g.user_id
      where g.organization_id = $1 and g.mailbox_id = $2 and g.expires_at > $3 order by g.id desc`,
    [organizationId, mailboxId, now],
  );

/** Ends a grant with all its tokens, at once. @param why in words, for the audit log */
export async function endGrant(
  sql: Sql,
  { grantId, organizationId }: { readonly grantId: string; readonly organizationId: string },
  caller: Caller,
  why: string,
): Promise<boolean> {
  const [ended] = await sql.query<{ mailboxId: string; client: string }>(
    `delete from oauth_grants where id = $1 and organization_id = $2
     returning mailbox_id as "mailboxId", client_id as client`,
    [grantId, organizationId],
  );
  if (ended === undefined) return false;
  await recordAudit(sql, caller, {
    organizationId,
    action: 'grant.deleted',
    targetId: grantId,
    details: { ...ended, why },
  });
  return true;
}

/**
 * Ends what a person has given in an organization. A membership that ends and begins again must not give it back: the
 * programs still have their tokens.
 */
export async function endGrantsOfMember(
  sql: Sql,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
  caller: Caller,
): Promise<void> {
  const given = await sql.query<{ id: string }>(
    `select id from oauth_grants where organization_id = $1 and user_id = $2 order by id for update`,
    [organizationId, userId],
  );
  for (const { id } of given)
    await endGrant(sql, { grantId: id, organizationId }, caller, 'the member who gave it was removed');
}

/** A person ends the access of a program. @throws {CatalogueError} not_found */
export async function deleteGrant(
  { db }: Services,
  organizationId: string,
  mailboxId: string,
  grantId: string,
  caller: Caller,
): Promise<void> {
  await db.transaction(async (sql) => {
    const [own] = await sql.query(
      `select id from oauth_grants where id = $1 and mailbox_id = $2 and organization_id = $3 for update`,
      [grantId, mailboxId, organizationId],
    );
    if (own === undefined) throw new CatalogueError('not_found');
    await endGrant(sql, { grantId, organizationId }, caller, 'a member ended it');
  });
}
