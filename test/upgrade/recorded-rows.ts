/** All rows of a database as text, independent of PostgreSQL's version and of programs like pg_dump. */
import type { Sql } from '#db/database.ts';

/** A table with the text form of its values. */
export interface RecordedTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly (string | null)[])[];
}

export interface RecordedRows {
  readonly tables: readonly RecordedTable[];
  readonly sequences: readonly { readonly name: string; readonly last: string }[];
}

/** `migrations` is written by the migrations. Partitions are read through their table. */
const TABLES = `
  select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns,
         array_agg(format_type(a.atttypid, a.atttypmod) order by a.attnum) as types
    from pg_class c join pg_attribute a on a.attrelid = c.oid
   where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
     and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and c.relname <> 'migrations'
   group by c.relname order by c.relname`;

const SEQUENCES = `select sequencename as name, last_value::text as last from pg_sequences
                    where schemaname = 'public' and last_value is not null order by sequencename`;

const PORTION_ROWS = 200;

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** @param sql of a database that nobody changes meanwhile */
export async function recordRows(sql: Sql): Promise<RecordedRows> {
  const tables: RecordedTable[] = [];
  for (const { name, columns, types } of await sql.query<{ name: string; columns: string[]; types: string[] }>(
    TABLES,
  )) {
    const values = columns.map((column) => `${quoted(column)}::text`).join(', ');
    const rows = await sql.query<{ values: (string | null)[] }>(
      `select array[${values}] as values from ${quoted(name)} order by 1`,
    );
    const described = columns.map((column, index) => ({ name: column, type: types[index] ?? '' }));
    if (rows.length > 0) tables.push({ name, columns: described, rows: rows.map((row) => row.values) });
  }
  return { tables, sequences: await sql.query<RecordedRows['sequences'][number]>(SEQUENCES) };
}

/** SQL expression of a value of that type, later by an interval if it is a time. */
function laterValue(index: number, type: string): string {
  const value = `(r->>${index})::${type}`;
  if (type.startsWith('timestamp')) return `${value} + $2::interval`;
  return type === 'date' ? `(${value} + $2::interval)::date` : value;
}

/**
 * Fills a database that has the schema of the record. Times become later, so that nothing expires because the record is
 * old. Ids keep theirs, and JSON too.
 *
 * @param sql one connection of a superuser, because no trigger may run
 */
export async function restoreRows(sql: Sql, { tables, sequences }: RecordedRows, laterMs: number): Promise<void> {
  await sql.query('set session_replication_role = replica');
  const all = await sql.query<{ name: string }>(TABLES);
  await sql.query(`truncate ${all.map(({ name }) => quoted(name)).join(', ')}`);
  for (const { name, columns, rows } of tables) {
    const statement =
      `insert into ${quoted(name)} (${columns.map((column) => quoted(column.name)).join(', ')}) overriding system value ` +
      `select ${columns.map(({ type }, index) => laterValue(index, type)).join(', ')} from jsonb_array_elements($1::jsonb) r ` +
      // Every statement uses both.
      `where $2::interval is not null`;
    for (let at = 0; at < rows.length; at += PORTION_ROWS)
      await sql.query(statement, [JSON.stringify(rows.slice(at, at + PORTION_ROWS)), `${laterMs} milliseconds`]);
  }
  for (const { name, last } of sequences) await sql.query(`select setval($1::regclass, $2::bigint)`, [name, last]);
  await sql.query('set session_replication_role = origin');
}
