/** The delivery notices that a submitter requested, as stored in the rows of the message. */
import type { Sql } from '#db/database.ts';
import type { MessageNotices, RecipientNotices } from '#domain/webhooks/delivery-notices.ts';

export interface NoticesAsked extends MessageNotices {
  /** By lower-cased address; missing recipients have the default. */
  readonly recipients: ReadonlyMap<string, RecipientNotices>;
}

/** Call it in the transaction that submits. */
export async function keepNotices(sql: Sql, messageId: string, asked: NoticesAsked): Promise<void> {
  const spoken = [...asked.recipients].filter(
    ([, { notify, originalRecipient }]) => notify !== null || originalRecipient !== null,
  );
  await Promise.all([
    sql.query(`update outbound_message set envelope_id = $2, returned = $3 where id = $1`, [
      messageId,
      asked.envelopeId,
      asked.returned,
    ]),
    sql.query(KEEP_RECIPIENTS, [
      messageId,
      spoken.map(([address]) => address),
      spoken.map(([, { notify }]) => notify?.join(',') ?? null),
      spoken.map(([, { originalRecipient }]) => originalRecipient),
    ]),
  ]);
}

const KEEP_RECIPIENTS = `
  update outbound_recipient r
     set notify = string_to_array(asked.notify, ','), original_recipient = asked.original
    from unnest($2::text[], $3::text[], $4::text[]) as asked (address, notify, original)
   where r.message_id = $1 and lower(r.address) = asked.address`;
