import { Dialog } from '@base-ui/react/dialog';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Inbox, type LucideIcon, Plus } from 'lucide-react';
import { type KeyboardEvent, useDeferredValue, useEffect, useRef, useState } from 'react';
import { bodyOf, service } from '../api/client.ts';
import { visibleText } from '../components/mail/unseen-characters.ts';
import { ALL_PAGES } from './navigation.tsx';

interface Entry {
  readonly key: string;
  readonly title: string;
  readonly note: string;
  readonly Icon: LucideIcon;
  readonly go: () => void;
}

/** Goes to a page, to a mailbox or to an action by a few letters of it. Arrow keys choose, Enter goes. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog.Root open onOpenChange={(next) => (next ? undefined : onClose())}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-20 bg-black/40" />
        <Dialog.Popup
          aria-label="Go to"
          className="fixed top-[10vh] left-1/2 z-20 w-[min(560px,calc(100vw-24px))] -translate-x-1/2 overflow-hidden rounded-lg border border-line bg-panel"
        >
          <Search onClose={onClose} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Search({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const entries = useEntries(text.trim());
  const chosen = Math.min(at, entries.length - 1);
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen, entries.length]);
  const go = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    onClose();
    entry.go();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && entries.length > 0) {
      event.preventDefault();
      setAt((chosen + step + entries.length) % entries.length);
    } else if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
      event.preventDefault();
      go(entries[chosen]);
    }
  };
  return (
    <>
      <input
        // The dialog is nothing but this field.
        autoFocus
        role="combobox"
        aria-label="Search pages, mailboxes and actions"
        aria-expanded
        aria-controls="palette-entries"
        aria-activedescendant={entries[chosen] === undefined ? undefined : `palette-${chosen}`}
        autoComplete="off"
        spellCheck={false}
        placeholder="Page, mailbox or action"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
        className="h-12 w-full border-b border-line bg-panel px-4 text-base outline-none placeholder:text-faint"
      />
      <div
        ref={list}
        id="palette-entries"
        role="listbox"
        aria-label="Found"
        className="max-h-[min(420px,60vh)] overflow-y-auto p-1"
      >
        {entries.map((entry, index) => (
          <div
            key={entry.key}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onPointerMove={() => setAt(index)}
            onClick={() => go(entry)}
            onKeyDown={onKeyDown}
            className="flex min-h-9 cursor-default items-center gap-3 rounded-md px-3 py-1 aria-selected:bg-sunken max-sm:min-h-11"
          >
            <entry.Icon size={16} aria-hidden className="shrink-0 text-muted" />
            <span className="min-w-0 flex-1 truncate">{entry.title}</span>
            <span className="shrink-0 text-muted">{entry.note}</span>
          </div>
        ))}
      </div>
      {entries.length === 0 ? <p className="px-4 pb-4 text-muted">Nothing found.</p> : null}
    </>
  );
}

const has = (text: string, q: string): boolean => text.toLowerCase().includes(q.toLowerCase());

/** Actions and pages whose name has the text, and mailboxes that the service finds by it. */
function useEntries(q: string): Entry[] {
  const navigate = useNavigate();
  const mailboxes = useQuery(foundMailboxesQuery(useDeferredValue(q)));
  const actions: Entry[] = [
    { title: 'Add mailbox', go: () => void navigate({ to: '/mailboxes', hash: 'add' }) },
    { title: 'Add domain', go: () => void navigate({ to: '/domains', hash: 'add' }) },
    { title: 'Create API key', go: () => void navigate({ to: '/settings/keys', hash: 'add' }) },
    { title: 'Invite a person', go: () => void navigate({ to: '/settings/people', hash: 'add' }) },
  ].map(({ title, go }) => ({ key: title, title, note: 'Action', Icon: Plus, go }));
  const pages = ALL_PAGES.map(({ to, title, Icon }) => ({
    key: to,
    title,
    note: 'Page',
    Icon,
    go: () => void navigate({ to }),
  }));
  const found: Entry[] =
    q === ''
      ? []
      : (mailboxes.data ?? []).map(({ id, address, name }) => ({
          key: id,
          title: address,
          note: name === '' ? 'Mailbox' : visibleText(name),
          Icon: Inbox,
          go: () => void navigate({ to: '/mailboxes/$id', params: { id } }),
        }));
  return [...pages, ...actions].filter(({ title }) => has(title, q)).concat(found);
}

const FOUND_MAX = 6;

/** Mailboxes for the palette. @param q part of an address or a name */
const foundMailboxesQuery = (q: string) =>
  queryOptions({
    queryKey: ['mailboxes', 'found', q],
    queryFn: async () => {
      const { data } = await bodyOf(service.GET('/api/mailboxes', { params: { query: { limit: FOUND_MAX, q } } }));
      return data.map(({ id, address, name }) => ({ id, address, name }));
    },
    enabled: q !== '',
    staleTime: 30_000,
    placeholderData: (before) => before,
  });
