/** A message whose sending a person stopped notes that it waits, so that the end of the stop wakes it. */
import { readBrakes, shareBrakes, stoppedBecause } from '#core/mailboxes/sending-brakes.ts';
import { OUTBOUND_OVERDUE_MS } from '#domain/sending/outbound.ts';
import type { OutboundProgress } from '#domain/sending/outbound-workflow.ts';
import { STOPPED_LOOK_AGAIN_MS } from '#domain/sending/sending-brakes.ts';
import type { OutboundMessage } from '#sending/outbox/outbound-message.ts';
import type { SendingServices } from '#sending/outbox/sending-services.ts';

/**
 * Notes that a message waits for the end of a stop, so that the end wakes it.
 *
 * @returns undefined: nothing is stopped, or nothing of the message is left to be sent
 */
export async function waitForStop(
  services: SendingServices,
  message: OutboundMessage,
): Promise<OutboundProgress | undefined> {
  const { db, now } = services;
  const stopped = (await stoppedBecause(db, message.mailboxId)) !== null;
  if (!stopped && message.stoppedAt === null) return undefined;
  return db.transaction(async (sql) => {
    await shareBrakes(sql, message.organizationId);
    const isStopped = (await readBrakes(sql, message.mailboxId)).stoppedBy !== null;
    const nextAtMs = now() + STOPPED_LOOK_AGAIN_MS;
    const rows = isStopped
      ? await sql.query(NOTE_STOP, [message.id, new Date(now()), new Date(nextAtMs + OUTBOUND_OVERDUE_MS)])
      : await sql.query(FORGET_STOP, [message.id]);
    return isStopped && rows.length > 0 ? { nextAtMs, waitsFor: 'sending is stopped', stopped: true } : undefined;
  });
}

const NOTE_STOP = `
  update outbound_message o set stopped_at = coalesce(stopped_at, $2), due_at = $3
   where id = $1 and state = 'sending'
     and exists (select from outbound_recipient r where r.message_id = o.id and r.status in ('queued', 'sending'))
  returning 1`;

const FORGET_STOP = `update outbound_message set stopped_at = null where id = $1`;
