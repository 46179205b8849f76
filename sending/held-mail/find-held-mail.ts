/** Held mail of an organization, for its members. */
import type { MailAddress } from '@agent-mailbox/mime-structure/addresses';
import type { Sql } from '#db/database.ts';
import type { MessageSignal } from '#domain/mail/message-signals.ts';
import type { HeldReason, HeldState } from '#domain/mail/screening.ts';
import type { Actor } from '#domain/webhooks/event-types.ts';
import type { AuthenticationResults } from '#mailstore/delivery/authentication-results.ts';

export interface HeldMail {
  readonly id: string;
  readonly mailboxId: string;
  readonly mailboxAddress: string;
  readonly state: HeldState;
  readonly reasons: readonly HeldReason[];
  readonly from: readonly MailAddress[];
  readonly envelopeFrom: string;
  readonly subject: string;
  readonly preview: string;
  readonly signals: readonly MessageSignal[];
  readonly auth: AuthenticationResults | null;
  readonly size: number;
  readonly receivedAt: Date;
  readonly decidedAt: Date | null;
}

export interface HeldMailContent extends HeldMail {
  readonly author: string;
  readonly proven: boolean;
  readonly deliveredTo: string;
  readonly actor: Actor | null;
  readonly labels: readonly string[];
  readonly toJunk: boolean;
  /** Hexadecimal. */
  readonly deliveryHash: string | null;
  /** Null: it was decided. */
  readonly bytes: Buffer | null;
}

const COLUMNS = `
  h.id, h.mailbox_id as "mailboxId", x.address as "mailboxAddress", h.state, h.reasons, h.from_addresses as "from",
  h.envelope_from as "envelopeFrom", h.subject, h.preview, h.signals, h.auth, h.size, h.received_at as "receivedAt",
  h.decided_at as "decidedAt"`;
const FROM = `held_arrival h join mailboxes x on x.id = h.mailbox_id and x.deleted_at is null`;

/** Newest first; one more than `limit`. */
export const listHeldMail = (
  sql: Sql,
  organizationId: string,
  filter: { readonly state: HeldState; readonly mailboxId: string | null },
  page: { readonly limit: number; readonly after: string | null },
): Promise<HeldMail[]> =>
  sql.query<HeldMail>(
    `select ${COLUMNS} from ${FROM}
      where h.organization_id = $1 and h.state = $2 and ($3::text is null or h.mailbox_id = $3)
        and ($4::text is null or h.id < $4)
      order by h.id desc limit $5`,
    [organizationId, filter.state, filter.mailboxId, page.after, page.limit + 1],
  );

export async function findHeldMail(sql: Sql, organizationId: string, id: string): Promise<HeldMailContent | undefined> {
  const [row] = await sql.query<HeldMailContent>(
    `select ${COLUMNS}, h.author, h.proven, h.delivered_to as "deliveredTo", h.actor, h.labels, h.to_junk as "toJunk",
            encode(h.delivery_hash, 'hex') as "deliveryHash", h.bytes
       from ${FROM} where h.organization_id = $1 and h.id = $2`,
    [organizationId, id],
  );
  return row;
}
