import type { Sql } from './database.ts';

/** The result of one bounded step of a clean-up. */
export interface Portion {
  /** Rows removed. */
  readonly done: number;
  /** There may be more. */
  readonly more: boolean;
  /** Start of the next portion, for clean-ups that skip rows. */
  readonly after?: string;
}

/**
 * Deletes at most `rows` rows of a table that meet a condition. Rows locked by others are left to the next portion, so
 * a clean-up never waits and never blocks.
 *
 * @param condition SQL over the table's columns, with `$1`… for `values`
 */
export async function deletePortion(
  sql: Sql,
  table: string,
  condition: string,
  values: readonly unknown[],
  rows: number,
): Promise<Portion> {
  const limit = `$${values.length + 1}`;
  const deleted = await sql.query(
    `delete from ${table} where ctid = any(array(
       select ctid from ${table} where ${condition} limit ${limit} for update skip locked)) returning 1`,
    [...values, rows],
  );
  return { done: deleted.length, more: deleted.length === rows };
}

/** Carries portions out until there is no more. @returns rows removed */
export async function allPortions(portion: () => Promise<Portion>): Promise<number> {
  for (let total = 0; ; ) {
    const { done, more } = await portion();
    total += done;
    if (!more) return total;
  }
}
