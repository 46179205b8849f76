import type { Sql } from '#db/database.ts';
import { SenderRefused } from './deliver-here.ts';

/**
 * The copies in Sent are filed at the release, but lack of room is reported at submission. All waiting messages are
 * counted, including this one.
 *
 * @throws {SenderRefused} over-quota
 */
export async function requireRoom(sql: Sql, mailboxId: string): Promise<void> {
  const fits = await sql.query(FITS, [mailboxId]);
  if (fits.length === 0) throw new SenderRefused('over-quota');
}

const FITS = `
  select 1 from mailbox_counter
   where mailbox_id = $1 and quota_bytes >= bytes_used + (
     select coalesce(sum(size), 0) from outbound_message
      where mailbox_id = $1 and state in ('held', 'scheduled') and (edited or not filed))`;
