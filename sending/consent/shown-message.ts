/** A decision is about the message that the person was shown. */
import { CatalogueError } from '#domain/errors.ts';
import type { ConsentRow } from './find-consents.ts';

/** @throws {CatalogueError} conflict: the message is not the one that was shown */
export function requireHash({ contentHash }: Pick<ConsentRow, 'contentHash'>, sha256: string): void {
  if (contentHash.toString('hex') !== sha256) throw notAsShown();
}

export const notAsShown = (): CatalogueError =>
  new CatalogueError('conflict', 'The message has changed since it was shown. Nothing was decided.', {
    fix: 'Read the message again, then decide about it with its present `sha256`.',
  });
