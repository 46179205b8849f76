/** The outcome of a submission, and an earlier one with the same client id. */

import { type ClientId, isSameContent, requireSameContent } from '#core/platform/client-id.ts';
import type { Sql } from '#db/database.ts';
import { type OutboundStatus, SENT_COPY_WINDOW_MINUTES } from '#domain/sending/outbound.ts';
import type { OverBudgetKind } from '#domain/sending/sending-brakes.ts';
import { findRecipients, lockOutbound, outboundStatusOf } from './outbound-message.ts';

const MINUTE_MS = 60_000;

/**
 * If a client files its copy itself, that one is the copy, and its id is the message's unless it was filed later.
 *
 * @param submittedAt copies filed up to an hour before count, and all later ones
 */
export async function earlierCopy(
  sql: Sql,
  mailboxId: string,
  messageIdHeader: string,
  submittedAt: Date,
): Promise<{ id: string; threadId: string } | undefined> {
  const [row] = await sql.query<{ id: string; threadId: string }>(EARLIER_COPY, [
    mailboxId,
    messageIdHeader,
    new Date(submittedAt.getTime() - SENT_COPY_WINDOW_MINUTES * MINUTE_MS),
  ]);
  return row;
}

/** The newest messages of Sent are searched, as in `mailstore/delivery/append.ts`: there is no index by Message-ID. */
const EARLIER_COPY = `
  select m.id, m.thread_id as "threadId"
    from folder f cross join lateral (
      select uid, message_id, save_date from placement where folder_id = f.id order by uid desc limit 500
    ) as newest
    join message m on m.id = newest.message_id
   where f.mailbox_id = $1 and f.special_use = '\\Sent' and f.deleted_at is null and m.message_id_header = $2
     and m.origin = 'append' and newest.save_date > $3
     and not exists (select from outbound_message o where o.id = m.id)
   order by newest.uid desc
   limit 1`;

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
  /** An earlier submission with the same client id and content; nothing was done. */
  readonly repeated: boolean;
}

/**
 * The earlier submission of this content, if there is one.
 *
 * @throws {CatalogueError} conflict, if the client id was used for another message
 */
export async function findSubmitted(
  sql: Sql,
  mailboxId: string,
  clientId: ClientId | null,
): Promise<Submitted | undefined> {
  const row = clientId === null ? undefined : await findByClientId(sql, mailboxId, clientId);
  if (clientId === null || row === undefined) return undefined;
  requireSameContent(row.hashes, clientId, 'message');
  return submittedOf(sql, mailboxId, row.id);
}

/** The earlier submission, if already what is known of the content is the same. */
export async function findRepeated(sql: Sql, mailboxId: string, clientId: ClientId): Promise<Submitted | undefined> {
  const row = await findByClientId(sql, mailboxId, clientId);
  return row !== undefined && isSameContent(row.hashes, clientId) ? submittedOf(sql, mailboxId, row.id) : undefined;
}

async function findByClientId(
  sql: Sql,
  mailboxId: string,
  clientId: ClientId,
): Promise<{ readonly id: string; readonly hashes: readonly Buffer[] | null } | undefined> {
  const [row] = await sql.query<{ id: string; hashes: Buffer[] | null }>(
    `select id, client_hashes as hashes from outbound_message where mailbox_id = $1 and client_id = $2`,
    [mailboxId, clientId.id],
  );
  return row;
}

async function submittedOf(sql: Sql, mailboxId: string, id: string): Promise<Submitted | undefined> {
  const message = await lockOutbound(sql, id);
  if (message === undefined) return undefined;
  const status = outboundStatusOf(message, await findRecipients(sql, id));
  return {
    messageId: id,
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
