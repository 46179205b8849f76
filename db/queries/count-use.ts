import type { Sql } from '../database.ts';

/** Uses within the running window, this one included, and the milliseconds until the window ends. */
export interface UseCount {
  readonly used: number;
  readonly resetsInMs: number;
}

/**
 * Counts one use of something limited, in a fixed window that begins with the first use. One statement, so it is exact
 * over all processes.
 */
export async function countUse(sql: Sql, key: string, windowMs: number, nowMs: number): Promise<UseCount> {
  const [row] = await sql.query<{ used: number; resets_at_ms: number | string }>(
    `insert into rate_limits as r (key, used, resets_at_ms) values ($1, 1, $3)
     on conflict (key) do update set
       used = case when r.resets_at_ms <= $2 then 1 else r.used + 1 end,
       resets_at_ms = case when r.resets_at_ms <= $2 then $3 else r.resets_at_ms end
     returning used, resets_at_ms`,
    [key, nowMs, nowMs + windowMs],
  );
  return { used: row?.used ?? 1, resetsInMs: Number(row?.resets_at_ms ?? nowMs + windowMs) - nowMs };
}

/** Takes a use back, for limits that count failures only. */
export async function uncountUse(sql: Sql, key: string): Promise<void> {
  await sql.query(`update rate_limits set used = greatest(0, used - 1) where key = $1`, [key]);
}
