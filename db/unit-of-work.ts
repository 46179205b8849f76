/**
 * One transaction for a whole request, whatever the number of transactions in its use cases.
 *
 *   reads ──▶ first transaction begins it ──▶ further ones are savepoints in it ──▶ commit ──▶ what waits for the commit
 *                                                 └─one fails: its part is rolled back       └─rollback: nothing was done
 *
 * It begins as late as possible, so that no connection is held while a use case asks the DNS or hashes a password. From
 * then on every statement through `db` uses its connection and sees its changes; before, and after its end, the pool's.
 * Statements outside of transactions that come before the first one commit on their own. Work that outlives the unit,
 * such as what waited for its commit, has the ordinary database again: nobody would end a transaction of the unit for it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { ControlledTransaction } from 'kysely';
import { copyRowsOf } from './copy-rows.ts';
import { type Database, type Sql, sqlOf } from './database.ts';
import { entitiesOf } from './entities-of-connection.ts';
import { retryConflicts } from './infrastructure-error.ts';
import { type TransactionConnection, transactionConnection } from './transaction-connection.ts';

export interface UnitOfWork {
  /** The database as the use cases of the request are to see it. */
  readonly db: Database;
  /**
   * Writes the last row, commits, and runs the effects that waited for the commit.
   *
   * @param last begins the transaction where nothing did; without it there is nothing to commit then
   */
  commit(last?: (sql: Sql) => Promise<void>): Promise<void>;
  rollback(): Promise<void>;
}

interface Open {
  readonly connection: TransactionConnection;
  readonly sql: Sql;
  readonly entities: ControlledTransaction<unknown>;
}

/** @param onBegin first statements of the transaction; an error of theirs ends it */
export function openUnitOfWork(db: Database, onBegin: (sql: Sql) => Promise<void>): UnitOfWork {
  let open: Open | undefined;
  let ended = false;
  /** Why the transaction cannot be committed: the first statement outside of parts that failed. */
  let failure: unknown;
  /** Whether the current code runs inside a part. */
  const insidePart = new AsyncLocalStorage<true>();
  const effects: (() => void | Promise<void>)[] = [];
  let last: Promise<unknown> = Promise.resolve();

  /** Parts of a unit share a connection, so they run one after the other. */
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  }

  async function end(statement: 'commit' | 'rollback'): Promise<void> {
    if (open === undefined) return;
    const { connection } = open;
    open = undefined;
    let broken: Error | undefined;
    try {
      if (statement === 'rollback') await connection.rollback();
      // PostgreSQL answers ROLLBACK to the commit of a transaction in which a statement failed.
      else if (!(await connection.commit()))
        throw new Error('the transaction of the request was rolled back, because a statement of it failed', {
          cause: failure,
        });
    } catch (error) {
      broken = error instanceof Error ? error : new Error(String(error));
      throw error;
    } finally {
      connection.client.release(broken);
    }
  }

  /** A failed rollback adds no information: the connection is lost, and the transaction with it. */
  const abandon = (): Promise<void> => {
    effects.length = 0;
    return end('rollback').catch(() => {});
  };

  async function begun(): Promise<Open> {
    if (open !== undefined) return open;
    const connection = transactionConnection(await db.pool.connect());
    open = { connection, sql: sqlOf(connection, db.lanes), entities: await entitiesOf(connection) };
    try {
      await onBegin(open.sql);
      return open;
    } catch (error) {
      await abandon();
      throw error;
    }
  }

  async function part<Result>(work: (now: Open) => Promise<Result>): Promise<Result> {
    // It would wait for the part it is in, which waits for it.
    if (insidePart.getStore() === true) throw new Error('a transaction was asked for inside of a transaction');
    return inTurn(async () => {
      if (ended) throw new Error('a transaction was asked for after the end of its request');
      const now = await begun();
      const { connection } = now;
      return retryConflicts(async () => {
        connection.runWithNext('savepoint part');
        try {
          const result = await insidePart.run(true, () => work(now));
          connection.runWithNext('release savepoint part');
          // The work may have passed over an error, after which nothing can be committed: the part fails with it.
          if (connection.hasFailed()) await connection.flush();
          return result;
        } catch (error) {
          // If this fails too, the connection is lost, and the unit cannot be committed any more.
          await connection.rollbackTo('part').catch(() => {});
          throw error;
        }
      });
    });
  }

  const query: Sql['query'] = (text, values) =>
    open === undefined
      ? db.query(text, values)
      : open.sql.query<never>(text, values).catch((error: unknown) => {
          failure ??= error;
          throw error;
        });

  const bound = (): EntityManager => {
    const em = db.em();
    if (open !== undefined) em.setTransactionContext(open.entities);
    return em;
  };

  return {
    db: {
      orm: db.orm,
      objects: db.objects,
      pool: db.pool,
      lanes: db.lanes,
      query,
      async copyRows(text, values, onRow) {
        if (open === undefined) return db.copyRows(text, values, onRow);
        const { connection } = open;
        await connection.flush();
        return copyRowsOf(connection.client, text, values, onRow);
      },
      together: (work) => (open === undefined ? db.together(work) : work({ query })),
      transaction: (work) => (ended ? db.transaction(work) : part(({ sql }) => work(sql))),
      entityTransaction: (work) =>
        ended
          ? db.entityTransaction(work)
          : part(async () => {
              const em = bound();
              const result = await work(em);
              await em.flush();
              return result;
            }),
      async afterCommit(effect) {
        if (ended) await db.afterCommit(effect);
        else effects.push(effect);
      },
      em: bound,
      close: () => db.close(),
    },
    async commit(write) {
      await inTurn(async () => {
        try {
          if (write !== undefined) await write((await begun()).sql);
          await end('commit');
        } catch (error) {
          await abandon();
          throw error;
        } finally {
          ended = true;
        }
      });
      // Each reports its own failure; the change is committed in any case.
      await Promise.allSettled(effects.splice(0).map(async (effect) => effect()));
    },
    rollback: () =>
      inTurn(async () => {
        ended = true;
        await abandon();
      }),
  };
}
