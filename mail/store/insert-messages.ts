/**
 * The rows of a batch of new messages, in one statement.
 *
 * All bytes travel as one binary parameter that rows point into, because the driver would send an array of bytea as
 * hexadecimal text; all other columns travel as one JSON text.
 */
import type { Sql } from '../../db/database.ts';
import { MAIL_FLAGS } from '../../domain/mail-flags.ts';
import { MESSAGE_MEMORY_MAX_BYTES } from '../../domain/mail-limits.ts';
import type { NewMessage } from './delivery.ts';
import type { CounterRow, FolderRow } from './lock-folders.ts';
import type { FoundThreads } from './threads.ts';

/** A new message in its folder. UIDs of a folder are given in the order of the batch, without gaps. */
export interface PlacedMessage {
  readonly message: NewMessage;
  readonly mailboxId: string;
  readonly folderId: number;
  readonly messageId: string;
  readonly threadId: string;
  readonly uid: number;
  /** Bits of `domain/mail-flags.ts`. */
  readonly flags: number;
  readonly keywords: readonly string[];
  readonly internalDate: Date;
  /** Sender and recipient of the envelope; null for what did not come as mail. */
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
 * Files messages under locks on their folders and counters, whose rows it takes forward to what is stored then. The
 * caller has already given out the UIDs and added to `bytes_used`.
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
  const shared = new Map<NewMessage, { envelope: ByteRange; structure: ByteRange }>();
  const log = logRows(placed, folders, counters);
  const seqs = new Map(log.map(({ folder_id, seq }) => [folder_id, seq]));
  const messages = placed.map((each) => {
    const { message } = each;
    const key = message.blobKey.toString('hex');
    if (!blobs.has(key) && !isStoredAhead(message)) {
      const { from, length } = bytes.add(message.bytes);
      blobs.set(key, { key, at: from, size: length });
    }
    let ranges = shared.get(message);
    if (ranges === undefined) {
      ranges = { envelope: bytes.add(message.read.envelope), structure: bytes.add(message.read.bodyStructure) };
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
      parts: read.parts,
      attachments: read.attachments,
      auth: message.auth,
      folder_id: each.folderId,
      uid: each.uid,
      modseq: (folders.get(each.folderId)?.modseq ?? 0) + 1,
      flags: each.flags,
      keywords: each.keywords,
      internal_date: each.internalDate,
      arrived_seq: seqs.get(each.folderId) ?? 0,
    };
  });
  await sql.query(INSERT_MESSAGES, [
    bytes.value(),
    JSON.stringify({
      blobs: [...blobs.values()],
      messages,
      folders: folderChanges(placed, folders),
      counters: counterChanges(placed, counters),
      log,
      thread_ids: threads.ids,
      thread_subjects: threads.subjects,
    }),
  ]);
  for (const { mailbox_id, seq, folder_id, modseq } of log) {
    const [folder, counter] = [folders.get(folder_id), counters.get(mailbox_id)];
    if (folder !== undefined) folder.modseq = modseq;
    if (counter !== undefined) counter.change_seq = seq;
  }
}

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

const INSERT_MESSAGES = `
  with incoming as materialized (
    select m.* from json_to_recordset($2::json -> 'messages') as m (
      id text, mailbox_id text, blob text, thread_id text, origin text, received_at timestamptz, sent_at timestamptz,
      sent_offset_minutes smallint,      size int, envelope_from text, delivered_to text, message_id_header text, from_addresses jsonb,
      to_addresses jsonb, cc_addresses jsonb, subject text, preview text, envelope_at int, envelope_length int,
      structure_at int, structure_length int, parts jsonb, attachments jsonb, auth jsonb, folder_id bigint,
      uid bigint, modseq bigint, flags int, keywords text[], internal_date timestamptz, arrived_seq bigint)
  ), new_blob as (
    insert into blob (sha256, size, bytes)
    select decode(key, 'hex'), size, substring($1::bytea from at for size)
      from json_to_recordset($2::json -> 'blobs') as b (key text, at int, size int)
     order by key
    on conflict do nothing
  ), new_message as (
    insert into message (id, mailbox_id, blob, thread_id, origin, received_at, sent_at, sent_offset_minutes, size, envelope_from,
      delivered_to, message_id_header, from_addresses, to_addresses, cc_addresses, subject, preview, envelope,
      bodystructure, parts, attachments, auth, arrived_seq)
    select id, mailbox_id, decode(blob, 'hex'), thread_id, origin, received_at, sent_at, sent_offset_minutes, size, envelope_from,
      delivered_to, message_id_header, from_addresses, to_addresses, cc_addresses, subject, preview,
      substring($1::bytea from envelope_at for envelope_length),
      substring($1::bytea from structure_at for structure_length), parts, attachments, auth, arrived_seq
      from incoming
  ), new_placement as (
    insert into placement (folder_id, uid, message_id, internal_date, save_date, size)
    select folder_id, uid, id, internal_date, now(), size from incoming
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
      from json_to_recordset($2::json -> 'folders') as f (
        id bigint, uid_next bigint, modseq bigint, count int, unseen int, deleted int, bytes bigint)
     where folder.id = f.id
  ), changed_counter as (
    update mailbox_counter set bytes_used = c.bytes_used, messages = messages + c.count,
           change_seq = change_seq + c.changes
      from json_to_recordset($2::json -> 'counters') as c (mailbox_id text, bytes_used bigint, count int, changes int)
     where mailbox_counter.mailbox_id = c.mailbox_id
  ), new_thread_id as (
    insert into thread_ref (mailbox_id, ref_hash, thread_id)
    select mailbox_id, decode(ref_hash, 'hex'), thread_id
      from json_to_recordset($2::json -> 'thread_ids') as t (mailbox_id text, ref_hash text, thread_id text)
    on conflict do nothing
  ), new_thread_subject as (
    insert into thread_ref (mailbox_id, ref_hash, thread_id)
    select mailbox_id, decode(ref_hash, 'hex'), thread_id
      from json_to_recordset($2::json -> 'thread_subjects') as t (mailbox_id text, ref_hash text, thread_id text)
    on conflict (mailbox_id, ref_hash) do update set thread_id = excluded.thread_id, seen_at = excluded.seen_at
  )
  insert into change_log (mailbox_id, seq, folder_id, modseq, kind, uids)
  select mailbox_id, seq, folder_id, modseq, 'added', uids
    from json_to_recordset($2::json -> 'log') as l (mailbox_id text, seq bigint, folder_id bigint, modseq bigint, uids int8multirange)`;
