import { useMutation } from '@tanstack/react-query';
import { bodyOf, done, type Schemas, service } from '../../api/client.ts';
import { pagedQuery, useChange } from '../../api/queries.ts';

export type ListEntry = Schemas['ListEntry'];
export type Verdict = Schemas['ListVerdict'];
export type Direction = 'inbound' | 'outbound';
export type Action = 'allow' | 'block';
type NewEntry = { value: string; mailboxId?: string };

const pathOf = (direction: Direction, action: Action) => `/api/lists/${direction}/${action}` as const;
const keyOf = (direction: Direction, action: Action) => ['lists', direction, action];

export const entriesQuery = (direction: Direction, action: Action) =>
  pagedQuery(keyOf(direction, action), (from) =>
    bodyOf(service.GET(pathOf(direction, action), { params: { query: from } })),
  );

export const useAddEntry = (direction: Direction, action: Action) =>
  useChange((body: NewEntry) => bodyOf(service.POST(pathOf(direction, action), { body })), keyOf(direction, action));

export const useRemoveEntry = (direction: Direction, action: Action) =>
  useChange(
    (id: string) => done(service.DELETE(`${pathOf(direction, action)}/{id}`, { params: { path: { id } } })),
    keyOf(direction, action),
  );

/** What the lists say about an address. */
export const useTestLists = () =>
  useMutation({
    mutationFn: (body: { direction: Direction; address: string; mailboxId?: string }) =>
      bodyOf(service.POST('/api/lists/test', { body })),
  });

/** The mailbox with exactly this address. @returns undefined when there is none */
export async function findMailbox(address: string): Promise<string | undefined> {
  const { data } = await bodyOf(service.GET('/api/mailboxes', { params: { query: { q: address, limit: 50 } } }));
  return data.find((mailbox) => mailbox.address === address.toLowerCase())?.id;
}
