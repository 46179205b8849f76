/**
 * Whether a mailbox is on legal hold: a hold of its own, or one of its organization. Every step that deletes content for
 * good asks for it, after {@link holdsStay}: then no hold begins between its look and its commit.
 */
import type { Sql } from '#db/database.ts';

/** @param mailboxId an SQL expression; a column with its table, because the tables in here have columns of that name too */
export const onHold = (mailboxId: string): string => `exists (
  select from mailboxes holder
    join legal_hold on legal_hold.organization_id = holder.organization_id
   where holder.id = ${mailboxId} and (legal_hold.mailbox_id is null or legal_hold.mailbox_id = holder.id))`;

/** Until the transaction ends, a new hold waits. Others that delete do not. */
export async function holdsStay(sql: Sql): Promise<void> {
  await sql.query(`select pg_advisory_xact_lock_shared(hashtext('legal holds'))`);
}

/** Call it in the transaction that sets a hold: it waits for portions of deletions that have begun. */
export async function awaitDeletions(sql: Sql): Promise<void> {
  await sql.query(`select pg_advisory_xact_lock(hashtext('legal holds'))`);
}
