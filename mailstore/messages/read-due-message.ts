/**
 * A message that an earlier reader parsed (`message.text_status` is `due`): its stored header, structure, content and
 * search text are replaced by the result of the current reader. Bytes, sizes, UIDs and threads do not change.
 */

import type { PartNode } from '@agent-mailbox/mime-structure/index-message';
import type { Database } from '#db/database.ts';
import { isInfrastructureError } from '#db/infrastructure-error.ts';
import { readBlob } from '#mailstore/blobs/blob-store.ts';
import { extractsOf } from '#mailstore/delivery/insert-messages.ts';
import { listedHeader } from '#mailstore/delivery/recipients.ts';
import { readSafely } from '#mailstore/reading/read-safely.ts';
import { storeSearchTexts } from '#mailstore/search/message-text.ts';
import type { MessageContent } from '#mime/read-message.ts';

export interface DueMessage {
  readonly id: string;
  readonly blob: Buffer;
  readonly size: number;
  /** As an earlier version found them. */
  readonly parts: PartNode;
}

/** All messages that are read again share one turn. */
const READ_AGAIN = 'read-again';

/**
 * Reads one message and stores the result. If it cannot be read, its structure does not change.
 *
 * @param options.withSearchText false if a client waits for the answer: the search text is made again in the background
 */
export async function readDueMessage(
  db: Database,
  { id, blob, size, parts }: DueMessage,
  { withSearchText }: { withSearchText: boolean },
): Promise<MessageContent> {
  const bytes = await readBlob(db, blob, 0, size);
  const read = await readSafely(db, bytes, { source: READ_AGAIN });
  const { content } = read;
  const failed = content.status === 'failed';
  // Before the message is marked as done: after a crash both are repeated.
  const source = { messageId: id, bytes, parts: failed ? parts : read.parts, text: content.text };
  if (withSearchText) await storeSearchTexts(db, [source], { again: true });
  if (failed) {
    await giveUpReading(db, id);
    return content;
  }
  const listed = listedHeader(bytes, read.parts);
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
    content.status,
    content.text,
    JSON.stringify(extractsOf(content)),
    !withSearchText,
    listed.lines,
    listed.longLines,
    listed.envelopeText,
    read.attachmentDigests,
    JSON.stringify(read.examined.signals),
  ]);
  return content;
}

/**
 * The same in the background. A message that cannot be stored, for whatever reason, must not block all others.
 *
 * @throws infrastructure errors only
 */
export async function readOrGiveUp(
  db: Database,
  message: DueMessage,
  onGivenUp: (error: unknown) => void = () => {},
): Promise<void> {
  try {
    await readDueMessage(db, message, { withSearchText: true });
  } catch (error) {
    if (isInfrastructureError(error)) throw error;
    onGivenUp(error);
    await giveUpReading(db, message.id);
  }
}

/** The message does not change, except that its status says that its text could not be read. */
async function giveUpReading(db: Database, messageId: string): Promise<void> {
  await db.query(`update message set text_status = 'failed' where id = $1`, [messageId]);
}

const WRITE = `
  with again as (
    update message
       set envelope = $2, bodystructure = $3, parts = $4, attachments = $5, from_addresses = $6, to_addresses = $7,
           cc_addresses = $8, subject = $9, preview = $10, sent_at = $11, sent_offset_minutes = $12, text_status = $13,
           signals = case when origin in ('smtp', 'local') then $21::jsonb end
     where id = $1
    returning id
  ), listed as (
    update placement set header_lines = $17, long_header_lines = $18, envelope_text = $19, sent_at = $11
     where message_id = $1
  ), digests as (
    insert into attachment_digest (organization_id, digest, message_id)
    select x.organization_id, decode(digest, 'hex'), m.id
      from message m join mailboxes x on x.id = m.mailbox_id cross join unnest($20::text[]) as digest
     where m.id = $1 and m.origin <> 'draft' order by 1, 2, 3
    on conflict do nothing
  ), carried as (
    insert into carried_due (message_id, organization_id)
    select m.id, x.organization_id from message m join mailboxes x on x.id = m.mailbox_id
     where m.id = $1 and m.origin in ('smtp', 'local', 'submission', 'append')
    on conflict do nothing
  ), texts as (
    update message_text set fill_again = true where message_id = $1 and $16
  )
  insert into message_content (message_id, body, extracts) select id, $14::text, $15::jsonb from again
  on conflict (message_id) do update set body = excluded.body, extracts = excluded.extracts`;
