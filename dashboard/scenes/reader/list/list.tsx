import { Flag, Paperclip } from 'lucide-react';
import type { ReactNode } from 'react';
import { ScrolledRows } from '../../../components/lists/scrolled-rows.tsx';
import type { SteadyRows } from '../../../components/lists/steady-rows.ts';
import { ForeignText } from '../../../components/mail/foreign-text.tsx';
import { withoutUnseen } from '../../../components/mail/unseen-characters.ts';
import { Time } from '../../../components/shown/time.tsx';
import { type Highlight, type Row, shortName } from '../rows.ts';

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
