/**
 * Mail that is held: in a table of its own, outside of its mailbox, so that no query of any protocol finds it. One
 * stranger cannot fill the room of others: what waits is limited for each author, network and mailbox.
 */

import { newId } from '#core/platform/new-id.ts';
import type { Sql } from '#db/database.ts';
import { HELD_PER_AUTHOR, HELD_PER_MAILBOX, HELD_PER_SOURCE, type HeldReason } from '#domain/mail/screening.ts';
import type { Actor } from '#domain/webhooks/event-types.ts';
import type { IncomingMessage, LocalDelivery } from '#mailstore/delivery/insert-messages.ts';
import { authorOf, isProven } from './screen-arrival.ts';

interface HeldDelivery {
  readonly delivery: LocalDelivery;
  readonly reasons: readonly HeldReason[];
}

export interface Holding {
  readonly message: IncomingMessage;
  readonly deliveries: readonly HeldDelivery[];
  /** The network, or the mailbox here, that it came from. */
  readonly source: string;
  /** Whom the event of its release names; null: the author. */
  readonly actor: Actor | null;
}

/** `too-much`: nothing may be committed; the same message may come again later. */
type HoldOutcome =
  | {
      readonly kind: 'held';
      /** By mailbox. */
      readonly ids: ReadonlyMap<string, string>;
    }
  | { readonly kind: 'too-much'; readonly mailboxId: string };

/** Call it inside a transaction, before folders are locked. */
export async function holdArrivals(sql: Sql, holding: Holding): Promise<HoldOutcome> {
  const { message, source, actor } = holding;
  const ids = new Map<string, string>();
  const inOrder = holding.deliveries.toSorted((a, b) =>
    a.delivery.recipient.mailbox.id < b.delivery.recipient.mailbox.id ? -1 : 1,
  );
  for (const { delivery, reasons } of inOrder) {
    const { recipient, deliveryHash = null } = delivery;
    const mailboxId = recipient.mailbox.id;
    // Two at once would both see the room of the last.
    await sql.query(`select pg_advisory_xact_lock(hashtextextended('held mail ' || $1, 0))`, [mailboxId]);
    const [before] = await sql.query<{ id: string }>(SEEN, [mailboxId, deliveryHash]);
    if (before !== undefined) {
      ids.set(mailboxId, before.id);
      continue;
    }
    const { read } = message;
    const [row] = await sql.query<{ id: string }>(HOLD, [
      newId('message', message.receivedAt.getTime()),
      recipient.organization.id,
      mailboxId,
      reasons,
      authorOf(message),
      isProven(message),
      JSON.stringify(read.from),
      message.envelopeFrom,
      delivery.deliveredTo,
      source,
      actor === null ? null : JSON.stringify(actor),
      read.subject,
      read.preview,
      JSON.stringify(read.examined.signals),
      message.auth === null ? null : JSON.stringify(message.auth),
      delivery.labels,
      delivery.folderId === recipient.junkId,
      deliveryHash,
      message.bytes.length,
      message.bytes,
      message.receivedAt,
      ...[HELD_PER_AUTHOR, HELD_PER_SOURCE, HELD_PER_MAILBOX].flatMap(({ messages, bytes }) => [messages, bytes]),
    ]);
    if (row === undefined) return { kind: 'too-much', mailboxId };
    ids.set(mailboxId, row.id);
  }
  return { kind: 'held', ids };
}

/** The client sends again what was held, decided or delivered before. */
const SEEN = `
  select id from held_arrival where mailbox_id = $1 and delivery_hash = decode($2, 'hex')
  union all
  select message_id from delivery_seen where mailbox_id = $1 and delivery_hash = decode($2, 'hex')
  limit 1`;

const HOLD = `
  insert into held_arrival (id, organization_id, mailbox_id, reasons, author, proven, from_addresses, envelope_from,
    delivered_to, source, actor, subject, preview, signals, auth, labels, to_junk, delivery_hash, size, bytes, received_at)
  select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, decode($18, 'hex'), $19::int, $20, $21
    from (
      select count(*) filter (where author = $5 and proven = $6) as of_author,
             coalesce(sum(size) filter (where author = $5 and proven = $6), 0) as bytes_of_author,
             count(*) filter (where source = $10) as of_source,
             coalesce(sum(size) filter (where source = $10), 0) as bytes_of_source,
             count(*) as of_all, coalesce(sum(size), 0) as bytes_of_all
        from held_arrival where mailbox_id = $3 and state = 'held') as waiting
   where of_author < $22::int and bytes_of_author + $19::int <= $23::bigint
     and of_source < $24::int and bytes_of_source + $19::int <= $25::bigint
     and of_all < $26::int and bytes_of_all + $19::int <= $27::bigint
  returning id`;
