/**
 * Files of a mailbox that wait to be attached, and their names as strangers and clients give them.
 *
 *   expected ──PUT to the upload URL──▶ receiving ──▶ complete ──24 h──▶ deleted
 *       ▲            POST …/files ────────┘  │
 *       └──────the upload was interrupted────┘ (of a POST: deleted)
 *
 * The size is reserved before the first byte arrives, so that concurrent uploads cannot exceed the bound together. Bytes
 * are written in chunks, each in its own transaction: a slow upload holds no connection.
 */

import { newId } from '#core/platform/new-id.ts';
import type { Database, Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import {
  FILE_CHUNK_BYTES,
  FILE_LIFE_HOURS,
  FILE_MAX_BYTES,
  FILE_NAME_MAX_CHARACTERS,
  FILES_PER_MAILBOX_MAX,
  FILES_PER_MAILBOX_MAX_BYTES,
  UPLOAD_MAX_MINUTES,
} from '#domain/mail/file-limits.ts';
import { withoutHidden } from '#domain/mail/text-forms.ts';

/** The last part of a path, on one line, without hidden characters; undefined: nothing is left of it. */
export function safeFileName(given: string): string | undefined {
  const name = withoutHidden(given.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, '')).toWellFormed();
  const last = name.split(/[\\/]/).at(-1)?.trim() ?? '';
  return Array.from(last).slice(0, FILE_NAME_MAX_CHARACTERS).join('') || undefined;
}

/** The name in a Content-Disposition field: `filename*` before `filename` (RFC 6266 §4.3). */
export function fileNameOf(disposition: string | undefined): string | undefined {
  const [, encoded] = /filename\*\s*=\s*UTF-8''([^;\s]+)/i.exec(disposition ?? '') ?? [];
  const decoded = encoded === undefined ? undefined : decoded8187(encoded);
  if (decoded !== undefined) return safeFileName(decoded);
  const [, quoted, plain] = /filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(disposition ?? '') ?? [];
  return safeFileName(quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '');
}

function decoded8187(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

export interface FileRow {
  readonly id: string;
  readonly filename: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** The mailbox that a file belongs to. */
interface FileOwner {
  readonly organizationId: string;
  readonly mailboxId: string;
}

interface FileFacts {
  readonly filename: string;
  readonly contentType: string;
}

interface NewFile extends FileFacts {
  /** Bytes that are reserved. */
  readonly sizeBytes: number;
  readonly state: 'expected' | 'receiving';
  /** Hash of the credential in its upload URL. */
  readonly uploadHash: Buffer | null;
  /** The row is deleted at this time, unless it is completed before. */
  readonly expiresAt: Date;
}

const COLUMNS = `id, filename, content_type as "contentType", size_bytes as "sizeBytes", created_at as "createdAt",
  expires_at as "expiresAt"`;

/** Reserves a place for a file. @throws {CatalogueError} quota_exceeded */
export async function reserveFile(db: Database, owner: FileOwner, file: NewFile, nowMs: number): Promise<FileRow> {
  const { organizationId, mailboxId } = owner;
  return db.transaction(async (sql) => {
    await sql.query(`select pg_advisory_xact_lock(hashtextextended('mailbox_file:' || $1, 0))`, [mailboxId]);
    const [used] = await sql.query<{ files: number; bytes: number }>(
      `select count(*) as files, coalesce(sum(size_bytes), 0) as bytes from mailbox_file
        where mailbox_id = $1 and expires_at > $2`,
      [mailboxId, new Date(nowMs)],
    );
    const { files = 0, bytes = 0 } = used ?? {};
    if (Number(files) >= FILES_PER_MAILBOX_MAX || Number(bytes) + file.sizeBytes > FILES_PER_MAILBOX_MAX_BYTES)
      throw new CatalogueError(
        'quota_exceeded',
        `A mailbox has at most ${FILES_PER_MAILBOX_MAX} uploaded files of ${FILES_PER_MAILBOX_MAX_BYTES} bytes together.`,
        {
          fix: `Delete files that are no longer needed (DELETE …/files/:id). Each is deleted ${FILE_LIFE_HOURS} hours after its upload.`,
        },
      );
    const [row] = await sql.query<FileRow>(
      `insert into mailbox_file
         (id, organization_id, mailbox_id, filename, content_type, size_bytes, state, upload_hash, created_at, expires_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning ${COLUMNS}`,
      [
        newId('file', nowMs),
        organizationId,
        mailboxId,
        file.filename,
        file.contentType,
        file.sizeBytes,
        file.state,
        file.uploadHash,
        new Date(nowMs),
        file.expiresAt,
      ],
    );
    if (row === undefined) throw new Error('the row of a file was not written');
    return row;
  });
}

/** When an upload that begins now counts as interrupted. */
export const uploadEnd = (nowMs: number): Date => new Date(nowMs + UPLOAD_MAX_MINUTES * MINUTE_MS);

/**
 * Takes an upload URL for its one upload, while it is valid.
 *
 * @returns its file and the most bytes it may have; undefined: it is unknown, used, or over
 */
export async function takeUpload(
  sql: Sql,
  hash: Buffer,
  nowMs: number,
): Promise<{ readonly id: string; readonly maxBytes: number; readonly validUntil: Date } | undefined> {
  const [row] = await sql.query<{ id: string; maxBytes: number; validUntil: Date }>(
    `update mailbox_file f set state = 'receiving', expires_at = $3
       from (select id, expires_at from mailbox_file
              where upload_hash = $1 and state = 'expected' and expires_at > $2 for update skip locked) as taken
      where f.id = taken.id returning f.id, f.size_bytes as "maxBytes", taken.expires_at as "validUntil"`,
    [hash, new Date(nowMs), uploadEnd(nowMs)],
  );
  return row;
}

/** After an interrupted upload: its URL may be used again, as long as it was valid before. */
export async function returnUpload(sql: Sql, id: string, validUntil: Date): Promise<void> {
  await sql.query(`delete from mailbox_file_chunk where file_id = $1`, [id]);
  await sql.query(`update mailbox_file set state = 'expected', expires_at = $2 where id = $1 and state = 'receiving'`, [
    id,
    validUntil,
  ]);
}

/**
 * Writes the bytes of a reserved file in chunks.
 *
 * @returns the number of bytes
 * @throws {CatalogueError} payload_too_large, and what `bytes` throws
 */
export async function writeFileBytes(
  sql: Sql,
  id: string,
  bytes: AsyncIterable<Uint8Array>,
  maxBytes: number = FILE_MAX_BYTES,
): Promise<number> {
  let waiting: Uint8Array[] = [];
  let [waitingBytes, total, number] = [0, 0, 0];
  const write = async (): Promise<void> => {
    if (waitingBytes === 0) return;
    await sql.query(`insert into mailbox_file_chunk (file_id, number, bytes) values ($1, $2, $3)`, [
      id,
      number++,
      Buffer.concat(waiting),
    ]);
    [waiting, waitingBytes] = [[], 0];
  };
  for await (const part of bytes) {
    total += part.length;
    if (total > maxBytes)
      throw new CatalogueError('payload_too_large', `The file is larger than the ${maxBytes} bytes allowed for it.`, {
        fix: 'Send a smaller file, or a link to it.',
      });
    waiting.push(part);
    waitingBytes += part.length;
    if (waitingBytes >= FILE_CHUNK_BYTES) await write();
  }
  await write();
  return total;
}

/** Makes a received file one that can be attached. @throws {CatalogueError} not_found, if it was deleted meanwhile */
export async function completeFile(sql: Sql, id: string, sizeBytes: number, nowMs: number): Promise<FileRow> {
  const [row] = await sql.query<FileRow>(
    `update mailbox_file set state = 'complete', size_bytes = $2, expires_at = $3
      where id = $1 and state = 'receiving' returning ${COLUMNS}`,
    [id, sizeBytes, new Date(nowMs + FILE_LIFE_HOURS * HOUR_MS)],
  );
  if (row === undefined) throw new CatalogueError('not_found', 'The file was deleted while it was uploaded.');
  return row;
}

/** Newest first, one more than the page has. */
export const listFiles = (
  sql: Sql,
  mailboxId: string,
  page: { readonly limit: number; readonly after: string | null },
  nowMs: number,
): Promise<FileRow[]> =>
  sql.query<FileRow>(
    `select ${COLUMNS} from mailbox_file
      where mailbox_id = $1 and state = 'complete' and expires_at > $4 and ($2::text is null or id < $2)
      order by id desc limit $3`,
    [mailboxId, page.after, page.limit + 1, new Date(nowMs)],
  );

/** A complete file of this mailbox. */
export async function findFile(sql: Sql, mailboxId: string, id: string, nowMs: number): Promise<FileRow | undefined> {
  const [row] = await sql.query<FileRow>(
    `select ${COLUMNS} from mailbox_file where mailbox_id = $1 and id = $2 and state = 'complete' and expires_at > $3`,
    [mailboxId, id, new Date(nowMs)],
  );
  return row;
}

/** Deletes a file, also one that is expected or being received. @returns whether there was one */
export async function deleteFile(sql: Sql, mailboxId: string, id: string): Promise<boolean> {
  const rows = await sql.query(`delete from mailbox_file where mailbox_id = $1 and id = $2 returning 1`, [
    mailboxId,
    id,
  ]);
  return rows.length > 0;
}

/** The bytes of a file, whole in memory. @param sizeBytes of its row */
export async function readFileBytes(sql: Sql, id: string, sizeBytes: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(sizeBytes);
  let at = 0;
  for (let number = 0; at < sizeBytes; number++) {
    const [chunk] = await sql.query<{ bytes: Buffer }>(
      `select bytes from mailbox_file_chunk where file_id = $1 and number = $2`,
      [id, number],
    );
    if (chunk === undefined) throw new CatalogueError('not_found', 'The file was deleted while it was read.');
    at += chunk.bytes.copy(bytes, at);
  }
  return bytes;
}
