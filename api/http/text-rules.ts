/** Which texts a request may contain: what can be stored, and the schema keywords for the form of a text. */
import type { TSchema } from 'typebox';
import { CatalogueError } from '#domain/errors.ts';
import { ONE_LINE } from '#domain/mail/text-forms.ts';

/** Schema keywords that define the form of a text. */
const FORMS = ['pattern', 'format', 'enum', 'const', 'contentEncoding'];

/** A schema of a request whose texts are one line each, unless they declare another form (`domain/mail/text-forms.ts`). */
export function oneLineTexts<Schema extends TSchema>(schema: Schema): Schema {
  // The copy has the structure of the original; only patterns are added.
  return withForms(schema) as Schema;
}

function withForms(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withForms);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, withForms(value)]));
  return copy['type'] === 'string' && !FORMS.some((form) => form in copy) ? { ...copy, pattern: ONE_LINE } : copy;
}

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
