import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { bodyOf, type Schemas, service } from '../../api/client.ts';

export type Mailbox = Schemas['Mailbox'];
export type NewMailbox = Schemas['MailboxWithToken'];

export type MailboxStatus = Mailbox['status'];

export interface MailboxFilter {
  /** Part of an address or a name; empty: all. */
  readonly q: string;
  readonly status: MailboxStatus | undefined;
}

const PAGE_LENGTH = 100;

export const mailboxesQuery = ({ q, status }: MailboxFilter) =>
  infiniteQueryOptions({
    queryKey: ['mailboxes', 'list', q, status],
    queryFn: ({ pageParam }) =>
      bodyOf(
        service.GET('/api/mailboxes', {
          params: {
            query: {
              limit: PAGE_LENGTH,
              ...(q === '' ? {} : { q }),
              ...(status === undefined ? {} : { status }),
              ...(pageParam === null ? {} : { cursor: pageParam }),
            },
          },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  });

/** The domains a mailbox may be made in, that of the instance first. */
export const domainsQuery = queryOptions({
  queryKey: ['domains', 'for-mailboxes'],
  queryFn: async (): Promise<readonly string[]> => {
    const [organization, domains] = await Promise.all([
      bodyOf(service.GET('/api/organization')),
      bodyOf(service.GET('/api/domains')),
    ]);
    return [organization.defaultDomain, ...domains.data.map(({ name }) => name)];
  },
  staleTime: 60_000,
});

export function useAddMailbox() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ key, ...body }: { key: string; localPart?: string; name?: string; domain?: string }) =>
      bodyOf(service.POST('/api/mailboxes', { body, params: { header: { 'Idempotency-Key': key } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['mailboxes'] }),
  });
}
