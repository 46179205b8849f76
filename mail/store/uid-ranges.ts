/** Lists of UIDs on their way to and from PostgreSQL, compact: a folder may hold a hundred thousand. */

/** `bigint[]` of UIDs; the driver's own way quotes each of them. */
export const uidArray = (uids: readonly number[] | Uint32Array): string => `{${uids.join(',')}}`;

/** `int8multirange` of ascending UIDs. */
export function multirangeOf(uids: ArrayLike<number>): string {
  const ranges: string[] = [];
  for (let i = 0; i < uids.length; ) {
    const first = uids[i] ?? 0;
    let last = first;
    for (i++; i < uids.length && uids[i] === last + 1; i++) last++;
    ranges.push(`[${first},${last}]`);
  }
  return `{${ranges.join(',')}}`;
}

const COMMA = 0x2c;
const ZERO = 0x30;

/** Fills `into` with numbers that stand in a text, parted by commas; null is an empty list. */
export function parseNumbers<List extends Uint32Array | Float64Array>(text: string | null, into: List): List {
  if (text === null) return into;
  let value = 0;
  let at = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === COMMA) {
      into[at++] = value;
      value = 0;
    } else value = value * 10 + code - ZERO;
  }
  into[at] = value;
  return into;
}

export const numbersOf = (text: string | null): number[] =>
  text === null || text === '' ? [] : text.split(',').map(Number);
