/**
 * Records of released installations, one folder for each version in `records/`:
 *
 * - `manifest.json`: version, time, checksum of each migration
 * - `installation.json.br`: rows, secrets, histories of workflows, and what must be as before after an upgrade
 * - `temporal.db.br`: the database of Temporal's development server
 *
 * `npm run record-installation -- <version>` makes one, `npm run release` calls it. A record of a released version is
 * never made again.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import type { Migration } from '@mikro-orm/migrations';
import type { Database } from '#db/database.ts';
import { migrations } from '#db/migrations/index.ts';
import type { RecordedRows } from './recorded-rows.ts';

const RECORDS = fileURLToPath(new URL('records/', import.meta.url));

export interface RecordManifest {
  readonly version: string;
  readonly recordedAt: string;
  /** Those of this version, oldest first. */
  readonly migrations: readonly { readonly name: string; readonly sha256: string }[];
}

export interface RecordedMessage {
  readonly uid: number;
  readonly flags: readonly string[];
  /** Of its bytes. */
  readonly sha256: string;
  readonly internalDate: string;
}

export interface RecordedFolder {
  readonly path: string;
  readonly uidValidity: string;
  readonly uidNext: number;
  readonly messages: readonly RecordedMessage[];
}

export interface RecordedMailbox {
  readonly id: string;
  readonly address: string;
  /** All of them must open the mailbox after an upgrade. */
  readonly tokens: readonly { readonly access: 'full' | 'read' | 'send'; readonly token: string }[];
  readonly folders: readonly RecordedFolder[];
}

export interface RecordedInstallation {
  readonly rows: RecordedRows;
  /** `secrets.json` of its data folder. */
  readonly secrets: unknown;
  /** `host:port` in the addresses of the endpoints, to be replaced by that of another receiver. */
  readonly receiver: string;
  readonly owner: { readonly email: string; readonly password: string; readonly session: string };
  readonly apiKeys: readonly string[];
  readonly mailboxes: readonly RecordedMailbox[];
  readonly endpoints: readonly { readonly id: string; readonly path: string; readonly secret: string }[];
  /** Ids of deliveries between two attempts, with the path of their endpoint. */
  readonly openDeliveries: readonly { readonly id: string; readonly path: string }[];
  /** Messages that wait, with their subject: for a person, for their time, for the next attempt. */
  readonly waiting: Readonly<
    Record<'held' | 'scheduled' | 'deferred', { readonly id: string; readonly subject: string }>
  >;
  readonly consentId: string;
  readonly draft: { readonly id: string; readonly mailboxId: string; readonly subject: string };
  /** Of workflows that had not ended. */
  readonly histories: readonly { readonly workflowId: string; readonly type: string; readonly history: unknown }[];
}

export interface InstallationRecord {
  readonly manifest: RecordManifest;
  readonly installation: RecordedInstallation;
  /** SQLite. */
  readonly temporal: Uint8Array;
}

/** Long enough that work is still unfinished when the service has stopped, short enough for the test. */
export const UNFINISHED_FOR_MS = 30_000;

/** What the service gets, here and when the record is started again. */
export const recordedSettings = (relayUrl: string): Record<string, string> => ({
  OUTBOUND_TRANSPORT: 'relay',
  OUTBOUND_RELAY_URL: relayUrl,
  OUTBOUND_RETRY_DELAYS_MS: String(UNFINISHED_FOR_MS),
  WEBHOOK_RETRY_DELAYS_MS: [UNFINISHED_FOR_MS, UNFINISHED_FOR_MS, UNFINISHED_FOR_MS, UNFINISHED_FOR_MS].join(','),
});

const file = (version: string, name: string): string => `${RECORDS}${version}/${name}`;

/** Versions with a record. */
export const recordedVersions = (): string[] =>
  existsSync(RECORDS) ? readdirSync(RECORDS).toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })) : [];

export const readManifest = (version: string): RecordManifest =>
  JSON.parse(readFileSync(file(version, 'manifest.json'), 'utf8')) as RecordManifest;

export function readRecord(version: string): InstallationRecord {
  const unpacked = (name: string): Buffer => brotliDecompressSync(readFileSync(file(version, name)));
  return {
    manifest: readManifest(version),
    installation: JSON.parse(unpacked('installation.json.br').toString()) as RecordedInstallation,
    temporal: unpacked('temporal.db.br'),
  };
}

/** @returns the folder */
export function writeRecord({ manifest, installation, temporal }: InstallationRecord): string {
  const packed = (bytes: Uint8Array): Buffer =>
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS } });
  mkdirSync(file(manifest.version, ''), { recursive: true });
  writeFileSync(file(manifest.version, 'installation.json.br'), packed(Buffer.from(JSON.stringify(installation))));
  writeFileSync(file(manifest.version, 'temporal.db.br'), packed(temporal));
  writeFileSync(file(manifest.version, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  return file(manifest.version, '');
}

/** Name and checksum of the statements of each migration of this version; comments outside of them may change. */
export async function migrationChecksums(db: Database): Promise<RecordManifest['migrations']> {
  const checksums: { name: string; sha256: string }[] = [];
  for (const migration of migrations) {
    const statements = await statementsOf(db, migration);
    checksums.push({ name: migration.name, sha256: createHash('sha256').update(statements.join(';\n')).digest('hex') });
  }
  return checksums;
}

/** What a migration runs, without running it. */
export async function statementsOf(db: Database, migration: (typeof migrations)[number]): Promise<string[]> {
  const made: Migration = new migration(db.orm.em.getDriver(), db.orm.config);
  await made.up();
  return made.getQueries().map((query) => {
    if (typeof query !== 'string') throw new TypeError(`${migration.name} has a statement that is no text`);
    return query;
  });
}
