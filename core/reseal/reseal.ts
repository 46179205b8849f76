/**
 * Rotation of the secrets keys: seals everything again with the newest key, the first of SECRETS_KEYS, so that the others
 * can be removed.
 *
 * Rows are processed in portions, in the order of their keys, and each is written only if it did not change meanwhile.
 * So it can run beside the service, be interrupted and be repeated at any time; finished rows stay finished.
 *
 * Every column with sealed secrets (`core/platform/secrets/sealed-secrets.ts`) is listed here. Add each new one, or its rows
 * cannot be opened after the next rotation; a test compares the list with the schema.
 */
import { noticeCredentialPlace } from '#core/accounts/invitations.ts';
import { chatUrlPlace } from '#core/accounts/notice-settings.ts';
import { totpSecretPlace } from '#core/accounts/second-factor/codes.ts';
import { acmeAccountPlace, acmeKeyPlace } from '#core/certificates/acme-orders.ts';
import { dkimRotationPlace } from '#core/mailboxes/dkim-keys.ts';
import { instanceDkimPlace } from '#core/mailboxes/domain-records.ts';
import { dkimKeyPlace } from '#core/mailboxes/domains.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { objectKeyPlace } from '#core/platform/objects/blob-objects.ts';
import { idempotencyAnswerPlace, type SealedSecrets } from '#core/platform/secrets/sealed-secrets.ts';
import { authHeaderPlace, signingKeyPlace, webhookSecretPlace } from '#core/webhooks/signing/webhook-signature.ts';
import type { Sql } from '#db/database.ts';
import { moveKeyPlace, movePasswordPlace } from '#domain/mailbox-moves.ts';

export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** The primary key. */
  readonly key: readonly string[];
  /** Place of the value in the row with this key. */
  place(...key: readonly string[]): string;
}

const column = (
  table: string,
  name: string,
  key: readonly string[],
  place: (...key: readonly string[]) => string,
): SealedColumn => ({ table, column: name, key, place });

export const SEALED_COLUMNS: readonly SealedColumn[] = [
  column('webhook_endpoints', 'secret_sealed', ['id'], (id = '') => webhookSecretPlace(id)),
  column('webhook_endpoints', 'previous_secret_sealed', ['id'], (id = '') => webhookSecretPlace(id)),
  column('webhook_endpoints', 'auth_header_value_sealed', ['id'], (id = '') => authHeaderPlace(id)),
  column('webhook_signing_key', 'private_key_sealed', ['id'], (id = '') => signingKeyPlace(id)),
  column('domains', 'dkim_private_key_sealed', ['id'], (id = '') => dkimKeyPlace(id)),
  column('dkim_key', 'private_key_sealed', ['domain'], (domain = '') => instanceDkimPlace(domain)),
  column('dkim_rotation', 'private_key_sealed', ['id'], (id = '') => dkimRotationPlace(id)),
  column('acme_account', 'key_sealed', ['directory'], (directory = '') => acmeAccountPlace(directory)),
  column('acme_certificate', 'key_sealed', ['name'], (name = '') => acmeKeyPlace(name)),
  column('idempotency_keys', 'body_sealed', ['principal', 'key'], (principal = '', key = '') =>
    idempotencyAnswerPlace(principal, key),
  ),
  column('blob_object', 'key_sealed', ['name'], (name = '') => objectKeyPlace(name)),
  column('mailbox_move', 'key_sealed', ['id'], (id = '') => moveKeyPlace(id)),
  column('mailbox_move', 'imap_password_sealed', ['id'], (id = '') => movePasswordPlace(id)),
  column('member_notices', 'credential_sealed', ['id'], (id = '') => noticeCredentialPlace(id)),
  column('totp_factor', 'secret_sealed', ['user_id'], (id = '') => totpSecretPlace(id)),
  column('member_notice_settings', 'chat_url_sealed', ['member_id'], (id = '') => chatUrlPlace(id)),
];

/** SQL expression: id of the key a sealed value was sealed with. */
const keyIdOf = (name: string): string => `split_part(${name}, '.', 2)`;

const PORTION_ROWS = 200;
const FAILURES_SHOWN_MAX = 20;
const SAMPLES_OF_EACH_KEY = 3;

interface Resealed {
  /** Values that were sealed again. */
  readonly resealed: number;
  /** Values that could not be opened, as `table.column key: reason`; the first 20. */
  readonly failures: readonly string[];
  /** Values that are still sealed with another key than the newest one, by key id. */
  readonly left: ReadonlyMap<string, number>;
}

interface ResealOptions {
  /** Rows of one portion. */
  readonly portionRows?: number;
  /** Called after each portion with the values sealed again so far. */
  onProgress?(resealed: number, column: SealedColumn): void;
  /** Ends it between two portions. */
  readonly signal?: AbortSignal;
}

/** Seals all values again that are not sealed with the newest key. Values that cannot be opened are left as they are. */
export async function reseal(
  { db, secrets }: { readonly db: Sql; readonly secrets: SealedSecrets },
  options: ResealOptions = {},
): Promise<Resealed> {
  const { portionRows = PORTION_ROWS, signal } = options;
  const failures: string[] = [];
  let resealed = 0;
  for (const column of SEALED_COLUMNS) {
    let after: readonly string[] = column.key.map(() => '');
    for (let taken = portionRows; taken === portionRows && !signal?.aborted; ) {
      const rows = await db.query<{ key: string[]; sealed: string }>(nextPortion(column), [
        secrets.newestKeyId,
        portionRows,
        ...after,
      ]);
      for (const { key, sealed } of rows) {
        const place = column.place(...key);
        try {
          const plaintext = secrets.open(sealed, place);
          const written = await db.query(replaceValue(column), [sealed, secrets.seal(plaintext, place), ...key]);
          resealed += written.length;
        } catch (error) {
          if (!isSealFault(error)) throw error;
          if (failures.length < FAILURES_SHOWN_MAX)
            failures.push(`${column.table}.${column.column} ${key.join(' ')}: ${reasonOf(error)}`);
        }
      }
      after = rows.at(-1)?.key ?? after;
      taken = rows.length;
      if (rows.length > 0) options.onProgress?.(resealed, column);
    }
  }
  const used = await keysInUse(db);
  return { resealed, failures, left: new Map([...used].filter(([id]) => id !== secrets.newestKeyId)) };
}

/** How many values are sealed with each key, by key id. */
export async function keysInUse(sql: Sql): Promise<Map<string, number>> {
  const rows = await sql.query<{ id: string; n: number }>(KEYS_IN_USE);
  return new Map(rows.map(({ id, n }) => [id, Number(n)]));
}

interface SealedSample {
  readonly keyId: string;
  readonly sealed: string;
  readonly place: string;
}

/** A few values of each column and key, by which a key is recognized. */
export async function sealedSamples(sql: Sql): Promise<SealedSample[]> {
  const rows = await sql.query<{ of: number; keyId: string; key: string[]; sealed: string }>(SAMPLES);
  return rows.flatMap(({ of, keyId, key, sealed }) => {
    const column = SEALED_COLUMNS[of];
    return column === undefined ? [] : [{ keyId, sealed, place: column.place(...key) }];
  });
}

/** A value that does not open is about the row; everything with a code is about the database. */
const isSealFault = (error: unknown): boolean =>
  error instanceof Error && (!('code' in error) || String(error.code).startsWith('ERR_'));

const parameters = (key: readonly string[], from: number): string => key.map((_, i) => `$${i + from}`).join(', ');

/** Collation "C": the order only has to be total, and indexes of keys may use another collation. */
function nextPortion({ table, column, key }: SealedColumn): string {
  const ordered = key.map((name) => `${name} collate "C"`).join(', ');
  return `select array[${key.join(', ')}]::text[] as key, ${column} as sealed from ${table}
           where ${column} is not null and ${keyIdOf(column)} <> $1 and (${ordered}) > (${parameters(key, 3)})
           order by ${ordered} limit $2`;
}

const replaceValue = ({ table, column, key }: SealedColumn): string =>
  `update ${table} set ${column} = $2 where (${key.join(', ')}) = (${parameters(key, 3)}) and ${column} = $1 returning 1`;

const KEYS_IN_USE = `
  select id, count(*)::int as n from (${SEALED_COLUMNS.map(
    ({ table, column }) => `select ${keyIdOf(column)} as id from ${table} where ${column} is not null`,
  ).join(' union all ')}) as used group by id order by id`;

const SAMPLES = SEALED_COLUMNS.map(
  ({ table, column, key }, index) => `
  select ${index} as "of", id as "keyId", key, sealed from (
    select ${keyIdOf(column)} as id, array[${key.join(', ')}]::text[] as key, ${column} as sealed,
           row_number() over (partition by ${keyIdOf(column)}) as n
      from ${table} where ${column} is not null) as numbered
   where n <= ${SAMPLES_OF_EACH_KEY}`,
).join(' union all ');
