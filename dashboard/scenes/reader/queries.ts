import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { bodyOf, done, type Schemas, service } from '../../api/client.ts';
import { singleQuery } from '../../api/queries.ts';
import { AUTOMATIC } from '../../components/lists/steady-rows.ts';
import { patchMessage, refreshLists } from './live.ts';
import { loadRows, type View } from './rows.ts';

export type Message = Schemas['Message'];
export type Attachment = Schemas['Attachment'];
export type Folder = Schemas['Folder'];
export type Draft = Schemas['Draft'];
export type DraftChanges = Schemas['DraftChanges'];
type NewDraft = Schemas['NewDraft'];
/** `RepeatedMessage`: it was sent a moment ago, by another press of the button. */
export type Sent = Schemas['SentMessage'] | Schemas['HeldMessage'] | Schemas['RepeatedMessage'];

/** The rows of a view. They are kept up to date by `cache.ts`: asking for all loaded pages again would cost too much. */
export const listQuery = (id: string, view: View) =>
  infiniteQueryOptions({
    queryKey: ['mail', id, 'list', view],
    queryFn: ({ pageParam }) => loadRows(id, view, pageParam),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    structuralSharing: false,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnReconnect: false,
    gcTime: 0,
  });

export const foldersQuery = (id: string) =>
  queryOptions({
    queryKey: ['mail', id, 'folders'],
    queryFn: async () => (await bodyOf(service.GET('/api/mailboxes/{id}/folders', { params: { path: { id } } }))).data,
  });

const one = (id: string, mid: string) => ({ params: { path: { id, mid } } });

export const messageQuery = (id: string, mid: string) =>
  singleQuery(
    ['mail', id, 'message', mid],
    () => bodyOf(service.GET('/api/mailboxes/{id}/messages/{mid}', one(id, mid))),
    { staleTime: 60_000 },
  );

export const threadQuery = (id: string, tid: string) =>
  singleQuery(['mail', id, 'thread', tid], () =>
    bodyOf(service.GET('/api/mailboxes/{id}/threads/{tid}', { params: { path: { id, tid } } })),
  );

export const extractsQuery = (id: string, mid: string) =>
  singleQuery(
    ['mail', id, 'extracts', mid],
    () => bodyOf(service.GET('/api/mailboxes/{id}/messages/{mid}/extracts', one(id, mid))),
    { staleTime: Number.POSITIVE_INFINITY },
  );

// The document calls bytes a string, as OpenAPI 3.1 leaves no other name for them; `parseAs` makes them a Blob.
const bytes = { parseAs: 'blob' } as const;

export const loadRaw = (id: string, mid: string): Promise<Blob> =>
  bodyOf(service.GET('/api/mailboxes/{id}/messages/{mid}/raw', { ...one(id, mid), ...bytes }));

export const loadAttachment = (id: string, mid: string, aid: string): Promise<Blob> =>
  bodyOf(
    service.GET('/api/mailboxes/{id}/messages/{mid}/attachments/{aid}', {
      params: { path: { id, mid, aid } },
      ...bytes,
    }),
  );

export const loadRemotePicture = (id: string, mid: string, url: string): Promise<Blob> =>
  bodyOf(
    service.GET('/api/mailboxes/{id}/messages/{mid}/remote-image', {
      params: { path: { id, mid }, query: { url } },
      ...bytes,
    }),
  );

type MessageChange = Schemas['MessageChanges'];

/** Flags, labels, folder. @param automatic nobody asked for it */
export function useChangeMessage(id: string, { automatic = false } = {}) {
  const queries = useQueryClient();
  return useMutation({
    // One after the other, so that the answer to an earlier change never covers a later one.
    scope: { id: `change-message-${id}` },
    ...(automatic ? { meta: AUTOMATIC } : {}),
    mutationFn: ({ mid, change }: { mid: string; change: MessageChange }) =>
      bodyOf(service.PATCH('/api/mailboxes/{id}/messages/{mid}', { ...one(id, mid), body: change })),
    onSuccess: (message) => patchMessage(queries, id, message),
  });
}

export function useDeleteMessage(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ mid, permanent }: { mid: string; permanent: boolean }) =>
      done(
        service.DELETE('/api/mailboxes/{id}/messages/{mid}', {
          params: { path: { id, mid }, query: permanent ? { permanent } : {} },
        }),
      ),
    onSuccess: () => refreshLists(queries, id),
  });
}

export const draftQuery = (id: string, did: string) =>
  singleQuery(
    ['mail', id, 'draft', did],
    () => bodyOf(service.GET('/api/mailboxes/{id}/drafts/{did}', { params: { path: { id, did } } })),
    {
      // What is typed is newer than what the service has.
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 0,
    },
  );

export const createDraft = (id: string, body: NewDraft): Promise<Draft> =>
  bodyOf(service.POST('/api/mailboxes/{id}/drafts', { params: { path: { id } }, body }));

export const saveDraft = (id: string, did: string, body: DraftChanges): Promise<Draft> =>
  bodyOf(service.PATCH('/api/mailboxes/{id}/drafts/{did}', { params: { path: { id, did } }, body }));

export const deleteDraft = (id: string, did: string): Promise<void> =>
  done(service.DELETE('/api/mailboxes/{id}/drafts/{did}', { params: { path: { id, did } } }));

export const sendDraft = (id: string, did: string): Promise<Sent> =>
  bodyOf(service.POST('/api/mailboxes/{id}/drafts/{did}/send', { params: { path: { id, did } }, body: {} }));

const DRAFT_PAGES_MAX = 10;

/** The draft that a message of the folder Drafts is. Undefined when it was sent or saved again meanwhile. */
export async function draftOfMessage(id: string, mid: string): Promise<string | undefined> {
  let cursor: string | null = '';
  for (let page = 0; page < DRAFT_PAGES_MAX && cursor !== null; page++) {
    const query: { limit: number; cursor?: string } = { limit: 200, ...(cursor === '' ? {} : { cursor }) };
    const found: Schemas['DraftList'] = await bodyOf(
      service.GET('/api/mailboxes/{id}/drafts', { params: { path: { id }, query } }),
    );
    const draft = found.data.find(({ messageId }) => messageId === mid);
    if (draft !== undefined) return draft.id;
    cursor = found.nextCursor;
  }
  return undefined;
}
