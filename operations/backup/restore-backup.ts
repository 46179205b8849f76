/**
 * Restores a backup into an empty database, and verifies one in a database of its own.
 *
 *   load (load-backup.ts) ─▶ [ identities, outgoing mail, credentials, Temporal forgotten, state `done` ]
 *                             └────────────────────────── one transaction ──────────────────────────┘
 *
 * Until the second transaction no process of the service begins (`core/platform/settings/restore-state.ts`). A restore that
 * was interrupted is ended by calling it again.
 */
import { randomBytes } from 'node:crypto';
import { sealedSecrets } from '#core/platform/secrets/sealed-secrets.ts';
import { forgetAgreedTemporal, requireAgreedSettings } from '#core/platform/settings/agreed-settings.ts';
import { writeRestoreState } from '#core/platform/settings/restore-state.ts';
import { readSettings, SettingsError } from '#core/platform/settings/settings.ts';
import { checkSecretsKeys } from '#core/process/start-checks.ts';
import { connect, newConnection } from '#db/connections.ts';
import { type Database, openDatabase } from '#db/database.ts';
import { preparingAlone } from '#db/migrate.ts';
import { checkMailStore, type RuleResult } from '#mailstore/upkeep/invariants.ts';
import { BackupError, type BackupManifest } from './backup-folder.ts';
import {
  type CredentialKind,
  type CredentialReport,
  type EndsReport,
  endCredentials,
  endRecorded,
  type RecordedEnd,
} from './credentials.ts';
import { checkFiles, type Loaded, loadBackup } from './load-backup.ts';
import { type RenewedIdentities, renewIdentities } from './renew-identities.ts';
import { type RestoredMail, settleOutgoing } from './restored-mail.ts';
import { quoted } from './schema.ts';
import { type BackedUpSecrets, secretsKeysOf } from './secrets.ts';

const POOL_MAX = 2;

export interface RestoreOptions {
  readonly url: string;
  readonly folder: string;
  readonly manifest: BackupManifest;
  readonly now: Date;
  /** Stop the mailboxes whose mail may have been sent since the backup. */
  readonly holdOutgoing: boolean;
  readonly endKinds: readonly CredentialKind[];
  /** Ends of credentials after the backup. */
  readonly recorded: readonly RecordedEnd[];
  readonly endRecorded: boolean;
  onProgress?(text: string): void;
}

export interface RestoreReport {
  readonly loaded: Loaded;
  readonly identities: RenewedIdentities;
  readonly mail: RestoredMail;
  readonly credentials: readonly CredentialReport[];
  readonly recorded: EndsReport;
}

/** @throws {BackupError} see `loadBackup` */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreReport> {
  const { url, onProgress = () => {} } = options;
  const db = await openDatabase({ url, poolMax: POOL_MAX, name: 'agent-mailbox restore' });
  try {
    return await preparingAlone(
      url,
      () => restoreAlone(db, options),
      () => onProgress('another process prepares this database; waiting for its end'),
    );
  } finally {
    await db.close();
  }
}

async function restoreAlone(db: Database, options: RestoreOptions): Promise<RestoreReport> {
  const { manifest, now, holdOutgoing, endKinds, recorded, onProgress = () => {} } = options;
  const loaded = await loadBackup({ ...options, db });
  onProgress('new UIDVALIDITY and sequences');
  const report = await db.transaction(async (sql) => {
    await sql.query('set local statement_timeout = 0');
    const identities = await renewIdentities(sql, now);
    const mail = await settleOutgoing(sql, now, holdOutgoing);
    const ends = await endRecorded(sql, recorded, options.endRecorded);
    const credentials = await endCredentials(sql, now, endKinds);
    await forgetAgreedTemporal(sql);
    await writeRestoreState(sql, { backupId: manifest.id, phase: 'done', at: now });
    return { identities, mail, credentials, recorded: ends };
  });
  return { loaded, ...report };
}

export type SecretsVerdict = 'fit' | 'missing_some' | 'other' | 'unknown';

/** Whether these keys open what is sealed in the database, and the pepper is that of its credentials. */
export async function checkSecrets(url: string, secrets: BackedUpSecrets | undefined): Promise<SecretsVerdict> {
  const values = secrets === undefined ? undefined : secretsKeysOf(secrets);
  if (values === undefined) return 'unknown';
  const { SECRETS_KEYS, CREDENTIAL_PEPPER } = readSettings(values);
  if (SECRETS_KEYS === undefined || CREDENTIAL_PEPPER === undefined) return 'unknown';
  const db = await openDatabase({ url, poolMax: 1 });
  try {
    await requireAgreedSettings(db, { CREDENTIAL_PEPPER });
    const { state } = await checkSecretsKeys(db, sealedSecrets(SECRETS_KEYS));
    return state === 'ok' ? 'fit' : state === 'missing' ? 'other' : 'missing_some';
  } catch (error) {
    if (error instanceof SettingsError) return 'other';
    throw error;
  } finally {
    await db.close();
  }
}

export interface VerifyOptions {
  /** A database of the server in which the copy is made, as a role that may create databases. */
  readonly url: string;
  readonly folder: string;
  readonly manifest: BackupManifest;
  /** Those of the backup, or of the installation. */
  readonly secrets: BackedUpSecrets | undefined;
  /** Check every message instead of a sample. */
  readonly all: boolean;
  readonly now: Date;
  onProgress?(text: string): void;
}

export interface VerifyReport {
  /** Damaged or missing files, some of them; if there are any, nothing else was done. */
  readonly files: readonly string[];
  readonly restored: RestoreReport | undefined;
  readonly rules: readonly RuleResult[];
  readonly secrets: SecretsVerdict;
  /** Messages that this version reads again in the background, because it extracts more. */
  readonly readAgain: number;
  /** Whether everything is well. */
  readonly sound: boolean;
}

/** Reads all files, restores into a copy beside the given database, migrates it, checks it and drops it. */
export async function verifyBackup(options: VerifyOptions): Promise<VerifyReport> {
  const { folder, manifest, onProgress = () => {} } = options;
  const files = await checkFiles(folder, manifest, onProgress);
  if (files.length > 0)
    return { files, restored: undefined, rules: [], secrets: 'unknown', readAgain: 0, sound: false };
  return inScratchDatabase(options.url, async (url) => {
    const restored = await restoreBackup({
      ...options,
      url,
      holdOutgoing: true,
      endKinds: [],
      recorded: [],
      endRecorded: false,
    });
    onProgress('invariants of the mail store');
    const db = await openDatabase({ url, poolMax: POOL_MAX });
    try {
      const rules = await checkMailStore(db, { all: options.all });
      const [due] = await db.query<{ n: number }>(
        `select count(*)::int as n from message m left join message_text t on t.message_id = m.id
          where m.text_status = 'due' or t.fill_again`,
      );
      const secrets = await checkSecrets(url, options.secrets);
      const sound =
        rules.every(({ atFault }) => atFault === 0) && secrets !== 'other' && manifest.blobs.damaged.length === 0;
      return { files, restored, rules, secrets, readAgain: due?.n ?? 0, sound };
    } finally {
      await db.close();
    }
  });
}

/** PostgreSQL cuts longer names. */
const NAME_MAX = 63;
const SUFFIX_BYTES = 4;

/** Those that an interrupted verification left are dropped: only one runs at a time, by the lock of its connection. */
async function inScratchDatabase<Result>(url: string, work: (url: string) => Promise<Result>): Promise<Result> {
  const client = newConnection(url, 'agent-mailbox verify');
  client.on('error', () => {});
  await connect(client);
  try {
    const [lock] = (
      await client.query<{ taken: boolean; name: string }>(
        `select pg_try_advisory_lock(hashtext('agent-mailbox'), hashtext('verify')) as taken, current_database() as name`,
      )
    ).rows;
    if (lock?.taken !== true) throw new BackupError('Another verification runs beside this database. Wait for its end');
    const suffix = randomBytes(SUFFIX_BYTES).toString('hex');
    const prefix = `${lock.name.slice(0, NAME_MAX - '_verify_'.length - suffix.length)}_verify_`;
    const left = await client.query<{ name: string }>(`select datname as name from pg_database where datname ~ $1`, [
      `^${prefix.replaceAll(/[^\w]/g, '\\$&')}[0-9a-f]{${suffix.length}}$`,
    ]);
    for (const { name } of left.rows) await client.query(`drop database ${quoted(name)} with (force)`);
    const scratch = `${prefix}${suffix}`;
    await client
      .query(`create database ${quoted(scratch)} template template0 encoding 'UTF8'`)
      .catch((error: unknown) => {
        if (error instanceof Error && 'code' in error && error.code === '42501')
          throw new BackupError(
            'This role may not create a database, which a verification needs for its copy. Name a server where it may: --server <postgres://…>, which can be any PostgreSQL 15 or later',
          );
        throw error;
      });
    const there = new URL(url);
    there.pathname = `/${encodeURIComponent(scratch)}`;
    try {
      return await work(there.href);
    } finally {
      await client.query(`drop database ${quoted(scratch)} with (force)`);
    }
  } finally {
    await client.end().catch(() => {});
  }
}
