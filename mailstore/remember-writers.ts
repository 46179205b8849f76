/**
 * A sender that wrote first needs no consent: received mail with DMARC pass makes its author's exact address known to
 * the organization, unless it was labelled (`spam`, `unauthenticated`). Never the domain. The address is stored with
 * its domain in DNS form, as recipients are looked up.
 */
import { withAsciiDomain } from '#core/platform/ascii-domain.ts';
import type { Sql } from '#db/database.ts';
import { domainOf } from '#domain/email-address.ts';
import { KNOWN_RECIPIENT_USE_NOTED_DAYS } from '#domain/retention.ts';
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
    // The DMARC result and the address come from two parsers: both must be about this domain.
    if (!isWithin(domainOf(address), message.auth?.dmarc.domain)) continue;
    const organizationId = delivery.recipient.organization.id;
    pairs.set(`${organizationId} ${address}`, { organizationId, address });
  }
  if (pairs.size === 0) return;
  const list = [...pairs.values()];
  await sql.query(REMEMBER, [list.map(({ organizationId }) => organizationId), list.map(({ address }) => address)]);
}

const isWithin = (domain: string, evaluated: string | null | undefined): boolean =>
  typeof evaluated === 'string' && `.${domain}`.endsWith(`.${withAsciiDomain(evaluated.toLowerCase())}`);

/** In one order, so that two batches that make the same addresses known wait for each other and do not deadlock. */
const REMEMBER = `
  with writers as (
    select organization_id, address from unnest($1::text[], $2::text[]) as known (organization_id, address)
  ), used as (
    update known_recipient k set last_used_at = now() from writers w
     where k.organization_id = w.organization_id and k.kind = 'address' and k.value = w.address
       and k.last_used_at < now() - interval '${KNOWN_RECIPIENT_USE_NOTED_DAYS} days'
  )
  insert into known_recipient (organization_id, kind, value, source)
  select organization_id, 'address', address, 'wrote_first' from writers order by 1, 2
  on conflict do nothing`;
