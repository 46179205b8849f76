/**
 * Rotation of the secrets keys: seals everything again with the newest key, the first of SECRETS_KEYS, so that the others
 * can be removed.
 *
 * Rows are processed in portions, in the order of their keys, and each is written only if it did not change meanwhile.
 * So it can run beside the service, be interrupted and be repeated at any time; finished rows stay finished.
 */

import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { SealedSecrets } from '#core/platform/secrets/sealed-secrets.ts';
import type { Sql } from '#db/database.ts';
import { keyIdOf, SEALED_COLUMNS, type SealedColumn } from './sealed-columns.ts';

const PORTION_ROWS = 200;
const FAILURES_SHOWN_MAX = 20;
const SAMPLES_OF_EACH_KEY = 3;

export interface Resealed {
  /** Values that were sealed again. */
  readonly resealed: number;
  /** Values that could not be opened, as `table.column key: reason`; the first 20. */
  readonly failures: readonly string[];
  /** Values that are still sealed with another key than the newest one, by key id. */
  readonly left: ReadonlyMap<string, number>;
}

export interface ResealOptions {
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

export interface SealedSample {
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
