import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Keyboard, PenLine, Search } from 'lucide-react';
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { mailboxQuery } from '../../api/queries.ts';
import { Button } from '../../components/frame/button.tsx';
import { Dialog } from '../../components/frame/dialog.tsx';
import { Failure, ProblemNote, Skeleton } from '../../components/frame/page.tsx';
import { ListHead } from '../../components/lists/scrolled-rows.tsx';
import { fetchMore, useSteadyRows } from '../../components/lists/steady-rows.ts';
import { visibleText } from '../../components/mail/unseen-characters.ts';
import { beginForward, beginNew, beginReply } from './compose/drafts.ts';
import { KeysHelp, type ReaderKey, useReaderKeys } from './list/keys.tsx';
import { Folders, List } from './list/list.tsx';
import { refreshLists, useLiveMailbox } from './live.ts';
import { type MessageActions, MessagePane } from './message/message.tsx';
import { type Notice, NoticeBar, useMarkAsRead } from './notice.tsx';
import {
  type Draft,
  draftOfMessage,
  type Folder,
  foldersQuery,
  listQuery,
  type Message,
  messageQuery,
  useChangeMessage,
  useDeleteMessage,
} from './queries.ts';
import { type ReaderSearch, type Row, readerSearch, titleOf, type View, viewOf } from './rows.ts';

// Loaded with the first draft: most mail is only read.
const Compose = lazy(async () => ({ default: (await import('./compose/compose.tsx')).Compose }));

/** Folders in which the sender is always the mailbox itself. */
const OWN_ROLES = new Set<Folder['role']>(['sent', 'drafts']);

interface ReaderPageProps {
  readonly id: string;
  /** Texts of the address of the page. */
  readonly address: Readonly<Record<string, unknown>>;
  readonly onSearch: (search: ReaderSearch, how?: { replace: boolean }) => void;
}

/** The mail of one mailbox: folders, messages, and the open one. */
export function ReaderPage({ id, address: given, onSearch }: ReaderPageProps) {
  const search = useMemo(() => readerSearch(given), [given]);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const mailbox = useQuery(mailboxQuery(id));
  const folders = useQuery(foldersQuery(id));
  const view = useMemo(() => viewOf(search), [search]);
  const list = useInfiniteQuery(listQuery(id, view));
  const loaded = useMemo(() => list.data?.pages.flatMap((page) => page.rows) ?? [], [list.data]);
  const shown = useSteadyRows<Row>({
    of: JSON.stringify(view),
    answer: list.data,
    rows: loaded,
    pages: list.data?.pages.length ?? 0,
    hasMore: list.hasNextPage,
    keyOf: ({ key }) => key,
  });
  /** Those that can be opened. */
  const rows = shown.rows.filter(({ key }) => !shown.gone.has(key));
  const [notice, setNotice] = useState<Notice>();
  const [help, setHelp] = useState(false);
  const [forGood, setForGood] = useState<Message>();
  const searchField = useRef<HTMLInputElement>(null);
  const head = useRef<HTMLHeadingElement>(null);
  useLiveMailbox(id);

  const names = folders.data ?? [];
  const folder = names.find(({ name }) => name.toLowerCase() === view.folder?.toLowerCase());
  const address = mailbox.data?.address ?? '';
  const title = `${titleOf(view)}${folder !== undefined && folder.unread > 0 ? ` (${folder.unread})` : ''}`;
  useEffect(() => {
    document.title = `${title} · ${address} · Agent Mailbox`;
  }, [title, address]);

  const open = (messageId: string | undefined, replace = true) =>
    onSearch({ ...search, open: messageId, compose: undefined }, { replace });
  const compose = (draft: Draft | undefined) => {
    if (draft !== undefined) queries.setQueryData(['mail', id, 'draft', draft.id], draft);
    onSearch({ ...search, compose: draft?.id });
  };
  const show = (next: View) => onSearch({ ...next });

  const begin = useMutation({ mutationFn: (make: () => Promise<Draft>) => make(), onSuccess: compose });
  const edit = useMutation({
    mutationFn: (message: Message) => draftOfMessage(id, message.id),
    onSuccess: (draftId) => {
      if (draftId === undefined) setNotice({ kind: 'words', words: 'This draft was changed or sent in the meantime.' });
      else onSearch({ ...search, compose: draftId });
    },
  });
  const change = useChangeMessage(id);
  // Nobody asked for it, so no key waits for it.
  const markRead = useChangeMessage(id, { automatic: true });
  const remove = useDeleteMessage(id);

  /** Opens the next message of the list, once the open one has left it. */
  function leave(message: Message): void {
    const at = rows.findIndex(({ id: each }) => each === message.id);
    const next = at === -1 ? undefined : (rows[at + 1] ?? rows[at - 1]);
    if (search.open === message.id) open(globalThis.innerWidth < 640 ? undefined : next?.id);
  }

  function moved(message: Message, where: string): void {
    const before = message.folders[0];
    leave(message);
    setNotice({
      kind: 'moved',
      words: `Moved to ${visibleText(where)}.`,
      undo: before === undefined ? undefined : undoTo(message, before),
    });
  }
  const undoTo = (message: Message, before: string) => () =>
    change.mutate(
      { mid: message.id, change: { folder: before } },
      {
        onSuccess: () => {
          setNotice(undefined);
          void refreshLists(queries, id);
          open(message.id);
        },
      },
    );

  const nameOfRole = (role: Folder['role'], otherwise: string) =>
    names.find((each) => each.role === role)?.name ?? otherwise;

  const actions: MessageActions = {
    reply: (message, all) => begin.mutate(() => beginReply(message, all)),
    forward: (message) => begin.mutate(() => beginForward(message)),
    edit: (message) => edit.mutate(message),
    move: (message, where) =>
      change.mutate({ mid: message.id, change: { folder: where } }, { onSuccess: () => moved(message, where) }),
    archive: (message) => actions.move(message, nameOfRole('archive', 'Archive')),
    remove(message) {
      const trash = nameOfRole('trash', 'Trash');
      if (message.folders.some((name) => name.toLowerCase() === trash.toLowerCase())) setForGood(message);
      else remove.mutate({ mid: message.id, permanent: false }, { onSuccess: () => moved(message, trash) });
    },
    setSeen: (message, seen) => change.mutate({ mid: message.id, change: { seen } }),
    setFlagged: (message, flagged) => change.mutate({ mid: message.id, change: { flagged } }),
    showLabel: (label) => show({ label }),
    compose: (to) => begin.mutate(() => beginNew(id, to)),
    open: (messageId) => open(messageId, false),
    back: () => open(undefined),
  };

  useMarkAsRead(id, search.open, markRead.mutate);
  useReaderKeys((key) => onKey(key));

  function onKey(key: ReaderKey): void {
    const at = rows.findIndex((row) => row.id === search.open);
    const message =
      search.open === undefined ? undefined : queries.getQueryData(messageQuery(id, search.open).queryKey);
    if (key === 'j' || key === 'k') {
      const next = rows[at === -1 ? 0 : at + (key === 'j' ? 1 : -1)];
      if (next !== undefined) open(next.id);
    } else if (key === 'c') begin.mutate(() => beginNew(id));
    else if (key === '/') searchField.current?.select();
    else if (key === '?') setHelp(true);
    else if (key === 'z') {
      if (notice?.kind === 'moved') notice.undo?.();
    } else if (key === 'Enter') {
      if (search.open === undefined && rows[0] !== undefined) open(rows[0].id);
      head.current?.focus();
    } else if (message !== undefined && search.compose === undefined) onMessageKey(key, message);
  }

  function onMessageKey(key: ReaderKey, message: Message): void {
    if (key === 'r' || key === 'a' || key === 'f') {
      if (begin.isPending) return;
      if (key === 'f') actions.forward(message);
      else actions.reply(message, key === 'a');
    } else if (change.isPending || remove.isPending) return;
    else if (key === 'u') actions.setSeen(message, !message.seen);
    else if (key === 's') actions.setFlagged(message, !message.flagged);
    else if (key === 'e') actions.archive(message);
    else if (key === '#') actions.remove(message);
  }

  const hasDetail = search.open !== undefined || search.compose !== undefined;
  const error = mailbox.error ?? begin.error ?? edit.error ?? change.error ?? markRead.error ?? remove.error;
  const busy = begin.isPending || edit.isPending || change.isPending || remove.isPending;
  return (
    <div className="-mt-2 flex h-[calc(100dvh-40px)] min-w-0 flex-col sm:-mb-10 sm:w-[calc(100vw-280px)] max-sm:h-[calc(100dvh-134px)]">
      <div className={`mb-3 flex min-w-0 flex-wrap items-center gap-x-3 gap-y-2 ${hasDetail ? 'max-sm:hidden' : ''}`}>
        <div className="min-w-0">
          <p className="truncate text-muted">
            <Link to="/mailboxes/$id" params={{ id }}>
              {address === '' ? 'Mailbox' : address}
            </Link>
          </p>
          <h1 className="truncate max-sm:text-[16px]">{title}</h1>
        </div>
        <div className="flex-1" />
        <form
          role="search"
          className="flex max-sm:order-last max-sm:w-full"
          onSubmit={(event) => {
            event.preventDefault();
            const q = searchField.current?.value.trim() ?? '';
            show(q === '' ? {} : { q });
          }}
        >
          <input
            key={search.q ?? ''}
            ref={searchField}
            type="search"
            aria-label="Search mail"
            placeholder="Search mail"
            defaultValue={search.q ?? ''}
            maxLength={500}
            onKeyDown={({ key, currentTarget }) => {
              if (key === 'Escape') currentTarget.blur();
            }}
            className="h-8 w-64 min-w-0 rounded-l-md border border-line-strong bg-panel px-3 placeholder:text-faint max-sm:h-11 max-sm:flex-1 max-sm:text-base"
          />
          <Button type="submit" aria-label="Search" className="rounded-l-none border-l-0">
            <Search size={16} aria-hidden />
          </Button>
        </form>
        <Button look="quiet" aria-label="Keys" title="Keys (?)" className="max-sm:hidden" onClick={() => setHelp(true)}>
          <Keyboard size={16} aria-hidden />
        </Button>
        <Button look="primary" busy={begin.isPending} onClick={() => begin.mutate(() => beginNew(id))}>
          <PenLine size={16} aria-hidden /> Write
        </Button>
      </div>
      <NoticeBar notice={notice} onClose={() => setNotice(undefined)} />
      {error === null ? null : (
        <div className="mb-3">
          <ProblemNote error={error} />
        </div>
      )}
      <div className="grid min-h-0 flex-1 grid-cols-[minmax(0,1fr)] gap-x-4 gap-y-2 max-sm:grid-rows-[auto_minmax(0,1fr)] sm:grid-cols-[152px_minmax(240px,340px)_minmax(0,1fr)]">
        <div className={`grid min-h-0 grid-cols-[minmax(0,1fr)] ${hasDetail ? 'max-sm:hidden' : ''}`}>
          <Folders
            folders={names}
            view={view}
            onView={show}
            outbox={{
              waiting: (mailbox.data?.waiting.held ?? 0) + (mailbox.data?.waiting.scheduled ?? 0),
              onOpen: () => void navigate({ to: '/mailboxes/$id/outbox', params: { id } }),
            }}
          />
        </div>
        <section
          aria-label={titleOf(view)}
          aria-busy={list.isPending}
          className={`flex min-h-0 min-w-0 flex-col overflow-hidden rounded-lg border border-line bg-panel ${hasDetail ? 'max-sm:hidden' : ''}`}
        >
          {list.isError && list.data === undefined ? (
            <div className="p-3">
              <Failure query={list} />
            </div>
          ) : null}
          {list.isSuccess && shown.rows.length === 0 ? <Nothing view={view} address={address} /> : null}
          {shown.rows.length === 0 ? null : (
            <>
              <ListHead list={shown} words={counted(folder?.messages)} />
              <List
                key={JSON.stringify(view)}
                label="Messages"
                list={shown}
                total={folder?.messages}
                open={search.open}
                byRecipient={OWN_ROLES.has(folder?.role ?? null)}
                onOpen={(row) => open(row.id, false)}
                onNearEnd={() => fetchMore(list)}
              />
            </>
          )}
          {list.isFetchNextPageError ? (
            <div className="border-t border-line p-2">
              <Button className="w-full" onClick={() => void list.fetchNextPage()}>
                Load more again
              </Button>
            </div>
          ) : null}
        </section>
        <div className={`min-h-0 min-w-0 overflow-y-auto max-sm:row-span-2 ${hasDetail ? '' : 'max-sm:hidden'}`}>
          {search.compose !== undefined ? (
            <Suspense fallback={<Skeleton />}>
              <Compose
                key={search.compose}
                mailboxId={id}
                draftId={search.compose}
                onSent={(sent) => {
                  setNotice({ kind: 'sent', sent });
                  compose(undefined);
                }}
                onClose={() => compose(undefined)}
              />
            </Suspense>
          ) : search.open !== undefined ? (
            <MessagePane
              mailboxId={id}
              messageId={search.open}
              folders={names}
              actions={actions}
              busy={busy}
              headRef={head}
            />
          ) : rows.length > 0 ? (
            <p className="grid h-full place-items-center text-muted">Choose a message, or press j.</p>
          ) : null}
        </div>
      </div>
      {help ? <KeysHelp onClose={() => setHelp(false)} /> : null}
      {forGood === undefined ? null : (
        <Dialog
          onClose={() => setForGood(undefined)}
          title="Delete for good?"
          description="The message is removed from every folder and cannot be brought back."
        >
          <div className="flex justify-end gap-2">
            <Button onClick={() => setForGood(undefined)}>Keep it</Button>
            <Button
              look="stop"
              busy={remove.isPending}
              onClick={() => {
                // Closed first: what shows it would ask for a message that is gone.
                leave(forGood);
                remove.mutate(
                  { mid: forGood.id, permanent: true },
                  {
                    onSuccess: () => setNotice({ kind: 'words', words: 'Deleted for good.' }),
                    onSettled: () => setForGood(undefined),
                  },
                );
              }}
            >
              Delete for good
            </Button>
          </div>
        </Dialog>
      )}
    </div>
  );
}

const counted = (messages: number | undefined): string =>
  messages === undefined ? '' : messages === 1 ? 'One message' : `${messages.toLocaleString()} messages`;

function Nothing({ view, address }: { readonly view: View; readonly address: string }) {
  return (
    <div className="grid gap-2 p-6 text-center text-muted">
      {view.q !== undefined ? (
        <p>No message contains all of these words. Search for “a phrase” in quotes, and leave words out with -minus.</p>
      ) : view.folder?.toLowerCase() === 'inbox' ? (
        <p>
          No mail yet. What is sent to <span className="break-all text-text">{address}</span> is shown here as it comes
          in.
        </p>
      ) : (
        <p>Nothing here.</p>
      )}
    </div>
  );
}
