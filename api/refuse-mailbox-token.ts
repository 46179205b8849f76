import type { IncomingHttpHeaders } from 'node:http';
import { CatalogueError } from '../domain/errors.ts';

/**
 * A mailbox token never lets mail leave, whatever else is presented with it.
 *
 * @throws {CatalogueError} forbidden
 */
export function refuseMailboxToken({ authorization }: IncomingHttpHeaders): void {
  if (/\bamt_/i.test(authorization ?? ''))
    throw new CatalogueError('forbidden', 'A mailbox token can never decide about consent.');
}
