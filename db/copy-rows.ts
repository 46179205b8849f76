/**
 * Rows in binary form, by `COPY (…) TO STDOUT (FORMAT binary)`. The driver reads results as text, hence bytea as
 * hexadecimal: twice the bytes, then decoded. Reading messages by COPY costs a quarter of the CPU.
 *
 * COPY takes no parameters and is planned each time, so it is worthwhile only for rows of many KB.
 */
import pg from 'pg';

export type CopyValue = string | number | Uint8Array | readonly string[];

/** Called for each row; the fields (null: SQL null) are views that are valid only until it returns. */
export type OnCopiedRow = (fields: readonly (Buffer | null)[]) => void;

/** Signature, flags, length of the extension (PostgreSQL, "COPY", binary format). */
const HEADER_BYTES = 19;
const EXTENSION_LENGTH_AT = 15;
const TRAILER = -1;

/** A statement of the driver: it calls the methods as messages arrive. */
class CopyOut implements pg.Submittable {
  readonly #text: string;
  readonly #onRow: OnCopiedRow;
  readonly #done: (error?: Error) => void;
  #headerRead = false;
  #failed: Error | undefined;

  constructor(text: string, onRow: OnCopiedRow, done: (error?: Error) => void) {
    this.#text = text;
    this.#onRow = onRow;
    this.#done = done;
  }

  submit(connection: pg.Connection): void {
    connection.query(this.#text);
  }

  handleCopyOutResponse(): void {}

  /** The server sends one row in each message, the header before the first. */
  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    if (this.#failed !== undefined) return;
    try {
      let at = 0;
      if (!this.#headerRead) {
        this.#headerRead = true;
        at = HEADER_BYTES + chunk.readInt32BE(EXTENSION_LENGTH_AT);
      }
      while (at < chunk.length) {
        const count = chunk.readInt16BE(at);
        at += 2;
        if (count === TRAILER) return;
        const fields: (Buffer | null)[] = [];
        for (let i = 0; i < count; i++) {
          const length = chunk.readInt32BE(at);
          at += 4;
          fields.push(length < 0 ? null : chunk.subarray(at, at + length));
          at += Math.max(0, length);
        }
        this.#onRow(fields);
      }
    } catch (error) {
      // The rest of the answer must still be read before the connection is used again.
      this.#failed = error instanceof Error ? error : new Error(String(error));
    }
  }

  handleCommandComplete(): void {}

  handleError(error: Error): void {
    this.#done(error);
  }

  handleReadyForQuery(): void {
    this.#done(this.#failed);
  }
}

/**
 * @param text a query with `$1`-style parameters; constant, never made of input
 * @param values strings, integers, bytes, and lists of strings (text[])
 */
export async function copyRows(
  pool: pg.Pool,
  text: string,
  values: readonly CopyValue[],
  onRow: OnCopiedRow,
): Promise<void> {
  const client = await pool.connect();
  let failed: Error | undefined;
  try {
    await copyRowsOf(client, text, values, onRow);
  } catch (error) {
    failed = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    client.release(failed);
  }
}

/** The same on a connection that is in use already, e.g. inside its transaction. */
export function copyRowsOf(
  client: pg.ClientBase,
  text: string,
  values: readonly CopyValue[],
  onRow: OnCopiedRow,
): Promise<void> {
  const query = text.replace(/\$(\d+)/g, (_, number: string) => literal(values[Number(number) - 1]));
  return new Promise<void>((resolve, reject) => {
    const done = (error?: Error) => (error === undefined ? resolve() : reject(error));
    client.query(new CopyOut(`copy (${query}) to stdout (format binary)`, onRow, done));
  });
}

function literal(value: CopyValue | undefined): string {
  if (typeof value === 'string') return `${pg.escapeLiteral(value)}::text`;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  if (value instanceof Uint8Array) return `'\\x${Buffer.from(value).toString('hex')}'::bytea`;
  if (Array.isArray(value)) return `array[${value.map((each) => pg.escapeLiteral(each)).join(',')}]::text[]`;
  throw new TypeError('a parameter of COPY is missing or of no type it takes');
}
