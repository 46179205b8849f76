/** What happens when a message goes: at its submission, or after its consent or its time. */
import { recordEvents } from '../../core/record-event.ts';
import type { Sql } from '../../db/database.ts';
import { OUTBOUND_GIVE_UP_MS, type OutboundStatus } from '../../domain/outbound.ts';
import { announceChanges } from '../store/announce-changes.ts';
import { type DeliveredHere, deliverHere, type SendingServices } from './deliver-here.ts';
import { sentEvent } from './outbound-events.ts';
import { findRecipients, type OutboundMessage, outboundStatusOf, type Sender } from './outbound-message.ts';
import { findOwnMailChanges, type SentDraft } from './own-mail.ts';
import { settleLocals } from './settle.ts';

export interface Released {
  readonly id: string;
  readonly threadId: string | null;
  readonly status: OutboundStatus;
  readonly folderIds: readonly number[];
  readonly owed: number;
}

/** Tells whom it concerns; what is lost is found by their own looks. */
export function afterCommit(
  services: SendingServices,
  { folderIds, owed }: Pick<Released, 'folderIds' | 'owed'>,
): void {
  if (owed > 0) services.deliveriesDue.nudge();
  announceChanges(services.db, folderIds).catch((error: Error) =>
    services.log.debug({ error: error.message }, 'watchers were not told of sent mail'),
  );
}

/**
 * Lets a message go: copy in Sent, local deliveries, what it answers is marked, state `sending`. Call it under the lock
 * of its row.
 *
 * @param draft null: it went when the message was submitted
 * @throws {SenderRefused}
 * @throws {CatalogueError} conflict, when the draft is gone
 */
export async function release(
  sql: Sql,
  services: SendingServices,
  sender: Sender,
  message: OutboundMessage,
  bytes: Buffer,
  draft: SentDraft | null,
): Promise<Released> {
  const now = new Date(services.now());
  const locals = (await findRecipients(sql, message.id)).filter(({ local, status }) => local && status === 'queued');
  const { answersMessageId, answersAs } = message;
  const answered =
    answersMessageId === null || answersAs === null ? null : { messageId: answersMessageId, as: answersAs };
  const ownMail = await findOwnMailChanges(sql, sender.mailbox.id, draft, answered);
  const here: DeliveredHere = await deliverHere(sql, services, sender, message, bytes, locals, ownMail);
  await settleLocals(sql, message.id, here, now);
  const reached = here.locals.some(({ refusal }) => refusal === undefined);
  let owed = here.owed;
  if (reached) owed += await recordEvents(sql, [sentEvent(sender, message, here.threadId, 'local', now)]);
  await sql.query(RELEASE, [
    message.id,
    here.threadId,
    reached ? now : null,
    now,
    new Date(now.getTime() + OUTBOUND_GIVE_UP_MS),
  ]);
  const status = outboundStatusOf({ state: 'sending' }, await findRecipients(sql, message.id));
  return {
    id: message.id,
    threadId: here.threadId,
    status,
    folderIds: here.folderIds,
    owed,
  };
}

const RELEASE = `
  update outbound_message set state = 'sending', filed = true, thread_id = $2, first_sent_at = $3, due_at = $4, give_up_at = $5
   where id = $1`;
