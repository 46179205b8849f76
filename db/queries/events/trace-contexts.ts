/** Contexts of traces by the id of an event or a message (`core/platform/tracing/kept-context.ts`). */
import type { Sql } from '#db/database.ts';

export interface TraceContextRow {
  readonly id: string;
  readonly context: string;
}

/** A repeated statement keeps the first. */
export const insertTraceContexts = (sql: Sql, rows: readonly TraceContextRow[]): Promise<unknown> =>
  sql.query(
    `insert into trace_context (id, context) select * from unnest($1::text[], $2::text[]) on conflict (id) do nothing`,
    [rows.map(({ id }) => id), rows.map(({ context }) => context)],
  );

export async function findTraceContext(sql: Sql, id: string): Promise<string | undefined> {
  const [row] = await sql.query<{ context: string }>('select context from trace_context where id = $1', [id]);
  return row?.context;
}
