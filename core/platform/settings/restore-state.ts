/**
 * Whether the database was restored from a backup.
 *
 *   (no row) ──rows are loaded──▶ loaded ──migrated, identities renewed──▶ done
 *
 * While it is `loaded` no process may serve: mail clients would see UIDs that the lost database gave to other mail.
 */
import type { Sql } from '#db/database.ts';
import { SettingsError } from './settings.ts';

const NAME = 'RESTORE';

export interface RestoreState {
  readonly backupId: string;
  readonly phase: 'loaded' | 'done';
  /** Since when. */
  readonly at: Date;
}

/** @returns undefined: it was never restored, or has no tables yet */
export async function readRestoreState(sql: Sql): Promise<RestoreState | undefined> {
  const [table] = await sql.query<{ there: boolean }>(
    `select to_regclass('installation_setting') is not null as there`,
  );
  if (table?.there !== true) return undefined;
  const [row] = await sql.query<{ value: string; at: Date }>(
    `select value, changed_at as at from installation_setting where name = $1`,
    [NAME],
  );
  const [phase, backupId] = row?.value.split(' ') ?? [];
  if (row === undefined || backupId === undefined || (phase !== 'loaded' && phase !== 'done')) return undefined;
  return { backupId, phase, at: row.at };
}

/** Replaces that of an earlier restore. Call it in the transaction that the phase ends with. */
export async function writeRestoreState(sql: Sql, { backupId, phase, at }: RestoreState): Promise<void> {
  await sql.query(
    `insert into installation_setting (name, value, changed_at) values ($1, $2, $3)
     on conflict (name) do update set value = excluded.value, changed_at = excluded.changed_at`,
    [NAME, `${phase} ${backupId}`, at],
  );
}

/** @throws {SettingsError} while a restore was begun and has not ended */
export async function requireNoOpenRestore(sql: Sql): Promise<void> {
  const state = await readRestoreState(sql);
  if (state?.phase !== 'loaded') return;
  throw new SettingsError([
    `this database is being restored (backup ${state.backupId}). If that was interrupted, run the same \`agent-mailbox-admin restore\` again, which ends it`,
  ]);
}
