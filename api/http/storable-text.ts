import { CatalogueError } from '#domain/errors.ts';

/**
 * Refuses text that PostgreSQL cannot hold, once for all columns: U+0000, and halves of surrogate pairs.
 *
 * @param value parsed body or query; names of fields are checked too. Not recursive: a body may be nested deeply.
 * @throws {CatalogueError} invalid_request
 */
export function refuseUnstorableText(value: unknown): void {
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === 'string') refuseText(next);
    else if (typeof next === 'object' && next !== null)
      for (const [name, field] of Object.entries(next)) waiting.push(name, field);
  }
}

function refuseText(text: string): void {
  if (text.includes('\0'))
    throw new CatalogueError('invalid_request', 'A text contains the character U+0000, which cannot be stored.', {
      fix: 'Remove the character.',
    });
  if (!text.isWellFormed())
    throw new CatalogueError('invalid_request', 'A text contains half of a surrogate pair, which is not a character.', {
      fix: 'Cut text between two characters, not within one.',
    });
}
