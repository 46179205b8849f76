import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { bodyOf, service } from '../../../api/client.ts';

/** The brake of the organization, and what it holds up. */
export const sendingQuery = queryOptions({
  queryKey: ['organization', 'sending'],
  queryFn: () => bodyOf(service.GET('/api/organization/sending')),
  staleTime: 15_000,
});

/** Stops all sending, or lets it go on. */
export function useStopSending() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (sendingStopped: boolean) =>
      bodyOf(service.PATCH('/api/organization', { body: { settings: { sendingStopped } } })),
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: ['organization'] }),
        queries.invalidateQueries({ queryKey: ['mailboxes'] }),
      ]),
  });
}
