import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { bodyOf, done, type Schemas, service } from '../../api/client.ts';

export type Mailbox = Schemas['Mailbox'];

export const mailboxQuery = (id: string) =>
  queryOptions({
    queryKey: ['mailboxes', 'one', id],
    queryFn: () => bodyOf(service.GET('/api/mailboxes/{id}', { params: { path: { id } } })),
  });

export const connectionQuery = (id: string) =>
  queryOptions({
    queryKey: ['mailboxes', 'connection', id],
    queryFn: () => bodyOf(service.GET('/api/mailboxes/{id}/connection', { params: { path: { id } } })),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** When the token was used last, by protocol. */
export const loginsQuery = (id: string) =>
  queryOptions({
    queryKey: ['mailboxes', 'logins', id],
    queryFn: () => bodyOf(service.GET('/api/mailboxes/{id}/logins', { params: { path: { id } } })),
  });

export type Token = Schemas['MailboxToken'];
export type NewToken = Schemas['MailboxTokenWithSecret'];

export const tokensQuery = (id: string) =>
  queryOptions({
    queryKey: ['mailboxes', 'tokens', id],
    queryFn: () => bodyOf(service.GET('/api/mailboxes/{id}/tokens', { params: { path: { id } } })),
  });

export type Grant = Schemas['Grant'];

/** Programs that have access by OAuth. */
export const grantsQuery = (id: string) =>
  queryOptions({
    queryKey: ['mailboxes', 'grants', id],
    queryFn: () => bodyOf(service.GET('/api/mailboxes/{id}/grants', { params: { path: { id } } })),
  });

/** Everything that changes one mailbox. */
function useChange<Input, Result>(id: string, change: (input: Input) => Promise<Result>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: () =>
      queries.invalidateQueries({
        queryKey: ['mailboxes'],
        predicate: ({ queryKey }) => queryKey[2] === id || queryKey[1] === 'list',
      }),
  });
}

export const useUpdateMailbox = (id: string) =>
  useChange(id, (body: Schemas['MailboxChanges']) =>
    bodyOf(service.PATCH('/api/mailboxes/{id}', { params: { path: { id } }, body })),
  );

export const useRotateToken = (id: string) =>
  useChange(id, () => bodyOf(service.POST('/api/mailboxes/{id}/rotate-token', { params: { path: { id } } })));

export const useCreateToken = (id: string) =>
  useChange(id, (body: Schemas['NewMailboxToken']) =>
    bodyOf(service.POST('/api/mailboxes/{id}/tokens', { params: { path: { id } }, body })),
  );

export const useRevokeToken = (id: string) =>
  useChange(id, (tid: string) =>
    done(service.DELETE('/api/mailboxes/{id}/tokens/{tid}', { params: { path: { id, tid } } })),
  );

export const useEndGrant = (id: string) =>
  useChange(id, (grantId: string) =>
    done(service.DELETE('/api/mailboxes/{id}/grants/{grantId}', { params: { path: { id, grantId } } })),
  );

export const useResumeSending = (id: string) =>
  useChange(id, () => bodyOf(service.POST('/api/mailboxes/{id}/resume-sending', { params: { path: { id } } })));

export function useDeleteMailbox(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => done(service.DELETE('/api/mailboxes/{id}', { params: { path: { id } } })),
    onSuccess: () => {
      queries.removeQueries({ queryKey: ['mailboxes', 'one', id] });
      return queries.invalidateQueries({ queryKey: ['mailboxes', 'list'] });
    },
  });
}
