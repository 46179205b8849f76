/**
 * Updates mail stored by an earlier version to the result of the current reader, in the background: content and
 * structure of messages that are due (`message.text_status`), then search texts (`message_text.fill_again`), then header
 * lines for lists (`placement.header_lines`); newest first, in portions bounded in number and time, by one process of the installation at a time. Until then such messages
 * are searched in their bytes if the text does not match.
 */

import type { Services } from '#core/platform/process/services.ts';
import { doPortion, type SharedPortions } from '#core/platform/process/shared-turns.ts';
import type { Database } from '#db/database.ts';
import { isInfrastructureError } from '#db/infrastructure-error.ts';
import { readBlob } from '#mailstore/blobs/blob-store.ts';
import { listedHeader } from '#mailstore/delivery/recipients.ts';
import { type DueMessage, readOrGiveUp } from '#mailstore/messages/read-due-message.ts';
import { storeSearchTexts } from '#mailstore/search/message-text.ts';

const PORTION_MESSAGES = 50;

export const STORED_MAIL_UPGRADE: SharedPortions = {
  name: 'stored mail',
  // By partial indexes that are empty when all is done. Without an order PostgreSQL would read a table that it has not
  // counted yet, from its beginning to its end.
  anyDue: `
    select exists (select from message where text_status = 'due' order by id limit 1)
        or exists (select from message_text where fill_again order by message_id limit 1)
        or exists (select from placement where header_lines is null order by message_id limit 1) as due`,
  lookMs: 5_000,
  pauseMs: 100,
  lostAfterMs: 120_000,
  async work({ db, log }, goesOn) {
    const read = await each(db, NEXT_DUE, goesOn, (message) =>
      readOrGiveUp(db, message, (error) =>
        log.error({ messageId: message.id, error: String(error) }, 'a stored message could not be read again'),
      ),
    );
    if (read > 0) return read;
    const texts = await each(db, NEXT_TEXT, goesOn, async ({ id, blob, size, parts, body }) => {
      try {
        const bytes = await readBlob(db, blob, 0, size);
        await storeSearchTexts(db, [{ messageId: id, bytes, parts, text: body ?? '' }]);
      } catch (error) {
        if (isInfrastructureError(error)) throw error;
        log.error({ messageId: id, error: String(error) }, 'a search text could not be made again');
        await db.query(SEARCH_BYTES, [id]);
      }
    });
    if (texts > 0) return texts;
    return each(db, NEXT_HEADER, goesOn, async ({ id, blob, parts }) => {
      const bytes = await readBlob(db, blob, 0, parts.body);
      const { lines, longLines, envelopeText } = listedHeader(bytes, parts);
      await db.query(STORE_HEADER, [id, lines, longLines, envelopeText]);
    });
  },
};

/** One portion, for tests. @returns messages done */
export const upgradePortion = (db: Database, log: Services['log']): Promise<number> =>
  doPortion({ db, log }, STORED_MAIL_UPGRADE);

interface DueRow extends DueMessage {
  /** Of `message_content`; null: it could not be read. */
  readonly body: string | null;
}

/** One message at a time: each may have 30 MiB. */
async function each(
  db: Database,
  next: string,
  goesOn: () => boolean,
  work: (row: DueRow) => Promise<void>,
): Promise<number> {
  let done = 0;
  for (const row of await db.query<DueRow>(next, [PORTION_MESSAGES])) {
    if (!goesOn()) break;
    await work(row);
    done++;
  }
  return done;
}

const NEXT_DUE = `
  select id, blob, size, parts, null as body from message where text_status = 'due' order by id desc limit $1`;

const NEXT_TEXT = `
  select m.id, m.blob, m.size, m.parts, c.body
    from message_text t join message m on m.id = t.message_id left join message_content c on c.message_id = m.id
   where t.fill_again order by t.message_id desc limit $1`;

const NEXT_HEADER = `
  select m.id, m.blob, m.size, m.parts, null as body
    from (select distinct message_id from placement where header_lines is null order by message_id desc limit $1) p
    join message m on m.id = p.message_id order by m.id desc`;

const STORE_HEADER = `
  update placement p set header_lines = $2, long_header_lines = $3, envelope_text = $4, sent_at = m.sent_at
    from message m where m.id = $1 and p.message_id = m.id and p.header_lines is null`;

/** A cut text is never treated as complete. */
const SEARCH_BYTES = `update message_text set fill_again = false, cut = true where message_id = $1`;
