import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { bodyOf, done, type Schemas, service } from '../../api/client.ts';

export type Key = Schemas['ApiKey'];
export type NewKey = Schemas['ApiKeyWithSecret'];
export type Scope = Key['scopes'][number];

/** What a person decides about a key. */
export interface KeyInput {
  name: string;
  scopes: Scope[];
  /** Null: every mailbox. */
  mailboxGroups: string[] | null;
  /** ISO 8601; null: never. */
  expiresAt: string | null;
}

export const keysQuery = infiniteQueryOptions({
  queryKey: ['keys'],
  queryFn: ({ pageParam }) =>
    bodyOf(service.GET('/api/keys', { params: { query: pageParam === null ? {} : { cursor: pageParam } } })),
  initialPageParam: null as string | null,
  getNextPageParam: (page) => page.nextCursor,
});

/** Names of the groups that mailboxes are in. */
export const groupsQuery = queryOptions({
  queryKey: ['mailboxes', 'groups'],
  queryFn: () => bodyOf(service.GET('/api/mailbox-groups')),
});

function useChange<Input, Result>(change: (input: Input) => Promise<Result>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: () => queries.invalidateQueries({ queryKey: ['keys'] }),
  });
}

export const useCreateKey = () => useChange((body: KeyInput) => bodyOf(service.POST('/api/keys', { body })));

export const useUpdateKey = (id: string) =>
  useChange((body: Partial<KeyInput>) => bodyOf(service.PATCH('/api/keys/{id}', { params: { path: { id } }, body })));

export const useRevokeKey = () =>
  useChange((id: string) => done(service.DELETE('/api/keys/{id}', { params: { path: { id } } })));
