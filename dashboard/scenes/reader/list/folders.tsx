import {
  Archive,
  Clock,
  FileText,
  Folder as FolderIcon,
  Inbox,
  MessagesSquare,
  Send,
  ShieldAlert,
  Trash2,
} from 'lucide-react';
import { ForeignText } from '../../../components/mail/foreign-text.tsx';
import { visibleText } from '../../../components/mail/unseen-characters.ts';
import type { Folder } from '../queries.ts';
import type { View } from '../view.ts';

const ICONS = {
  inbox: Inbox,
  sent: Send,
  drafts: FileText,
  archive: Archive,
  junk: ShieldAlert,
  trash: Trash2,
} as const;

const ENTRY =
  'flex h-8 w-full items-center gap-2 rounded-md px-2 text-left text-muted hover:bg-sunken aria-[current]:bg-sunken aria-[current]:font-medium aria-[current]:text-text';

const NONE = -1;
const CONVERSATIONS = -2;
const OUTBOX = -3;

interface FoldersProps {
  readonly folders: readonly Folder[];
  readonly view: View;
  readonly onView: (view: View) => void;
  readonly outbox: {
    /** Held and scheduled messages. */
    readonly waiting: number;
    readonly onOpen: () => void;
  };
}

const isShown = (view: View, name: string): boolean =>
  view.q === undefined && view.folder?.toLowerCase() === name.toLowerCase();

/** The folders with their unread messages: a column, or one field on a phone. */
export function Folders({ folders, view, onView, outbox }: FoldersProps) {
  return (
    <>
      <nav
        aria-label="Folders"
        className="grid grid-cols-[minmax(0,1fr)] content-start gap-0.5 overflow-y-auto pr-2 max-sm:hidden"
      >
        <button
          type="button"
          aria-current={view.by === 'conversation' || undefined}
          onClick={() => onView({ by: 'conversation' })}
          className={ENTRY}
        >
          <MessagesSquare size={16} aria-hidden className="shrink-0" /> Conversations
        </button>
        {folders.map(({ id, name, role, unread }) => {
          const Icon = role === null ? FolderIcon : ICONS[role];
          return (
            <button
              key={id}
              type="button"
              aria-current={isShown(view, name) || undefined}
              onClick={() => onView({ folder: name })}
              className={ENTRY}
            >
              <Icon size={16} aria-hidden className="shrink-0" />
              <span className="min-w-0 flex-1 truncate">
                <ForeignText text={name} />
              </span>
              {unread > 0 ? (
                <span className="text-xs font-semibold text-text">
                  {unread.toLocaleString()}
                  <span className="sr-only"> unread</span>
                </span>
              ) : null}
            </button>
          );
        })}
        <button type="button" onClick={outbox.onOpen} className={ENTRY}>
          <Clock size={16} aria-hidden className="shrink-0" />
          <span className="flex-1">Outbox</span>
          {outbox.waiting > 0 ? (
            <span className="text-xs font-semibold text-text">
              {outbox.waiting.toLocaleString()}
              <span className="sr-only"> waiting</span>
            </span>
          ) : null}
        </button>
      </nav>
      <select
        aria-label="Folder"
        // By number, because a folder may have any name.
        value={view.by === 'conversation' ? CONVERSATIONS : folders.findIndex(({ name }) => isShown(view, name))}
        onChange={({ target }) => {
          const chosen = Number(target.value);
          const folder = folders[chosen];
          if (chosen === OUTBOX) outbox.onOpen();
          else onView(folder === undefined ? { by: 'conversation' } : { folder: folder.name });
        }}
        className="h-11 w-full rounded-md border border-line-strong bg-panel px-3 text-base sm:hidden"
      >
        <option value={NONE} disabled hidden>
          {view.q === undefined ? `Label ${visibleText(view.label ?? '')}` : 'Search'}
        </option>
        <option value={CONVERSATIONS}>Conversations</option>
        {folders.map(({ id, name, unread }, index) => (
          <option key={id} value={index}>
            {visibleText(name)}
            {unread > 0 ? ` (${unread})` : ''}
          </option>
        ))}
        <option value={OUTBOX}>Outbox{outbox.waiting > 0 ? ` (${outbox.waiting})` : ''}</option>
      </select>
    </>
  );
}
