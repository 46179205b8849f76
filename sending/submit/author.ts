/**
 * Which address is allowed in From. A mailbox writes as itself. It may write on behalf of another author (itself in
 * Sender, RFC 5322 §3.6.2) only if its own signature and return path prove nothing about that author: DMARC (RFC 7489
 * §3.1) takes every domain under the same organizational domain for the same, so a neighbour on this host would pass as
 * genuine.
 */

import { CatalogueError } from '#domain/errors.ts';
import { domainOf } from '#domain/mail/email-address.ts';
import { deliveryAddress } from '#domain/mail/mailbox-address.ts';
import { registrableDomain } from '#domain/mail/registrable-domain.ts';
import type { ReadMessage } from '#mime/read-message.ts';
import { isLocal } from '#sending/outbox/local-addresses.ts';
import type { SendingServices } from '#sending/outbox/sending-services.ts';

/** As wide as any reader may see it: not every one knows which names a provider gives to its customers. */
const neighbourhood = (domain: string): string => registrableDomain(domain, { privateSuffixes: false });

/** @throws {CatalogueError} invalid_request */
export async function requireHonestAuthor(
  services: SendingServices,
  { from: [author] }: Pick<ReadMessage, 'from'>,
  own: string,
): Promise<void> {
  const address = author?.address ?? '';
  if (deliveryAddress(address) === own.toLowerCase()) return;
  const near = neighbourhood(domainOf(address)) === neighbourhood(domainOf(own));
  if (!near && !(await isLocal(services, address))) return;
  const message = `From is ${address || 'no address'}, but this mailbox sends as ${own}: set From to ${own}, or set Sender to ${own} if the domain in From is neither hosted here nor related to the domain of the mailbox`;
  throw new CatalogueError('invalid_request', undefined, { details: [{ path: '/from', message }] });
}
