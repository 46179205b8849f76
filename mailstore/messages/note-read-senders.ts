/**
 * Notes whose mail was read with a token, because that mail may have told the reader what to send
 * (`sending/consent/unknown-senders-read.ts` decides by it).
 *
 *   token of a mailbox, API key ─▶ messages that others wrote ─▶ their authors ─▶ not noted within the last minute
 *     ─▶ one statement
 *
 * It is written before the answer leaves, so nobody sends between the two. A reading within a minute of the last one is
 * not noted again, so the reader of the rows adds that minute. Mailboxes in which nobody is asked cost one query a minute.
 */
import type { Sql } from '#db/database.ts';
import { READ_NOTED_AGAIN_SECONDS } from '#domain/sending/unknown-senders.ts';
import { isProvenAuthor, onlyAuthor } from '#mailstore/delivery/proven-author.ts';
import type { StoredMessage } from './read-messages.ts';

/** With what mail is read: the id of an API key, or {@link OWN_TOKEN}. */
export type MailReader = string;
/** Any token of the mailbox itself. */
export const OWN_TOKEN: MailReader = '';

/** What is known of a message that somebody reads. */
export type ReadMail = Pick<StoredMessage, 'mailboxId' | 'threadId' | 'origin' | 'from' | 'auth'>;

/** An author as the rows name it. */
interface SenderRead {
  readonly mailbox_id: string;
  readonly author: string;
  readonly proven: boolean;
  readonly thread_id: string;
}

/** Longer ones are no address; nobody can be asked to trust them. */
const AUTHOR_MAX_CHARACTERS = 320;

/** @returns undefined: the mailbox wrote it, or this service */
export function senderOf({ mailboxId, threadId, origin, from, auth }: ReadMail): SenderRead | undefined {
  if (origin !== 'smtp' && origin !== 'local' && origin !== 'append') return undefined;
  const only = onlyAuthor(from);
  const author = only.length > AUTHOR_MAX_CHARACTERS ? '' : only;
  // What a client filed or a person imported was never checked: its author is who it says.
  const proven = origin === 'append' ? author !== '' : isProvenAuthor(author, auth);
  return { mailbox_id: mailboxId, author, proven, thread_id: threadId };
}

const KEPT_MAX = 50_000;

/** What this process did within the last minute. */
class LastMinute<Value> {
  readonly #kept = new Map<string, { readonly atMs: number; readonly value: Value }>();

  get(key: string): Value | undefined {
    const found = this.#kept.get(key);
    return found === undefined || found.atMs < performance.now() - READ_NOTED_AGAIN_SECONDS * 1_000
      ? undefined
      : found.value;
  }

  set(key: string, value: Value): void {
    if (this.#kept.size >= KEPT_MAX) this.#kept.clear();
    this.#kept.set(key, { atMs: performance.now(), value });
  }
}

/** Of each database. */
const memories = new WeakMap<Sql, { readonly noted: LastMinute<true>; readonly asks: LastMinute<boolean> }>();

function memoryOf(sql: Sql) {
  const known = memories.get(sql) ?? { noted: new LastMinute<true>(), asks: new LastMinute<boolean>() };
  memories.set(sql, known);
  return known;
}

/** Those of the mailboxes in which a person is asked after reading. */
async function askingAmong(sql: Sql, mailboxIds: readonly string[]): Promise<ReadonlySet<string>> {
  const { asks } = memoryOf(sql);
  const unknown = [...new Set(mailboxIds)].filter((id) => asks.get(id) === undefined);
  const rows = unknown.length === 0 ? [] : await sql.query<{ id: string }>(ASKING, [unknown]);
  const found = new Set(rows.map(({ id }) => id));
  for (const id of unknown) asks.set(id, found.has(id));
  return new Set(mailboxIds.filter((id) => found.has(id) || asks.get(id) === true));
}

const ASKING = `
  select x.id from mailboxes x join organizations o on o.id = x.organization_id
   where x.id = any($1::text[])
     and coalesce(x.ask_after_reading_minutes, (o.settings ->> 'askAfterReadingMinutes')::int, 0) > 0`;

export async function noteReadSenders(sql: Sql, reader: MailReader, messages: readonly ReadMail[]): Promise<void> {
  const { noted } = memoryOf(sql);
  const due = new Map<string, SenderRead>();
  for (const message of messages) {
    const sender = senderOf(message);
    if (sender === undefined) continue;
    const { mailbox_id: mailboxId, thread_id: threadId, proven, author } = sender;
    const key = `${reader} ${mailboxId} ${threadId} ${proven} ${author}`;
    if (noted.get(key) === undefined) due.set(key, sender);
  }
  if (due.size === 0) return;
  const asking = await askingAmong(
    sql,
    [...due.values()].map(({ mailbox_id: id }) => id),
  );
  const senders = [...due.values()].filter(({ mailbox_id: id }) => asking.has(id));
  if (senders.length === 0) return;
  await sql.query(NOTE, [reader, JSON.stringify(senders)]);
  for (const key of due.keys()) noted.set(key, true);
}

/** In one order, so that two processes do not wait for each other. */
const NOTE = `
  insert into sender_read as r (mailbox_id, reader, author, proven, thread_id, read_at)
  select g.mailbox_id, $1, g.author, g.proven, g.thread_id, now()
    from json_to_recordset($2::json) as g (mailbox_id text, author text, proven bool, thread_id text)
   order by 1, 3, 4, 5
  on conflict (mailbox_id, reader, author, proven, thread_id) do update set read_at = excluded.read_at
   where r.read_at < excluded.read_at`;

/** The same, of messages of these mailboxes of which only the ids are at hand. */
export async function noteReadMessages(
  sql: Sql,
  reader: MailReader,
  mailboxIds: readonly string[],
  messageIds: readonly string[],
): Promise<void> {
  const { noted } = memoryOf(sql);
  const due = messageIds.filter((id) => noted.get(`${reader} ${id}`) === undefined);
  if (due.length === 0) return;
  const asking = await askingAmong(sql, mailboxIds);
  if (asking.size === 0) return;
  const rows = await sql.query<ReadMail>(
    `select mailbox_id as "mailboxId", thread_id as "threadId", origin, from_addresses as "from", auth
       from message where mailbox_id = any($1::text[]) and id = any($2::text[])`,
    [[...asking], due],
  );
  await noteReadSenders(sql, reader, rows);
  for (const id of due) noted.set(`${reader} ${id}`, true);
}
