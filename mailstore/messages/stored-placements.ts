/** The messages of a folder with all that an export writes, in the order of their UIDs. */
import type { Sql } from '#db/database.ts';
import { type BlobSource, readBlob, readMessages } from '#mailstore/blobs/blob-store.ts';

export interface StoredPlacement {
  readonly uid: number;
  readonly messageId: string;
  readonly threadId: string;
  readonly blob: Buffer;
  readonly size: number;
  /** Bits of `domain/mail/mail-flags.ts`. */
  readonly flags: number;
  readonly keywords: readonly string[];
  readonly internalDate: Date;
  readonly internalOffsetMinutes: number;
  readonly receivedAt: Date;
  readonly origin: string;
  readonly envelopeFrom: string | null;
  readonly deliveredTo: string | null;
  /** What was found about the sender when it arrived. */
  readonly auth: unknown;
}

const PORTION = 100;
/** Contents up to this size are read together. */
const TOGETHER_MAX_BYTES = 65_536;

/** @param after UIDs above this one; holds no connection between portions */
export async function* storedPlacements(
  source: BlobSource,
  mailboxId: string,
  folderId: number,
  after: number,
): AsyncGenerator<StoredPlacement & { readonly bytes: Buffer }> {
  for (let last = after; ; ) {
    const rows = await source.query<StoredPlacement>(PLACEMENTS, [mailboxId, folderId, last, PORTION]);
    const small = await readMessages(
      source,
      mailboxId,
      rows.map(({ messageId }) => messageId),
      TOGETHER_MAX_BYTES,
    );
    for (const row of rows) {
      const bytes = small.get(row.messageId) ?? (await readBlob(source, row.blob, 0, row.size));
      if (bytes.length === row.size) yield { ...row, bytes }; // otherwise it was deleted meanwhile
      last = row.uid;
    }
    if (rows.length < PORTION) return;
  }
}

/** Messages above a UID in a folder of this mailbox, and their bytes. */
export async function placementsAfter(
  sql: Sql,
  mailboxId: string,
  folderId: number,
  after: number,
): Promise<{ readonly count: number; readonly bytes: number }> {
  const [row] = await sql.query<{ count: number; bytes: number }>(COUNT, [mailboxId, folderId, after]);
  return row ?? { count: 0, bytes: 0 };
}

const PLACEMENTS = `
  select p.uid, p.message_id as "messageId", m.thread_id as "threadId", m.blob, m.size, s.flags, s.keywords,
         p.internal_date as "internalDate", p.internal_offset_minutes as "internalOffsetMinutes",
         m.received_at as "receivedAt", m.origin, m.envelope_from as "envelopeFrom", m.delivered_to as "deliveredTo", m.auth
    from folder f join placement p on p.folder_id = f.id
    join placement_state s on s.folder_id = p.folder_id and s.uid = p.uid
    cross join lateral (select * from message where id = p.message_id offset 0) m
   where f.mailbox_id = $1 and f.id = $2 and m.mailbox_id = $1 and p.uid > $3
   order by p.uid limit $4`;

const COUNT = `
  select count(*) as count, coalesce(sum(p.size), 0)::bigint as bytes
    from folder f join placement p on p.folder_id = f.id where f.mailbox_id = $1 and f.id = $2 and p.uid > $3`;
