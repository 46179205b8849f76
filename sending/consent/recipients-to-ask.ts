/**
 * Which recipients of a message a person must approve first, and what was sent to them before, for the person who decides.
 */
import type { Sql } from '#db/database.ts';
import { domainOf } from '#domain/mail/mailbox-address.ts';
import { KNOWN_RECIPIENT_USE_NOTED_DAYS } from '#domain/retention.ts';
import type { OutboundConsentMode } from '#domain/sending/consent.ts';

export interface ConsentQuestion {
  readonly organizationId: string;
  readonly mailboxId: string;
  readonly mode: OutboundConsentMode;
  /** Recipients that are no mailboxes of the organization. */
  readonly addresses: readonly string[];
}

/**
 * Recipients that need consent, in lower case. In mode `first_contact` none is needed for an address or domain that a
 * person approved or put on an allow list. Having written first changes nothing here: what it earns is in
 * `earned-reply.ts`.
 */
export async function recipientsToAsk(sql: Sql, question: ConsentQuestion): Promise<string[]> {
  const { mode } = question;
  const addresses = [...new Set(question.addresses.map((address) => address.toLowerCase()))].sort();
  if (mode === 'off' || addresses.length === 0) return [];
  if (mode === 'always') return addresses;
  const rows = await sql.query<{ address: string }>(UNKNOWN, [
    addresses,
    addresses.map(domainOf),
    question.organizationId,
    question.mailboxId,
  ]);
  return rows.map(({ address }) => address);
}

const UNKNOWN = `
  with asked as (
    select address, domain from unnest($1::text[], $2::text[]) as asked (address, domain)
  ), used as (
    update known_recipient k set last_used_at = now()
     where k.organization_id = $3 and k.source = 'approved'
       and k.last_used_at < now() - interval '${KNOWN_RECIPIENT_USE_NOTED_DAYS} days'
       and (k.kind, k.value) in (select 'address', address from asked union all select 'domain', domain from asked)
  )
  select asked.address from asked
   where not exists (
           select from known_recipient k where k.organization_id = $3 and k.source = 'approved'
              and (k.kind, k.value) in (('address', asked.address), ('domain', asked.domain)))
     and not exists (
           select from sender_list l where l.organization_id = $3 and (l.mailbox_id is null or l.mailbox_id = $4)
              and l.direction = 'outbound' and l.action = 'allow' and l.value in (asked.address, asked.domain))
   order by 1`;

export interface EarlierMessage {
  readonly messageId: string;
  readonly mailboxId: string;
  readonly subject: string;
  readonly sentAt: Date;
}

/** Messages that reached one address, or one domain. */
export interface WrittenBefore {
  /** At most {@link HISTORY_COUNTED_MAX}. */
  readonly count: number;
  /** Newest first. */
  readonly newest: readonly EarlierMessage[];
}

export interface RecipientHistory {
  /** In lower case. */
  readonly address: string;
  readonly domain: string;
  readonly toAddress: WrittenBefore;
  /** To anybody of the domain, this address among them. */
  readonly toDomain: WrittenBefore;
}

/** Counting stops here: beyond it the number says nothing more to a person. */
export const HISTORY_COUNTED_MAX = 1_000;
const NEWEST_SHOWN_MAX = 3;

interface Row {
  readonly asked: string;
  readonly count: number;
  readonly newest: readonly (Omit<EarlierMessage, 'sentAt'> & { readonly sentAt: string })[] | null;
}

/**
 * The mail of all mailboxes of the organization counts.
 *
 * @param exceptMessageId the message at hand
 */
export async function recipientHistory(
  sql: Sql,
  organizationId: string,
  exceptMessageId: string,
  addresses: readonly string[],
): Promise<RecipientHistory[]> {
  const asked = [...new Set(addresses.map((address) => address.toLowerCase()))];
  const domains = [...new Set(asked.map(domainOf))];
  const values = (list: readonly string[]) => [organizationId, exceptMessageId, list];
  const toAddresses = await sql.query<Row>(WRITTEN_TO_ADDRESSES, values(asked));
  const toDomains = await sql.query<Row>(WRITTEN_TO_DOMAINS, values(domains));
  return asked.map((address) => ({
    address,
    domain: domainOf(address),
    toAddress: writtenBefore(toAddresses, address),
    toDomain: writtenBefore(toDomains, domainOf(address)),
  }));
}

function writtenBefore(rows: readonly Row[], asked: string): WrittenBefore {
  const row = rows.find((each) => each.asked === asked);
  const newest = (row?.newest ?? []).map((message) => ({ ...message, sentAt: new Date(message.sentAt) }));
  return { count: row?.count ?? 0, newest };
}

/** Along an index by organization and `key`, newest message first. A message to several of a domain is one. */
const written = (key: string): string => `
  select asked.key as asked, counted.n as count, newest.messages as newest
    from unnest($3::text[]) as asked (key)
    cross join lateral (
      select count(*)::int as n from (
        select distinct message_id from (
          select r.message_id from outbound_recipient r
           where r.organization_id = $1 and ${key} = asked.key and r.message_id <> $2
             and r.status in ('sent', 'captured')
           order by r.message_id desc limit ${HISTORY_COUNTED_MAX}) as reached) as messages
    ) as counted
    cross join lateral (
      select json_agg(json_build_object('messageId', o.id, 'mailboxId', o.mailbox_id, 'subject', o.subject,
                                        'sentAt', coalesce(o.first_sent_at, o.submitted_at)) order by o.id desc) as messages
        from outbound_message o where o.id in (
          select distinct message_id from (
            select r.message_id from outbound_recipient r
             where r.organization_id = $1 and ${key} = asked.key and r.message_id <> $2
               and r.status in ('sent', 'captured')
             order by r.message_id desc limit ${HISTORY_COUNTED_MAX}) as reached
           order by message_id desc limit ${NEWEST_SHOWN_MAX})
    ) as newest`;

const WRITTEN_TO_ADDRESSES = written('lower(r.address)');
const WRITTEN_TO_DOMAINS = written(`lower(split_part(r.address, '@', -1))`);
