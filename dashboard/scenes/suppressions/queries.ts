import { infiniteQueryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { bodyOf, done, type Schemas, service } from '../../api/client.ts';

export type Suppression = Schemas['Suppression'];
export type Reason = Suppression['reason'];

export interface SuppressionFilter {
  /** Only the entry of this address; empty: all. */
  readonly address: string;
  readonly reason: Reason | undefined;
}

const ADDRESS_MIN_CHARACTERS = 3;

export const suppressionsQuery = ({ address, reason }: SuppressionFilter) =>
  infiniteQueryOptions({
    queryKey: ['suppressions', address, reason ?? ''],
    queryFn: ({ pageParam }) =>
      bodyOf(
        service.GET('/api/suppressions', {
          params: {
            query: {
              ...(address.length < ADDRESS_MIN_CHARACTERS ? {} : { address }),
              ...(reason === undefined ? {} : { reason }),
              ...(pageParam === null ? {} : { cursor: pageParam }),
            },
          },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  });

export function useRemoveSuppression() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => done(service.DELETE('/api/suppressions/{id}', { params: { path: { id } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['suppressions'] }),
  });
}
