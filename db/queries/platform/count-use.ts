import type { Sql } from '#db/database.ts';

/** Uses within the running window, this one included, and the milliseconds until the window ends. */
export interface UseCount {
  readonly used: number;
  readonly resetsInMs: number;
}

/** @param source what is counted: `select key, 1, end of a new window in ms …`; @param nowMs the parameter with the time */
const counting = (source: string, nowMs: string): string => /* sql */ `
  insert into rate_limits as r (key, used, resets_at_ms) ${source}
  on conflict (key) do update set
    used = case when r.resets_at_ms <= ${nowMs} then 1 else r.used + 1 end,
    resets_at_ms = case when r.resets_at_ms <= ${nowMs} then excluded.resets_at_ms else r.resets_at_ms end
  returning used, resets_at_ms`;

const COUNT_USE = counting('values ($1, 1, $3)', '$2');

interface CountedRow {
  used: number;
  resets_at_ms: number | string;
}

/**
 * Counts one use of something limited, in a fixed window that begins with the first use. One statement, so it is exact
 * over all processes.
 */
export async function countUse(sql: Sql, key: string, windowMs: number, nowMs: number): Promise<UseCount> {
  const [row] = await sql.query<CountedRow>(COUNT_USE, [key, nowMs, nowMs + windowMs]);
  return { used: row?.used ?? 1, resetsInMs: Number(row?.resets_at_ms ?? nowMs + windowMs) - nowMs };
}

/** What was counted in the running window; counts nothing. */
export async function usesOf(sql: Sql, key: string, nowMs: number): Promise<UseCount> {
  const [row] = await sql.query<CountedRow>(
    `select used, resets_at_ms from rate_limits where key = $1 and resets_at_ms > $2`,
    [key, nowMs],
  );
  return { used: row?.used ?? 0, resetsInMs: row === undefined ? 0 : Number(row.resets_at_ms) - nowMs };
}

/** Something limited: how often it may be used within a window of this length. */
export interface LimitedUse {
  readonly key: string;
  readonly max: number;
  readonly windowMs: number;
}

const PARAMETERS_EACH = 3;

/** `$1` is the time in ms; then for each use its key, the end of a new window in ms, and, but for the last, its maximum. */
function countingInTurn(uses: number): string {
  const parts = Array.from({ length: uses }, (_, index) => {
    const [key, end] = [index * PARAMETERS_EACH + 2, index * PARAMETERS_EACH + 3];
    const earlier = index === 0 ? '' : `from use_${index - 1} where used <= $${end - 2}::int`;
    return `use_${index} as (${counting(`select $${key}::text, 1, $${end}::bigint ${earlier}`, '$1::bigint')})`;
  });
  const counts = parts.map((_, index) => `select ${index} as number, used, resets_at_ms from use_${index}`);
  return `with ${parts.join(', ')} ${counts.join(' union all ')} order by number`;
}

/**
 * Counts one use of each in turn, up to and with the first that is beyond its maximum: what refuses a use costs none of
 * those after it. One round trip, as exact as {@link countUse}.
 *
 * @param uses with different keys
 * @returns a count for each that was counted, in their order
 */
export async function countUsesInTurn(sql: Sql, uses: readonly LimitedUse[], nowMs: number): Promise<UseCount[]> {
  if (uses.length === 0) return [];
  const limits = uses.flatMap(({ key, windowMs, max }) => [key, nowMs + windowMs, max]).slice(0, -1);
  const rows = await sql.query<CountedRow>(countingInTurn(uses.length), [nowMs, ...limits]);
  return rows.map((row) => ({ used: row.used, resetsInMs: Number(row.resets_at_ms) - nowMs }));
}

/** The count of a statement made by `countingFound`; nulls: nothing was counted. */
export interface FoundCount {
  used: number | null;
  resets_at_ms: number | string | null;
}

/**
 * A statement that finds something and counts its use in one round trip, as exactly as `countUse`.
 *
 * @param select a query of at most one row with the columns `use_key`, and `is_counted`; `$1` is the time in ms, `$2` the
 *   end of a new window
 * @returns the text of a statement with the columns of the query and of {@link FoundCount}
 */
export const countingFound = (select: string): string => /* sql */ `
  with found as materialized (${select}),
  counted as (${counting('select use_key, 1, $2::bigint from found where is_counted', '$1::bigint')})
  select found.*, counted.used, counted.resets_at_ms from found left join counted on true`;

/** Undefined: nothing was counted. */
export const foundCount = ({ used, resets_at_ms: resetsAtMs }: FoundCount, nowMs: number): UseCount | undefined =>
  used === null || resetsAtMs === null ? undefined : { used, resetsInMs: Number(resetsAtMs) - nowMs };

/** Reverts a use, for limits that count failures only. */
export async function uncountUse(sql: Sql, key: string): Promise<void> {
  await sql.query(`update rate_limits set used = greatest(0, used - 1) where key = $1`, [key]);
}
