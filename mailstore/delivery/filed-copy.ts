import type { Sql } from '#db/database.ts';
import { SENT_COPY_WINDOW_MINUTES } from '#domain/sending/outbound.ts';
import type { PreparedAppend } from './append.ts';

/** The newest messages of Sent are searched: those filed within the window are among them. */
const LOOKED_AT_MAX = 500;

/**
 * Submission files a copy in Sent, and most mail clients append one of their own afterwards. That one is recognized by
 * its Message-ID. Call it under the folder's lock.
 *
 * @returns UID of the existing copy; undefined if the message must be appended
 */
export async function filedCopy(
  sql: Sql,
  folderId: number,
  prepared: readonly PreparedAppend[],
): Promise<number | undefined> {
  const [only, ...more] = prepared;
  const messageId = only?.message.read.messageId;
  if (messageId === undefined || more.length > 0) return undefined;
  const [row] = await sql.query<{ uid: number }>(FIND_COPY, [folderId, messageId, SENT_COPY_WINDOW_MINUTES]);
  return row?.uid;
}

const FIND_COPY = `
  select newest.uid
    from folder f cross join lateral (
      select uid, message_id, save_date from placement where folder_id = f.id order by uid desc limit ${LOOKED_AT_MAX}
    ) as newest
    join message m on m.id = newest.message_id
   where f.id = $1 and f.special_use = '\\Sent' and m.message_id_header = $2
     and newest.save_date > now() - make_interval(mins => $3)
     and exists (select from outbound_message o where o.id = m.id)
   order by newest.uid desc
   limit 1`;
