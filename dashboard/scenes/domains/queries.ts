import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { bodyOf, type Schemas, service } from '../../api/client.ts';

export type Domain = Schemas['Domain'];

export const domainsQuery = infiniteQueryOptions({
  queryKey: ['domains', 'list'],
  queryFn: ({ pageParam }) =>
    bodyOf(service.GET('/api/domains', { params: { query: pageParam === null ? {} : { cursor: pageParam } } })),
  initialPageParam: null as string | null,
  getNextPageParam: (page) => page.nextCursor,
});

/** The domain of the instance, as DNS says now. */
export const defaultDomainQuery = queryOptions({
  queryKey: ['domains', 'default'],
  queryFn: () => bodyOf(service.GET('/api/domains/default')),
  staleTime: 60_000,
});

export function useAddDomain() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (name: string) => bodyOf(service.POST('/api/domains', { body: { name } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['domains'] }),
  });
}
