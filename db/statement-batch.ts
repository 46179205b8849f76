/**
 * Statements that are sent in one message and answered in one: a round trip for all of them instead of one for each.
 *
 *   Parse Bind Describe Execute · Parse Bind Describe Execute · … · Sync ──▶ results … ReadyForQuery
 *
 * PostgreSQL executes them one after the other, each with its own snapshot. After an error it skips the rest up to Sync
 * (PostgreSQL, "Message Flow", "Pipelining"), so a statement never runs after one before it failed: not even outside of
 * the transaction that the first of them was to begin. All of them then fail with the same error.
 *
 * It saves round trips (`test/api/round-trips.test.ts` counts them), and with them CPU and time: of `POST /api/mailboxes` a
 * tenth of the CPU of service and PostgreSQL, and a quarter of the time of its answer (`bench/history/requests.md`). What
 * happens at failures, cancels, timeouts, lost connections and values that cannot be sent:
 * `test/db/statements-together.test.ts`.
 */
import type { Writable } from 'node:stream';
import pg from 'pg';

export interface BatchedStatement {
  /** Prepared under this name once for each connection; without it, parsed each time. */
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly types?: pg.CustomTypesConfig;
}

/** What the driver's queries use of a connection. */
interface Wire {
  readonly stream: Pick<Writable, 'writable' | 'write' | 'cork' | 'uncork'>;
  readonly submittedNamedStatements: Record<string, string>;
  sync(): void;
}

/** The driver's query: it writes its own messages, and reads its own results. */
interface DriverQuery {
  readonly name: string | undefined;
  readonly text: string;
  submit(connection: Wire): Error | null;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Wire): void;
  handleReadyForQuery(connection: Wire): void;
  handleError(error: Error, connection: Wire): void;
}

/** `queryMode` is missing in the driver's types: without it, a text without name and values would end the batch. */
const configOf = ({ name, text, values = [], types }: BatchedStatement, client: pg.ClientBase): pg.QueryConfig => {
  const config = { text, values: [...values], types: types ?? client, queryMode: 'extended' };
  return name === undefined ? config : { ...config, name };
};

class StatementBatch implements pg.Submittable {
  readonly #queries: readonly DriverQuery[];
  /** The one whose results arrive. */
  #current = 0;

  constructor(queries: readonly DriverQuery[]) {
    this.#queries = queries;
  }

  /** The client notes under name and text that a statement is prepared, and looks here when PostgreSQL says so. */
  get name(): string | undefined {
    return this.#queries[this.#current]?.name;
  }

  get text(): string | undefined {
    return this.#queries[this.#current]?.text;
  }

  submit(given: pg.Connection): Error | null {
    // The driver's types leave out what its own queries use.
    const connection = given as unknown as Wire;
    const messages: Uint8Array[] = [];
    // Written when all are complete: a value that cannot be sent must not leave half a batch behind.
    const recorder: Wire = Object.create(connection, {
      stream: { value: { writable: true, write: (message: Uint8Array) => messages.push(message) } },
      sync: { value: () => {} },
    });
    let failed: Error | null = null;
    for (const query of this.#queries) {
      query.handleError = (error) => {
        failed ??= error;
      };
      // Evaluated before `failed` is read: an error may have been reported meanwhile.
      const refused = query.submit(recorder);
      failed ??= refused;
      Reflect.deleteProperty(query, 'handleError');
      if (failed !== null) {
        this.#forgetUnprepared(connection);
        return failed;
      }
    }
    const { stream } = connection;
    // As the driver does it: a closed connection reports its end to the query anyway.
    if (!stream.writable) return null;
    stream.cork();
    for (const message of messages) stream.write(message);
    connection.sync();
    stream.uncork();
    return null;
  }

  handleRowDescription(message: unknown): void {
    this.#queries[this.#current]?.handleRowDescription(message);
  }

  handleDataRow(message: unknown): void {
    this.#queries[this.#current]?.handleDataRow(message);
  }

  handleCommandComplete(message: unknown, connection: Wire): void {
    this.#queries[this.#current]?.handleCommandComplete(message, connection);
    this.#current++;
  }

  handleReadyForQuery(connection: Wire): void {
    for (const query of this.#queries) query.handleReadyForQuery(connection);
  }

  handleError(error: Error, connection: Wire): void {
    this.#forgetUnprepared(connection);
    for (const query of this.#queries) query.handleError(error, connection);
  }

  /** Statements after a failed one were sent to be prepared, and skipped. */
  #forgetUnprepared({ submittedNamedStatements }: Wire): void {
    for (const { name } of this.#queries)
      if (name !== undefined) Reflect.deleteProperty(submittedNamedStatements, name);
  }
}

/** Sends statements together. @returns for each of them its result, in their order */
export function sendTogether(
  client: pg.ClientBase,
  statements: readonly BatchedStatement[],
): Promise<pg.QueryResult>[] {
  const queries: DriverQuery[] = [];
  const results = statements.map(
    (statement) =>
      new Promise<pg.QueryResult>((resolve, reject) => {
        const done = (error: Error | null | undefined, result: unknown) => {
          if (error instanceof Error) reject(error);
          else resolve(result as pg.QueryResult);
        };
        // As for `Wire`: its types name only the events of a query.
        queries.push(new pg.Query(configOf(statement, client), done) as unknown as DriverQuery);
      }),
  );
  client.query(new StatementBatch(queries));
  return results;
}
