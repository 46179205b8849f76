/** Tables of the database with their columns, and their constraints and indexes while rows are loaded. */
import { createHash } from 'node:crypto';
import type pg from 'pg';

/** Anything SQL is sent to. */
export type Connection = Pick<pg.ClientBase, 'query'>;

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly notNull: boolean;
}

/** Columns by table, in the order of the names; partitions are part of their table. */
export type Schema = ReadonlyMap<string, readonly Column[]>;

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

export async function readSchema(sql: Connection): Promise<Schema> {
  const { rows } = await sql.query<{ table: string; columns: Column[] }>(COLUMNS);
  return new Map(rows.map(({ table, columns }) => [table, columns]));
}

/** Generated columns cannot be written. */
const COLUMNS = `
  select c.relname as "table",
         json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
                                    'notNull', a.attnotnull) order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
   where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
   group by c.relname order by c.relname collate "C"`;

/** The order of columns differs with the order of migrations, so it does not count. */
export function schemaSha256(schema: Schema): string {
  const hash = createHash('sha256');
  for (const [table, columns] of schema)
    for (const { name, type, notNull } of columns.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
      hash.update(`${table}.${name} ${type}${notNull ? ' not null' : ''}\n`);
  return hash.digest('hex');
}

/** What checks or follows each row: foreign keys, indexes that are no constraint, triggers. Loading is faster without. */
export interface TakenOff {
  /** Statements that put everything back. */
  readonly back: readonly string[];
}

/** Takes off what would be done for each row. It is put back in the same transaction: foreign keys are checked then. */
export async function takeOff(sql: Connection): Promise<TakenOff> {
  const keys = (await sql.query<{ table: string; name: string; definition: string }>(FOREIGN_KEYS)).rows;
  const indexes = (await sql.query<{ name: string; definition: string }>(INDEXES)).rows;
  const triggered = (await sql.query<{ table: string }>(TRIGGERED)).rows;
  for (const { table, name } of keys) await sql.query(`alter table ${quoted(table)} drop constraint ${quoted(name)}`);
  for (const { name } of indexes) await sql.query(`drop index ${quoted(name)}`);
  for (const { table } of triggered) await sql.query(`alter table ${quoted(table)} disable trigger user`);
  return {
    back: [
      // Of a partitioned table: on its partitions, too.
      ...indexes.map(({ definition }) => definition.replace(' ON ONLY ', ' ON ')),
      ...keys.map(
        ({ table, name, definition }) => `alter table ${quoted(table)} add constraint ${quoted(name)} ${definition}`,
      ),
      ...triggered.map(({ table }) => `alter table ${quoted(table)} enable trigger user`),
    ],
  };
}

const OWN_TABLE = `c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`;

const FOREIGN_KEYS = `
  select c.relname as "table", k.conname as name, pg_get_constraintdef(k.oid) as definition
    from pg_constraint k join pg_class c on c.oid = k.conrelid
   where k.contype = 'f' and k.conparentid = 0 and ${OWN_TABLE} order by 1, 2`;

const INDEXES = `
  select i.relname as name, pg_get_indexdef(x.indexrelid) as definition
    from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class c on c.oid = x.indrelid
   where ${OWN_TABLE} and not x.indisprimary
     and not exists (select from pg_constraint k where k.conindid = x.indexrelid and k.contype in ('p', 'u', 'x'))
   order by 1`;

const TRIGGERED = `
  select distinct c.relname as "table" from pg_trigger t join pg_class c on c.oid = t.tgrelid
   where not t.tgisinternal and ${OWN_TABLE} order by 1`;
