/**
 * Allow and block lists. An entry is an address or a domain (its subdomains are others), for one mailbox or for all of
 * the organization. The nearest entry decides: mailbox before organization, address before domain, allow before block.
 */
import type { Sql } from '../db/database.ts';
import { domainOf } from '../domain/email-address.ts';

export type ListDirection = 'inbound' | 'outbound';
export type ListAction = 'allow' | 'block';

export interface ListVerdict {
  readonly action: ListAction;
  /** The entry that decided. */
  readonly value: string;
}

export interface ListQuestion {
  readonly organizationId: string;
  readonly mailboxId: string | null;
  readonly direction: ListDirection;
  /** Of the other side. */
  readonly addresses: readonly string[];
}

/** What the lists say about addresses; those no entry matches are left out. Keys are lower-cased. */
export async function askLists(sql: Sql, question: ListQuestion): Promise<Map<string, ListVerdict>> {
  const addresses = [...new Set(question.addresses.map((address) => address.toLowerCase()))];
  if (addresses.length === 0) return new Map();
  const rows = await sql.query<{ address: string; action: ListAction; value: string }>(ASK_LISTS, [
    addresses,
    addresses.map(domainOf),
    question.organizationId,
    question.mailboxId,
    question.direction,
  ]);
  return new Map(rows.map(({ address, action, value }) => [address, { action, value }]));
}

const ASK_LISTS = `
  select asked.address, entry.action, entry.value
    from unnest($1::text[], $2::text[]) as asked (address, domain)
   cross join lateral (
     select action, value from sender_list
      where organization_id = $3 and (mailbox_id is null or mailbox_id = $4) and direction = $5
        and value in (asked.address, asked.domain)
      order by mailbox_id is null, value = asked.domain, action
      limit 1) as entry`;
