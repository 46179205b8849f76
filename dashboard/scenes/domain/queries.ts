import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { bodyOf, done, type Schemas, service } from '../../api/client.ts';

export type Domain = Schemas['Domain'];

export const domainQuery = (id: string) =>
  queryOptions({
    queryKey: ['domains', 'one', id],
    queryFn: () => bodyOf(service.GET('/api/domains/{id}', { params: { path: { id } } })),
  });

/** Looks at DNS now; the answer is what the page then shows. */
export function useVerifyDomain(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => bodyOf(service.POST('/api/domains/{id}/verify', { params: { path: { id } } })),
    onSuccess: (domain) => {
      queries.setQueryData(domainQuery(id).queryKey, domain);
      return queries.invalidateQueries({ queryKey: ['domains', 'list'] });
    },
  });
}

export function useDeleteDomain(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => done(service.DELETE('/api/domains/{id}', { params: { path: { id } } })),
    onSuccess: () => {
      queries.removeQueries({ queryKey: ['domains', 'one', id] });
      return queries.invalidateQueries({ queryKey: ['domains', 'list'] });
    },
  });
}
