import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { type LoadedRows, type SteadyOrder, settledOrder, steadyOrder } from './steady-order.ts';

/** `meta` of a mutation that the person did not ask for. */
export const AUTOMATIC = { automatic: true };

/** The list follows what the person did within this time. */
const OWN_CHANGE_MS = 3_000;
/** A list that is shown from memory follows its first answer within this time. */
const SETTLING_MS = 1_000;
/** So long after rows have moved, a click is not taken: it was meant for the row that was there before. */
const ROWS_GUARD_MS = 600;

export interface SteadyRows<Row> extends SteadyOrder<Row> {
  /** Rows have just moved: they take no clicks. */
  readonly restless: boolean;
  /** How often the person asked for what is new. */
  readonly asked: number;
  /** Shows the list as it is now. */
  readonly show: () => void;
}

interface SteadyRowsInput<Row> extends LoadedRows<Row> {
  /** The answer with the rows: another one means that they may have changed. */
  readonly answer: unknown;
  readonly keyOf: (row: Row) => string;
  /** Which list it is: another one begins anew. Left out: the component has a `key` for it. */
  readonly of?: string;
}

/**
 * Keeps the rows of a live list at their places until the person asks for what is new, acts on the list, or looks
 * elsewhere.
 */
export function useSteadyRows<Row>(input: SteadyRowsInput<Row>): SteadyRows<Row> {
  const queries = useQueryClient();
  const { answer, of } = input;
  const [state, setState] = useState(() => ({
    of,
    answer,
    order: settledOrder(input),
    since: Date.now() - OWN_CHANGE_MS,
  }));
  // Rows that were known before the list was shown may be old.
  const [settlesUntil] = useState(() => (isOld(queries, answer) ? Date.now() + SETTLING_MS : 0));
  const [asked, setAsked] = useState(0);
  let { order, since } = state;
  if (state.of !== of) {
    order = settledOrder(input);
    since = Date.now();
    setState({ of, answer, order, since });
  } else if (state.answer !== answer) {
    const mayMove = order.rows.length === 0 || document.hidden || Date.now() < settlesUntil || isActing(queries, since);
    const steady = steadyOrder(order, input, input.keyOf);
    const moves = mayMove && !isSame(steady);
    order = moves ? settledOrder(input, order) : steady;
    // An action explains one change of the list; those after it are of somebody else.
    if (moves) since = Date.now();
    setState({ of, answer, order, since });
  }
  const restless = useRestless(order.moves);
  const show = () => {
    setState({ of, answer, order: settledOrder(input, order), since });
    setAsked(asked + 1);
  };
  return { ...order, restless, asked, show };
}

const isSame = ({ gone, news, reordered }: SteadyOrder<unknown>): boolean => gone.size + news === 0 && !reordered;

/** Whether an answer was known for some time before it is shown. */
function isOld(queries: QueryClient, answer: unknown): boolean {
  const query = queries
    .getQueryCache()
    .getAll()
    .find(({ state }) => state.data === answer && answer !== undefined);
  return query !== undefined && Date.now() - query.state.dataUpdatedAt > SETTLING_MS;
}

/** Whether a change that the person made since then is on its way, or has just arrived. */
const isActing = (queries: QueryClient, since: number): boolean =>
  queries
    .getMutationCache()
    .getAll()
    .some(
      ({ meta, state: { status, submittedAt } }) =>
        meta?.['automatic'] !== true &&
        submittedAt >= since &&
        (status === 'pending' || Date.now() - submittedAt < OWN_CHANGE_MS),
    );

function useRestless(moves: number): boolean {
  const [restless, setRestless] = useState(false);
  const seen = useRef(moves);
  useLayoutEffect(() => {
    if (seen.current === moves) return;
    seen.current = moves;
    setRestless(true);
  }, [moves]);
  useEffect(() => {
    if (!restless) return undefined;
    const timer = setTimeout(() => setRestless(false), ROWS_GUARD_MS);
    return () => clearTimeout(timer);
  }, [restless, moves]);
  return restless;
}

/** The part of an infinite query that a list needs. */
export interface PagedQuery<Row> extends MoreQuery {
  readonly data: { readonly pages: readonly { readonly data: readonly Row[] }[] } | undefined;
  readonly error: unknown;
  readonly isPending: boolean;
  refetch(): unknown;
}

/** The part of an infinite query by which its next page is read. */
export interface MoreQuery {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly isFetchNextPageError: boolean;
  fetchNextPage(): unknown;
}

/** Reads the next page, if there is one and it is neither being read nor has just failed. */
export function fetchMore(query: MoreQuery): void {
  if (query.hasNextPage && !query.isFetchingNextPage && !query.isFetchNextPageError) query.fetchNextPage();
}

export const rowsOf = <Row>(query: Pick<PagedQuery<Row>, 'data'>): readonly Row[] =>
  query.data?.pages.flatMap(({ data }) => data) ?? [];

/** The rows of a paged query, kept at their places. @param of which list it is, see {@link SteadyRowsInput} */
export const usePagedRows = <Row extends { readonly id: string }>(
  query: PagedQuery<Row>,
  of?: string,
): SteadyRows<Row> =>
  useSteadyRows<Row>({
    answer: query.data,
    rows: rowsOf(query),
    pages: query.data?.pages.length ?? 0,
    hasMore: query.hasNextPage,
    keyOf: ({ id }) => id,
    ...(of === undefined ? {} : { of }),
  });
