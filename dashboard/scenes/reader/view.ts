import { visibleText } from '../../components/mail/unseen-characters.ts';

/** What the list shows, as the address of the page says it. */
export interface View {
  /** Name of a folder. */
  readonly folder?: string | undefined;
  readonly label?: string | undefined;
  /** Words that are searched for. */
  readonly q?: string | undefined;
  /** Conversations of all folders instead of the messages of one. */
  readonly by?: 'conversation' | undefined;
}

/** The address of the page: the view, and the message that is open beside it. */
export interface ReaderSearch extends View {
  /** Message that is open. */
  readonly open?: string | undefined;
  /** Draft that is written. */
  readonly compose?: string | undefined;
}

const INBOX = 'INBOX';

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined;

/** Undefined, not absent: the raw address would show through. */
export const readerSearch = (search: Readonly<Record<string, unknown>>): ReaderSearch => ({
  folder: text(search['folder']),
  label: text(search['label']),
  q: text(search['q']),
  by: search['by'] === 'conversation' ? 'conversation' : undefined,
  open: text(search['open']),
  compose: text(search['compose']),
});

/** The view of an address: the inbox, where nothing else is asked for. */
export function viewOf({ folder, label, q, by }: ReaderSearch): View {
  if (q !== undefined) return { q, folder };
  if (label !== undefined) return { label };
  return by === 'conversation' ? { by } : { folder: folder ?? INBOX };
}

export function titleOf({ folder, label, q, by }: View): string {
  if (q !== undefined) return 'Search';
  if (label !== undefined) return `Label ${visibleText(label)}`;
  return by === 'conversation' ? 'Conversations' : visibleText(folder ?? INBOX);
}
