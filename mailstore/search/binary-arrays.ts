/** Arrays of numbers in PostgreSQL's binary format, as COPY sends them: one dimension, no nulls. */

/** Dimensions, flags, type; size and first index of the dimension. An empty array ends after the first three. */
const HEAD_BYTES = 20;
const COUNT_AT = 12;
/** Before each element. */
const LENGTH_BYTES = 4;
/** PostgreSQL counts microseconds from the year 2000. */
const EPOCH_MS = Date.UTC(2000, 0, 1);

function elements<List extends Int16Array | Int32Array | Float64Array>(
  bytes: Buffer | null | undefined,
  size: number,
  make: (count: number) => List,
  read: (bytes: Buffer, at: number) => number,
): List {
  const count = bytes && bytes.length > HEAD_BYTES ? bytes.readInt32BE(COUNT_AT) : 0;
  const list = make(count);
  if (bytes)
    for (let i = 0, at = HEAD_BYTES + LENGTH_BYTES; i < count; i++, at += LENGTH_BYTES + size)
      list[i] = read(bytes, at);
  return list;
}

const int4 = (bytes: Buffer, at: number): number =>
  ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
/** Below 2^53. */
const int8 = (bytes: Buffer, at: number): number => int4(bytes, at) * 2 ** 32 + (int4(bytes, at + 4) >>> 0);

export const binaryInt2s = (bytes: Buffer | null | undefined): Int16Array =>
  elements(
    bytes,
    2,
    (count) => new Int16Array(count),
    (each, at) => each.readInt16BE(at),
  );

export const binaryInt4s = (bytes: Buffer | null | undefined): Int32Array =>
  elements(bytes, 4, (count) => new Int32Array(count), int4);

export const binaryInt8s = (bytes: Buffer | null | undefined): Float64Array =>
  elements(bytes, 8, (count) => new Float64Array(count), int8);

/** Milliseconds since 1970. */
export const binaryTimes = (bytes: Buffer | null | undefined): Float64Array =>
  elements(
    bytes,
    8,
    (count) => new Float64Array(count),
    (each, at) => Math.floor(int8(each, at) / 1_000) + EPOCH_MS,
  );
