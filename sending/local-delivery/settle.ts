/** Final states of recipients, and the end of a message. */
import type { Sql } from '#db/database.ts';
import { changeRecipients } from '#sending/outbox/outbound-message.ts';
import { DELIVERED_HERE, type DeliveredHere } from './deliver-here.ts';

/** Writes the results of the recipients here. */
export const settleLocals = (sql: Sql, messageId: string, { locals }: DeliveredHere, now: Date): Promise<void> =>
  changeRecipients(
    sql,
    messageId,
    locals.map(({ number, refusal }) => ({
      number,
      status: refusal === undefined ? 'sent' : 'bounced',
      reply: refusal?.reply ?? DELIVERED_HERE.reply,
      code: refusal?.code ?? DELIVERED_HERE.code,
    })),
    now,
  );

/** Ends a message all of whose recipients are final. */
export async function finishIfDone(sql: Sql, messageId: string, now: Date): Promise<void> {
  await sql.query(
    `update outbound_message m set state = 'done', finished_at = $2
      where id = $1 and state = 'sending' and not exists (
        select from outbound_recipient r where r.message_id = m.id and r.status in ('queued', 'sending'))`,
    [messageId, now],
  );
}
