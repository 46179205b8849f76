/** Which recipients of a message a person must approve first. */
import type { Sql } from '#db/database.ts';
import { domainOf } from '#domain/mail/email-address.ts';
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
