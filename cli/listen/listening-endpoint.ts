/**
 * An endpoint for `webhooks listen`. Its address is the built-in receiver, so nothing has to be reachable from the
 * service. The deliveries are read by the API and signed here once more with the secret of the endpoint: the local
 * server sees what it would see as an endpoint, with a valid signature of this moment.
 */
import type { Delivery, OrganizationClient } from '#client/index.ts';

/** By which `webhooks trigger` finds the endpoint. */
export const LISTEN_DESCRIPTION = 'agent-mailbox webhooks listen';

/** Clocks of two machines differ. */
const MARGIN_MS = 60_000;

export interface ListeningEndpoint {
  readonly id: string;
  readonly secret: string;
  /** Deliveries that were not returned yet, oldest first. */
  newDeliveries(): Promise<readonly Delivery[]>;
  /** Deletes it. */
  close(): Promise<void>;
}

export async function openListeningEndpoint(
  service: OrganizationClient,
  fields: { readonly eventTypes: readonly string[]; readonly mailboxId?: string },
): Promise<ListeningEndpoint> {
  const { url } = await service.webhooks.openReceiver();
  const { id, secret } = await service.webhooks.create({ ...fields, url, description: LISTEN_DESCRIPTION });
  const since = new Date(Date.now() - MARGIN_MS).toISOString();
  const seen = new Set<string>();
  return {
    id,
    secret: secret ?? '',
    async newDeliveries() {
      const found: Delivery[] = [];
      for await (const { data } of service.deliveries.list(id, { since, limit: 100 }).pages()) {
        const fresh = data.filter((delivery) => !seen.has(delivery.id));
        found.push(...fresh);
        // Newest first: behind a page that is known is nothing new.
        if (fresh.length === 0) break;
      }
      for (const delivery of found) seen.add(delivery.id);
      return found.reverse();
    },
    close: () => service.webhooks.delete(id),
  };
}
