/** Which recipients of a message a person must allow first, and what exactly is allowed. */
import { createHash } from 'node:crypto';
import type { Sql } from '../db/database.ts';
import type { OutboundConsentMode } from '../domain/consent.ts';
import { domainOf } from '../domain/email-address.ts';

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
 * Recipients that need consent, in lower case. Known contacts pass in mode `first_contact`: who wrote first with DMARC
 * pass, was approved (address, domain, or in this thread), or is on an allow list.
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
  select asked.address from unnest($1::text[], $2::text[], $3::text[]) as asked (address, domain, thread)
   where not exists (
           select from known_recipient k where k.organization_id = $4
              and (k.kind, k.value) in (('address', asked.address), ('domain', asked.domain), ('thread', asked.thread)))
     and not exists (
           select from sender_list l where l.organization_id = $4 and (l.mailbox_id is null or l.mailbox_id = $5)
              and l.direction = 'outbound' and l.action = 'allow' and l.value in (asked.address, asked.domain))
   order by 1`;

/** What an approval is given for: these bytes to these recipients. */
export function hashContent(bytes: Uint8Array, recipients: readonly string[]): Buffer {
  const sorted = recipients.map((address) => address.toLowerCase()).sort();
  return createHash('sha256').update(bytes).update('\0').update(sorted.join('\n')).digest();
}
