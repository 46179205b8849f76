import { type Html, html, inline } from './html.ts';

/** The parts of JSON Schema that the API's schemas use. */
interface Schema {
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
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

export type SchemaLookUp = (name: string) => unknown;

const resolve = (schema: Schema, lookUp: SchemaLookUp): Schema =>
  schema.$ref === undefined ? schema : (lookUp(schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)) ?? {});

const isNull = (schema: Schema): boolean => schema.type === 'null';

/** A short word for a schema: `string`, `array of string`, `"a" | "b"`, `… or null`. */
function typeText(given: Schema, lookUp: SchemaLookUp): string {
  const schema = resolve(given, lookUp);
  if (schema.anyOf !== undefined) return schema.anyOf.map((branch) => typeText(branch, lookUp)).join(' or ');
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === 'array')
    return `array of ${schema.items === undefined ? 'anything' : typeText(schema.items, lookUp)}`;
  if (schema.patternProperties !== undefined) {
    const [value] = Object.values(schema.patternProperties);
    return `map of ${value === undefined ? 'anything' : typeText(value, lookUp)}`;
  }
  return schema.format ?? schema.type ?? 'anything';
}

function bounds(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength } = schema;
  if (minimum !== undefined || maximum !== undefined) return `${minimum ?? '…'} to ${maximum ?? '…'}`;
  if (maxLength !== undefined) return `${minLength ?? 0} to ${maxLength} characters`;
  return '';
}

/** The schema that has the fields: an object, that of an array's items, or of the branch that is not null. */
function fieldsOf(given: Schema, lookUp: SchemaLookUp): Schema | undefined {
  const schema = resolve(given, lookUp);
  if (schema.properties !== undefined) return schema;
  if (schema.items !== undefined) return fieldsOf(schema.items, lookUp);
  const branches = schema.anyOf?.filter((branch) => !isNull(branch)) ?? [];
  return branches.length === 1 && branches[0] !== undefined ? fieldsOf(branches[0], lookUp) : undefined;
}

/** Its own description, or that of the branch that is not null. */
const describe = (given: Schema, field: Schema): string =>
  given.description ?? field.description ?? field.anyOf?.find((branch) => !isNull(branch))?.description ?? '';

function rows(schema: Schema, lookUp: SchemaLookUp, prefix: string, marksOptional: boolean): Html[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, given]) => {
    const field = resolve(given, lookUp);
    const nested = fieldsOf(given, lookUp);
    const optional = marksOptional && !(schema.required ?? []).includes(name);
    const isList = field.type === 'array';
    const notes = [optional ? 'optional' : '', bounds(field)].filter((note) => note !== '').join(', ');
    const row = html`<tr><td><code>${prefix}${name}${isList ? '[]' : ''}</code></td><td>${typeText(given, lookUp)}</td>
      <td>${inline(describe(given, field))}${notes === '' ? '' : html` <small>${notes}</small>`}</td></tr>`;
    const inner =
      nested === undefined ? [] : rows(nested, lookUp, `${prefix}${name}${isList ? '[]' : ''}.`, marksOptional);
    return [row, ...inner];
  });
}

/** A table of the fields of a JSON Schema, nested ones with a dotted name; empty for a schema without fields. */
export function schemaTable(schema: unknown, lookUp: SchemaLookUp, marksOptional: boolean): Html {
  const fields = fieldsOf(schema as Schema, lookUp);
  if (fields === undefined) return html``;
  return html`<div class="scroll"><table><thead><tr><th>Field</th><th>Type</th><th></th></tr></thead>
    <tbody>${rows(fields, lookUp, '', marksOptional)}</tbody></table></div>`;
}
