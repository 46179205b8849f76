/**
 * Figures of the organizations of an instance, for its operator. Each page is bounded: the figures of a time by its
 * length, and what waits by a number above which it is not counted further.
 */
import type { Sql } from '#db/database.ts';
import { firstIdAt } from '#domain/ids.ts';
import type { PlanName } from '#domain/organizations/plans.ts';
import type { SuspendedReceive } from '#domain/organizations/suspension.ts';

export interface TenantFigures {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly plan: PlanName;
  readonly createdAt: Date;
  /** Null: it is not suspended. */
  readonly suspendedAt: Date | null;
  readonly suspendedReceive: SuspendedReceive | null;
  readonly suspendedReason: string | null;
  /** Members, and mailboxes that are not deleted. */
  readonly members: number;
  readonly mailboxes: number;
  /** Of those mailboxes, with all copies. */
  readonly messages: number;
  readonly storageBytes: number;
  /** Since the asked time: received, submitted, and recipients at other hosts that got mail from here. */
  readonly received: number;
  readonly sent: number;
  readonly handedOver: number;
  readonly bounced: number;
  readonly complained: number;
  readonly deliveries: number;
  readonly deliveriesExhausted: number;
  /** What waits now, at most `WAITING_COUNTED_MAX` each. */
  readonly deliveriesWaiting: number;
  readonly outgoingWaiting: number;
}

/** More is not counted. */
export const WAITING_COUNTED_MAX = 100_000;

const FIND = /* sql */ `
  select o.id, o.name, o.slug, o.plan, o.created_at as "createdAt", o.suspended_at as "suspendedAt",
         o.suspended_receive as "suspendedReceive", o.suspended_reason as "suspendedReason",
         (select count(*)::int from members m where m.organization_id = o.id) as members,
         size.mailboxes, size.messages, size.bytes as "storageBytes", mail.received, mail.sent,
         outside."handedOver", outside.bounced, outside.complained,
         deliveries.made as deliveries, deliveries.exhausted as "deliveriesExhausted",
         (select count(*)::int from (
            select from webhook_endpoints e join deliveries d on d.endpoint_id = e.id and d.status in ('pending', 'failed')
             where e.organization_id = o.id limit $5) waiting) as "deliveriesWaiting",
         (select count(*)::int from (
            select from outbound_message w
             where w.organization_id = o.id and w.state in ('held', 'scheduled', 'sending') limit $5) waiting) as "outgoingWaiting"
    from (select * from organizations
           where case when $1::text is null then id > $2 else id = $1 or slug = $1 end order by id limit $3) o
    cross join lateral (
      select count(*)::int as mailboxes, coalesce(sum(c.messages), 0)::float8 as messages,
             coalesce(sum(c.bytes_used), 0)::float8 as bytes
        from mailboxes x left join mailbox_counter c on c.mailbox_id = x.id
       where x.organization_id = o.id and x.deleted_at is null) size
    cross join lateral (
      select count(*) filter (where g.origin in ('smtp', 'local'))::int as received,
             count(*) filter (where g.origin = 'submission')::int as sent
        from mailboxes x join message g on g.mailbox_id = x.id and g.id >= $4
       where x.organization_id = o.id) mail
    cross join lateral (
      select count(*) filter (where r.status in ('sent', 'bounced'))::int as "handedOver",
             count(*) filter (where r.status = 'bounced' and not r.report_shared)::int as bounced,
             count(r.complained_at)::int as complained
        from mailboxes x join outbound_message g on g.mailbox_id = x.id and g.id >= $4
        join outbound_recipient r on r.message_id = g.id
       where x.organization_id = o.id and not r.local) outside
    cross join lateral (
      select count(*)::int as made, count(*) filter (where d.status = 'exhausted')::int as exhausted
        from webhook_endpoints e join deliveries d on d.endpoint_id = e.id and d.id >= $6
       where e.organization_id = o.id) deliveries
   order by o.id`;

/**
 * Oldest first; one more than `limit`. @param sinceMs Unix time from which mail and deliveries are counted
 */
export const listTenants = (
  sql: Sql,
  page: { readonly limit: number; readonly after: string | null },
  sinceMs: number,
): Promise<TenantFigures[]> =>
  sql.query<TenantFigures>(FIND, [null, page.after ?? '', page.limit + 1, ...since(sinceMs)]);

/** By id or slug. */
export async function findTenant(sql: Sql, idOrSlug: string, sinceMs: number): Promise<TenantFigures | undefined> {
  const [tenant] = await sql.query<TenantFigures>(FIND, [idOrSlug, '', 1, ...since(sinceMs)]);
  return tenant;
}

const since = (sinceMs: number): [string, number, string] => [
  firstIdAt('message', sinceMs),
  WAITING_COUNTED_MAX,
  firstIdAt('delivery', sinceMs),
];
