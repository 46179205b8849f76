/** The outcome of a submission, and an earlier one with the same client id. */
import type { Sql } from '#db/database.ts';
import type { OutboundStatus } from '#domain/outbound.ts';
import type { OverBudgetKind } from '#domain/sending-brakes.ts';
import { findRecipients, lockOutbound, outboundStatusOf } from '#sending/outbox/outbound-message.ts';

export interface Submitted {
  readonly messageId: string;
  readonly organizationId: string;
  readonly mailboxId: string;
  /** Null while it is held. */
  readonly threadId: string | null;
  readonly status: OutboundStatus;
  /** Null unless it is held. */
  readonly consentId: string | null;
  /** The budget it exceeds, if that is why it is held. */
  readonly overBudget: OverBudgetKind | null;
  /** When it will be released at the earliest; null: it does not wait for a time. */
  readonly sendAt: Date | null;
  /** Nothing is left to be done: there is no workflow to start. */
  readonly isFinished: boolean;
  /** An earlier submission with the same client id; nothing was done. */
  readonly repeated: boolean;
}

/** The earlier submission with this client id, if any. */
export async function findSubmitted(
  sql: Sql,
  mailboxId: string,
  clientId: string | null,
): Promise<Submitted | undefined> {
  if (clientId === null) return undefined;
  const [row] = await sql.query<{ id: string }>(
    `select id from outbound_message where mailbox_id = $1 and client_id = $2`,
    [mailboxId, clientId],
  );
  if (row === undefined) return undefined;
  const message = await lockOutbound(sql, row.id);
  if (message === undefined) return undefined;
  const status = outboundStatusOf(message, await findRecipients(sql, row.id));
  return {
    messageId: row.id,
    organizationId: message.organizationId,
    mailboxId,
    threadId: message.threadId,
    status,
    consentId: message.state === 'held' ? message.consentId : null,
    overBudget: null,
    sendAt: message.sendAt,
    isFinished: message.finishedAt !== null,
    repeated: true,
  };
}
