/**
 * Who wrote first may be written to without asking: mail that came in with DMARC pass makes its author's exact address
 * known to the organization, unless it was labelled (`spam`, `unauthenticated`). Never the domain. As recipients are
 * asked about, so it is kept: with its domain as DNS asks for it.
 */
import { withAsciiDomain } from '../../core/ascii-domain.ts';
import type { Sql } from '../../db/database.ts';
import { domainOf } from '../../domain/email-address.ts';
import type { IncomingMessage, LocalDelivery } from './delivery.ts';

export async function rememberWriters(
  sql: Sql,
  deliveries: readonly { readonly message: IncomingMessage; readonly delivery: LocalDelivery }[],
): Promise<void> {
  const pairs = new Map<string, { organizationId: string; address: string }>();
  for (const { message, delivery } of deliveries) {
    const address = withAsciiDomain(message.read.from[0]?.address.toLowerCase() ?? '');
    const trusted = message.origin === 'smtp' && message.auth?.dmarc.result === 'pass' && delivery.labels.length === 0;
    if (!trusted || address === '' || message.read.from.length !== 1) continue;
    // The judgement and the address come from two parsers: it must be about this domain.
    if (!isWithin(domainOf(address), message.auth?.dmarc.domain)) continue;
    const organizationId = delivery.recipient.organization.id;
    pairs.set(`${organizationId} ${address}`, { organizationId, address });
  }
  if (pairs.size === 0) return;
  const list = [...pairs.values()];
  await sql.query(REMEMBER, [list.map(({ organizationId }) => organizationId), list.map(({ address }) => address)]);
}

const isWithin = (domain: string, judged: string | null | undefined): boolean =>
  typeof judged === 'string' && `.${domain}`.endsWith(`.${withAsciiDomain(judged.toLowerCase())}`);

/** In one order, so that two batches that make the same addresses known wait for each other and do not deadlock. */
const REMEMBER = `
  insert into known_recipient (organization_id, kind, value, source)
  select organization_id, 'address', address, 'wrote_first'
    from unnest($1::text[], $2::text[]) as known (organization_id, address) order by 1, 2
  on conflict do nothing`;
