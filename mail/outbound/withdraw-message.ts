/** Taking back a message that waits, for consent or for its time. Nobody has got it yet. */
import { withdrawConsent } from '../../core/decide-consent.ts';
import { recordEvents } from '../../core/record-event.ts';
import type { Actor } from '../../domain/event-envelope.ts';
import type { SendingServices } from './deliver-here.ts';
import { blockedEvent } from './outbound-events.ts';
import { findOutbound, findSender, lockOutbound } from './outbound-message.ts';
import { afterCommit } from './release-message.ts';

/**
 * Tell its workflow afterwards (`signalDecided`).
 *
 * @returns false when the mailbox has no such message, or it does not wait (any more)
 */
export async function withdrawMessage(
  services: SendingServices,
  mailboxId: string,
  messageId: string,
  actor: Actor,
): Promise<boolean> {
  const waiting = await findOutbound(services.db, messageId);
  if (waiting === undefined || waiting.mailboxId !== mailboxId) return false;
  if (waiting.state !== 'held' && waiting.state !== 'scheduled') return false;
  if (waiting.state === 'held' && waiting.consentId !== null)
    if (await withdrawConsent(services, waiting.consentId, actor)) return true;
  const sender = await findSender(services.db, mailboxId);
  if (sender === undefined) return false;
  const now = new Date(services.now());
  const owed = await services.db.transaction(async (sql) => {
    const message = await lockOutbound(sql, messageId);
    if (message?.state !== 'held' && message?.state !== 'scheduled') return undefined;
    await sql.query(`update outbound_message set state = 'denied', finished_at = $2 where id = $1`, [messageId, now]);
    const stopped = await sql.query<{ address: string }>(
      `update outbound_recipient set status = 'denied', reply = 'cancelled', code = '5.7.1', updated_at = $2
        where message_id = $1 returning address`,
      [messageId, now],
    );
    const blocked = { recipients: stopped.map(({ address }) => address), reason: 'cancelled', rule: null } as const;
    return recordEvents(sql, [blockedEvent(sender, { ...message, actor }, blocked, now)]);
  });
  if (owed === undefined) return false;
  afterCommit(services, { folderIds: [], owed });
  return true;
}
