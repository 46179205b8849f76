/**
 * The connection to PostgreSQL: MikroORM for management tables, prepared statements on the same pool for hot paths.
 *
 * Both ways meet in `Sql`: code that must run inside somebody's transaction takes a `Sql` and does not care whether it
 * is backed by a pool client or by an EntityManager's transaction.
 */
import { createHash } from 'node:crypto';
import { Migrator } from '@mikro-orm/migrations';
import { type EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { CompiledQuery } from 'kysely';
import pg from 'pg';
import { type CopyValue, copyRows, type OnCopiedRow } from './copy-rows.ts';
import { entities } from './entities/index.ts';
import { migrations } from './migrations/index.ts';

/** Something SQL can be sent to: the pool, a client inside a transaction, or an EntityManager's transaction. */
export interface Sql {
  /** Rows of a statement with `$1`-style parameters. */
  query<Row extends object = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** Where bytes can be read as they are, outside any transaction. */
export interface ByteSource {
  /** Rows of a query with `$1`-style parameters, their fields in PostgreSQL's binary format. See `copy-rows.ts`. */
  copyRows(text: string, values: readonly CopyValue[], onRow: OnCopiedRow): Promise<void>;
}

export interface Database extends Sql, ByteSource {
  readonly orm: MikroORM;
  readonly pool: pg.Pool;
  /** Runs `work` in one transaction on one connection: commits when it returns, rolls back when it throws. */
  transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
  /** A fresh unit of work. */
  em(): EntityManager;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  readonly poolMax: number;
  /** Told of connections the server dropped; the pool replaces them by itself. */
  readonly onError?: (error: Error) => void;
}

/**
 * Parsers for statements sent past the ORM: int8 and numeric as numbers (counters stay below 2^53), the rest as the
 * driver does it. The ORM sets its own on the pool.
 */
const types: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === pg.types.builtins.INT8 || oid === pg.types.builtins.NUMERIC) return Number;
    return format === 'binary' ? pg.types.getTypeParser(oid, 'binary') : pg.types.getTypeParser(oid, 'text');
  },
};

const statementNames = new Map<string, string>();

/** A stable name makes the driver prepare a statement once per connection. Texts are constants, so the map is bounded. */
function statementName(text: string): string {
  let name = statementNames.get(text);
  if (name === undefined) {
    name = createHash('sha256').update(text).digest('base64url').slice(0, 24);
    statementNames.set(text, name);
  }
  return name;
}

const sqlOf = (target: pg.Pool | pg.PoolClient): Sql => ({
  async query<Row extends object>(text: string, values: readonly unknown[] = []) {
    const result = await target.query<Row>({ name: statementName(text), text, values: [...values], types });
    return result.rows;
  },
});

/** The transaction (or, outside one, the pool) of an EntityManager as `Sql`. Rows carry the ORM's parsers. */
export const sqlOfEntityManager = (em: EntityManager): Sql => ({
  async query<Row extends object>(text: string, values: readonly unknown[] = []) {
    const result = await em.getKysely().executeQuery<Row>(CompiledQuery.raw(text, [...values]));
    return result.rows;
  },
});

export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const orm = await MikroORM.init({
    clientUrl: options.url,
    entities,
    extensions: [Migrator],
    migrations: { migrationsList: migrations, snapshot: false, tableName: 'migrations' },
    pool: { min: 0, max: options.poolMax },
    // Tables of the mail store and of the rate limiter are not entities: the schema diff must leave them alone.
    schemaGenerator: { skipTables: [/^(?!organizations|users|members)/] },
    forceUtcTimezone: true,
    allowGlobalContext: false,
    debug: false,
    logger: () => {},
  });
  const pool = await orm.em.getConnection().getNativeClient();
  const onError = options.onError ?? (() => {});
  pool.on('error', onError);
  return {
    orm,
    pool,
    ...sqlOf(pool),
    copyRows: (text, values, onRow) => copyRows(pool, text, values, onRow),
    em: () => orm.em.fork(),
    async transaction(work) {
      const client = await pool.connect();
      let broken: Error | undefined;
      try {
        await client.query('begin');
        const result = await work(sqlOf(client));
        await client.query('commit');
        return result;
      } catch (error) {
        // A connection whose rollback fails is not given back to the pool.
        await client.query('rollback').catch((rollbackError: Error) => {
          broken = rollbackError;
        });
        throw error;
      } finally {
        client.release(broken);
      }
    },
    close: () => orm.close(true),
  };
}
