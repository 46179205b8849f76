import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { bodyOf, done, type Schemas, service } from '../../api/client.ts';

export type ListEntry = Schemas['ListEntry'];
export type Verdict = Schemas['ListVerdict'];
export type Direction = 'inbound' | 'outbound';
export type Action = 'allow' | 'block';
export type NewEntry = { value: string; mailboxId?: string };

interface List {
  read(cursor: string | null): Promise<{ readonly data: readonly ListEntry[]; readonly nextCursor: string | null }>;
  add(body: NewEntry): Promise<ListEntry>;
  remove(id: string): Promise<void>;
}

const query = (cursor: string | null) => (cursor === null ? {} : { cursor });
const path = (id: string) => ({ params: { path: { id } } });

const LISTS: Readonly<Record<`${Direction}/${Action}`, List>> = {
  'inbound/allow': {
    read: (cursor) => bodyOf(service.GET('/api/lists/inbound/allow', { params: { query: query(cursor) } })),
    add: (body) => bodyOf(service.POST('/api/lists/inbound/allow', { body })),
    remove: (id) => done(service.DELETE('/api/lists/inbound/allow/{id}', path(id))),
  },
  'inbound/block': {
    read: (cursor) => bodyOf(service.GET('/api/lists/inbound/block', { params: { query: query(cursor) } })),
    add: (body) => bodyOf(service.POST('/api/lists/inbound/block', { body })),
    remove: (id) => done(service.DELETE('/api/lists/inbound/block/{id}', path(id))),
  },
  'outbound/allow': {
    read: (cursor) => bodyOf(service.GET('/api/lists/outbound/allow', { params: { query: query(cursor) } })),
    add: (body) => bodyOf(service.POST('/api/lists/outbound/allow', { body })),
    remove: (id) => done(service.DELETE('/api/lists/outbound/allow/{id}', path(id))),
  },
  'outbound/block': {
    read: (cursor) => bodyOf(service.GET('/api/lists/outbound/block', { params: { query: query(cursor) } })),
    add: (body) => bodyOf(service.POST('/api/lists/outbound/block', { body })),
    remove: (id) => done(service.DELETE('/api/lists/outbound/block/{id}', path(id))),
  },
};

export const entriesQuery = (direction: Direction, action: Action) =>
  infiniteQueryOptions({
    queryKey: ['lists', direction, action],
    queryFn: ({ pageParam }) => LISTS[`${direction}/${action}`].read(pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  });

export function useAddEntry(direction: Direction, action: Action) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (entry: NewEntry) => LISTS[`${direction}/${action}`].add(entry),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['lists', direction, action] }),
  });
}

export function useRemoveEntry(direction: Direction, action: Action) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => LISTS[`${direction}/${action}`].remove(id),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['lists', direction, action] }),
  });
}

/** What the lists say about an address. */
export const useTestLists = () =>
  useMutation({
    mutationFn: (body: { direction: Direction; address: string; mailboxId?: string }) =>
      bodyOf(service.POST('/api/lists/test', { body })),
  });

/** Address of the mailbox an entry is for. */
export const mailboxAddressQuery = (id: string) =>
  queryOptions({
    queryKey: ['mailboxes', 'one', id],
    queryFn: () => bodyOf(service.GET('/api/mailboxes/{id}', { params: { path: { id } } })),
    staleTime: 60_000,
  });

/** The mailbox with exactly this address. @returns undefined when there is none */
export async function findMailbox(address: string): Promise<string | undefined> {
  const { data } = await bodyOf(service.GET('/api/mailboxes', { params: { query: { q: address, limit: 50 } } }));
  return data.find((mailbox) => mailbox.address === address.toLowerCase())?.id;
}
