/** Compact lists of UIDs for PostgreSQL: a folder may have a hundred thousand. */

/** `bigint[]` of UIDs; the driver itself would quote each of them. */
export const uidArray = (uids: readonly number[] | Uint32Array): string => `{${uids.join(',')}}`;

/** A statement over many UIDs of a folder, in two forms, with `$3` and `$4` for the UIDs. */
export interface UidStatement {
  readonly between: string;
  readonly named: string;
}

/** @param make the statement with the condition given, on `p.uid` */
export const uidStatement = (make: (condition: string) => string): UidStatement => ({
  between: make('p.uid between $3::bigint and $4::bigint'),
  named: make('p.uid = any($3::bigint[]) and p.uid <= $4::bigint'),
});

/**
 * UIDs are named only where they are few among those between the first and the last: all of a folder cost less to read
 * than to name.
 *
 * @param uids ascending, at least one
 * @returns also whether the answer may have other UIDs, which the caller leaves out
 */
export function uidParameters(uids: Uint32Array): {
  form: keyof UidStatement;
  values: [string | number, number];
  others: boolean;
} {
  const [first = 0] = uids;
  const last = uids.at(-1) ?? 0;
  if (last - first >= uids.length * 2) return { form: 'named', values: [uidArray(uids), last], others: false };
  return { form: 'between', values: [first, last], others: last - first >= uids.length };
}

/** Ascending numbers that are in both ascending lists. */
export function inBoth(found: ArrayLike<number>, asked: Uint32Array): Uint32Array {
  const both: number[] = [];
  let at = 0;
  for (let i = 0; i < found.length; i++) {
    const uid = found[i] ?? 0;
    while (at < asked.length && (asked[at] ?? 0) < uid) at++;
    if (asked[at] === uid) both.push(uid);
  }
  return Uint32Array.from(both);
}

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

/** Fills `into` with the numbers of a comma-separated text; null is an empty list. */
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
