/**
 * Raw messages, each stored once under its SHA-256. The one place that knows where their bytes are kept, so that they
 * can move to object storage.
 *
 * Reading goes in slices of 1 MiB: measured 229 MB/s, against 154 with 256 KiB and 105 for a 20 MB value whole.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Sql } from '../db/database.ts';

export const BLOB_SLICE_BYTES = 1_048_576;
/** A blob no message points to is kept this long: its message may be in a transaction that is not committed yet. */
const ORPHAN_AGE_HOURS = 24;
const SWEEP_MAX_ROWS = 1_000;

export const blobKey = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

/** Stores bytes under their key; storing them again does nothing. */
export async function storeBlob(sql: Sql, key: Uint8Array, bytes: Uint8Array): Promise<void> {
  await sql.query(`insert into blob (sha256, size, bytes) values ($1, $2, $3) on conflict do nothing`, [
    key,
    bytes.length,
    bytes,
  ]);
}

/** Bytes from `from` on, at most `length`; empty behind the end and for an unknown key. */
export async function readBlobSlice(sql: Sql, key: Uint8Array, from: number, length: number): Promise<Buffer> {
  const [row] = await sql.query<{ slice: Buffer }>(
    `select substring(bytes from $2::int for $3::int) as slice from blob where sha256 = $1`,
    [key, from + 1, length],
  );
  return row?.slice ?? Buffer.alloc(0);
}

/** Bytes of a message of this mailbox, at most one slice of 1 MiB; empty behind the end and when it is gone. */
export async function readMessageSlice(
  sql: Sql,
  mailboxId: string,
  messageId: string,
  from: number,
  length: number,
): Promise<Buffer> {
  const [row] = await sql.query<{ slice: Buffer }>(
    `select substring(b.bytes from $3::int for $4::int) as slice
       from message m join blob b on b.sha256 = m.blob where m.id = $2 and m.mailbox_id = $1`,
    [mailboxId, messageId, from + 1, Math.min(length, BLOB_SLICE_BYTES)],
  );
  return row?.slice ?? Buffer.alloc(0);
}

/** Whole contents of messages of this mailbox, by their ids; larger ones than `maxBytesEach` are left out. */
export async function readMessages(
  sql: Sql,
  mailboxId: string,
  messageIds: readonly string[],
  maxBytesEach: number,
): Promise<Map<string, Buffer>> {
  const rows = await sql.query<{ id: string; bytes: Buffer }>(
    `select m.id, b.bytes from message m join blob b on b.sha256 = m.blob
      where m.id = any($2::text[]) and m.mailbox_id = $1 and m.size <= $3`,
    [mailboxId, messageIds, maxBytesEach],
  );
  return new Map(rows.map(({ id, bytes }) => [id, bytes]));
}

/** A range of a blob, whole in memory. */
export async function readBlob(sql: Sql, key: Uint8Array, from: number, length: number): Promise<Buffer> {
  if (length <= BLOB_SLICE_BYTES) return readBlobSlice(sql, key, from, length);
  const slices: Buffer[] = [];
  for await (const slice of slicesOf(sql, key, from, length)) slices.push(slice);
  return Buffer.concat(slices);
}

/** A range of a blob as a stream; holds no connection while the reader waits. */
export const streamBlob = (sql: Sql, key: Uint8Array, from: number, length: number): Readable =>
  Readable.from(slicesOf(sql, key, from, length), { objectMode: false, highWaterMark: 65_536 });

async function* slicesOf(sql: Sql, key: Uint8Array, from: number, length: number): AsyncGenerator<Buffer> {
  const end = from + length;
  for (let at = from; at < end; ) {
    const slice = await readBlobSlice(sql, key, at, Math.min(BLOB_SLICE_BYTES, end - at));
    if (slice.length === 0) return;
    yield slice;
    at += slice.length;
  }
}

/**
 * Removes blobs that no message, filed or submitted, needs any more. A message filed meanwhile keeps its blob by the foreign key.
 *
 * @returns blobs removed; 1,000 means there may be more
 */
export async function sweepOrphanBlobs(sql: Sql): Promise<number> {
  const rows = await sql.query(
    `delete from blob where sha256 in (
       select sha256 from blob
        where created_at < now() - make_interval(hours => $1) and not exists (select from message where blob = sha256)
          and not exists (select from outbound_message where blob = sha256)
        limit $2 for update skip locked)
     returning 1`,
    [ORPHAN_AGE_HOURS, SWEEP_MAX_ROWS],
  );
  return rows.length;
}
