/** Shapes of queries and changes, and the queries that several pages ask. */
import {
  infiniteQueryOptions,
  type QueryClient,
  type QueryKey,
  queryOptions,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query';
import { bodyOf, service } from './client.ts';

/** Times in milliseconds: how long an answer counts as new, and how long it is kept unseen. */
interface Asking {
  readonly staleTime?: number;
  readonly gcTime?: number;
  readonly retry?: boolean;
  readonly enabled?: boolean;
  readonly refetchOnWindowFocus?: boolean;
}

/** A question that the service answers as a whole. */
export const singleQuery = <Data, const Key extends QueryKey>(
  queryKey: Key,
  queryFn: () => Promise<Data>,
  more: Asking = {},
) => queryOptions({ queryKey, queryFn, ...more });

/** Where a page of a list begins. */
type From = { cursor?: string };

/** A list that the service pages. @param read reads the page that begins there; nothing: the first one */
export const pagedQuery = <Page extends { readonly nextCursor: string | null }, Key extends QueryKey>(
  queryKey: Key,
  read: (from: From) => Promise<Page>,
) =>
  infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam }) => read(pageParam === null ? {} : { cursor: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  });

const askAgain = (queries: QueryClient, about: readonly QueryKey[]) =>
  Promise.all(about.map((queryKey) => queries.invalidateQueries({ queryKey })));

/** A change, after which the queries about these things are repeated. */
export function useChange<Input, Result>(change: (input: Input) => Promise<Result>, ...about: readonly QueryKey[]) {
  const queries = useQueryClient();
  return useMutation({ mutationFn: change, onSuccess: () => askAgain(queries, about) });
}

/** A change, after which the queries are repeated also if it was refused: what it is about may be different by now. */
export function useAttempt<Input, Result>(change: (input: Input) => Promise<Result>, ...about: readonly QueryKey[]) {
  const queries = useQueryClient();
  return useMutation({ mutationFn: change, onSettled: () => askAgain(queries, about) });
}

/** A deletion, after which the thing itself is not asked for again. */
export function useDeletion(remove: () => Promise<void>, one: QueryKey, list: QueryKey) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: remove,
    onSuccess: () => {
      queries.removeQueries({ queryKey: one });
      return queries.invalidateQueries({ queryKey: list });
    },
  });
}

/** How many messages wait for a decision, in all and in groups: the same answer as the approvals page without a filter. */
export const waitingQuery = queryOptions({
  queryKey: ['consents', 'count', {}],
  queryFn: () => bodyOf(service.GET('/api/consents/summary', { params: { query: {} } })),
});

export const organizationQuery = singleQuery(['organization'], () => bodyOf(service.GET('/api/organization')));

export const mailboxQuery = (id: string) =>
  singleQuery(['mailboxes', 'one', id], () => bodyOf(service.GET('/api/mailboxes/{id}', { params: { path: { id } } })));

/** For the address of a mailbox, which seldom changes. */
export const mailboxNameQuery = (id: string) => ({ ...mailboxQuery(id), staleTime: 60_000 });

/** Mailboxes to choose one from. */
export const mailboxChoicesQuery = singleQuery(['mailboxes', 'choices'], () =>
  bodyOf(service.GET('/api/mailboxes', { params: { query: { limit: 200 } } })),
);

/** Where mail programs and the API reach a mailbox. */
export const connectionQuery = (id: string) =>
  singleQuery(
    ['mailboxes', 'connection', id],
    () => bodyOf(service.GET('/api/mailboxes/{id}/connection', { params: { path: { id } } })),
    { staleTime: Number.POSITIVE_INFINITY },
  );
