import type { Sql } from '#db/database.ts';
import { firstIdAt } from '#domain/ids.ts';
import { DELIVERY_STATUSES, type DeliveryStatus } from '#domain/webhooks/delivery-status.ts';

export interface UsageDay {
  /** `YYYY-MM-DD`, UTC. */
  readonly date: string;
  /** Mailboxes there at the end of the day. */
  readonly mailboxes: number;
  readonly messagesIn: number;
  readonly messagesOut: number;
  /** Bytes of the messages that were received and sent. */
  readonly messageBytes: number;
  /** Deliveries created that day, by their status now. */
  readonly deliveries: Readonly<Record<DeliveryStatus, number>>;
}

export interface Usage {
  readonly mailboxes: number;
  readonly messages: number;
  readonly storageBytes: number;
  readonly days: readonly UsageDay[];
}

const DAY_MS = 86_400_000;

const TOTALS = /* sql */ `
  select count(*)::int as mailboxes, coalesce(sum(c.messages), 0)::float8 as messages,
         coalesce(sum(c.bytes_used), 0)::float8 as bytes
    from mailboxes x left join mailbox_counter c on c.mailbox_id = x.id
   where x.organization_id = $1 and x.deleted_at is null`;

const MAILBOXES = /* sql */ `
  select to_char(d at time zone 'UTC', 'YYYY-MM-DD') as date, count(x.id)::int as count
    from generate_series($2::timestamptz, $3::timestamptz - interval '24 hours', interval '24 hours') as d
    left join mailboxes x on x.organization_id = $1 and x.created_at < d + interval '24 hours'
     and (x.deleted_at is null or x.deleted_at >= d + interval '24 hours')
   group by d`;

/** Received mail is in, submitted mail is out; drafts and appended copies are neither. */
const MESSAGES = /* sql */ `
  select to_char(m.received_at at time zone 'UTC', 'YYYY-MM-DD') as date,
         count(*) filter (where m.origin in ('smtp', 'local'))::int as incoming,
         count(*) filter (where m.origin = 'submission')::int as outgoing,
         sum(m.size)::float8 as bytes
    from mailboxes x join message m on m.mailbox_id = x.id and m.id >= $2 and m.id < $3
   where x.organization_id = $1 and m.origin in ('smtp', 'local', 'submission')
   group by 1`;

/** Over the endpoints, because deliveries are found by endpoint and time-ordered id. */
const DELIVERIES = /* sql */ `
  select to_char(d.created_at at time zone 'UTC', 'YYYY-MM-DD') as date, d.status, count(*)::int as count
    from webhook_endpoints e join deliveries d on d.endpoint_id = e.id and d.id >= $2 and d.id < $3
   where e.organization_id = $1
   group by 1, 2`;

/**
 * What an organization uses now, and day by day (UTC). Deliveries are counted as far back as their history is kept.
 *
 * @param fromMs start of the first day @param toMs end of the last day, exclusive
 */
export async function usage(sql: Sql, organizationId: string, fromMs: number, toMs: number): Promise<Usage> {
  const [totals] = await sql.query<{ mailboxes: number; messages: number; bytes: number }>(TOTALS, [organizationId]);
  const mailboxes = await sql.query<{ date: string; count: number }>(MAILBOXES, [
    organizationId,
    new Date(fromMs).toISOString(),
    new Date(toMs).toISOString(),
  ]);
  const messages = await sql.query<{ date: string; incoming: number; outgoing: number; bytes: number }>(MESSAGES, [
    organizationId,
    firstIdAt('message', fromMs),
    firstIdAt('message', toMs),
  ]);
  const deliveries = await sql.query<{ date: string; status: DeliveryStatus; count: number }>(DELIVERIES, [
    organizationId,
    firstIdAt('delivery', fromMs),
    firstIdAt('delivery', toMs),
  ]);
  const days: UsageDay[] = [];
  for (let day = fromMs; day < toMs; day += DAY_MS) {
    const date = new Date(day).toISOString().slice(0, 10);
    const mail = messages.find((row) => row.date === date);
    const counts = { pending: 0, success: 0, failed: 0, exhausted: 0 } satisfies Record<DeliveryStatus, number>;
    for (const status of DELIVERY_STATUSES)
      counts[status] = deliveries.find((row) => row.date === date && row.status === status)?.count ?? 0;
    days.push({
      date,
      mailboxes: mailboxes.find((row) => row.date === date)?.count ?? 0,
      messagesIn: mail?.incoming ?? 0,
      messagesOut: mail?.outgoing ?? 0,
      messageBytes: mail?.bytes ?? 0,
      deliveries: counts,
    });
  }
  return {
    mailboxes: totals?.mailboxes ?? 0,
    messages: totals?.messages ?? 0,
    storageBytes: totals?.bytes ?? 0,
    days,
  };
}
