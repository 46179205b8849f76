import { useMutation, useQueryClient } from '@tanstack/react-query';
import { bodyOf, done, type Schemas, service } from '../../api/client.ts';
import { mailboxQuery, singleQuery, useDeletion } from '../../api/queries.ts';

export type Mailbox = Schemas['Mailbox'];
export type Token = Schemas['MailboxToken'];
export type NewToken = Schemas['MailboxTokenWithSecret'];
export type Alias = Schemas['Alias'];
export type Grant = Schemas['Grant'];

const of = (id: string) => ({ params: { path: { id } } });

/** When the token was used last, by protocol. */
export const loginsQuery = (id: string) =>
  singleQuery(['mailboxes', 'logins', id], () => bodyOf(service.GET('/api/mailboxes/{id}/logins', of(id))));

export const tokensQuery = (id: string) =>
  singleQuery(['mailboxes', 'tokens', id], () => bodyOf(service.GET('/api/mailboxes/{id}/tokens', of(id))));

/** Those in use; the newest hundred. */
export const aliasesQuery = (id: string) =>
  singleQuery(['mailboxes', 'aliases', id], () =>
    bodyOf(service.GET('/api/mailboxes/{id}/aliases', { params: { path: { id }, query: { limit: 100 } } })),
  );

/** Programs that have access by OAuth. */
export const grantsQuery = (id: string) =>
  singleQuery(['mailboxes', 'grants', id], () => bodyOf(service.GET('/api/mailboxes/{id}/grants', of(id))));

/** Everything that changes one mailbox. */
function useChangeOf<Input, Result>(id: string, change: (input: Input) => Promise<Result>) {
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
  useChangeOf(id, (body: Schemas['MailboxChanges']) =>
    bodyOf(service.PATCH('/api/mailboxes/{id}', { ...of(id), body })),
  );

export const useRotateToken = (id: string) =>
  useChangeOf(id, () => bodyOf(service.POST('/api/mailboxes/{id}/rotate-token', of(id))));

export const useCreateToken = (id: string) =>
  useChangeOf(id, (body: Schemas['NewMailboxToken']) =>
    bodyOf(service.POST('/api/mailboxes/{id}/tokens', { ...of(id), body })),
  );

export const useCreateAlias = (id: string) =>
  useChangeOf(id, (body: Schemas['NewAlias']) =>
    bodyOf(service.POST('/api/mailboxes/{id}/aliases', { ...of(id), body })),
  );

export const useChangeAlias = (id: string, aid: string) =>
  useChangeOf(id, (body: Schemas['AliasChanges']) =>
    bodyOf(service.PATCH('/api/mailboxes/{id}/aliases/{aid}', { params: { path: { id, aid } }, body })),
  );

export const useDropAlias = (id: string) =>
  useChangeOf(id, (aid: string) =>
    done(service.DELETE('/api/mailboxes/{id}/aliases/{aid}', { params: { path: { id, aid } } })),
  );

export const useRevokeToken = (id: string) =>
  useChangeOf(id, (tid: string) =>
    done(service.DELETE('/api/mailboxes/{id}/tokens/{tid}', { params: { path: { id, tid } } })),
  );

export const useEndGrant = (id: string) =>
  useChangeOf(id, (grantId: string) =>
    done(service.DELETE('/api/mailboxes/{id}/grants/{grantId}', { params: { path: { id, grantId } } })),
  );

export const useResumeSending = (id: string) =>
  useChangeOf(id, () => bodyOf(service.POST('/api/mailboxes/{id}/resume-sending', of(id))));

export const useDeleteMailbox = (id: string) =>
  useDeletion(() => done(service.DELETE('/api/mailboxes/{id}', of(id))), mailboxQuery(id).queryKey, [
    'mailboxes',
    'list',
  ]);
