/**
 * Raw messages, each stored once under its SHA-256. Every content comes into a row of `blob`, in the transaction of its
 * message; from there it may be moved to an object storage (`move-blobs.ts`). Readers ask here and find it at either place.
 *
 * Reading goes in slices of 512 KiB, in pieces of 60 KiB: measured 540 MB/s and 2.6 ms of CPU per MB together with
 * PostgreSQL, against 360 MB/s and 3.2 ms with 256 KiB, and 120 MB/s and 10 ms if bytea is read as text.
 */
import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { StoreUnavailable } from '@agent-mailbox/mail-store';
import { ObjectStoreError } from '#core/platform/objects/object-store-error.ts';
import type { BlobObjects, StoredObject } from '#db/blob-objects.ts';
import type { CopyValue } from '#db/copy-rows.ts';
import type { ByteSource, Sql } from '#db/database.ts';
import { MESSAGE_SLICE_MAX_BYTES } from '#domain/mail/mail-limits.ts';

/** Pieces of a slice fit into one read of the driver from its socket: it would have to concatenate larger ones. */
const PIECE_BYTES = 61_440;
/** Up to this size a prepared statement costs less, although its result is text. */
const SMALL_SLICE_BYTES = 32_768;
/** A blob no message points to is kept this long: its message may be in a transaction that is not committed yet. */
const ORPHAN_AGE_HOURS = 24;
const SWEEP_MAX_ROWS = 1_000;

export const blobKey = (bytes: Uint8Array): Buffer => hash('sha256', bytes, 'buffer');

/** Stores bytes under their key; storing them again does nothing. */
export async function storeBlob(sql: Sql, key: Uint8Array, bytes: Uint8Array): Promise<void> {
  await sql.query(`insert into blob (sha256, size, bytes) values ($1, $2, $3) on conflict do nothing`, [
    key,
    bytes.length,
    bytes,
  ]);
}

/** Where messages are read from: the database, outside any transaction, and the object storage if there is one. */
export type BlobSource = Sql & ByteSource & { readonly objects?: BlobObjects | undefined };

/** Statements of one slice: $1 is its first byte, counted from 1, $2 its last; keys follow. */
interface SliceStatements {
  readonly whole: string;
  readonly inPieces: string;
  /** The object of the blob, if its bytes are in one; the keys are its only parameters. */
  readonly object: string;
}

const OBJECT_COLUMNS = `o.name, o.key_sealed as "keySealed", b.sha256, b.size`;

const sliceStatements = (tables: string, where: string, whereObject: string): SliceStatements => ({
  whole: `select substring(b.bytes from $1::int for $2::int + 1 - $1::int) as bytes from ${tables} where ${where}`,
  inPieces: `
    select start, substring(b.bytes from start for least(${PIECE_BYTES}, $2 + 1 - start))
      from generate_series($1, $2, ${PIECE_BYTES}) as start cross join ${tables} where ${where}`,
  object: `select ${OBJECT_COLUMNS} from ${tables} join blob_object o on o.name = b.object where ${whereObject}`,
});
const BLOB_SLICE = sliceStatements('blob b', 'b.sha256 = $3', 'b.sha256 = $1');
const MESSAGE_SLICE = sliceStatements(
  'message m join blob b on b.sha256 = m.blob',
  'm.id = $3 and m.mailbox_id = $4',
  'm.id = $1 and m.mailbox_id = $2',
);

/** @throws {StoreUnavailable} if the storage is not set, or fails: clients are answered that they try again later */
async function readObject(
  { objects }: BlobSource,
  object: StoredObject,
  from: number,
  length: number,
): Promise<Buffer> {
  if (objects === undefined)
    throw new StoreUnavailable('the content is in an object storage, and S3_ENDPOINT is not set for this process');
  try {
    return await objects.read(object, from, length);
  } catch (error) {
    throw error instanceof ObjectStoreError ? new StoreUnavailable(error.message, { cause: error }) : error;
  }
}

/** Bytes from `from` on, at most `length`; empty after the end and for an unknown key. */
async function readSlice(
  source: BlobSource,
  { whole, inPieces, object }: SliceStatements,
  key: readonly CopyValue[],
  from: number,
  length: number,
  again = true,
): Promise<Buffer> {
  const values = [from + 1, from + length, ...key];
  const elsewhere = async (): Promise<Buffer> => {
    const [found] = await source.query<StoredObject>(object, key);
    if (found !== undefined) return readObject(source, found, from, length);
    // It may have come back into its row between the two statements.
    return again ? readSlice(source, { whole, inPieces, object }, key, from, length, false) : Buffer.alloc(0);
  };
  if (length <= SMALL_SLICE_BYTES) {
    const [row] = await source.query<{ bytes: Buffer | null }>(whole, values);
    return row === undefined ? Buffer.alloc(0) : (row.bytes ?? elsewhere());
  }
  const bytes = Buffer.allocUnsafe(length);
  let end = 0;
  await source.copyRows(inPieces, values, ([start, piece]) => {
    // After the end of the blob, pieces are empty.
    if (!start || !piece?.length) return;
    const at = start.readInt32BE() - 1 - from;
    end = Math.max(end, at + piece.copy(bytes, at));
  });
  // After the end there is nothing, and nothing of a blob whose bytes are elsewhere.
  return end > 0 ? bytes.subarray(0, end) : elsewhere();
}

const readBlobSlice = (source: BlobSource, key: Uint8Array, from: number, length: number): Promise<Buffer> =>
  readSlice(source, BLOB_SLICE, [key], from, length);

/** Bytes of a message of this mailbox, at most one slice; empty after the end, and if the message was deleted. */
export const readMessageSlice = (
  source: BlobSource,
  mailboxId: string,
  messageId: string,
  from: number,
  length: number,
): Promise<Buffer> =>
  readSlice(source, MESSAGE_SLICE, [messageId, mailboxId], from, Math.min(length, MESSAGE_SLICE_MAX_BYTES));

/** Whole contents of messages of this mailbox, by their ids; larger ones than `maxBytesEach` are left out. */
export async function readMessages(
  source: BlobSource,
  mailboxId: string,
  messageIds: readonly string[],
  maxBytesEach: number,
  again = true,
): Promise<Map<string, Buffer>> {
  const contents = new Map<string, Buffer>();
  const elsewhere: string[] = [];
  await source.copyRows(
    `select m.id, b.bytes from message m join blob b on b.sha256 = m.blob
      where m.id = any($2) and m.mailbox_id = $1 and m.size <= $3`,
    [mailboxId, messageIds, maxBytesEach],
    ([id, bytes]) => {
      if (id && bytes) contents.set(id.toString(), Buffer.from(bytes));
      else if (id) elsewhere.push(id.toString());
    },
  );
  if (elsewhere.length > 0) {
    const objects = await source.query<StoredObject & { id: string }>(OBJECTS_OF_MESSAGES, [elsewhere, mailboxId]);
    await forEachOf(objects, OBJECTS_AT_ONCE, async (object) => {
      contents.set(object.id, await readObject(source, object, 0, object.size));
    });
    // They may have come back into their rows between the two statements.
    const back = elsewhere.filter((id) => !contents.has(id));
    if (again && back.length > 0)
      for (const [id, bytes] of await readMessages(source, mailboxId, back, maxBytesEach, false))
        contents.set(id, bytes);
  }
  return contents;
}

const OBJECTS_AT_ONCE = 8;
const OBJECTS_OF_MESSAGES = `
  select m.id, ${OBJECT_COLUMNS} from message m join blob b on b.sha256 = m.blob join blob_object o on o.name = b.object
   where m.id = any($1) and m.mailbox_id = $2`;

/** Works on several at a time. @throws the first error, after the work that has begun */
export async function forEachOf<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const ends = await Promise.allSettled(
    Array.from({ length: Math.min(atOnce, items.length) }, async () => {
      for (const item of left) await work(item);
    }),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** A range of a blob, whole in memory. */
export async function readBlob(source: BlobSource, key: Uint8Array, from: number, length: number): Promise<Buffer> {
  if (length <= MESSAGE_SLICE_MAX_BYTES) return readBlobSlice(source, key, from, length);
  const slices: Buffer[] = [];
  for await (const slice of slicesOf(source, key, from, length)) slices.push(slice);
  return Buffer.concat(slices);
}

/** A range of a blob as a stream; holds no connection while the reader waits. */
export const streamBlob = (source: BlobSource, key: Uint8Array, from: number, length: number): Readable =>
  Readable.from(slicesOf(source, key, from, length), { objectMode: false, highWaterMark: 65_536 });

async function* slicesOf(source: BlobSource, key: Uint8Array, from: number, length: number): AsyncGenerator<Buffer> {
  const end = from + length;
  for (let at = from; at < end; ) {
    const slice = await readBlobSlice(source, key, at, Math.min(MESSAGE_SLICE_MAX_BYTES, end - at));
    if (slice.length === 0) return;
    yield slice;
    at += slice.length;
  }
}

/**
 * Removes blobs that no message, filed or submitted, needs any more. A concurrently filed message keeps its blob
 * through the foreign key.
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
