/**
 * Credentials after a restore. The rows are those of the backup, so what was ended since then is valid again. The audit
 * log of later, from a newer backup or an export, says which; without it only the counts are known, and whole kinds can be
 * ended.
 */
import { randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { hashPassword } from '#core/accounts/sign-in.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Sql } from '#db/database.ts';
import type { AuditAction } from '#domain/organizations/audit-actions.ts';
import { BackupError, linesOf, readCompressed, readManifest } from './backup-folder.ts';

/** Kinds by their names in `--end-credentials`. */
export const CREDENTIAL_KINDS = ['sessions', 'api-keys', 'mailbox-tokens', 'oauth', 'passwords', 'links'] as const;
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number];

interface Kind {
  readonly text: string;
  /** Counts those that are valid at $1. */
  readonly count: string;
  readonly end: readonly string[];
}

const KINDS: Readonly<Record<CredentialKind, Kind>> = {
  sessions: {
    text: 'sign-ins of people (sessions), which last up to their expiry',
    count: 'select count(*)::int as n from sessions where expires_at > $1',
    end: [
      'delete from sessions',
      'delete from device_sign_ins',
      'delete from sign_in_challenges',
      'delete from passkey_ceremonies',
      'delete from oidc_sign_ins',
    ],
  },
  'api-keys': {
    text: 'API keys of organizations',
    count: 'select count(*)::int as n from api_keys where expires_at is null or expires_at > $1',
    end: ['delete from api_keys'],
  },
  'mailbox-tokens': {
    text: 'tokens of mailboxes, by which agents and mail clients sign in',
    count: `select count(*)::int as n from mailbox_token t join mailboxes m on m.id = t.mailbox_id
             where m.deleted_at is null and (t.expires_at is null or t.expires_at > $1)`,
    end: ['delete from mailbox_token'],
  },
  oauth: {
    text: 'programs with access to a mailbox (OAuth)',
    count: 'select count(*)::int as n from oauth_grants where expires_at > $1',
    end: ['delete from oauth_grants', 'delete from oauth_requests'],
  },
  passwords: {
    text: 'passwords of people; after `passwords` each needs a new one (`reset-password`, or the link of the sign-in page)',
    count: 'select count(*)::int as n from users where $1::timestamptz is not null',
    end: [],
  },
  links: {
    text: 'links in mail: approvals, invitations, new passwords; and open upload addresses',
    count: `select ((select count(*) from approval_links where expires_at > $1)
                  + (select count(*) from invitations where expires_at > $1 and accepted_at is null)
                  + (select count(*) from password_resets where expires_at > $1)
                  + (select count(*) from mailbox_file where upload_hash is not null and expires_at > $1))::int as n`,
    end: [
      'delete from approval_links',
      'delete from invitations where accepted_at is null',
      'delete from password_resets',
      'update mailbox_file set upload_hash = null where upload_hash is not null',
    ],
  },
};

export interface CredentialReport {
  readonly kind: CredentialKind;
  readonly text: string;
  /** Valid in the restored state, before anything was ended. */
  readonly valid: number;
  readonly ended: boolean;
}

/** Counts all kinds and ends some. Call it in the transaction of the restore. */
export async function endCredentials(
  sql: Sql,
  now: Date,
  kinds: readonly CredentialKind[],
): Promise<CredentialReport[]> {
  const reports: CredentialReport[] = [];
  for (const kind of CREDENTIAL_KINDS) {
    const { text, count } = KINDS[kind];
    const [counted] = await sql.query<{ n: number }>(count, [now]);
    reports.push({ kind, text, valid: counted?.n ?? 0, ended: kinds.includes(kind) });
  }
  for (const kind of kinds) {
    for (const statement of KINDS[kind].end) await sql.query(statement);
    if (kind === 'passwords')
      // Of a password that nobody knows: an answer takes as long as with any other.
      await sql.query('update users set password_hash = $1', [await newUnusableHash()]);
  }
  return reports;
}

/** An entry of the audit log by which a credential ended. */
export interface RecordedEnd {
  readonly action: AuditAction;
  /** Id of what ended. */
  readonly targetId: string;
  readonly createdAt: Date;
}

/** What ends in the restored rows: rows of `table` where `by` is the id of the entry. */
interface End {
  readonly table: string;
  readonly by: string;
  /** What is done instead of deleting; $2: a hash of a password that nobody knows. */
  readonly set?: string;
}

const NEW_PASSWORD: readonly End[] = [
  { table: 'users', by: 'id', set: 'password_hash = $2' },
  { table: 'sessions', by: 'user_id' },
];

const ENDS: Partial<Record<AuditAction, readonly End[]>> = {
  'api_key.deleted': [{ table: 'api_keys', by: 'id' }],
  'session.deleted': [{ table: 'sessions', by: 'id' }],
  'mailbox.token_revoked': [{ table: 'mailbox_token', by: 'id' }],
  'mailbox.token_rotated': [{ table: 'mailbox_token', by: 'is_first and mailbox_id' }],
  'grant.deleted': [{ table: 'oauth_grants', by: 'id' }],
  'invitation.deleted': [{ table: 'invitations', by: 'accepted_at is null and id' }],
  'member.removed': [{ table: 'members', by: 'id' }],
  'user.password_changed': NEW_PASSWORD,
  'user.password_reset': NEW_PASSWORD,
};

/** Ends that the restored rows do not have. */
export interface EndsReport {
  /** Credentials that had ended and are valid again. */
  readonly valid: readonly RecordedEnd[];
  readonly ended: boolean;
}

/** @param end false: only looks. Call it in the transaction of the restore. */
export async function endRecorded(sql: Sql, recorded: readonly RecordedEnd[], end: boolean): Promise<EndsReport> {
  const unusable = recorded.length === 0 ? '' : await newUnusableHash();
  const valid: RecordedEnd[] = [];
  for (const entry of recorded) {
    let found = 0;
    for (const { table, by, set } of ENDS[entry.action] ?? []) {
      const where = `where ${by} = $1`;
      // An old password is valid whatever it was; it counts by the account.
      if (!end) found += (await sql.query(`select 1 from ${table} ${where}`, [entry.targetId])).length;
      else if (set === undefined)
        found += (await sql.query(`delete from ${table} ${where} returning 1`, [entry.targetId])).length;
      else
        found += (await sql.query(`update ${table} set ${set} ${where} returning 1`, [entry.targetId, unusable]))
          .length;
    }
    if (found > 0) valid.push(entry);
  }
  return { valid, ended: end };
}

const newUnusableHash = (): Promise<string> => hashPassword(randomBytes(32).toString('base64'));

/**
 * Ends of credentials after a time, oldest first.
 *
 * @param source folder of a newer backup, or a file with entries of the audit log as the API gives them: a JSON array, an
 * object with the array `data`, or an entry in each line
 * @throws {BackupError} if it is neither
 */
export async function readRecordedEnds(source: string, after: Date): Promise<RecordedEnd[]> {
  const entries = await readEntries(source).catch((error: unknown) => {
    if (error instanceof BackupError) throw error;
    throw new BackupError(`${source} is neither a backup nor an audit log in JSON: ${reasonOf(error)}`);
  });
  return entries
    .filter(({ createdAt }) => createdAt > after)
    .toSorted((one, other) => one.createdAt.getTime() - other.createdAt.getTime());
}

async function readEntries(source: string): Promise<RecordedEnd[]> {
  if ((await stat(source)).isDirectory()) return entriesOfBackup(source);
  const text = await readFile(source, 'utf8');
  const entries = wholeJson(text) ?? eachLine(text);
  if (entries === 'a page')
    throw new BackupError(`${source} is a page of a longer list. Put the entries of all pages into one file`);
  return entries.flatMap((value) => {
    if (typeof value !== 'object' || value === null) throw new TypeError('an entry is no object');
    const { action, targetId, details, createdAt } = value as Record<string, unknown>;
    if (typeof createdAt !== 'string') throw new TypeError('an entry lacks createdAt');
    return recordedEnd(action, targetId, details, new Date(createdAt));
  });
}

function recordedEnd(action: unknown, targetId: unknown, details: unknown, createdAt: Date): RecordedEnd[] {
  if (typeof action !== 'string' || !(action in ENDS)) return [];
  // The entry is about the mailbox.
  const tokenId = typeof details === 'object' && details !== null && 'tokenId' in details ? details.tokenId : undefined;
  const id = action === 'mailbox.token_revoked' ? tokenId : targetId;
  return typeof id === 'string' ? [{ action: action as AuditAction, targetId: id, createdAt }] : [];
}

const eachLine = (text: string): unknown[] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line): unknown => JSON.parse(line));

/** @returns `a page` of a longer list: what is on the others would be missed */
function wholeJson(text: string): readonly unknown[] | 'a page' | undefined {
  try {
    const read: unknown = JSON.parse(text);
    if (Array.isArray(read)) return read;
    const data = typeof read === 'object' && read !== null && 'data' in read ? read.data : undefined;
    if (typeof read === 'object' && read !== null && 'nextCursor' in read && read.nextCursor !== null) return 'a page';
    return Array.isArray(data) ? data : [read];
  } catch {
    return undefined;
  }
}

async function entriesOfBackup(folder: string): Promise<RecordedEnd[]> {
  const manifest = await readManifest(folder);
  const table = manifest.tables.find((each) => each.table === 'audit_entries');
  if (table === undefined) return [];
  const [action, target, details, created] = ['action', 'target_id', 'details', 'created_at'].map((name) =>
    table.columns.indexOf(name),
  );
  const entries: RecordedEnd[] = [];
  await readCompressed(folder, table, async (content) => {
    for await (const line of linesOf(content)) {
      const fields = line.split('\t');
      const field = (at: number | undefined): string => fields[at ?? -1] ?? '';
      if (!(field(action) in ENDS)) continue;
      // COPY doubles backslashes; a time is `2026-01-31 12:00:00.5+00`.
      const parsed: unknown = JSON.parse(field(details).replaceAll('\\\\', '\\'));
      entries.push(
        ...recordedEnd(
          field(action),
          field(target),
          parsed,
          new Date(`${field(created).replace(' ', 'T').replace(/\+00$/, '')}Z`),
        ),
      );
    }
  });
  return entries;
}
