/**
 * The rows of a list that does not move while it is shown. Rows change in place; new ones wait until the person asks for
 * them; those that left the list keep their place. Pure.
 */

/** What a list shows, and what it does not show yet. */
export interface SteadyOrder<Row> {
  readonly rows: readonly Row[];
  /** Keys of shown rows that have left the list. */
  readonly gone: ReadonlySet<string>;
  /** Rows that are not shown yet. */
  readonly news: number;
  /** Rows have other places by now than those shown. */
  readonly reordered: boolean;
  /** How often rows that were shown have moved. */
  readonly moves: number;
  /** Loaded pages of the list. */
  readonly pages: number;
}

/** The list as it is now. */
export interface LoadedRows<Row> {
  readonly rows: readonly Row[];
  readonly pages: number;
  /** There are further pages: a row that is missing at the end may be on one of them. */
  readonly hasMore: boolean;
}

/** Shows the list as it is now. */
export const settledOrder = <Row>({ rows, pages }: LoadedRows<Row>, before?: SteadyOrder<Row>): SteadyOrder<Row> => ({
  rows,
  gone: new Set(),
  news: 0,
  reordered: false,
  moves: before === undefined ? 0 : before.moves + (before.rows.length === 0 ? 0 : 1),
  pages,
});

/** Keeps what is shown at its place, and notes what is different by now. Rows of a further page are added at the end. */
export function steadyOrder<Row>(
  shown: SteadyOrder<Row>,
  now: LoadedRows<Row>,
  keyOf: (row: Row) => string,
): SteadyOrder<Row> {
  const present = new Map(now.rows.map((row) => [keyOf(row), row]));
  const keys = shown.rows.map(keyOf);
  const lastPresent = keys.findLastIndex((key) => present.has(key));
  const isKnown = new Set(keys);
  const unseen = now.rows.filter((row) => !isKnown.has(keyOf(row)));
  const end = now.rows.findLastIndex((row) => isKnown.has(keyOf(row)));
  const added = now.pages > shown.pages ? now.rows.slice(end + 1) : [];
  const survivors = keys.filter((key) => present.has(key));
  const inNewOrder = now.rows.map(keyOf).filter((key) => isKnown.has(key));
  return {
    rows: [...shown.rows.map((row) => present.get(keyOf(row)) ?? row), ...added],
    gone: new Set(keys.filter((key, at) => !present.has(key) && !(now.hasMore && at > lastPresent))),
    news: unseen.length - added.length,
    reordered: survivors.some((key, at) => key !== inNewOrder[at]),
    moves: shown.moves,
    pages: now.pages,
  };
}
