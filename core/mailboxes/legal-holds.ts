/**
 * Legal holds: of a mailbox, or of an organization with all its mailboxes. As long as one applies, nothing that deletes
 * mail deletes content: messages that leave their last folder are preserved, unseen by mail clients, agents and the API.
 * Agents see no difference. Several holds may apply to the same mailbox, each with its reason.
 */
import { recordAudit } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { awaitDeletions } from '#db/queries/mailboxes/legal-hold.ts';
import { CatalogueError } from '#domain/errors.ts';
import { LEGAL_HOLDS_MAX } from '#domain/mail/mail-retention.ts';
import type { Actor } from '#domain/webhooks/event-types.ts';

export interface LegalHold {
  readonly id: string;
  /** Null: all mailboxes of the organization. */
  readonly mailboxId: string | null;
  readonly mailboxAddress: string | null;
  readonly reason: string;
  /** Messages that it keeps although they are in no folder, counted up to {@link PRESERVED_COUNTED_MAX}. */
  readonly preservedMessages: number;
  readonly createdBy: Actor;
  readonly createdAt: Date;
}

export const PRESERVED_COUNTED_MAX = 10_000;

const LIST = `
  select h.id, h.mailbox_id as "mailboxId", x.address as "mailboxAddress", h.reason, h.created_by as "createdBy",
         h.created_at as "createdAt", (
           select count(*)::int from (
             select from preserved_message p where p.mailbox_id = any(
               select id from mailboxes m
                where m.organization_id = h.organization_id and (h.mailbox_id is null or m.id = h.mailbox_id))
              limit ${PRESERVED_COUNTED_MAX}) as counted) as "preservedMessages"
    from legal_hold h left join mailboxes x on x.id = h.mailbox_id
   where h.organization_id = $1`;

/** All of the organization, newest first. */
export const listLegalHolds = (sql: Sql, organizationId: string): Promise<LegalHold[]> =>
  sql.query<LegalHold>(`${LIST} order by h.id desc`, [organizationId]);

/**
 * Waits for portions of deletions that have begun: what is there at the answer stays.
 *
 * @param mailboxId null: all mailboxes. One that was deleted may be named: what is left of it is kept
 * @throws {CatalogueError} not_found; conflict, at the maximum number of holds
 */
export async function setLegalHold(
  services: Pick<Services, 'db' | 'now'>,
  organizationId: string,
  caller: Caller,
  { mailboxId, reason }: { readonly mailboxId: string | null; readonly reason: string },
): Promise<LegalHold> {
  const at = new Date(services.now());
  const id = newId('legalHold', at.getTime());
  return services.db.transaction(async (sql) => {
    await awaitDeletions(sql);
    const [erasing] = await sql.query<{ id: string }>(ERASING, [organizationId, mailboxId]);
    if (erasing !== undefined)
      throw new CatalogueError('conflict', 'Content that the hold is about is being erased.', {
        fix: `Ask the operator about the erasure ${erasing.id}.`,
      });
    const [found] = await sql.query<{ known: boolean; holds: number }>(
      `select $2::text is null or exists (select from mailboxes where id = $2 and organization_id = $1) as known,
              (select count(*)::int from legal_hold where organization_id = $1) as holds
         from organizations where id = $1`,
      [organizationId, mailboxId],
    );
    if (found?.known !== true) throw new CatalogueError('not_found');
    if (found.holds >= LEGAL_HOLDS_MAX)
      throw new CatalogueError('conflict', `The organization has ${LEGAL_HOLDS_MAX} legal holds.`, {
        fix: 'Lift one, or set one hold for the whole organization: POST /api/legal-holds without mailboxId.',
      });
    await sql.query(
      `insert into legal_hold (id, organization_id, mailbox_id, reason, created_by, created_at)
       values ($1, $2, $3, $4, $5, $6)`,
      [id, organizationId, mailboxId, reason, JSON.stringify(caller.actor), at],
    );
    await recordAudit(sql, caller, {
      organizationId,
      action: 'legal_hold.set',
      targetId: mailboxId ?? organizationId,
      details: { legalHoldId: id, reason },
    });
    const [hold] = await sql.query<LegalHold>(`${LIST} and h.id = $2`, [organizationId, id]);
    if (hold === undefined) throw new Error('an insert without a row');
    return hold;
  });
}

/** An erasure that has not ended, of the organization, of one of its mailboxes, or of a correspondent of it. */
const ERASING = `
  select id from erasure
   where finished_at is null and coalesce(subject ->> 'organizationId', $1) = $1
     and ($2::text is null or coalesce(subject ->> 'mailboxId', $2) = $2) limit 1`;

/** What only it kept is deleted by the next run of retention. @throws {CatalogueError} not_found */
export async function liftLegalHold(
  { db }: Pick<Services, 'db'>,
  organizationId: string,
  id: string,
  caller: Caller,
): Promise<void> {
  await db.transaction(async (sql) => {
    const [lifted] = await sql.query<{ mailbox_id: string | null; reason: string }>(
      `delete from legal_hold where organization_id = $1 and id = $2 returning mailbox_id, reason`,
      [organizationId, id],
    );
    if (lifted === undefined) throw new CatalogueError('not_found');
    await recordAudit(sql, caller, {
      organizationId,
      action: 'legal_hold.lifted',
      targetId: lifted.mailbox_id ?? organizationId,
      details: { legalHoldId: id, reason: lifted.reason },
    });
  });
}
