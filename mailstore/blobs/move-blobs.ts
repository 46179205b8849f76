/**
 * Moves contents between the rows of `blob` and the object storage, while everything runs:
 *
 *   row with bytes ──row of the object (writing)──▶ object is written and read again ──▶ row with object (used)
 *          ▲                     │ killed, failed: the object is free                            │
 *          └─────────────────────┴──────────── bytes are read, checked, stored ◀─────────────────┘ the object is free
 *
 * The bytes of a row go in the transaction that names the object, so a content is never at no place. Objects have names of
 * their own, so nothing that is free can be needed again: an hour later it is removed, however it became free.
 */
import type { BlobObjects, StoredObject } from '#db/blob-objects.ts';
import type { Database } from '#db/database.ts';
import type { Portion } from '#db/delete-portion.ts';
import { BACKUP_LOCK } from '#db/migrate.ts';
import { FREE_OBJECT_LIFE_MINUTES, OBJECT_MOVED_AFTER_SECONDS } from '#domain/mail/blob-storage.ts';
import { blobKey, forEachOf } from './blob-store.ts';

const PORTION_BLOBS = 64;
const AT_ONCE = 8;
/** Bytes of contents in memory at once. */
const PORTION_MAX_BYTES = 8_388_608;

interface Candidate {
  readonly sha256: Buffer;
  readonly size: number;
}

/** The oldest first; a content that another process is moving is left out. */
const IN_ROWS = `
  select sha256, size from blob b
   where object is null and created_at < now() - make_interval(secs => $1)
     and not exists (select from blob_object o where o.sha256 = b.sha256 and o.state = 'writing')
   order by created_at limit $2`;

const CLAIM = `
  insert into blob_object (name, sha256, key_sealed, state) values ($1, $2, $3, 'writing')
  on conflict (sha256) where state = 'writing' do nothing returning 1`;

/** One row, if the content is still there, in its row, and the object has not been given up. */
const LINK = `
  with object as (
    update blob_object set state = 'used', since = now() where name = $2 and state = 'writing' returning name
  )
  update blob set bytes = null, object = object.name from object where sha256 = $1 and blob.object is null returning 1`;

const FREE = `update blob_object set state = 'free', since = now() where name = $1`;

/** As many of the portion as fit into memory at once. */
function fitting<Item extends { readonly size: number }>(items: readonly Item[]): Item[] {
  let bytes = 0;
  return items.filter(({ size }, i) => {
    bytes += size;
    return i === 0 || bytes <= PORTION_MAX_BYTES;
  });
}

/**
 * Moves a portion of the contents to the object storage.
 *
 * @param afterSeconds age of a content at least; default: a minute
 * @throws {ObjectStoreError} then some may have been moved
 */
export async function moveToObjects(
  db: Database,
  objects: BlobObjects,
  afterSeconds = OBJECT_MOVED_AFTER_SECONDS,
): Promise<Portion> {
  const found = await db.query<Candidate>(IN_ROWS, [afterSeconds, PORTION_BLOBS]);
  const candidates = fitting(found);
  let done = 0;
  await forEachOf(candidates, AT_ONCE, async ({ sha256 }) => {
    const object = objects.newObject();
    const claimed = await db.query(CLAIM, [object.name, sha256, object.keySealed]);
    if (claimed.length === 0) return;
    let linked = false;
    try {
      const [row] = await db.query<{ bytes: Buffer }>(`select bytes from blob where sha256 = $1 and object is null`, [
        sha256,
      ]);
      if (row !== undefined) {
        await objects.write(object, sha256, row.bytes);
        linked = await db.transaction(async (sql) => {
          const rows = await sql.query(LINK, [sha256, object.name]);
          // Deleted meanwhile: nothing refers to the object.
          if (rows.length === 0) await sql.query(FREE, [object.name]);
          return rows.length > 0;
        });
      }
    } finally {
      if (!linked) await db.query(`${FREE} and state = 'writing'`, [object.name]).catch(() => {});
    }
    if (linked) done++;
  });
  // A portion of which none could be moved, because others move them, is no reason to ask at once again.
  return { done, more: done > 0 && (found.length === PORTION_BLOBS || candidates.length < found.length) };
}

const IN_OBJECTS = `
  select o.name, o.key_sealed as "keySealed", b.sha256, b.size from blob b join blob_object o on o.name = b.object
   where b.object > $1 order by b.object limit $2`;

const INTO_ROW = `update blob set bytes = $2, object = null where sha256 = $1 and object = $3 returning 1`;

/**
 * Moves a portion of the contents back into the rows.
 *
 * @param after of the portion before
 * @throws {ObjectStoreError}; Error, if a content is another one than its key says
 */
export async function moveToRows(db: Database, objects: BlobObjects, after: string): Promise<Portion> {
  const found = await db.query<StoredObject>(IN_OBJECTS, [after, PORTION_BLOBS]);
  const candidates = fitting(found);
  let done = 0;
  await forEachOf(candidates, AT_ONCE, async (object) => {
    const bytes = await objects.read(object, 0, object.size);
    if (!blobKey(bytes).equals(object.sha256)) throw new Error(`the object ${object.name} has another content`);
    const moved = await db.transaction(async (sql) => {
      const rows = await sql.query(INTO_ROW, [object.sha256, bytes, object.name]);
      if (rows.length > 0) await sql.query(FREE, [object.name]);
      return rows.length;
    });
    done += moved;
  });
  const last = candidates.at(-1)?.name;
  return {
    done,
    more: found.length === PORTION_BLOBS || candidates.length < found.length,
    ...(last === undefined ? {} : { after: last }),
  };
}

const REMOVABLE = `
  select name from blob_object where state <> 'used' and since < now() - make_interval(mins => $1) order by since limit $2`;

/**
 * Removes a portion of the objects that nothing refers to. While a backup reads, they stay.
 *
 * @param now also those that have just become free: after an erasure
 * @throws {ObjectStoreError}
 */
export async function removeFreeObjects(db: Database, objects: BlobObjects, now = false): Promise<Portion> {
  if (!now && (await backupReads(db))) return { done: 0, more: false };
  const rows = now
    ? await db.query<{ name: string }>(`select name from blob_object where state = 'free' limit $1`, [PORTION_BLOBS])
    : await db.query<{ name: string }>(REMOVABLE, [FREE_OBJECT_LIFE_MINUTES, PORTION_BLOBS]);
  await forEachOf(rows, AT_ONCE, async ({ name }) => {
    // From here on no transaction can use it.
    const given = await db.query(
      `update blob_object set state = 'free' where name = $1 and state <> 'used' returning 1`,
      [name],
    );
    if (given.length === 0) return;
    await objects.remove(name);
    await db.query(`delete from blob_object where name = $1 and state = 'free'`, [name]);
  });
  return { done: rows.length, more: rows.length === PORTION_BLOBS };
}

const backupReads = (db: Database): Promise<boolean> =>
  db.transaction(async (sql) => {
    const [row] = await sql.query<{ free: boolean }>(`select pg_try_advisory_xact_lock(${BACKUP_LOCK}) as free`);
    return row?.free !== true;
  });

export interface BlobPlaces {
  readonly rows: { readonly blobs: number; readonly bytes: number };
  readonly objects: { readonly blobs: number; readonly bytes: number };
  /** Objects that are being written, or are to be removed. */
  readonly freeObjects: number;
}

/** Counts all contents by their place. Reads the whole table, without their bytes. */
export async function blobPlaces(db: Database): Promise<BlobPlaces> {
  const [row] = await db.query<{ rows: number; rowBytes: number; objects: number; objectBytes: number; free: number }>(
    `select count(*) filter (where object is null) as rows,
            coalesce(sum(size) filter (where object is null), 0) as "rowBytes",
            count(object) as objects, coalesce(sum(size) filter (where object is not null), 0) as "objectBytes",
            (select count(*) from blob_object where state <> 'used') as free
       from blob`,
  );
  if (row === undefined) throw new Error('an aggregate without a row');
  return {
    rows: { blobs: row.rows, bytes: Number(row.rowBytes) },
    objects: { blobs: row.objects, bytes: Number(row.objectBytes) },
    freeObjects: row.free,
  };
}
