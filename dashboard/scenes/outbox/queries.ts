import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { bodyOf, type Schemas, service } from '../../api/client.ts';

export type OutboxMessage = Schemas['OutboxMessage'];

const PAGE_LENGTH = 50;

export const addressQuery = (id: string) =>
  queryOptions({
    queryKey: ['mailboxes', 'one', id],
    queryFn: () => bodyOf(service.GET('/api/mailboxes/{id}', { params: { path: { id } } })),
  });

/** What waits to leave a mailbox, and what was decided or failed within a day; newest first. */
export const outboxQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['outbox', id],
    queryFn: ({ pageParam }) =>
      bodyOf(
        service.GET('/api/mailboxes/{id}/messages/outbox', {
          params: { path: { id }, query: { limit: PAGE_LENGTH, ...(pageParam === null ? {} : { cursor: pageParam }) } },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  });

/** Takes a message back. What was on its way by then is a conflict. */
export function useWithdraw(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (mid: string) =>
      bodyOf(service.DELETE('/api/mailboxes/{id}/outbox/{mid}', { params: { path: { id, mid } } })),
    // Also after a refusal: what it is now says why.
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: ['outbox', id] }),
        queries.invalidateQueries({ queryKey: ['mailboxes', 'one', id] }),
        queries.invalidateQueries({ queryKey: ['consents'] }),
      ]),
  });
}
