/**
 * A backup is a folder:
 *
 *   manifest.json            what it contains, with checksums; written last: a folder without it is no backup
 *   unfinished.json          instead of it while the backup is being made, or after it was interrupted
 *   tables/<table>.copy.zst  rows in PostgreSQL's text format (COPY), compressed by Zstandard
 *   blobs/ab/cdef….zst       the bytes of each stored content, under its SHA-256; tables/blob.copy.zst lists them
 *   secrets.json             keys and settings, mode 0600; only if they were known and not left out
 *
 * Folder and files are readable by their owner alone. Rows and mail are not encrypted.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { hostname, uptime } from 'node:os';
import path from 'node:path';
import { type Readable, Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { CommandError } from '#operations/command.ts';

/** Raised when an older version could not read the folder. */
export const BACKUP_FORMAT_VERSION = 1;
const FORMAT = 'agent-mailbox-backup';
const MANIFEST = 'manifest.json';
const UNFINISHED = 'unfinished.json';
export const SECRETS_FILE = 'secrets.json';
const OWN_NAMES = new Set([MANIFEST, UNFINISHED, SECRETS_FILE, 'tables', 'blobs']);
/** Level 3 is that of the zstd program. */
export const COMPRESSION = { params: { [constants.ZSTD_c_compressionLevel]: 3 } };

/** A folder that cannot be used, or cannot be used so; the message says what to do. */
export class BackupError extends CommandError {}

export interface BackedUpTable {
  readonly table: string;
  /** In the order of the file; of the blobs without their bytes. */
  readonly columns: readonly string[];
  readonly rows: number;
  /** Below the folder of the backup. */
  readonly file: string;
  readonly bytes: number;
  /** Of the file, hexadecimal. */
  readonly sha256: string;
}

/** A partition that is not the default one. */
export interface BackedUpPartition {
  readonly table: string;
  readonly of: string;
  /** As PostgreSQL writes it: FOR VALUES FROM ('…') TO ('…'). */
  readonly bound: string;
}

export interface BackupManifest {
  readonly format: typeof FORMAT;
  readonly formatVersion: number;
  /** Hexadecimal, random. */
  readonly id: string;
  readonly productVersion: string;
  /** Time of the snapshot: everything committed before it is contained, nothing after it. ISO 8601. */
  readonly takenAt: string;
  readonly finishedAt: string;
  /** The backup whose blobs it shares, if it is an increment. */
  readonly since: { readonly id: string; readonly takenAt: string } | null;
  readonly server: { readonly version: string; readonly walPosition: string | null; readonly databaseBytes: number };
  /** Oldest first. */
  readonly migrations: readonly string[];
  /** Of the columns of all tables, hexadecimal. */
  readonly schemaSha256: string;
  readonly tables: readonly BackedUpTable[];
  readonly partitions: readonly BackedUpPartition[];
  readonly sequences: readonly { readonly name: string; readonly lastValue: number }[];
  readonly blobs: {
    readonly count: number;
    /** Uncompressed. */
    readonly bytes: number;
    /** Those whose bytes did not have their SHA-256 in the database already. */
    readonly damaged: readonly string[];
  };
  readonly secrets: 'contained' | 'sealed' | 'absent';
}

export const manifestPath = (folder: string): string => path.join(folder, MANIFEST);
export const tableFile = (table: string): string => `tables/${table}.copy.zst`;

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

const checksumOf = (content: object): string => createHash('sha256').update(JSON.stringify(content)).digest('hex');

/** @throws {BackupError} if it is no finished backup, was changed, or has a newer format */
export async function readManifest(folder: string): Promise<BackupManifest> {
  const entries = await readdir(folder).catch((error: unknown) => {
    throw new BackupError(`${folder} cannot be read: ${reasonOf(error)}. Name the folder of a backup`);
  });
  if (!entries.includes(MANIFEST))
    throw new BackupError(
      entries.includes(UNFINISHED)
        ? `${folder} is an unfinished backup. Run the same \`backup\` again, which continues it, or use another folder`
        : `${folder} is no backup: it has no ${MANIFEST}`,
    );
  const damaged = new BackupError(
    `${manifestPath(folder)} is damaged or was changed. Use another backup, or a copy of this one`,
  );
  const parsed = parseObject(await readFile(manifestPath(folder), 'utf8'));
  if (parsed === undefined) throw damaged;
  const { checksum, ...content } = parsed;
  if (content['format'] !== FORMAT)
    throw new BackupError(`${manifestPath(folder)} is not the manifest of a backup of this service`);
  if (typeof content['formatVersion'] === 'number' && content['formatVersion'] > BACKUP_FORMAT_VERSION)
    throw new BackupError(
      `${folder} was made by version ${String(content['productVersion'])} in a newer format (${content['formatVersion']}; this version reads up to ${BACKUP_FORMAT_VERSION}). Use that version, or a later one`,
    );
  if (checksum !== checksumOf(content)) throw damaged;
  // The checksum was made by `finishBackup` of this type.
  return content as unknown as BackupManifest;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Makes the folder of a backup, or continues in that of an interrupted one.
 *
 * @returns whether there is something of an interrupted one
 * @throws {BackupError} if it has something else, is a finished backup, or another process writes to it
 */
export async function beginBackup(folder: string): Promise<boolean> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const entries = await readdir(folder);
  if (entries.includes(MANIFEST))
    throw new BackupError(
      `${folder} is a finished backup already. Name another folder; with --since ${folder} it shares the mail of this one`,
    );
  const foreign = entries.filter((name) => !OWN_NAMES.has(name.replace(/\.part$/, '')));
  if (foreign.length > 0 || (entries.length > 0 && !entries.includes(UNFINISHED)))
    throw new BackupError(`${folder} is not empty (${entries.slice(0, 3).join(', ')}). Name a new or empty folder`);
  const continued = entries.includes(UNFINISHED);
  if (continued) {
    const { pid, host, begunAt } = parseObject(await readFile(path.join(folder, UNFINISHED), 'utf8')) ?? {};
    // After a start of the machine another process may have its number.
    const isOfThisStart = Date.parse(String(begunAt)) > Date.now() - uptime() * 1_000;
    if (isOfThisStart && host === hostname() && typeof pid === 'number' && pid !== process.pid && isAlive(pid))
      throw new BackupError(
        `process ${pid} is writing a backup to ${folder}. Wait for its end, or name another folder`,
      );
  }
  // Whether this backup has secrets is not for the interrupted one to say.
  for (const name of [SECRETS_FILE, `${SECRETS_FILE}.part`]) await rm(path.join(folder, name), { force: true });
  const begun = { pid: process.pid, host: hostname(), begunAt: new Date().toISOString() };
  await writeDurably(path.join(folder, UNFINISHED), Buffer.from(JSON.stringify(begun)));
  await mkdir(path.join(folder, 'tables'), { recursive: true, mode: 0o700 });
  await mkdir(path.join(folder, 'blobs'), { recursive: true, mode: 0o700 });
  return continued;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

/** Makes it a finished backup. All files must be durable. */
export async function finishBackup(
  folder: string,
  content: Omit<BackupManifest, 'format' | 'formatVersion'>,
): Promise<BackupManifest> {
  const manifest: BackupManifest = { format: FORMAT, formatVersion: BACKUP_FORMAT_VERSION, ...content };
  await flushFolder(path.join(folder, 'tables'));
  await writeDurably(
    manifestPath(folder),
    Buffer.from(`${JSON.stringify({ ...manifest, checksum: checksumOf(manifest) }, null, 2)}\n`),
  );
  await flushFolder(folder);
  await rm(path.join(folder, UNFINISHED), { force: true });
  return manifest;
}

/** Under its name the file is whole, also after a power failure once its folder was flushed. */
export async function writeDurably(file: string, content: Uint8Array, mode = 0o600): Promise<void> {
  const part = `${file}.part`;
  const handle = await open(part, 'w', mode);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(part, file);
}

/** Makes the names in a folder durable. Where folders cannot be opened (Windows) the system does it. */
export async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  if (handle === undefined) return;
  try {
    await handle.sync();
  } catch (error) {
    if (!hasCode(error, 'EINVAL') && !hasCode(error, 'EPERM')) throw error;
  } finally {
    await handle.close();
  }
}

export interface Measured {
  readonly bytes: number;
  readonly sha256: string;
}

/** Passes bytes on and hashes them. */
export function measuring(): { readonly through: Transform; result(): Measured } {
  const hash = createHash('sha256');
  let bytes = 0;
  const through = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  return { through, result: () => ({ bytes, sha256: hash.digest('hex') }) };
}

/** Compresses a stream into a durable file. */
export async function writeCompressed(file: string, content: Readable): Promise<Measured> {
  const part = `${file}.part`;
  const { through, result } = measuring();
  await pipeline(
    content,
    createZstdCompress(COMPRESSION),
    through,
    createWriteStream(part, { mode: 0o600, flush: true }),
  );
  await rename(part, file);
  return result();
}

/**
 * Reads a compressed file of the backup to the end, then compares its checksum.
 *
 * @throws {BackupError} if it is missing or damaged; what was passed on until then is of no use
 */
export async function readCompressed(
  folder: string,
  { file, bytes, sha256 }: Pick<BackedUpTable, 'file' | 'bytes' | 'sha256'>,
  into: Writable | ((content: AsyncIterable<Buffer>) => Promise<void>),
): Promise<void> {
  const { through, result } = measuring();
  const damaged = (why: string) =>
    new BackupError(`${path.join(folder, file)} ${why}. Use another backup, or a copy of this one`);
  const source = createReadStream(path.join(folder, file));
  const expanded = createZstdDecompress();
  let failedBelow: unknown;
  try {
    if (typeof into === 'function')
      await pipeline(source, through, expanded, async (content: AsyncIterable<Buffer>) => {
        await into(content).catch((error: unknown) => {
          failedBelow = error;
          throw error;
        });
      });
    else {
      into.once('error', (error) => {
        failedBelow = error;
      });
      await pipeline(source, through, expanded, into);
    }
  } catch (error) {
    if (!existsSync(path.join(folder, file))) throw damaged('is missing');
    const isOfFile = failedBelow === undefined || !(failedBelow instanceof BackupError);
    if (isOfFile && !(await isWhole(path.join(folder, file), { bytes, sha256 })))
      throw damaged('is damaged: its checksum differs from the manifest');
    throw failedBelow ?? error;
  }
  const found = result();
  if (found.bytes !== bytes || found.sha256 !== sha256)
    throw damaged('is damaged: its checksum differs from the manifest');
}

/** Whether a file has this size and checksum. */
export async function isWhole(file: string, { bytes, sha256 }: Measured): Promise<boolean> {
  const hash = createHash('sha256');
  let size = 0;
  try {
    for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      size += chunk.length;
    }
  } catch {
    return false;
  }
  return size === bytes && hash.digest('hex') === sha256;
}

/** Lines of a text in chunks, without their ends. */
export async function* linesOf(content: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of content) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
