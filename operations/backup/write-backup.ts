/**
 * Makes a backup while the service runs, over PostgreSQL's protocol alone.
 *
 *   lock all tables (ACCESS SHARE) ─▶ one snapshot ─▶ list of blobs ─▶ other tables        ─▶ manifest
 *                                                          └─▶ blobs, on two connections ─┘
 *
 * Everything is read in one snapshot, so a backup is the state of one moment. Its locks let everything pass but changes
 * of the schema: partitions are made and dropped later, and a migration waits for the end of the backup.
 *
 * An interrupted backup has no manifest. The next one into the same folder makes the tables anew, of a new snapshot, and
 * keeps the blobs that are there and whole.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { BlobObjects, StoredObject } from '#db/blob-objects.ts';
import { connect, newConnection } from '#db/connections.ts';
import { BACKUP_LOCK } from '#db/migrate.ts';
import {
  type BackedUpPartition,
  type BackedUpTable,
  BackupError,
  type BackupManifest,
  beginBackup,
  finishBackup,
  readManifest,
  tableFile,
  writeCompressed,
} from './backup-folder.ts';
import { binaryRows } from './binary-rows.ts';
import {
  blobPath,
  flushBlobs,
  isKept,
  type ListedBlob,
  listedBlobs,
  listOf,
  removeOtherBlobs,
  sha256Of,
  shareBlob,
  writeBlob,
} from './blob-files.ts';
import { quoted, readSchema, type Schema, schemaSha256 } from './schema.ts';
import { type BackedUpSecrets, writeSecrets } from './secrets.ts';
import { BLOB_BYTES_COLUMN, BLOB_OBJECT_COLUMN, BLOB_TABLE, LEFT_OUT_TABLES } from './tables.ts';

const CONNECTION_NAME = 'agent-mailbox backup';
/** A migration or a new partition has a lock for moments; afterwards it is tried again. */
const LOCK_WITHIN_MS = 10_000;
const LOCK_ROUNDS = 6;
const BLOB_READERS = 2;
/** Blobs that are read by one statement. */
const BATCH_BLOBS = 256;
const BATCH_BYTES = 8 * 1024 * 1024;
/** Batches that wait for a reader. */
const BATCHES_AHEAD = 2;
const FILES_AT_ONCE = 8;

export interface BackupOptions {
  readonly url: string;
  readonly folder: string;
  /** An older, finished backup: blobs that it has are linked, or copied from another file system. */
  readonly since?: string | undefined;
  /** Undefined: they are not part of the backup. */
  readonly secrets?: BackedUpSecrets | undefined;
  readonly passphrase?: string | undefined;
  /** Needed if contents are outside the rows: their bytes are copied too. */
  readonly objects?: BlobObjects | undefined;
  readonly productVersion: string;
  /** Called with what is being done. */
  onProgress?(text: string): void;
}

export interface BackupResult {
  readonly manifest: BackupManifest;
  /** It used blobs of an interrupted backup in the same folder. */
  readonly continued: boolean;
  readonly blobs: BlobCounts;
}

/** Blobs of a backup by where their files come from. */
interface BlobCounts {
  /** Read from the database. */
  written: number;
  /** Shared with the older backup. */
  shared: number;
  /** Already there. */
  kept: number;
}

/** @throws {BackupError} if the folder cannot be used, or the database does not let it read a consistent state */
export async function writeBackup(options: BackupOptions): Promise<BackupResult> {
  const { url, folder, onProgress = () => {} } = options;
  const since = options.since === undefined ? undefined : await readManifest(options.since);
  const continued = await beginBackup(folder);
  const lead = newConnection(url, CONNECTION_NAME);
  lead.on('error', () => {}); // The statement that runs fails with it.
  await connect(lead);
  try {
    const schema = await beginSnapshot(lead, onProgress);
    const [snapshot] = (await lead.query<SnapshotRow>(SNAPSHOT)).rows;
    if (snapshot === undefined) throw new Error('a statement without a row');
    const sequences = await lead.query<{ name: string; lastValue: string }>(SEQUENCES);
    const partitions = await lead.query<BackedUpPartition>(PARTITIONS);
    const tables = [await backUpTable(lead, folder, BLOB_TABLE, blobColumns(schema))];
    const counts: BlobCounts = { written: 0, shared: 0, kept: 0 };
    const damaged: string[] = [];
    const [list] = tables;
    if (list === undefined) throw new Error('no list of blobs');
    const total = list.rows;
    let bytes = 0;
    const source: BlobSource = {
      url,
      snapshot: snapshot.id,
      folder,
      objects: options.objects,
      since: options.since,
      unshared: new Set(since?.blobs.damaged),
      continued,
      list,
      counts,
      damaged,
    };
    const ends = await Promise.allSettled([
      backUpBlobs(source, (size) => {
        bytes += size;
        const done = counts.written + counts.shared + counts.kept;
        if (done % 1_000 === 0) onProgress(`mail ${done} of ${total}`);
      }),
      (async () => {
        for (const [table, columns] of schema)
          if (table !== BLOB_TABLE && !(table in LEFT_OUT_TABLES)) {
            onProgress(`table ${table}`);
            tables.push(
              await backUpTable(
                lead,
                folder,
                table,
                columns.map(({ name }) => name),
              ),
            );
          }
      })(),
    ]);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    await lead.query('commit');
    if (continued) await removeOthers(folder, list);
    onProgress('making the files durable');
    await flushBlobs(folder);
    const secrets =
      options.secrets === undefined ? 'absent' : await writeSecrets(folder, options.secrets, options.passphrase);
    const manifest = await finishBackup(folder, {
      id: randomBytes(8).toString('hex'),
      productVersion: options.productVersion,
      takenAt: snapshot.takenAt,
      finishedAt: new Date().toISOString(),
      since: since === undefined ? null : { id: since.id, takenAt: since.takenAt },
      server: {
        version: snapshot.version,
        walPosition: snapshot.walPosition,
        databaseBytes: Number(snapshot.databaseBytes),
      },
      migrations: snapshot.migrations.map((name) => name.replace(/\.[jt]s$/, '')).toSorted(),
      schemaSha256: schemaSha256(schema),
      tables,
      partitions: partitions.rows,
      sequences: sequences.rows.map(({ name, lastValue }) => ({ name, lastValue: Number(lastValue) })),
      blobs: { count: total, bytes, damaged },
      secrets,
    });
    return { manifest, continued, blobs: counts };
  } finally {
    await lead.end().catch(() => {});
  }
}

interface SnapshotRow {
  readonly id: string;
  readonly takenAt: string;
  readonly version: string;
  readonly walPosition: string | null;
  readonly databaseBytes: string;
  readonly migrations: string[];
}

const SNAPSHOT = `
  select pg_export_snapshot() as id,
         to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "takenAt",
         current_setting('server_version') as version,
         (case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end)::text as "walPosition",
         pg_database_size(current_database())::text as "databaseBytes",
         array(select name from migrations order by name) as migrations`;

/** Values above those of the snapshot do no harm. */
const SEQUENCES = `
  select sequencename as name, last_value::text as "lastValue" from pg_sequences
   where schemaname = current_schema() and last_value is not null order by 1`;

const PARTITIONS = `
  select child.relname as table, parent.relname as of, pg_get_expr(child.relpartbound, child.oid) as bound
    from pg_inherits join pg_class child on child.oid = inhrelid join pg_class parent on parent.oid = inhparent
   where child.relispartition and child.relkind = 'r' and parent.relnamespace = current_schema()::regnamespace
     and pg_get_expr(child.relpartbound, child.oid) <> 'DEFAULT'
   order by 1`;

/** What a transaction over hours needs, whatever the settings of the server. */
const BEGIN = `
  begin isolation level repeatable read, read only;
  set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0; set local bytea_output = 'hex'`;

/**
 * The locks come first, and the snapshot after them: no column that it shows can change any more.
 *
 * @returns tables with their columns
 */
async function beginSnapshot(lead: pg.Client, onProgress: (text: string) => void): Promise<Schema> {
  for (let round = 1; round <= LOCK_ROUNDS; round++) {
    const before = await readSchema(lead);
    if (!before.has('migrations'))
      throw new BackupError('This database has no Agent Mailbox. Set DATABASE_URL to the database of the service');
    await lead.query(BEGIN);
    try {
      await lead.query(`set local lock_timeout = ${LOCK_WITHIN_MS}`);
      await lead.query(`lock table ${[...before.keys()].map(quoted).join(', ')} in access share mode`);
      // A migration looks for it before it waits for the tables, and for what it would stop behind itself.
      await lead.query(`select pg_advisory_xact_lock_shared(${BACKUP_LOCK})`);
      const schema = await readSchema(lead);
      if (schemaSha256(schema) === schemaSha256(before)) return schema;
      onProgress('the schema has just changed; beginning again');
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      onProgress('a migration changes the tables; waiting for its end');
    }
    await lead.query('rollback');
  }
  throw new BackupError(
    'The tables could not be locked for reading within a minute, because their schema is being changed. Wait for the end of the migration, then try again',
  );
}

/** lock_not_available, undefined_table */
const isLockTimeout = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === '55P03' || error.code === '42P01');

function blobColumns(schema: Schema): string[] {
  const columns = (schema.get(BLOB_TABLE) ?? [])
    .map(({ name }) => name)
    .filter((name) => name !== BLOB_BYTES_COLUMN && name !== BLOB_OBJECT_COLUMN);
  // The list is read by its first column.
  return ['sha256', ...columns.filter((name) => name !== 'sha256')];
}

async function backUpTable(
  client: pg.Client,
  folder: string,
  table: string,
  columns: readonly string[],
): Promise<BackedUpTable> {
  const order = table === BLOB_TABLE ? ' order by sha256' : '';
  const rows = client.query(
    copyTo(`copy (select ${columns.map(quoted).join(', ')} from ${quoted(table)}${order}) to stdout`),
  );
  const file = tableFile(table);
  const measured = await writeCompressed(path.join(folder, file), rows);
  return { table, columns, rows: rows.rowCount, file, ...measured };
}

interface BlobSource {
  readonly url: string;
  readonly snapshot: string;
  readonly folder: string;
  readonly objects: BlobObjects | undefined;
  readonly since: string | undefined;
  /** There may be files of an interrupted backup. */
  /** Not shared, whatever the older backup has: what was damaged in the database then is read and noted again. */
  readonly unshared: ReadonlySet<string>;
  readonly continued: boolean;
  readonly list: BackedUpTable;
  readonly counts: BlobCounts;
  readonly damaged: string[];
}

/** Writes the files of the blobs that are not there yet. @param onBlob called with the size of each */
async function backUpBlobs(source: BlobSource, onBlob: (size: number) => void): Promise<void> {
  const { folder, since, unshared, continued, list, counts } = source;
  const batches: ListedBlob[][] = [];
  let isOver = false;
  let failed = false;
  let wake: (() => void)[] = [];
  const changed = () => {
    const woken = wake;
    wake = [];
    for (const resolve of woken) resolve();
  };
  const change = () => new Promise<void>((resolve) => wake.push(resolve));

  async function find(): Promise<void> {
    let batch: ListedBlob[] = [];
    let bytes = 0;
    let madeFor = '';
    for await (const { sha256, size } of listedBlobs(listOf(folder, list), list.columns)) {
      if (failed) return;
      const file = blobPath(folder, sha256);
      if (madeFor !== sha256.slice(0, 2)) {
        madeFor = sha256.slice(0, 2);
        await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
      }
      if (continued && (await isKept(folder, sha256))) counts.kept++;
      else if (since !== undefined && !unshared.has(sha256) && (await shareBlob(since, folder, sha256)))
        counts.shared++;
      else {
        batch.push({ sha256, size });
        bytes += size;
        if (batch.length === BATCH_BLOBS || bytes >= BATCH_BYTES) {
          batches.push(batch);
          [batch, bytes] = [[], 0];
          changed();
          while (batches.length > BATCHES_AHEAD && !failed) await change();
        }
      }
      onBlob(size);
    }
    if (batch.length > 0) batches.push(batch);
  }

  async function read(): Promise<void> {
    let client: pg.Client | undefined;
    try {
      for (;;) {
        const batch = batches.shift();
        if (batch !== undefined) {
          changed();
          await writeBlobs((client ??= await joinSnapshot(source)), source, batch);
        } else if (isOver || failed) return;
        else await change();
      }
    } finally {
      await client?.end().catch(() => {});
    }
  }

  const guarded = (work: Promise<void>) =>
    work.catch((error: unknown) => {
      failed = true;
      changed();
      throw error;
    });
  const finding = guarded(find()).finally(() => {
    isOver = true;
    changed();
  });
  const ends = await Promise.allSettled([finding, ...Array.from({ length: BLOB_READERS }, () => guarded(read()))]);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

async function joinSnapshot({ url, snapshot }: BlobSource): Promise<pg.Client> {
  const client = newConnection(url, CONNECTION_NAME);
  client.on('error', () => {});
  await connect(client);
  await client.query(BEGIN);
  await client.query(`set transaction snapshot '${snapshot}'`);
  return client;
}

async function writeBlobs(client: pg.Client, source: BlobSource, batch: readonly ListedBlob[]): Promise<void> {
  const { folder, counts, damaged } = source;
  const keys = batch.map(({ sha256 }) => `'\\x${sha256}'`).join(',');
  const rows = client.query(
    copyTo(
      `copy (select sha256, ${BLOB_BYTES_COLUMN} from ${BLOB_TABLE} where sha256 = any(array[${keys}]::bytea[])) to stdout (format binary)`,
    ),
  );
  const writing = new Set<Promise<void>>();
  let found = 0;
  let failure: Error | undefined;
  const elsewhere: Buffer[] = [];
  const write = async (sha256: string, bytes: Buffer): Promise<void> => {
    if (sha256Of(bytes) !== sha256) damaged.push(sha256);
    const written: Promise<void> = writeBlob(folder, sha256, bytes)
      .then(
        () => void counts.written++,
        (error: unknown) => {
          failure ??= error instanceof Error ? error : new Error(String(error));
        },
      )
      .finally(() => writing.delete(written));
    writing.add(written);
    while (writing.size >= FILES_AT_ONCE) await Promise.race(writing);
  };
  for await (const [key, bytes] of binaryRows(rows)) {
    if (key === null || key === undefined) throw new Error('a blob without its key');
    found++;
    if (bytes === null || bytes === undefined) elsewhere.push(Buffer.from(key));
    else await write(key.toString('hex'), bytes);
  }
  for await (const [sha256, bytes] of readObjects(client, source, elsewhere)) await write(sha256, bytes);
  await Promise.all(writing);
  if (failure !== undefined) throw failure;
  if (found !== batch.length) throw new Error(`${batch.length - found} listed blobs are not in the snapshot`);
}

const OBJECTS = `
  select o.name, o.key_sealed as "keySealed", b.sha256, b.size
    from blob b join blob_object o on o.name = b.object where b.sha256 = any($1::bytea[]) order by b.sha256`;

/** Contents outside the rows, each read when it is asked for. @throws {BackupError} */
async function* readObjects(
  client: pg.Client,
  { objects }: BlobSource,
  keys: readonly Buffer[],
): AsyncGenerator<[sha256: string, bytes: Buffer]> {
  if (keys.length === 0) return;
  if (objects === undefined)
    throw new BackupError('Contents of mail are in an object storage. Set S3_ENDPOINT, S3_BUCKET and its keys');
  const { rows } = await client.query<StoredObject>(OBJECTS, [keys]);
  if (rows.length < keys.length) throw new Error(`${keys.length - rows.length} objects are not in the snapshot`);
  for (const object of rows)
    try {
      yield [Buffer.from(object.sha256).toString('hex'), await objects.read(object, 0, object.size)];
    } catch (error) {
      throw new BackupError(
        `A content could not be read from the object storage: ${reasonOf(error)}. If it was erased meanwhile, run the backup again`,
      );
    }
}

async function removeOthers(folder: string, list: BackedUpTable): Promise<void> {
  await removeOtherBlobs(folder, list);
  const tables = path.join(folder, 'tables');
  for (const name of await readdir(tables))
    if (name.endsWith('.part')) await rm(path.join(tables, name), { force: true });
}
