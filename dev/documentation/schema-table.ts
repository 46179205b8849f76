import { type Html, html, inline } from './html.ts';

/** The parts of JSON Schema that the API's schemas use. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
}

/** The named schemas, and where each of them is described. */
export interface Schemas {
  get(name: string): Schema | undefined;
  /** Address of its table. */
  addressOf(name: string): string | undefined;
}

export const nameOf = ({ $ref }: Schema): string | undefined => $ref?.slice($ref.lastIndexOf('/') + 1);

const isNull = (schema: Schema): boolean => schema.type === 'null';

/** A schema without fields of its own is a name for a value: it is written out and not linked. */
const hasFields = (schema: Schema): boolean => schema.properties !== undefined || (schema.anyOf?.some(nameOf) ?? false);

const separated = (parts: readonly Html[], separator: string): Html =>
  html`${parts.map((part, index) => (index === 0 ? part : html`${separator}${part}`))}`;

/** A short word for a schema: `string`, `array of string`, `"a" | "b"`, `… or null`; named ones are links. */
export function typeText(schema: Schema, schemas: Schemas): Html {
  const name = nameOf(schema);
  if (name !== undefined) {
    const named = schemas.get(name);
    const address = schemas.addressOf(name);
    if (named !== undefined && (address === undefined || !hasFields(named))) return typeText(named, schemas);
    return html`<a href="${address ?? ''}">${name}</a>`;
  }
  if (schema.anyOf !== undefined)
    return separated(
      schema.anyOf.map((branch) => typeText(branch, schemas)),
      ' or ',
    );
  if (schema.enum !== undefined)
    return separated(
      schema.enum.map((value) => html`<code>${JSON.stringify(value)}</code>`),
      ' | ',
    );
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.type === 'array')
    return html`array of ${schema.items === undefined ? 'anything' : typeText(schema.items, schemas)}`;
  if (schema.patternProperties !== undefined) {
    const [value] = Object.values(schema.patternProperties);
    return html`map of ${value === undefined ? 'anything' : typeText(value, schemas)}`;
  }
  return html`${schema.format ?? schema.type ?? 'anything'}`;
}

function bounds({ minimum, maximum, minLength, maxLength, maxItems }: Schema): string {
  if (minimum !== undefined || maximum !== undefined) return `${minimum ?? '…'} to ${maximum ?? '…'}`;
  if (maxLength !== undefined) return `${minLength ?? 0} to ${maxLength} characters`;
  return maxItems === undefined ? '' : `at most ${maxItems}`;
}

/** Its own description, or that of the schema it names, or of the branch that is not null. */
function describe(schema: Schema, schemas: Schemas): string {
  const named = schemas.get(nameOf(schema) ?? '');
  const branch = schema.anyOf?.find((each) => !isNull(each));
  return (
    schema.description ??
    named?.description ??
    (branch === undefined ? '' : (branch.description ?? describe(branch, schemas)))
  );
}

export interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly description?: string | undefined;
  readonly isOptional: boolean;
}

/** A list of fields with type and meaning. On a phone each is a block of its own, so nothing is wider than the window. */
export function fieldList(fields: readonly Field[], schemas: Schemas): Html {
  if (fields.length === 0) return html``;
  return html`<dl class="fields">${fields.map(({ name, schema, description, isOptional }) => {
    const notes = [
      isOptional ? 'optional' : '',
      bounds(schema),
      schema.default === undefined ? '' : `default ${JSON.stringify(schema.default)}`,
    ].filter((note) => note !== '');
    const text = description ?? describe(schema, schemas);
    return html`<div><dt><code>${name}</code> <span class="type">${typeText(schema, schemas)}</span>${notes.map(
      (note) => html` <small>${note}</small>`,
    )}</dt>${text === '' ? '' : html`<dd>${inline(text)}</dd>`}</div>`;
  })}</dl>`;
}

/**
 * The fields of a schema, of the items of a list, or of each form that it may have.
 *
 * @param marksOptional says which fields may be left out: of requests, not of answers
 */
export function schemaFields(schema: Schema, schemas: Schemas, marksOptional: boolean): Html {
  const { properties, required = [], items, anyOf } = schema;
  if (properties !== undefined)
    return fieldList(
      Object.entries(properties).map(([name, field]) => ({
        name,
        schema: field,
        isOptional: marksOptional && !required.includes(name),
      })),
      schemas,
    );
  if (items !== undefined) return schemaFields(items, schemas, marksOptional);
  return anyOf === undefined ? html`` : html`<p>${typeText(schema, schemas)}</p>`;
}
