/** Which recipients of a message a person must approve first. */
import type { Sql } from '#db/database.ts';
import type { OutboundConsentMode } from '#domain/consent.ts';
import { domainOf } from '#domain/email-address.ts';
import { KNOWN_RECIPIENT_USE_NOTED_DAYS } from '#domain/retention.ts';

export interface ConsentQuestion {
  readonly organizationId: string;
  readonly mailboxId: string;
  readonly mode: OutboundConsentMode;
  /** Recipients that are no mailboxes of the organization. */
  readonly addresses: readonly string[];
  /** The thread the message answers in, if it answers. */
  readonly threadId: string | null;
}

/** How a thread approval is remembered: for this address in this thread. */
export const threadKnown = (threadId: string, address: string): string => `${threadId} ${address.toLowerCase()}`;

/**
 * Recipients that need consent, in lower case. In mode `first_contact` known contacts need none: they wrote first with
 * DMARC pass, were approved (address, domain, or in this thread), or are on an allow list.
 */
export async function recipientsToAsk(sql: Sql, question: ConsentQuestion): Promise<string[]> {
  const { mode, threadId } = question;
  const addresses = [...new Set(question.addresses.map((address) => address.toLowerCase()))].sort();
  if (mode === 'off' || addresses.length === 0) return [];
  if (mode === 'always') return addresses;
  const rows = await sql.query<{ address: string }>(UNKNOWN, [
    addresses,
    addresses.map(domainOf),
    addresses.map((address) => threadKnown(threadId ?? '', address)),
    question.organizationId,
    question.mailboxId,
  ]);
  return rows.map(({ address }) => address);
}

const UNKNOWN = `
  with asked as (
    select address, domain, thread from unnest($1::text[], $2::text[], $3::text[]) as asked (address, domain, thread)
  ), used as (
    update known_recipient k set last_used_at = now()
     where k.organization_id = $4 and k.last_used_at < now() - interval '${KNOWN_RECIPIENT_USE_NOTED_DAYS} days'
       and (k.kind, k.value) in (select 'address', address from asked union all select 'domain', domain from asked
                                 union all select 'thread', thread from asked)
  )
  select asked.address from asked
   where not exists (
           select from known_recipient k where k.organization_id = $4
              and (k.kind, k.value) in (('address', asked.address), ('domain', asked.domain), ('thread', asked.thread)))
     and not exists (
           select from sender_list l where l.organization_id = $4 and (l.mailbox_id is null or l.mailbox_id = $5)
              and l.direction = 'outbound' and l.action = 'allow' and l.value in (asked.address, asked.domain))
   order by 1`;
