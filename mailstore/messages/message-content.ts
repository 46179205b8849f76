/**
 * The readable content of stored messages: text, new part of a reply, codes and links, as found when the message was stored;
 * and the decoded bytes of an attachment.
 */
import { storableText } from '@agent-mailbox/mime-structure/charset';
import { type AttachmentInfo, bodyParts, leaves, partText } from '@agent-mailbox/mime-structure/parts';
import { decodeTransfer } from '@agent-mailbox/mime-structure/transfer-encoding';
import type { Database } from '#db/database.ts';
import { SEARCH_TEXT_MAX_BYTES } from '#domain/mail/mail-limits.ts';
import { type BlobSource, readBlob } from '#mailstore/blobs/blob-store.ts';
import type { ContentExtracts } from '#mailstore/delivery/insert-messages.ts';
import { type MessageContent, UNREAD_CONTENT } from '#mime/read-message.ts';
import { readDueMessage } from './read-due-message.ts';
import type { StoredMessageContent } from './read-messages.ts';

/**
 * Contents by message id. A message of an earlier version that the background job has not processed yet is read now, in
 * a thread like any other, and stored; nothing is read twice.
 */
export async function readContents(
  db: Database,
  messages: readonly Pick<StoredMessageContent, 'id' | 'blob' | 'size' | 'parts' | 'textStatus'>[],
): Promise<ReadonlyMap<string, MessageContent>> {
  const contents = new Map<string, MessageContent>();
  for (const message of messages)
    if (message.textStatus === 'due')
      contents.set(message.id, await readDueMessage(db, message, { withSearchText: false }));
  const stored = messages.filter(({ textStatus }) => textStatus !== 'due');
  const rows = await db.query<{ message_id: string; body: string; extracts: ContentExtracts }>(
    `select message_id, body, extracts from message_content where message_id = any($1::text[])`,
    [stored.map(({ id }) => id)],
  );
  const byId = new Map(rows.map((row) => [row.message_id, row]));
  for (const { id, textStatus } of stored) {
    const row = byId.get(id);
    if (row === undefined || textStatus === 'due') contents.set(id, UNREAD_CONTENT);
    else {
      const { reply, codes, links } = row.extracts;
      contents.set(id, { status: textStatus, text: row.body, reply: reply ?? row.body.trim(), codes, links });
    }
  }
  return contents;
}

export async function readContent(db: Database, message: StoredMessageContent): Promise<MessageContent> {
  return (await readContents(db, [message])).get(message.id) ?? UNREAD_CONTENT;
}

/** HTML as received, decoded and not otherwise processed; null: none. `cut`: a part is longer than shown. */
export async function readHtml(
  source: BlobSource,
  { blob, parts }: Pick<StoredMessageContent, 'blob' | 'parts'>,
): Promise<{ readonly html: string | null; readonly cut: boolean }> {
  const { html } = bodyParts(parts);
  let cut = false;
  const texts: string[] = [];
  for (const { part } of html) {
    const length = Math.min(part.end - part.body, SEARCH_TEXT_MAX_BYTES);
    cut ||= length < part.end - part.body;
    const bytes = await readBlob(source, blob, part.body, length);
    texts.push(partText(bytes, { ...part, body: 0, end: bytes.length }));
  }
  return { html: html.length === 0 ? null : storableText(texts.join('\n')), cut };
}

type WithParts = Pick<StoredMessageContent, 'blob' | 'parts' | 'attachments'>;

/** An attachment and its part; undefined: the message has no such attachment. */
export function findAttachment(message: Pick<WithParts, 'parts' | 'attachments'>, id: string) {
  const info = message.attachments.find((attachment) => attachment.id === id);
  const part = [...leaves(message.parts)].find(({ number }) => number === id)?.part;
  return info === undefined || part === undefined ? undefined : { info, part };
}

/** An attachment whole in memory; undefined: the message has no such attachment. */
export async function readAttachment(
  source: BlobSource,
  message: WithParts,
  id: string,
): Promise<{ readonly info: AttachmentInfo; readonly bytes: Buffer } | undefined> {
  const found = findAttachment(message, id);
  if (found === undefined) return undefined;
  const { info, part } = found;
  const bytes = decodeTransfer(await readBlob(source, message.blob, part.body, part.end - part.body), part.encoding);
  return { info, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
}
