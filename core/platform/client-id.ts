/**
 * The caller's own id of what it creates. The same content again under the same id is a repeated request and has no
 * effect. Other content is a mistake of the caller, which must notice it: otherwise that content would be lost.
 *
 * A request is compared by two hashes, and one of them is enough: that of the request as written, which can be compared
 * after the files it names are gone, and that of its content, which is the same however it is written.
 */
import { createHash } from 'node:crypto';
import { CatalogueError } from '#domain/errors.ts';

export interface ClientId {
  readonly id: string;
  readonly hashes: readonly Buffer[];
}

/** SHA-256. */
export const hashOfBytes = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

/** SHA-256 of JSON whose keys are sorted. */
export const hashOfContent = (content: unknown): Buffer =>
  hashOfBytes(Buffer.from(JSON.stringify(content, sortedKeys)));

const sortedKeys = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
    : value;

/** @param stored of the first request; null: nothing is known about it */
export const isSameContent = (stored: readonly Buffer[] | null, { hashes }: ClientId): boolean =>
  stored?.some((each) => hashes.some((hash) => hash.equals(each))) === true;

/** @throws {CatalogueError} conflict, for other content */
export function requireSameContent(
  stored: readonly Buffer[] | null,
  given: ClientId,
  created: 'message' | 'draft' | 'mailbox',
): void {
  if (isSameContent(stored, given)) return;
  const done = created === 'message' ? 'sent' : 'created';
  throw new CatalogueError(
    'conflict',
    `This clientId was used for another ${created}: what you asked for now was not ${done}.`,
    {
      details: [{ path: '/clientId', message: `was used for another ${created}` }],
      fix: `Choose a new clientId for it. Use the same clientId only to repeat the same ${created}.`,
    },
  );
}
