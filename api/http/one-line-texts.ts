import type { TSchema } from 'typebox';
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
