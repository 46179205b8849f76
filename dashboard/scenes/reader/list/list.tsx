import {
  Archive,
  Clock,
  FileText,
  Flag,
  Folder as FolderIcon,
  Inbox,
  MessagesSquare,
  Paperclip,
  Send,
  ShieldAlert,
  Trash2,
} from 'lucide-react';
import type { ReactNode } from 'react';
import { ScrolledRows } from '../../../components/lists/scrolled-rows.tsx';
import type { SteadyRows } from '../../../components/lists/steady-rows.ts';
import { ForeignText } from '../../../components/mail/foreign-text.tsx';
import { visibleText, withoutUnseen } from '../../../components/mail/unseen-characters.ts';
import { Time } from '../../../components/shown/time.tsx';
import type { Folder } from '../queries.ts';
import { type Highlight, type Row, shortName, type View } from '../rows.ts';

const ROW_PX = 76;

interface ListProps {
  readonly label: string;
  readonly list: SteadyRows<Row>;
  /** All rows there are, when it is known. */
  readonly total: number | undefined;
  readonly open: string | undefined;
  /** Names recipients instead of senders: in Sent and Drafts. */
  readonly byRecipient: boolean;
  readonly onOpen: (row: Row) => void;
  readonly onNearEnd: () => void;
}

/** The messages of a view. Only rows near those that are seen are in the document. */
export function List({ label, list, total, open, byRecipient, onOpen, onNearEnd }: ListProps) {
  return (
    <ScrolledRows
      label={label}
      list={list}
      keyOf={({ key }) => key}
      idOf={({ id }) => id}
      rowHeight={ROW_PX}
      total={total}
      open={open}
      onNearEnd={onNearEnd}
      className="min-h-0 flex-1"
    >
      {(row) => <ListRow row={row} selected={row.id === open} byRecipient={byRecipient} onOpen={onOpen} />}
    </ScrolledRows>
  );
}

interface RowProps {
  readonly row: Row;
  readonly selected: boolean;
  readonly byRecipient: boolean;
  readonly onOpen: (row: Row) => void;
}

function ListRow({ row, selected, byRecipient, onOpen }: RowProps) {
  const people = (byRecipient ? row.to : row.from).map(shortName).join(', ');
  const [highlight] = row.highlights;
  return (
    <button
      type="button"
      aria-current={selected || undefined}
      onClick={() => onOpen(row)}
      className="grid h-full w-full grid-cols-[8px_minmax(0,1fr)] content-center gap-x-2 px-3 text-left -outline-offset-2 hover:bg-sunken aria-[current]:bg-accent-soft"
    >
      <span aria-hidden className={`mt-1.5 size-2 rounded-full ${row.unread ? 'bg-accent' : ''}`} />
      <span className="grid min-w-0">
        <span className="flex min-w-0 items-baseline gap-2">
          <span className={`min-w-0 flex-1 truncate ${row.unread ? 'font-semibold' : ''}`}>
            {row.unread ? <span className="sr-only">Unread: </span> : null}
            {byRecipient ? 'To ' : ''}
            <ForeignText text={people === '' ? '(nobody)' : people} max={200} />
            {row.messages > 1 ? <span className="font-normal text-muted"> {row.messages}</span> : null}
          </span>
          <Marks row={row} />
          <span className="shrink-0 text-xs text-muted">
            <Time value={row.at} />
          </span>
        </span>
        <span className={`truncate ${row.unread ? 'font-medium' : ''}`}>
          <ForeignText text={row.subject === '' ? '(no subject)' : row.subject} max={300} />
        </span>
        <span className="flex min-w-0 gap-1.5 text-muted">
          {row.labels.slice(0, 2).map((label) => (
            <span key={label} className="max-w-24 shrink-0 truncate rounded bg-sunken px-1.5 text-xs leading-5">
              <ForeignText text={label} />
            </span>
          ))}
          <span className="truncate">
            {highlight === undefined ? <ForeignText text={withoutUnseen(row.preview)} max={200} /> : marked(highlight)}
          </span>
        </span>
      </span>
    </button>
  );
}

function Marks({ row }: { readonly row: Row }) {
  return (
    <>
      {row.flagged ? <Flag size={14} aria-label="Flagged" className="shrink-0 self-center text-wait" /> : null}
      {row.attachments > 0 ? (
        <Paperclip size={14} aria-label="Has attachments" className="shrink-0 self-center text-muted" />
      ) : null}
    </>
  );
}

/** A piece of the text with the words that were searched for. */
function marked({ text, ranges }: Highlight): ReactNode {
  const pieces: ReactNode[] = [];
  let at = 0;
  for (const { start, end } of ranges) {
    pieces.push(<ForeignText key={`${at} text`} text={text.slice(at, start)} />);
    pieces.push(
      <mark key={`${start} mark`} className="rounded-sm bg-wait-soft text-text">
        <ForeignText text={text.slice(start, end)} />
      </mark>,
    );
    at = end;
  }
  pieces.push(<ForeignText key={`${at} rest`} text={text.slice(at)} />);
  return pieces;
}

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
