import { queryOptions } from '@tanstack/react-query';
import { bodyOf, service } from '../api/client.ts';

const FOUND_MAX = 6;

/** Mailboxes for the palette. @param q part of an address or a name */
export const foundMailboxesQuery = (q: string) =>
  queryOptions({
    queryKey: ['mailboxes', 'found', q],
    queryFn: async () => {
      const { data } = await bodyOf(service.GET('/api/mailboxes', { params: { query: { limit: FOUND_MAX, q } } }));
      return data.map(({ id, address, name }) => ({ id, address, name }));
    },
    enabled: q !== '',
    staleTime: 30_000,
    placeholderData: (before) => before,
  });
