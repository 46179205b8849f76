import type { Services } from '#core/platform/process/services.ts';
import { isOwnReceiver } from '#core/webhooks/webhook-receiver.ts';
import { requireSafeDestination } from './endpoint-rules.ts';

/**
 * Where an endpoint of an organization may send to: a safe destination, or the organization's own built-in receiver,
 * to which no connection is made.
 *
 * Asks DNS, so it must not be called within a transaction of its own.
 *
 * @returns the URL in its stored form
 * @throws {CatalogueError} invalid_url, unresolvable_destination, unsafe_destination
 */
export async function requireEndpointDestination(
  { db, settings, now }: Pick<Services, 'db' | 'settings' | 'now'>,
  organizationId: string,
  url: string,
): Promise<string> {
  return (await isOwnReceiver(db, organizationId, url, now())) ? url : requireSafeDestination(settings, url);
}
