/**
 * The statements of a transaction, in as few round trips as their results allow.
 *
 *   begin, savepoint … ─▶ wait for the next statement ─┐
 *   query(a), query(b) without an await between them ──┴▶ one message ─▶ results
 *
 * Statements that do not depend on each other's results are sent together if none of them is awaited before the others:
 * `Promise.all([recordAudit(sql, …), recordEvents(sql, …)])`. They are executed in the order in which they were given.
 */
import type pg from 'pg';
import { type BatchedStatement, sendTogether } from './statement-batch.ts';

/** How a transaction, or the part of it after a savepoint, ended. `unknown`: the answer to its commit was lost. */
export type TransactionEnd = 'committed' | 'rolled back' | 'unknown';

export interface TransactionConnection {
  readonly client: pg.PoolClient;
  /** False: each message commits on its own, and there is no end. */
  readonly isTransaction: boolean;
  /** Adds a statement to the next message. After an error the rest of its message is skipped, and fails with it. */
  run(statement: BatchedStatement): Promise<pg.QueryResult>;
  /** A statement without a result, sent together with the next one, or never. */
  runWithNext(text: string): void;
  /** Sends what waits. For statements that do not pass through here: send them after it has resolved. */
  flush(): Promise<void>;
  /** Calls it once, when what is sent from now on has been committed or rolled back. It must not throw. */
  onEnd(listener: (end: TransactionEnd) => void): void;
  /** Whether a statement has failed: PostgreSQL then refuses all others up to a rollback. */
  hasFailed(): boolean;
  /** Commits what was sent. Nothing was sent: there is nothing to commit. @returns whether PostgreSQL committed it */
  commit(): Promise<boolean>;
  rollback(): Promise<void>;
  /** Undoes a savepoint and what came after it. */
  rollbackTo(savepoint: string): Promise<void>;
}

const SAVEPOINT = 'savepoint ';

interface Waiting {
  readonly statement: BatchedStatement;
  readonly resolve: (result: Promise<pg.QueryResult>) => void;
}

/**
 * A connection on which a transaction begins with the first statement.
 *
 * @param kind without a transaction, each message commits on its own
 */
export function transactionConnection(
  client: pg.PoolClient,
  kind: 'transaction' | 'no transaction' = 'transaction',
): TransactionConnection {
  let first = kind === 'transaction' ? ['begin'] : [];
  let waiting: Waiting[] = [];
  let hasBegun = false;
  let failed = false;
  let listeners: ((end: TransactionEnd) => void)[] = [];
  /** By savepoint, how many listeners there were before it. */
  const before = new Map<string, number>();

  function ended(end: TransactionEnd, from = 0): void {
    const ending = listeners.slice(from);
    listeners = listeners.slice(0, from);
    for (const listener of ending) listener(end);
  }

  function send(): void {
    if (waiting.length === 0) return;
    const [now, texts] = [waiting, first];
    waiting = [];
    first = [];
    hasBegun = true;
    const [only] = now;
    if (texts.length === 0 && now.length === 1 && only !== undefined) {
      const { values = [], ...statement } = only.statement;
      only.resolve(client.query({ ...statement, values: [...values] }));
      return;
    }
    const named = texts.map((text) => ({ name: text, text }));
    const results = sendTogether(client, [...named, ...now.map(({ statement }) => statement)]);
    for (const [i, result] of results.entries()) {
      const asked = now[i - texts.length];
      if (asked !== undefined) asked.resolve(result);
      // The statement that it was sent with fails with the same error.
      else result.catch(() => {});
    }
  }

  const run = (statement: BatchedStatement): Promise<pg.QueryResult> => {
    const result = new Promise<pg.QueryResult>((resolve) => {
      if (waiting.length === 0) queueMicrotask(send);
      waiting.push({ statement, resolve });
    });
    return result.catch((error: unknown) => {
      failed = true;
      // The driver's trace ends at its socket; this one leads to the caller.
      if (error instanceof Error) Error.captureStackTrace(error);
      throw error;
    });
  };

  return {
    client,
    isTransaction: kind === 'transaction',
    run,
    runWithNext(text) {
      // What was given before goes before it.
      if (waiting.length > 0) send();
      first.push(text);
      if (text.startsWith(SAVEPOINT)) before.set(text.slice(SAVEPOINT.length), listeners.length);
    },
    onEnd: (listener) => void listeners.push(listener),
    hasFailed: () => failed,
    async flush() {
      if (first.length > 0 || waiting.length > 0) await run({ name: 'nothing', text: 'select' });
    },
    async commit() {
      send();
      if (!hasBegun) return true;
      let end: TransactionEnd = 'unknown';
      try {
        const { command } = await client.query('commit');
        end = command === 'COMMIT' ? 'committed' : 'rolled back';
        return command === 'COMMIT';
      } finally {
        ended(end);
      }
    },
    async rollback() {
      send();
      // If it fails, the connection is lost, and PostgreSQL rolls back.
      ended('rolled back');
      if (hasBegun) await client.query('rollback');
    },
    async rollbackTo(savepoint) {
      send();
      ended('rolled back', before.get(savepoint));
      const text = `${SAVEPOINT}${savepoint}`;
      if (first.includes(text)) first = first.filter((each) => each !== text);
      else await client.query(`rollback to savepoint ${savepoint}`);
      failed = false;
    },
  };
}
