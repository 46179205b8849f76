/** The steps of releasing a message: at its submission, or after its consent or its time. */
import { type NewEvent, recordEvents } from '#core/events/record-event.ts';
import type { MailLine } from '#core/platform/mail-log/mail-line.ts';
import type { Sql } from '#db/database.ts';
import { OUTBOUND_GIVE_UP_MS, type OutboundStatus } from '#domain/sending/outbound.ts';
import { announceChanges } from '#mailstore/changes/read-changes.ts';
import { bouncedEvents, deliveredEvents, sentEvent } from '#sending/outbox/outbound-events.ts';
import {
  findRecipients,
  isOpen,
  type MessageToFile,
  type OutboundMessage,
  outboundStatusOf,
  type Sender,
  type SendingServices,
} from '#sending/outbox/outbound-message.ts';
import { findOwnMailChanges, type SentDraft } from '#sending/outbox/own-mail.ts';
import { type DeliveredHere, deliverHere, findOwnMailbox, localResult, settleLocals } from './deliver-here.ts';

export interface Released {
  readonly id: string;
  readonly threadId: string | null;
  readonly status: OutboundStatus;
  readonly folderIds: readonly number[];
  readonly owed: number;
  /** Every recipient has it or refused it: no workflow is needed. */
  readonly isFinished: boolean;
  /** Lines of the mail log, to be written after the commit. */
  readonly lines?: readonly MailLine[];
}

/** Notifies watchers; they find a lost notification by their own polling. */
export function afterCommit(
  services: SendingServices,
  { folderIds, owed, lines = [] }: Pick<Released, 'folderIds' | 'owed' | 'lines'>,
): void {
  if (owed > 0) services.deliveriesDue.wake();
  const { db, log, mailLog } = services;
  void db.afterCommit(() => {
    for (const line of lines) mailLog.note(line);
    announceChanges(db, folderIds).catch((error: Error) =>
      log.debug({ error: error.message }, 'watchers were not notified of sent mail'),
    );
  });
}

/**
 * Releases a message: copy in Sent, local deliveries, the answered message is marked; state `sending`, or `done` if
 * nobody is left. Call it under the lock of its row.
 *
 * @param draft null: it was removed when the message was submitted
 * @param atEnd what else is written: last, because other messages wait for its rows
 * @throws {SenderRefused}
 * @throws {CatalogueError} conflict, if the draft was removed
 */
export async function release(
  sql: Sql,
  services: SendingServices,
  sender: Sender,
  message: OutboundMessage,
  content: MessageToFile,
  draft: SentDraft | null,
  atEnd: () => Promise<void> = async () => {},
): Promise<Released> {
  const now = new Date(services.now());
  const { answersMessageId, answersAs } = message;
  const answered =
    answersMessageId === null || answersAs === null ? null : { messageId: answersMessageId, as: answersAs };
  const [queued, ownMail, own] = await Promise.all([
    findRecipients(sql, message.id),
    findOwnMailChanges(sql, sender.mailbox.id, draft, answered),
    findOwnMailbox(sql, services, sender),
  ]);
  const locals = queued.filter(({ local, status }) => local && status === 'queued');
  const here: DeliveredHere = await deliverHere(sql, services, sender, message, content, locals, ownMail, own);
  const reached = here.locals.some(({ refusal }) => refusal === undefined);
  const giveUpAt = new Date(now.getTime() + OUTBOUND_GIVE_UP_MS);
  const [, reported, , recipients] = await Promise.all([
    settleLocals(sql, message.id, here, now),
    recordEvents(sql, localEvents(sender, message, here, now)),
    sql.query(RELEASE, [message.id, here.threadId, reached ? now : null, now, giveUpAt]),
    findRecipients(sql, message.id),
    atEnd(),
  ]);
  const owed = here.owed + reported;
  // Of a message that is finished, the recipients' states say the same.
  const status = outboundStatusOf({ state: 'sending', sendAt: null, stoppedAt: null }, recipients);
  return {
    id: message.id,
    threadId: here.threadId,
    status,
    folderIds: here.folderIds,
    owed,
    isFinished: !recipients.some(isOpen),
    lines: here.locals.length === 0 ? [] : [localLine(sender, message, here)],
  };
}

function localEvents(
  sender: Sender,
  message: OutboundMessage,
  { threadId, locals }: DeliveredHere,
  now: Date,
): NewEvent[] {
  const ends = locals.map(({ address, refusal }) => ({
    address,
    isRefused: refusal !== undefined,
    ...localResult(refusal),
  }));
  const [refused, delivered] = [ends.filter(({ isRefused }) => isRefused), ends.filter(({ isRefused }) => !isRefused)];
  return [
    ...(delivered.length > 0 ? [sentEvent(sender, message, threadId, 'local', now)] : []),
    ...deliveredEvents(sender, message, threadId, delivered, 'local', now),
    ...bouncedEvents(sender, message, threadId, refused, 'attempt', now),
  ];
}

function localLine({ mailbox }: Sender, { id, messageIdHeader, size }: OutboundMessage, here: DeliveredHere): MailLine {
  const refusals = here.locals.flatMap(({ refusal }) => (refusal === undefined ? [] : [refusal]));
  const all = refusals.length === here.locals.length;
  return {
    mail: 'local',
    outcome: refusals.length === 0 ? 'delivered' : all ? 'refused' : 'partial',
    messages: [id],
    messageId: messageIdHeader,
    from: mailbox.address,
    to: here.locals.map(({ address }) => address),
    size,
    reply: refusals[0] && `${refusals[0].code} ${refusals[0].reply}`,
  };
}

const RELEASE = `
  update outbound_message
     set state = case when rest.is_open then 'sending' else 'done' end,
         finished_at = case when rest.is_open then null else $4::timestamptz end,
         filed = true, thread_id = $2, first_sent_at = $3, due_at = $4, give_up_at = $5, stopped_at = null
    from (select exists (select from outbound_recipient where message_id = $1 and status in ('queued', 'sending')) as is_open) as rest
   where id = $1`;
