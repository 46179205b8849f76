/**
 * The connection to PostgreSQL: MikroORM for management tables, prepared statements on the same pool for frequent
 * statements.
 *
 * Both implement `Sql`: code that must run inside a caller's transaction takes a `Sql`, which may be a pool client or
 * an EntityManager's transaction.
 */
import { createHash } from 'node:crypto';
import { Migrator } from '@mikro-orm/migrations';
import { type EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { CompiledQuery } from 'kysely';
import pg from 'pg';
import type { BlobObjects } from './blob-objects.ts';
import { onConnect } from './connections.ts';
import { type CopyValue, copyRows, type OnCopiedRow } from './copy-rows.ts';
import { type DirectLease, type LeasingLane, openDirectLease } from './direct-lease.ts';
import { entities } from './entities.ts';
import { entitiesOf } from './entities-of-connection.ts';
import { infrastructureFault, retryConflicts } from './infrastructure-error.ts';
import { migrations } from './migrations/index.ts';
import { type TransactionConnection, transactionConnection } from './transaction-connection.ts';

/** Something SQL can be sent to: the pool, a client inside a transaction, or an EntityManager's transaction. */
export interface Sql {
  /** Rows of a statement with `$1`-style parameters. */
  query<Row extends object = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * Leases for deliveries that the next statement records, ended with the transaction. Left out where the end of the
   * transaction cannot be seen. See `direct-lease.ts`.
   */
  leaseDirectly?(organizationIds: readonly string[]): DirectLease | undefined;
}

/** Reads bytes in binary form, outside any transaction. */
export interface ByteSource {
  /** Rows of a query with `$1`-style parameters, their fields in PostgreSQL's binary format. See `copy-rows.ts`. */
  copyRows(text: string, values: readonly CopyValue[], onRow: OnCopiedRow): Promise<void>;
}

export interface Database extends Sql, ByteSource {
  /** The object storage of contents; undefined: none is set. */
  readonly objects: BlobObjects | undefined;
  readonly orm: MikroORM;
  readonly pool: pg.Pool;
  /** Fast lanes of this process, which take deliveries at once. */
  readonly lanes: Set<LeasingLane>;
  /**
   * Runs `work` in one transaction on one connection: commits when it returns, rolls back when it throws. It is run again
   * when the transaction was rolled back because of another one (`retry-conflicts.ts`), so it must change nothing but the
   * database.
   */
  transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
  /**
   * Statements that do not need each other's results, in one round trip: `Promise.all` of them inside `work`. Those sent
   * together commit together; there is no other transaction.
   */
  together<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
  /** The same as `transaction` for entities: what `work` changed in them is written before the commit. */
  entityTransaction<Result>(work: (em: EntityManager) => Promise<Result>): Promise<Result>;
  /**
   * Runs effects that must wait for the commit: wake-ups, starts of workflows. At once if every transaction commits by
   * itself; inside a unit of work (`unit-of-work.ts`) after its commit, or never.
   */
  afterCommit(effect: () => void | Promise<void>): Promise<void>;
  /** Entities outside any transaction, for reading. */
  em(): EntityManager;
  close(): Promise<void>;
}

interface DatabaseOptions {
  readonly url: string;
  readonly poolMax: number;
  readonly objects?: BlobObjects | undefined;
  /** Shown in `pg_stat_activity`, 63 characters at most. */
  readonly name?: string;
  /** Called for connections that the server closed; the pool replaces them automatically. */
  readonly onError?: (error: Error) => void;
}

/**
 * Parsers for statements without the ORM: int8 and numeric as numbers (counters stay below 2^53), the rest as in the
 * driver. The ORM sets its own on the pool.
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

/**
 * A new connection costs tens of milliseconds of CPU: a process, its login, and a plan for every statement. After the
 * driver's 10 s, load that comes in bursts would open some again and again.
 */
const IDLE_CONNECTION_MS = 60_000;

/** Statements on a pool. */
const sqlOfPool = (pool: pg.Pool): Sql => ({
  async query<Row extends object>(text: string, values: readonly unknown[] = []) {
    const result = await pool.query<Row>({ name: statementName(text), text, values: [...values], types });
    return result.rows;
  },
});

/** Statements of a transaction. Those that are given without an await between them share a round trip. */
export const sqlOf = (connection: TransactionConnection, lanes: Iterable<LeasingLane>): Sql => ({
  async query<Row extends object>(text: string, values: readonly unknown[] = []) {
    const result = await connection.run({ name: statementName(text), text, values, types });
    return result.rows as Row[];
  },
  leaseDirectly(organizationIds) {
    const lease = connection.isTransaction ? openDirectLease(lanes, organizationIds) : undefined;
    if (lease !== undefined) connection.onEnd((end) => lease.ended(end));
    return lease;
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
    pool: { min: 0, max: options.poolMax, idleTimeoutMillis: IDLE_CONNECTION_MS },
    driverOptions: { onConnect: onConnect(), application_name: options.name ?? 'agent-mailbox' },
    // Tables of the mail store and of the rate limiter are not entities: the schema diff must leave them alone.
    schemaGenerator: { skipTables: [/^(?!organizations|users|members)/] },
    forceUtcTimezone: true,
    allowGlobalContext: false,
    debug: false,
    logger: () => {},
  });
  const pool = await orm.em.getConnection().getNativeClient();
  const lanes = new Set<LeasingLane>();
  const onError = options.onError ?? (() => {});
  pool.on('error', onError);
  return {
    orm,
    pool,
    lanes,
    objects: options.objects,
    ...sqlOfPool(pool),
    copyRows: (text, values, onRow) => copyRows(pool, text, values, onRow),
    em: () => orm.em.fork(),
    transaction: (work) => retryConflicts(() => transactionOnce(pool, (connection) => work(sqlOf(connection, lanes)))),
    entityTransaction: (work) =>
      retryConflicts(() =>
        transactionOnce(pool, async (connection) => {
          const em = orm.em.fork();
          em.setTransactionContext(await entitiesOf(connection));
          const result = await work(em);
          await em.flush();
          return result;
        }),
      ),
    together: (work) => together(pool, work),
    afterCommit: async (effect) => effect(),
    close: () => orm.close(true),
  };
}

async function together<Result>(pool: pg.Pool, work: (sql: Sql) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    return await work(sqlOf(transactionConnection(client, 'no transaction'), []));
  } catch (error) {
    // As the pool does it after a failed statement.
    broken = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    client.release(broken);
  }
}

async function transactionOnce<Result>(
  pool: pg.Pool,
  work: (connection: TransactionConnection) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  const connection = transactionConnection(client);
  let broken: Error | undefined;
  try {
    const result = await work(connection);
    await connection.commit();
    return result;
  } catch (error) {
    // A connection whose rollback fails is not given back to the pool.
    await connection.rollback().catch((rollbackError: Error) => {
      broken = rollbackError;
    });
    // A session stays read-only after the server is writable again; a new one is not.
    if (error instanceof Error && infrastructureFault(error) === 'read_only') broken ??= error;
    throw error;
  } finally {
    client.release(broken);
  }
}

interface SteadyPlans extends Sql {
  /** Calls after the first have no effect. */
  close(): Promise<void>;
}

const STEADY_PLANS = {
  plan_cache_mode: 'force_generic_plan',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_seqscan: 'off',
};

/**
 * Connections for statements that are repeated hundreds of times a second on partitioned tables.
 *
 * PostgreSQL would plan such a statement anew each time, because a plan for its values leaves out most partitions: that
 * takes several times as long as running it. Here it plans each once per connection, and leaves partitions out when it
 * runs. Joins are by indexes only, so that a plan made without the values is right for any number of rows.
 *
 * @param connections at most; they are opened when they are needed
 */
export function openSteadyPlans(url: string, connections: number): SteadyPlans {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    idleTimeoutMillis: 0, // a new connection would plan everything again
    application_name: 'agent-mailbox deliveries',
    onConnect: onConnect(STEADY_PLANS),
  });
  pool.on('error', () => {}); // a lost connection shows in the statement that needs it
  let closed: Promise<void> | undefined;
  return {
    ...sqlOfPool(pool),
    close() {
      closed ??= pool.end();
      return closed;
    },
  };
}
