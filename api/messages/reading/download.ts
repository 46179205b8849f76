/** Bytes from strangers as downloads that no browser will run: attachment, no sniffing, no origin. */
import { Readable } from 'node:stream';
import { decodeTransfer, isIdentity } from '@agent-mailbox/mime-structure/transfer-encoding';
import { CatalogueError } from '#domain/errors.ts';
import { type BlobSource, readBlob, streamBlob } from '#mailstore/blobs/blob-store.ts';
import { findAttachment } from '#mailstore/messages/message-content.ts';
import type { StoredMessageContent } from '#mailstore/messages/read-messages.ts';

export interface Download {
  readonly body: Readable | Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/** RFC 6266: an ASCII name for old clients, and the real one in UTF-8. */
function dispositionOf(filename: string): string {
  const safe = filename.replace(/[\\/]/g, '_');
  const ascii = safe.replace(/[^ !#-~]/g, '_');
  const encoded = encodeURIComponent(safe).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}

const safeHeaders = (contentType: string, filename: string, sizeBytes: number) => ({
  'Content-Type': contentType,
  'Content-Length': String(sizeBytes),
  'Content-Disposition': dispositionOf(filename),
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "sandbox; default-src 'none'",
  'Cache-Control': 'private, no-transform, max-age=86400, immutable',
});

/** The message byte for byte. */
export const rawDownload = (db: BlobSource, message: Pick<StoredMessageContent, 'id' | 'blob' | 'size'>): Download => ({
  body: streamBlob(db, message.blob, 0, message.size),
  headers: safeHeaders('message/rfc822', `${message.id}.eml`, message.size),
});

/** @throws {CatalogueError} not_found */
export async function attachmentDownload(
  db: BlobSource,
  message: Pick<StoredMessageContent, 'blob' | 'parts' | 'attachments'>,
  id: string,
): Promise<Download> {
  const found = findAttachment(message, id);
  if (found === undefined) throw new CatalogueError('not_found');
  const { info, part } = found;
  const length = part.end - part.body;
  const filename = info.filename ?? `attachment-${id}`;
  if (isIdentity(part.encoding))
    return {
      body: streamBlob(db, message.blob, part.body, length),
      headers: safeHeaders(info.contentType, filename, length),
    };
  const decoded = decodeTransfer(await readBlob(db, message.blob, part.body, length), part.encoding);
  return { body: Readable.from(chunksOf(decoded)), headers: safeHeaders(info.contentType, filename, decoded.length) };
}

const CHUNK_BYTES = 65_536;

function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
}
