import { queryOptions } from '@tanstack/react-query';
import { bodyOf, type Schemas, service } from '../../api/client.ts';
import { pagedQuery, useChange } from '../../api/queries.ts';

export type Mailbox = Schemas['Mailbox'];
export type NewMailbox = Schemas['MailboxWithToken'];

export interface MailboxFilter {
  /** Part of an address or a name; empty: all. */
  readonly q: string;
  readonly status: Exclude<Mailbox['status'], 'deleting'> | undefined;
}

const PAGE_LENGTH = 100;

export const mailboxesQuery = ({ q, status }: MailboxFilter) =>
  pagedQuery(['mailboxes', 'list', q, status], (from) => {
    const filter = { ...(q === '' ? {} : { q }), ...(status === undefined ? {} : { status }) };
    return bodyOf(service.GET('/api/mailboxes', { params: { query: { limit: PAGE_LENGTH, ...filter, ...from } } }));
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

export const useAddMailbox = () =>
  useChange(
    ({ key, ...body }: { key: string; localPart?: string; name?: string; domain?: string }) =>
      bodyOf(service.POST('/api/mailboxes', { body, params: { header: { 'Idempotency-Key': key } } })),
    ['mailboxes'],
  );
