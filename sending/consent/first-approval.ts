/** The first of two approvals: kept in the request with the hash of what was approved, until a second person approves it. */
import { recordAudit } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import type { FirstApproval } from './find-consents.ts';

/**
 * Whether nobody else, who still is a member, has approved the message as it is. Locks the request.
 *
 * @throws {CatalogueError} conflict: this person has
 */
export async function isFirstApproval(sql: Sql, consentId: string, caller: Caller, now: Date): Promise<boolean> {
  const [open] = await sql.query<{ first: FirstApproval | null; sha256: string; counts: boolean }>(
    `select first_approval as first, encode(content_hash, 'hex') as sha256,
            exists (select from members m where m.organization_id = consent.organization_id
                       and m.user_id = first_approval #>> '{by,id}') as counts
       from consent
      where id = $1 and status = 'pending' and expires_at > $2 for no key update`,
    [consentId, now],
  );
  // Decided or expired: the decision that follows says so.
  if (open === undefined) return false;
  const { first, sha256, counts } = open;
  if (first === null || !counts || first.sha256 !== sha256) return true;
  if (first.by.id === caller.actor.id)
    throw new CatalogueError('conflict', 'You have approved it already. A rule asks for a second person.', {
      fix: 'Ask another person who may decide to read and approve it.',
    });
  return false;
}

/** The request waits for the second person. */
export async function keepFirstApproval(
  sql: Sql,
  organizationId: string,
  consentId: string,
  caller: Caller,
  now: Date,
): Promise<void> {
  // Naming the status makes open pages look again.
  await sql.query(
    `update consent set status = status, first_approval = jsonb_build_object(
       'by', $2::jsonb, 'at', $3::text, 'sha256', encode(content_hash, 'hex')) where id = $1`,
    [consentId, JSON.stringify(caller.actor), now.toISOString()],
  );
  await recordAudit(sql, caller, {
    organizationId,
    action: 'consent.first_approved',
    targetId: consentId,
    details: {},
  });
}

export const notChangedAlone = (): CatalogueError =>
  new CatalogueError('conflict', 'Two persons approve this message, so neither changes it alone.', {
    fix: 'Send it back with a comment: the agent submits a changed message, which both of you read.',
  });
