/**
 * Rows of `COPY … TO STDOUT (FORMAT binary)` out of a stream, as slowly as they are taken: a signature, then for each row
 * the number of fields and each field with its length (PostgreSQL, "COPY", binary format).
 */

/** Signature, flags, length of the extension. */
const HEADER_BYTES = 19;
const EXTENSION_LENGTH_AT = 15;
const TRAILER = -1;

/** @returns fields of each row; null: SQL null */
export async function* binaryRows(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly (Buffer | null)[]> {
  const source = chunks[Symbol.asyncIterator]();
  let waiting: Buffer[] = [];
  let available = 0;

  async function take(bytes: number): Promise<Buffer> {
    while (available < bytes) {
      const { done, value } = await source.next();
      if (done === true) throw new Error('the rows of a COPY ended too early');
      waiting.push(value);
      available += value.length;
    }
    const [first] = waiting;
    const whole = first !== undefined && first.length >= bytes ? first : Buffer.concat(waiting, available);
    if (whole !== first) waiting = [whole];
    const taken = whole.subarray(0, bytes);
    waiting[0] = whole.subarray(bytes);
    available -= bytes;
    return taken;
  }

  try {
    const header = await take(HEADER_BYTES);
    await take(header.readInt32BE(EXTENSION_LENGTH_AT));
    for (;;) {
      const count = (await take(2)).readInt16BE();
      if (count === TRAILER) break;
      const fields: (Buffer | null)[] = [];
      for (let i = 0; i < count; i++) {
        const length = (await take(4)).readInt32BE();
        fields.push(length < 0 ? null : await take(length));
      }
      yield fields;
    }
    // The end of the statement.
    while ((await source.next()).done !== true);
  } finally {
    await source.return?.();
  }
}
