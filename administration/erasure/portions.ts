/**
 * The steps of an erasure in portions: each is one short transaction that also counts what it did, so an erasure that is
 * killed and run again neither loses nor repeats a count. A rehearsal counts the same rows and changes nothing.
 */
import type { Database, Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';

export type Counts = Readonly<Record<string, number>>;

export interface Run {
  readonly db: Database;
  /** Of its row; undefined: a rehearsal. */
  readonly erasureId: string | undefined;
  /** Adds to the counts of a rehearsal. */
  readonly counted: (counts: Counts) => void;
  /** Called after each portion. @throws if the operator ended the command */
  readonly onPortion: (table: string) => void;
}

/** What one portion did. */
interface Done {
  readonly counts: Counts;
  /** Workflows that have nothing to do any more. */
  readonly workflows?: readonly string[];
  /** There may be more. */
  readonly more: boolean;
  /** Called after the commit: the portion itself may run twice. */
  readonly committed?: () => void;
}

const PORTION_ROWS = 2_000;

export const plus = (a: Counts, b: Counts): Counts =>
  Object.fromEntries(
    [...new Set([...Object.keys(a), ...Object.keys(b)])].map((key) => [key, (a[key] ?? 0) + (b[key] ?? 0)]),
  );

/** Adds to the counts of an erasure. Call it in the transaction of the portion. @throws if it has ended */
async function addCounts(sql: Sql, id: string, { counts, workflows = [] }: Done): Promise<void> {
  const [row] = await sql.query<{ counts: Counts }>(
    `select counts from erasure where id = $1 and finished_at is null for update`,
    [id],
  );
  if (row === undefined)
    throw new CatalogueError('conflict', `${id} was ended by another process.`, { fix: 'Ask for it again.' });
  await sql.query(`update erasure set counts = $2, workflows = workflows || $3::text[] where id = $1`, [
    id,
    JSON.stringify(plus(row.counts, counts)),
    workflows,
  ]);
}

/** Carries portions out until there is no more. Not for rehearsals. */
export async function inPortions(
  run: Run & { readonly erasureId: string },
  table: string,
  portion: (sql: Sql) => Promise<Done>,
): Promise<void> {
  for (let more = true; more; ) {
    const done = await run.db.transaction(async (sql) => {
      const all = await portion(sql);
      if (Object.values(all.counts).some((count) => count > 0)) await addCounts(sql, run.erasureId, all);
      return all;
    });
    done.committed?.();
    more = done.more;
    run.onPortion(table);
  }
}

export const isReal = (run: Run): run is Run & { readonly erasureId: string } => run.erasureId !== undefined;

/** Adds the number of rows to the counts of a rehearsal. */
export async function countRows(run: Run, table: string, where: string, values: readonly unknown[]): Promise<void> {
  const [row] = await run.db.query<{ n: number }>(`select count(*)::int as n from ${table} where ${where}`, values);
  run.counted({ [table]: row?.n ?? 0 });
  run.onPortion(table);
}

/** Rows of a table that is not partitioned. @param where SQL over its columns with `$1`… */
export async function eraseRows(run: Run, table: string, where: string, values: readonly unknown[]): Promise<void> {
  if (!isReal(run)) return countRows(run, table, where, values);
  await inPortions(run, table, async (sql) => {
    // Rows that others lock are waited for, not left out.
    const rows = await sql.query(
      `delete from ${table} where ctid = any(array(
         select ctid from ${table} where ${where} limit $${values.length + 1} for update)) returning 1`,
      [...values, PORTION_ROWS],
    );
    return { counts: { [table]: rows.length }, more: rows.length > 0 };
  });
}

/** Deletes rows within a portion. */
export const eraseNow = async (
  sql: Sql,
  table: string,
  where: string,
  values: readonly unknown[],
): Promise<Counts> => ({
  [table]: (await sql.query(`delete from ${table} where ${where} returning 1`, values)).length,
});
