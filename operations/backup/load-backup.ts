/**
 * Loads a backup into a database without rows.
 *
 *   migrations of the backup ─▶ [ rows, sequences, foreign keys and indexes, state `loaded` ] ─▶ migrations since then
 *                                └──────────────── one transaction ────────────────────────┘
 *
 * Interrupted before the commit, nothing but empty tables is there and the load begins again; after it, the next call
 * continues with the migrations.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { readRestoreState, writeRestoreState } from '#core/platform/settings/restore-state.ts';
import { connect, newConnection } from '#db/connections.ts';
import { type Database, type Sql } from '#db/database.ts';
import { migrate, pendingMigrations } from '#db/migrate.ts';
import { migrations } from '#db/migrations/index.ts';
import { type BackedUpTable, BackupError, type BackupManifest, readCompressed } from './backup-folder.ts';
import { listedBlobs, readBlob } from './blob-files.ts';
import { quoted, readSchema, schemaSha256, takeOff } from './schema.ts';
import { BLOB_BYTES_COLUMN, BLOB_TABLE } from './tables.ts';

const CONNECTION_NAME = 'agent-mailbox restore';
/** Files that are read ahead of the database. */
const FILES_AHEAD = 16;
const BYTES_AHEAD = 32 * 1024 * 1024;
const DAMAGED_NAMED_MAX = 5;
const PARTITION_BOUND = /^FOR VALUES FROM \('\w*'\) TO \('\w*'\)$/;

export interface LoadOptions {
  readonly url: string;
  readonly db: Database;
  readonly folder: string;
  readonly manifest: BackupManifest;
  onProgress?(text: string): void;
}

export interface Loaded {
  /** An earlier call had loaded the rows. */
  readonly continued: boolean;
  /** Migrations that are newer than the backup. */
  readonly migrated: readonly string[];
  readonly migratedMs: number;
  /** The tables of the backup had other columns than its migrations make. */
  readonly schemaDiffers: boolean;
}

/**
 * @throws {BackupError} if the database is not empty, or the backup is damaged or of a newer version; nothing was
 * changed but empty tables then
 */
export async function loadBackup(options: LoadOptions): Promise<Loaded> {
  const { db, manifest, onProgress = () => {} } = options;
  requireKnownMigrations(manifest);
  const continued = (await requireEmpty(db, manifest)) === 'loaded';
  let schemaDiffers = false;
  if (!continued) {
    onProgress('making tables');
    const pending = new Set(await pendingMigrations(db));
    await db.orm.migrator.up({ migrations: manifest.migrations.filter((name) => pending.has(name)) });
    schemaDiffers = await loadRows(options, onProgress);
  }
  const startedAt = performance.now();
  const migrated = await pendingMigrations(db);
  if (migrated.length > 0) onProgress(`migrating: ${migrated.length} migrations since the backup`);
  await migrate(db);
  return { continued, migrated, migratedMs: Math.round(performance.now() - startedAt), schemaDiffers };
}

function requireKnownMigrations({ migrations: applied, productVersion }: BackupManifest): void {
  const known = new Set<string>(migrations.map(({ name }) => name));
  const unknown = applied.filter((name) => !known.has(name));
  if (unknown.length > 0)
    throw new BackupError(
      `The backup was made by version ${productVersion}, which has migrations that this version does not know (${unknown[0]}). Use that version, or a later one`,
    );
}

/** Rows of any of these are an installation. */
const INSTALLATION = ['organizations', 'users', 'mailboxes', 'message', 'blob', 'events'];

/** @throws {BackupError} if there is an installation, or tables that this backup does not begin with */
async function requireEmpty(db: Sql, manifest: BackupManifest): Promise<'empty' | 'loaded'> {
  const state = await readRestoreState(db);
  if (state?.phase === 'loaded' && state.backupId === manifest.id) return 'loaded';
  const tables = await db.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')`,
  );
  const names = new Set(tables.map(({ name }) => name));
  for (const table of INSTALLATION.filter((name) => names.has(name))) {
    const rows = await db.query(`select 1 from ${table} limit 1`);
    if (rows.length > 0)
      throw new BackupError(
        state?.phase === 'loaded'
          ? `A restore of another backup (${state.backupId}) was interrupted in this database. End that one, or restore into a new, empty database: create database <name>; then set DATABASE_URL to it`
          : `The database is not empty: it has rows in "${table}". A restore never overwrites anything. Make a new, empty database (create database <name>) and set DATABASE_URL to it; with \`npm start\` stop the service and move DATA_DIR away`,
      );
  }
  if (names.size === 0) return 'empty';
  const known = new Set<string>(migrations.map(({ name }) => name));
  const pending = new Set(await pendingMigrations(db));
  const applied = [...known].filter((name) => !pending.has(name));
  const foreign = names.has('migrations') ? applied.filter((name) => !manifest.migrations.includes(name)) : [...names];
  if (foreign.length > 0)
    throw new BackupError(
      `The database has tables that the backup does not begin with (${foreign[0]}). Make a new, empty database (create database <name>) and set DATABASE_URL to it`,
    );
  return 'empty';
}

/** @returns whether the backup has other columns than its migrations make */
async function loadRows({ url, folder, manifest }: LoadOptions, onProgress: (text: string) => void): Promise<boolean> {
  const client = newConnection(url, CONNECTION_NAME);
  client.on('error', () => {});
  await connect(client);
  try {
    await client.query('begin; set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0');
    await client.query(`set local maintenance_work_mem = '256MB'`);
    const schema = await readSchema(client);
    const schemaDiffers = schemaSha256(schema) !== manifest.schemaSha256;
    const { back } = await takeOff(client);
    await makePartitions(client, manifest);
    // Rows that the migrations inserted.
    for (const { table } of manifest.tables) await client.query(`delete from ${quoted(table)}`);
    for (const table of manifest.tables) {
      onProgress(table.table === BLOB_TABLE ? `mail: ${table.rows} contents` : `table ${table.table}`);
      if (table.table === BLOB_TABLE) await loadBlobs(client, folder, manifest, table, onProgress);
      else await loadTable(client, folder, table);
    }
    for (const { name, lastValue } of manifest.sequences)
      await client.query(`select setval(quote_ident($1)::regclass, $2::bigint)`, [name, lastValue]);
    for (const [at, statement] of back.entries()) {
      if (at % 10 === 0) onProgress(`indexes and foreign keys: ${at} of ${back.length}`);
      await client.query(statement);
    }
    const sql: Sql = {
      query: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
        (await client.query<Row>(text, [...values])).rows,
    };
    await writeRestoreState(sql, { backupId: manifest.id, phase: 'loaded', at: new Date() });
    await client.query('commit');
    onProgress('statistics for the planner');
    await client.query('analyze');
    return schemaDiffers;
  } finally {
    await client.end().catch(() => {});
  }
}

async function makePartitions(client: pg.Client, { partitions }: BackupManifest): Promise<void> {
  for (const { table, of, bound } of partitions) {
    if (!PARTITION_BOUND.test(bound))
      throw new BackupError(`The manifest has a partition with an unknown bound: ${bound}`);
    await client.query(`create table if not exists ${quoted(table)} partition of ${quoted(of)} ${bound}`);
  }
}

const copyInto = (client: pg.Client, table: string, columns: readonly string[]) =>
  client.query(copyFrom(`copy ${quoted(table)} (${columns.map(quoted).join(', ')}) from stdin`));

async function loadTable(client: pg.Client, folder: string, table: BackedUpTable): Promise<void> {
  const into = copyInto(client, table.table, table.columns);
  await readCompressed(folder, table, into);
  requireRows(table, into.rowCount);
}

function requireRows({ table, rows }: BackedUpTable, found: number): void {
  if (found !== rows)
    throw new BackupError(
      `The table ${table} has ${found} rows instead of ${rows}. Use another backup, or a copy of this one`,
    );
}

/** The bytes are the last column. */
async function loadBlobs(
  client: pg.Client,
  folder: string,
  manifest: BackupManifest,
  list: BackedUpTable,
  onProgress: (text: string) => void,
): Promise<void> {
  const into = copyInto(client, BLOB_TABLE, [...list.columns, BLOB_BYTES_COLUMN]);
  await readCompressed(folder, list, async (content) => {
    await pipeline(
      Readable.from(blobRows(folder, manifest, listedBlobs(content, list.columns), list.rows, onProgress)),
      into,
    );
  });
  requireRows(list, into.rowCount);
}

type Listed = ReturnType<typeof listedBlobs>;

/** Rows in the text format of COPY; files are read ahead. */
async function* blobRows(
  folder: string,
  { blobs }: BackupManifest,
  listed: Listed,
  total: number,
  onProgress: (text: string) => void,
): AsyncGenerator<Buffer> {
  const ahead: { readonly line: string; readonly size: number; readonly bytes: Promise<Buffer> }[] = [];
  let bytesAhead = 0;
  let done = 0;
  async function* next(): AsyncGenerator<Buffer> {
    const first = ahead.shift();
    if (first === undefined) return;
    const bytes = await first.bytes;
    bytesAhead -= first.size;
    yield Buffer.from(`${first.line}\t\\\\x`);
    yield Buffer.from(bytes.toString('hex'), 'latin1');
    yield Buffer.from('\n');
    if (++done % 1_000 === 0) onProgress(`mail ${done} of ${total}`);
  }
  for await (const { sha256, size, line } of listed) {
    const bytes = readBlob(folder, sha256, blobs.damaged.includes(sha256));
    // It is awaited later.
    bytes.catch(() => {});
    ahead.push({ line, size, bytes });
    bytesAhead += size;
    while (ahead.length >= FILES_AHEAD || (bytesAhead > BYTES_AHEAD && ahead.length > 0)) yield* next();
  }
  while (ahead.length > 0) yield* next();
}

/**
 * Reads every file of a backup and compares hashes, without a database.
 *
 * @returns what is wrong, some of it by name; empty: nothing
 */
export async function checkFiles(
  folder: string,
  manifest: BackupManifest,
  onProgress: (text: string) => void = () => {},
): Promise<string[]> {
  const problems: string[] = [];
  const note = (error: unknown) => {
    if (!(error instanceof BackupError)) throw error;
    if (problems.length < DAMAGED_NAMED_MAX) problems.push(error.message);
  };
  for (const table of manifest.tables) {
    onProgress(`checksum of ${table.table}`);
    await readCompressed(folder, table, async (content) => {
      if (table.table !== BLOB_TABLE) {
        for await (const _ of content);
        return;
      }
      let done = 0;
      const reading = new Set<Promise<void>>();
      for await (const { sha256 } of listedBlobs(content, table.columns)) {
        const read: Promise<void> = readBlob(folder, sha256, manifest.blobs.damaged.includes(sha256))
          .then(() => {}, note)
          .finally(() => reading.delete(read));
        reading.add(read);
        if (reading.size >= FILES_AHEAD) await Promise.race(reading);
        if (++done % 1_000 === 0) onProgress(`checksum of mail ${done} of ${table.rows}`);
      }
      await Promise.all(reading);
    }).catch(note);
  }
  return problems;
}
