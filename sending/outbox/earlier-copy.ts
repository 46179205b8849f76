import type { Sql } from '#db/database.ts';
import { SENT_COPY_WINDOW_MINUTES } from '#domain/sending/outbound.ts';

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
