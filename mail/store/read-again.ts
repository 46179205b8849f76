/**
 * Messages that an earlier version of the reader took apart (`message.read_again`): what is stored of their header and
 * structure becomes what today's makes of their bytes. The bytes, and with them sizes, UIDs and threads, stay.
 */
import { readBlob } from '../../core/blob-store.ts';
import type { Database } from '../../db/database.ts';
import { readMessage } from '../mime/read-message.ts';

const PORTION_ROWS = 100;

/**
 * Reads them one at a time: each may have 25 MiB. Twice at once does no harm.
 *
 * @returns messages read
 */
export async function readAgain(db: Database, messagesMax: number): Promise<number> {
  let done = 0;
  for (;;) {
    const rows = await db.query<{ id: string; blob: Buffer; size: number }>(NEXT, [
      Math.min(PORTION_ROWS, messagesMax - done),
    ]);
    if (rows.length === 0) return done;
    for (const { id, blob, size } of rows) {
      const read = readMessage(await readBlob(db, blob, 0, size));
      await db.query(WRITE, [
        id,
        read.envelope,
        read.bodyStructure,
        JSON.stringify(read.parts),
        JSON.stringify(read.attachments),
        JSON.stringify(read.from),
        JSON.stringify(read.to),
        JSON.stringify(read.cc),
        read.subject,
        read.preview,
        read.sentAt ?? null,
        read.sentOffsetMinutes,
      ]);
    }
    done += rows.length;
  }
}

const NEXT = `select id, blob, size from message where read_again order by id limit $1`;

const WRITE = `
  update message
     set envelope = $2, bodystructure = $3, parts = $4, attachments = $5, from_addresses = $6, to_addresses = $7,
         cc_addresses = $8, subject = $9, preview = $10, sent_at = $11, sent_offset_minutes = $12, read_again = false
   where id = $1`;
