import { bodyOf, type Schemas, service } from '../../api/client.ts';
import { visibleText } from '../../components/mail/unseen-characters.ts';

export type Summary = Schemas['MessageSummary'];
export type Highlight = Schemas['SearchHighlight'];

/** A row of the list: a message, or a conversation under its newest message. */
export interface Row {
  readonly key: string;
  /** Message that opens. */
  readonly id: string;
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly subject: string;
  readonly preview: string;
  readonly at: string;
  readonly unread: boolean;
  readonly flagged: boolean;
  readonly attachments: number;
  readonly labels: readonly string[];
  readonly folders: readonly string[];
  readonly messages: number;
  readonly highlights: readonly Highlight[];
}

export interface Rows {
  readonly rows: readonly Row[];
  readonly nextCursor: string | null;
}

const PAGE_LENGTH = 100;
/** Search reads the texts it finds. */
const SEARCH_PAGE_LENGTH = 50;

export const rowOf = (message: Summary, highlights: readonly Highlight[] = []): Row => ({
  key: message.id,
  id: message.id,
  from: message.from === null ? [] : [message.from],
  to: [...message.to, ...message.cc],
  subject: message.subject,
  preview: message.preview,
  at: message.receivedAt,
  unread: !message.seen,
  flagged: message.flagged,
  attachments: message.attachments.filter(({ inline }) => !inline).length,
  labels: message.labels,
  folders: message.folders,
  messages: 1,
  highlights,
});

const rowOfThread = (thread: Schemas['ThreadSummary']): Row => ({
  key: thread.id,
  id: thread.newestMessageId,
  from: thread.senders,
  to: [],
  subject: thread.subject,
  preview: thread.preview,
  at: thread.newestAt,
  unread: thread.unreadCount > 0,
  flagged: false,
  attachments: 0,
  labels: [],
  folders: [],
  messages: thread.messageCount,
  highlights: [],
});

/** One page of a view. @param cursor '': the first one */
export async function loadRows(id: string, { folder, label, q, by }: View, cursor: string): Promise<Rows> {
  const path = { id };
  const page = { limit: q === undefined ? PAGE_LENGTH : SEARCH_PAGE_LENGTH, ...(cursor === '' ? {} : { cursor }) };
  const inFolder = folder === undefined ? {} : { folder };
  if (q !== undefined) {
    const query = { ...page, ...inFolder, q };
    const found = await bodyOf(service.GET('/api/mailboxes/{id}/messages/search', { params: { path, query } }));
    return { rows: found.data.map((hit) => rowOf(hit, hit.highlights)), nextCursor: found.nextCursor };
  }
  if (by === 'conversation') {
    const found = await bodyOf(service.GET('/api/mailboxes/{id}/threads', { params: { path, query: page } }));
    return { rows: found.data.map(rowOfThread), nextCursor: found.nextCursor };
  }
  const query = { ...page, ...(label === undefined ? { folder: folder ?? '*' } : { ...inFolder, label }) };
  const found = await bodyOf(service.GET('/api/mailboxes/{id}/messages', { params: { path, query } }));
  return { rows: found.data.map((message) => rowOf(message)), nextCursor: found.nextCursor };
}

/** The parts of `Name <a@b.c>` or `a@b.c`. */
function partsOf(address: string): { readonly name: string; readonly address: string } {
  const found = /^\s*"?(.*?)"?\s*<([^<>]*)>\s*$/s.exec(address);
  if (found === null) return { name: '', address };
  return { name: (found[1] ?? '').replaceAll('\\"', '"'), address: found[2] ?? '' };
}

/** What a list has room for: the name, else the address. */
export function shortName(address: string): string {
  const parts = partsOf(address);
  return parts.name === '' ? parts.address : parts.name;
}

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
