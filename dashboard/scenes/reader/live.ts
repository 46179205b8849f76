/**
 * Keeps the lists that were loaded true. A list may have hundreds of pages, so it is never asked for as a whole again:
 * its first page is, and what is known of single messages is put into the others.
 */
import { type InfiniteData, type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { activeOrganizationId, type Schemas } from '../../api/client.ts';
import { followEvents, type StreamEvent } from '../../api/live.ts';
import { loadRows, type Row, type Rows, rowOf, type Summary, type View } from './rows.ts';

type List = InfiniteData<Rows, string>;

const sameFolder = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** Whether a message is in a view. A search is not evaluated here: only the folder and the label are compared. */
function belongs({ folder, label }: View, row: Row): boolean {
  if (folder !== undefined && !row.folders.some((name) => sameFolder(name, folder))) return false;
  return label === undefined || row.labels.some((name) => sameFolder(name, label));
}

/** The lists of a mailbox that are shown or were shown a moment ago. */
const listsOf = (queries: QueryClient, id: string) =>
  queries
    .getQueryCache()
    .findAll({ queryKey: ['mail', id, 'list'] })
    .map((query) => ({
      key: query.queryKey,
      view: query.queryKey[3] as View,
      list: query.state.data as List | undefined,
    }));

function changeRows(list: List, change: (row: Row) => Row | undefined): List {
  const pages = list.pages.map((page) => ({ ...page, rows: page.rows.flatMap((row) => change(row) ?? []) }));
  return { ...list, pages };
}

/** Puts the present state of a message into everything that shows it. */
export function patchMessage(queries: QueryClient, id: string, message: Summary): void {
  queries.setQueryData<Schemas['Message']>(['mail', id, 'message', message.id], (known) =>
    known === undefined ? undefined : { ...known, ...message },
  );
  for (const { key, view, list } of listsOf(queries, id)) {
    if (list === undefined || view.by === 'conversation') continue;
    queries.setQueryData<List>(
      key,
      changeRows(list, (row) => {
        if (row.id !== message.id) return row;
        const next = rowOf(message, row.highlights);
        return belongs(view, next) ? next : undefined;
      }),
    );
  }
  void refreshCounts(queries, id);
}

const refreshCounts = (queries: QueryClient, id: string) =>
  Promise.all([
    queries.invalidateQueries({ queryKey: ['mail', id, 'folders'] }),
    queries.invalidateQueries({ queryKey: ['mail', id, 'thread'] }),
  ]);

/** Loads the first pages again. @param folder only lists that may show it; left out: all */
export async function refreshLists(queries: QueryClient, id: string, folder?: string): Promise<void> {
  const lists = listsOf(queries, id).filter(
    ({ view }) => folder === undefined || view.folder === undefined || sameFolder(view.folder, folder),
  );
  await Promise.all([
    refreshCounts(queries, id),
    ...lists.map(async ({ key, view, list }) => {
      if (list === undefined) {
        // It is being asked for, perhaps since before the change.
        await queries.invalidateQueries({ queryKey: key, exact: true });
        return;
      }
      const top = await loadRows(id, view, '').catch(() => undefined);
      if (top === undefined) return;
      queries.setQueryData<List>(key, (known) => (known === undefined ? undefined : withTop(known, top)));
    }),
  ]);
}

/** The list with another first page. Ids sort by time, so what the page does not reach is older than its last row. */
function withTop(list: List, top: Rows): List {
  const last = top.rows.at(-1);
  if (list.pages.length < 2 || top.nextCursor === null || last === undefined)
    return { pages: [top], pageParams: list.pageParams.slice(0, 1) };
  const inTop = new Set(top.rows.map(({ key }) => key));
  const others = changeRows(list, (row) => (row.id < last.id && !inTop.has(row.key) ? row : undefined)).pages.slice(1);
  // The rows between the new first page and the second one were at the end of the old first page.
  const between = (list.pages[0]?.rows ?? []).filter((row) => row.id < last.id && !inTop.has(row.key));
  return { ...list, pages: [{ ...top, rows: [...top.rows, ...between] }, ...others] };
}

/** Applies a change that the service reported. */
function applyChange(queries: QueryClient, id: string, change: MailboxChange): void {
  if (change.kind === 'resync') {
    void refreshLists(queries, id);
    return;
  }
  if (change.kind === 'removed') {
    const gone = new Set(change.messageIds);
    for (const { key, view, list } of listsOf(queries, id)) {
      const leaves = change.folder !== null && view.folder !== undefined && sameFolder(view.folder, change.folder);
      if (list !== undefined && leaves)
        queries.setQueryData<List>(
          key,
          changeRows(list, (row) => (gone.has(row.id) ? undefined : row)),
        );
    }
  } else for (const message of change.messages) patchMessage(queries, id, message);
  void refreshLists(queries, id, change.folder ?? undefined);
}

/** Keeps the shown mail of a mailbox up to date while the page is open. */
export function useLiveMailbox(id: string): void {
  const queries = useQueryClient();
  useEffect(() => {
    const end = new AbortController();
    void followMailbox(id, (change) => applyChange(queries, id, change), end.signal);
    return () => end.abort();
  }, [id, queries]);
}

/** A change of a mailbox, as its stream of events names it. */
type MailboxChange =
  | {
      readonly kind: 'changed';
      readonly folder: string | null;
      readonly messages: readonly Schemas['MessageSummary'][];
    }
  | { readonly kind: 'removed'; readonly folder: string | null; readonly messageIds: readonly string[] }
  /** The client has missed something, or may have. */
  | { readonly kind: 'resync' };

/** Follows the changes of a mailbox until the signal aborts. */
async function followMailbox(
  mailboxId: string,
  onChange: (change: MailboxChange) => void,
  signal: AbortSignal,
): Promise<void> {
  const onEvent = (event: StreamEvent) => {
    const change = changeOf(event);
    if (change !== undefined) onChange(change);
  };
  const path = `/api/mailboxes/${mailboxId}/events/stream`;
  const place = { path, organizationId: activeOrganizationId(), lastId: '' };
  await followEvents(place, onEvent, signal, (isOpen) => {
    // Data requested before the stream began may have changed since, and no event would report it.
    if (isOpen && place.lastId === '') onChange({ kind: 'resync' });
  });
}

function changeOf({ name, data }: StreamEvent): MailboxChange | undefined {
  if (name === 'resync') return { kind: 'resync' };
  if (!name.startsWith('messages_')) return undefined;
  const { folder, messages, messageIds } = JSON.parse(data) as {
    folder: string | null;
    messages?: Schemas['MessageSummary'][];
    messageIds?: string[];
  };
  if (name === 'messages_removed') return { kind: 'removed', folder, messageIds: messageIds ?? [] };
  return { kind: 'changed', folder, messages: messages ?? [] };
}
