import { useMutation, useQueryClient } from '@tanstack/react-query';
import { bodyOf, done, type Schemas, service } from '../../api/client.ts';
import { pagedQuery, singleQuery, useChange, useDeletion } from '../../api/queries.ts';

export type Domain = Schemas['Domain'];
export type DomainReports = Schemas['DomainReports'];

const LIST = ['domains', 'list'];

export const domainsQuery = pagedQuery(LIST, (from) =>
  bodyOf(service.GET('/api/domains', { params: { query: from } })),
);

/** The domain of the instance, as DNS says now. */
export const defaultDomainQuery = singleQuery(
  ['domains', 'default'],
  () => bodyOf(service.GET('/api/domains/default')),
  { staleTime: 60_000 },
);

export const domainQuery = (id: string) =>
  singleQuery(['domains', 'one', id], () => bodyOf(service.GET('/api/domains/{id}', { params: { path: { id } } })));

export const domainReportsQuery = (domain: string) =>
  singleQuery(['domains', 'reports', domain], () =>
    bodyOf(service.GET('/api/domain-reports', { params: { query: { domain } } })),
  );

export const useAddDomain = () =>
  useChange((name: string) => bodyOf(service.POST('/api/domains', { body: { name } })), ['domains']);

/** Looks at DNS now; the answer is what the page then shows. */
export function useVerifyDomain(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => bodyOf(service.POST('/api/domains/{id}/verify', { params: { path: { id } } })),
    onSuccess: (domain) => {
      queries.setQueryData(domainQuery(id).queryKey, domain);
      return queries.invalidateQueries({ queryKey: LIST });
    },
  });
}

export const useDeleteDomain = (id: string) =>
  useDeletion(
    () => done(service.DELETE('/api/domains/{id}', { params: { path: { id } } })),
    domainQuery(id).queryKey,
    LIST,
  );
