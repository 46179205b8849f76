/**
 * The rows of a batch of new messages, in one statement.
 *
 * All bytes are sent as one binary parameter that rows point into, because the driver would send an array of bytea as
 * hexadecimal text; all other columns are sent as one JSON text. Digests of attachments are compared with those of all
 * stored mail: where an attachment comes from.
 */

import type { NewEvent } from '#core/events/record-event.ts';
import type { Sql } from '#db/database.ts';
import { MAIL_FLAGS } from '#domain/mail/mail-flags.ts';
import { MESSAGE_MEMORY_MAX_BYTES } from '#domain/mail/mail-limits.ts';
import type { CounterRow, FolderRow } from '#mailstore/folders/lock-folders.ts';
import type { MessageContent, ReadMessage } from '#mime/read-message.ts';
import type { AuthenticationResults } from './authentication-results.ts';
import type { ListedHeader, Recipient } from './recipients.ts';
import type { FoundThreads, ThreadRefs } from './threads.ts';

/** SHA-256 of decoded parts, hexadecimal. */
interface PartDigests {
  readonly files: readonly string[];
  /** Of parts that are shown as text: what they contain may be a file all the same. */
  readonly texts: readonly string[];
}

/**
 * Whether one of these parts is an attachment of a message of the organization, or is a whole message, other than
 * those excepted. Mail that was deleted counts. While stored mail of an earlier version is still to be read, the answer
 * for files is yes.
 */
export async function cameFromOtherMail(
  sql: Sql,
  organizationId: string,
  { files, texts }: PartDigests,
  exceptMessageIds: readonly string[],
): Promise<boolean> {
  const digests = [...files, ...texts];
  if (digests.length === 0) return false;
  const [row] = await sql.query<{ found: boolean }>(FOUND, [
    organizationId,
    digests,
    exceptMessageIds,
    files.length > 0,
  ]);
  return row?.found !== false;
}

const FOUND = `
  with given as (select decode(digest, 'hex') as digest from unnest($2::text[]) as digest)
  select exists (
           select from given join attachment_digest d on d.organization_id = $1 and d.digest = given.digest
            where d.message_id <> all($3::text[]))
      or exists (
           select from given join message m on m.blob = given.digest join mailboxes x on x.id = m.mailbox_id
            where x.organization_id = $1 and m.id <> all($3::text[]))
      or $4::bool and exists (
           select from message m join mailboxes x on x.id = m.mailbox_id
            where m.text_status = 'due' and x.organization_id = $1 and m.attachments <> '[]') as found`;

/** The origin of a message; `message.origin`. */
export type MessageOrigin = 'smtp' | 'local' | 'submission' | 'append' | 'draft' | 'system';

/** Origins of mail that others wrote. */
const CAME_IN: ReadonlySet<MessageOrigin> = new Set(['smtp', 'local']);

/** A message as it will be stored, the same for all its recipients. Everything about it is computed before any lock. */
export interface NewMessage {
  /** Empty if the blob is stored already. */
  readonly bytes: Buffer;
  readonly size: number;
  /** SHA-256 of its bytes. */
  readonly blobKey: Buffer;
  /** Its blob is stored already, in a row that nobody deletes meanwhile. Default: no. */
  readonly stored?: boolean;
  readonly read: ReadMessage;
  readonly refs: ThreadRefs;
  readonly listed: ListedHeader;
  readonly origin: MessageOrigin;
  readonly receivedAt: Date;
  readonly auth: AuthenticationResults | null;
}

/** A message that was received as mail. */
export interface IncomingMessage extends NewMessage {
  /** All of them, whatever the size. */
  readonly bytes: Buffer;
  /** Envelope sender, empty for the null sender. */
  readonly envelopeFrom: string;
}

/** One recipient mailbox of a message. */
export interface LocalDelivery {
  readonly recipient: Recipient;
  /** Address as given in RCPT, plus-tag included. */
  readonly deliveredTo: string;
  readonly folderId: number;
  readonly labels: readonly string[];
  /** Hex hash that recognizes a redelivery; undefined if that is not possible. */
  readonly deliveryHash: string | undefined;
  /** Id the message has already; default: a new one. */
  readonly messageId?: string;
  /** Bits of `domain/mail/mail-flags.ts`; default: none. */
  readonly flags?: number;
}

/** A message for all its recipients here: either all of them get it, or none. */
export interface DeliveryWrite {
  readonly message: IncomingMessage;
  /** One per mailbox. */
  readonly deliveries: readonly LocalDelivery[];
  /** Makes the event of one delivery; ids are known only in the transaction. Null: there is none. */
  event(delivery: LocalDelivery, messageId: string, threadId: string): NewEvent | null;
}

export interface Delivered {
  readonly mailboxId: string;
  readonly messageId: string;
  /** Null if nothing was stored. */
  readonly threadId: string | null;
  /** The same message had been delivered before; nothing was stored. */
  readonly duplicate: boolean;
}

/** Expected outcomes are values; everything else throws. */
export type DeliveryOutcome =
  | { readonly kind: 'delivered'; readonly deliveries: readonly Delivered[] }
  | { readonly kind: 'over-quota'; readonly mailboxId: string }
  /** Suspended or deleted since it was looked up. */
  | { readonly kind: 'mailbox-closed'; readonly mailboxId: string };

/** `message_content.extracts`. */
export type ContentExtracts = Pick<MessageContent, 'codes' | 'links'> & {
  /** Null: the whole text, without blanks at its ends. */
  readonly reply: string | null;
};

export const extractsOf = ({ text, reply, codes, links }: MessageContent): ContentExtracts => ({
  reply: reply === text.trim() ? null : reply,
  codes,
  links,
});

/** A new message in its folder. UIDs of a folder are given in the order of the batch, without gaps. */
export interface PlacedMessage {
  readonly message: NewMessage;
  readonly mailboxId: string;
  readonly folderId: number;
  readonly messageId: string;
  readonly threadId: string;
  readonly uid: number;
  /** Bits of `domain/mail/mail-flags.ts`. */
  readonly flags: number;
  readonly keywords: readonly string[];
  readonly internalDate: Date;
  /** Zone it was given in, minutes east of UTC. Default: UTC. */
  readonly internalOffsetMinutes?: number;
  /** Sender and recipient of the envelope; null for messages that were not received as mail. */
  readonly envelopeFrom: string | null;
  readonly deliveredTo: string | null;
}

/** Whether a message's blob is stored before the write transaction, so that no lock waits for its bytes. */
export const isStoredAhead = ({ size, bytes }: NewMessage): boolean =>
  size > MESSAGE_MEMORY_MAX_BYTES || bytes.length < size;

interface ByteRange {
  /** 1-based, as SQL counts. */
  readonly from: number;
  readonly length: number;
}

class ByteParameter {
  #chunks: Buffer[] = [];
  #length = 0;

  add(bytes: Buffer): ByteRange {
    const range = { from: this.#length + 1, length: bytes.length };
    this.#chunks.push(bytes);
    this.#length += bytes.length;
    return range;
  }

  value(): Buffer {
    return Buffer.concat(this.#chunks, this.#length);
  }
}

/**
 * Files messages under locks on their folders and counters, whose rows it updates to the new state. The caller has
 * already assigned the UIDs and added to `bytes_used`.
 */
export async function insertMessages(
  sql: Sql,
  placed: readonly PlacedMessage[],
  folders: ReadonlyMap<number, FolderRow>,
  counters: ReadonlyMap<string, CounterRow>,
  threads: FoundThreads,
): Promise<void> {
  const bytes = new ByteParameter();
  const blobs = new Map<string, object>();
  const shared = new Map<
    NewMessage,
    Record<'envelope' | 'structure' | 'body' | 'extracts' | 'header' | 'longHeader', ByteRange>
  >();
  const log = logRows(placed, folders, counters);
  const seqs = new Map(log.map(({ folder_id, seq }) => [folder_id, seq]));
  const messages = placed.map((each) => {
    const { message } = each;
    const key = message.blobKey.toString('hex');
    if (!blobs.has(key) && message.stored !== true && !isStoredAhead(message)) {
      const { from, length } = bytes.add(message.bytes);
      blobs.set(key, { key, at: from, size: length });
    }
    let ranges = shared.get(message);
    if (ranges === undefined) {
      const { envelope, bodyStructure, content } = message.read;
      ranges = {
        envelope: bytes.add(envelope),
        structure: bytes.add(bodyStructure),
        body: bytes.add(Buffer.from(content.text)),
        extracts: bytes.add(Buffer.from(JSON.stringify(extractsOf(content)))),
        header: bytes.add(message.listed.lines),
        longHeader: bytes.add(message.listed.longLines),
      };
      shared.set(message, ranges);
    }
    const { read } = message;
    return {
      id: each.messageId,
      mailbox_id: each.mailboxId,
      blob: key,
      thread_id: each.threadId,
      origin: message.origin,
      received_at: message.receivedAt,
      sent_at: read.sentAt ?? null,
      sent_offset_minutes: read.sentOffsetMinutes,
      size: message.size,
      envelope_from: each.envelopeFrom,
      delivered_to: each.deliveredTo,
      message_id_header: read.messageId ?? null,
      from_addresses: read.from,
      to_addresses: read.to,
      cc_addresses: read.cc,
      subject: read.subject,
      preview: read.preview,
      envelope_at: ranges.envelope.from,
      envelope_length: ranges.envelope.length,
      structure_at: ranges.structure.from,
      structure_length: ranges.structure.length,
      body_at: ranges.body.from,
      body_length: ranges.body.length,
      extracts_at: ranges.extracts.from,
      extracts_length: ranges.extracts.length,
      header_at: ranges.header.from,
      header_length: ranges.header.length,
      long_header_at: ranges.longHeader.from,
      long_header_length: ranges.longHeader.length,
      envelope_text: message.listed.envelopeText,
      text_status: read.content.status,
      parts: read.parts,
      attachments: read.attachments,
      auth: message.auth,
      signals: CAME_IN.has(message.origin) ? read.examined.signals : null,
      folder_id: each.folderId,
      uid: each.uid,
      modseq: (folders.get(each.folderId)?.modseq ?? 0) + 1,
      flags: each.flags,
      keywords: each.keywords,
      internal_date: each.internalDate,
      internal_offset_minutes: each.internalOffsetMinutes ?? 0,
      arrived_seq: seqs.get(each.folderId) ?? 0,
    };
  });
  const lists = [
    messages,
    [...blobs.values()],
    folderChanges(placed, folders),
    counterChanges(placed, counters),
    threads.ids,
    threads.subjects,
    log,
  ];
  await sql.query(INSERT_MESSAGES, [
    bytes.value(),
    ...lists.map((list) => JSON.stringify(list)),
    [...new Set(placed.map(({ folderId }) => folderId))],
    [...new Set(placed.map(({ mailboxId }) => mailboxId))],
    JSON.stringify(placed.flatMap(digestsOf)),
  ]);
  for (const { mailbox_id, seq, folder_id, modseq } of log) {
    const [folder, counter] = [folders.get(folder_id), counters.get(mailbox_id)];
    if (folder !== undefined) folder.modseq = modseq;
    if (counter !== undefined) counter.change_seq = seq;
  }
}

/** Drafts have none: they are the writer's own, and each save is a new message. */
const digestsOf = ({ message, mailboxId, messageId, flags }: PlacedMessage) =>
  message.origin === 'draft' || (flags & MAIL_FLAGS.draft) !== 0
    ? []
    : message.read.attachmentDigests.map((digest) => ({ mailbox_id: mailboxId, message_id: messageId, digest }));

function folderChanges(placed: readonly PlacedMessage[], folders: ReadonlyMap<number, FolderRow>) {
  return [...groupBy(placed, ({ folderId }) => folderId)].map(([id, group]) => ({
    id,
    uid_next: folders.get(id)?.uid_next,
    modseq: (folders.get(id)?.modseq ?? 0) + 1,
    count: group.length,
    unseen: group.filter(({ flags }) => (flags & MAIL_FLAGS.seen) === 0).length,
    deleted: group.filter(({ flags }) => (flags & MAIL_FLAGS.deleted) !== 0).length,
    bytes: group.reduce((sum, { message }) => sum + message.size, 0),
  }));
}

function counterChanges(placed: readonly PlacedMessage[], counters: ReadonlyMap<string, CounterRow>) {
  return [...groupBy(placed, ({ mailboxId }) => mailboxId)].map(([mailboxId, group]) => ({
    mailbox_id: mailboxId,
    bytes_used: counters.get(mailboxId)?.bytes_used,
    count: group.length,
    changes: new Set(group.map(({ folderId }) => folderId)).size,
  }));
}

/** One row per folder; UIDs of a batch are consecutive. */
function logRows(
  placed: readonly PlacedMessage[],
  folders: ReadonlyMap<number, FolderRow>,
  counters: ReadonlyMap<string, CounterRow>,
) {
  const nextSeq = new Map<string, number>();
  return [...groupBy(placed, ({ folderId }) => folderId)].map(([folderId, group]) => {
    const mailboxId = group[0]?.mailboxId ?? '';
    const seq = nextSeq.get(mailboxId) ?? (counters.get(mailboxId)?.change_seq ?? 0) + 1;
    nextSeq.set(mailboxId, seq + 1);
    return {
      mailbox_id: mailboxId,
      seq,
      folder_id: folderId,
      modseq: (folders.get(folderId)?.modseq ?? 0) + 1,
      uids: `{[${group[0]?.uid},${group.at(-1)?.uid}]}`,
    };
  });
}

function groupBy<Key, Item>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

/**
 * A list is a parameter of its own: PostgreSQL reads a JSON text from its beginning each time it is named. It takes each
 * for one of 100 rows; the ids as arrays make it look up folders and counters by their keys, not read all of them.
 */
const INSERT_MESSAGES = `
  with incoming as materialized (
    select m.* from json_to_recordset($2::json) as m (
      id text, mailbox_id text, blob text, thread_id text, origin text, received_at timestamptz, sent_at timestamptz,
      sent_offset_minutes smallint, size int, envelope_from text, delivered_to text, message_id_header text, from_addresses jsonb,
      to_addresses jsonb, cc_addresses jsonb, subject text, preview text, envelope_at int, envelope_length int,
      structure_at int, structure_length int, body_at int, body_length int, extracts_at int, extracts_length int,
      header_at int, header_length int, long_header_at int, long_header_length int, envelope_text text,
      text_status text, parts jsonb, attachments jsonb, auth jsonb, signals jsonb, folder_id bigint,
      uid bigint, modseq bigint, flags int, keywords text[], internal_date timestamptz,
      internal_offset_minutes smallint, arrived_seq bigint)
  ), new_blob as (
    insert into blob (sha256, size, bytes)
    select decode(key, 'hex'), size, substring($1::bytea from at for size)
      from json_to_recordset($3::json) as b (key text, at int, size int)
     order by key
    on conflict do nothing
  ), new_message as (
    insert into message (id, mailbox_id, blob, thread_id, origin, received_at, sent_at, sent_offset_minutes, size, envelope_from,
      delivered_to, message_id_header, from_addresses, to_addresses, cc_addresses, subject, preview, envelope,
      bodystructure, parts, attachments, auth, signals, arrived_seq, text_status)
    select id, mailbox_id, decode(blob, 'hex'), thread_id, origin, received_at, sent_at, sent_offset_minutes, size, envelope_from,
      delivered_to, message_id_header, from_addresses, to_addresses, cc_addresses, subject, preview,
      substring($1::bytea from envelope_at for envelope_length),
      substring($1::bytea from structure_at for structure_length), parts, attachments, auth, signals, arrived_seq, text_status
      from incoming
  ), new_content as (
    insert into message_content (message_id, body, extracts)
    select id, convert_from(substring($1::bytea from body_at for body_length), 'UTF8'),
           convert_from(substring($1::bytea from extracts_at for extracts_length), 'UTF8')::jsonb
      from incoming
  ), new_digest as (
    insert into attachment_digest (organization_id, digest, message_id)
    select x.organization_id, decode(d.digest, 'hex'), d.message_id
      from json_to_recordset($11::json) as d (mailbox_id text, message_id text, digest text)
      join mailboxes x on x.id = d.mailbox_id
     order by 1, 2, 3
    on conflict do nothing
  ), new_placement as (
    insert into placement (folder_id, uid, message_id, internal_date, internal_offset_minutes, save_date, size,
      header_lines, long_header_lines, envelope_text, sent_at)
    select folder_id, uid, id, internal_date, internal_offset_minutes, now(), size,
           substring($1::bytea from header_at for header_length),
           substring($1::bytea from long_header_at for long_header_length), envelope_text, sent_at
      from incoming
  ), new_state as (
    insert into placement_state (folder_id, uid, flags, keywords, modseq)
    select folder_id, uid, flags, keywords, modseq from incoming
  ), new_keyword as (
    insert into mail_keyword (mailbox_id, key, keyword)
    select mailbox_id, lower(keyword), keyword from incoming, unnest(keywords) as keyword
    on conflict do nothing
  ), changed_folder as (
    update folder set uid_next = f.uid_next, modseq = f.modseq, total = total + f.count, unseen = folder.unseen + f.unseen,
           deleted = folder.deleted + f.deleted, bytes = folder.bytes + f.bytes
      from json_to_recordset($4::json) as f (
        id bigint, uid_next bigint, modseq bigint, count int, unseen int, deleted int, bytes bigint)
     where folder.id = f.id and folder.id = any($9::bigint[])
  ), changed_counter as (
    update mailbox_counter set bytes_used = c.bytes_used, messages = messages + c.count,
           change_seq = change_seq + c.changes
      from json_to_recordset($5::json) as c (mailbox_id text, bytes_used bigint, count int, changes int)
     where mailbox_counter.mailbox_id = c.mailbox_id and mailbox_counter.mailbox_id = any($10::text[])
  ), new_thread_id as (
    insert into thread_ref (mailbox_id, ref_hash, thread_id)
    select mailbox_id, decode(ref_hash, 'hex'), thread_id
      from json_to_recordset($6::json) as t (mailbox_id text, ref_hash text, thread_id text)
    on conflict do nothing
  ), new_thread_subject as (
    insert into thread_ref (mailbox_id, ref_hash, thread_id)
    select mailbox_id, decode(ref_hash, 'hex'), thread_id
      from json_to_recordset($7::json) as t (mailbox_id text, ref_hash text, thread_id text)
    on conflict (mailbox_id, ref_hash) do update set thread_id = excluded.thread_id, seen_at = excluded.seen_at
  )
  insert into change_log (mailbox_id, seq, folder_id, modseq, kind, uids)
  select mailbox_id, seq, folder_id, modseq, 'added', uids
    from json_to_recordset($8::json) as l (mailbox_id text, seq bigint, folder_id bigint, modseq bigint, uids int8multirange)`;
