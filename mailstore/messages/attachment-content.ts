/** The decoded bytes of an attachment of a stored message. */
import { type AttachmentInfo, leaves } from '@agent-mailbox/mime-structure/parts';
import { decodeTransfer } from '@agent-mailbox/mime-structure/transfer-encoding';
import { type BlobSource, readBlob } from '#mailstore/blobs/blob-store.ts';
import type { StoredMessageContent } from './read-messages.ts';

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
