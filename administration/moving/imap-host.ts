/**
 * Which server an import over HTTP may reach: the key of operators is used by programs too, so it opens no way into the
 * network of the service, unless a setting says so. The address that was checked is the one that is connected to.
 */
import { isIP } from 'node:net';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import { destinationPolicy, isPublicAddress } from '#core/webhooks/requests/destination-guard.ts';
import { hostOf } from './imap-reader.ts';
import { MovingError } from './moving-error.ts';

/** @returns an address of the host @throws {MovingError} */
export async function imapAddress(url: URL, settings: Settings): Promise<string> {
  const host = hostOf(url);
  const policy = destinationPolicy(settings);
  const addresses = isIP(host) === 0 ? await resolved(host, policy.resolve) : [host];
  const [first] = addresses;
  if (first === undefined) throw new MovingError(`${host} has no address`);
  if (settings.IMPORT_PRIVATE_HOSTS === 'on') return first;
  if (!addresses.every((address) => isPublicAddress(address, { allowed: [] })))
    throw new MovingError(
      `${host} is not publicly routable: set IMPORT_PRIVATE_HOSTS=on, or import by agent-mailbox-admin import --imap`,
    );
  return first;
}

async function resolved(host: string, resolve: ReturnType<typeof destinationPolicy>['resolve']): Promise<string[]> {
  try {
    return (await resolve(host)).map(({ address }) => address);
  } catch (error) {
    throw new MovingError(`${host} does not resolve (${reasonOf(error)})`);
  }
}
