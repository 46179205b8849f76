/** A JSON schema of the OpenAPI document as a TypeScript type, read-only throughout. */

type Json = Readonly<Record<string, unknown>>;
type NameOf = (schema: string) => string;

const REFERENCE = '#/components/schemas/';
const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const literal = (value: unknown): string =>
  typeof value === 'string' ? `'${value.replaceAll(/['\\]/g, '\\$&')}'` : JSON.stringify(value);

const PRIMITIVES: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

/** @throws {Error} for a schema that it does not understand, so that nothing becomes `unknown` unnoticed */
export function typeOf(schema: Json, nameOf: NameOf): string {
  const { $ref: reference, const: constant, enum: values, anyOf, type } = schema;
  if (typeof reference === 'string') return nameOf(reference.slice(REFERENCE.length));
  if (constant !== undefined) return literal(constant);
  if (Array.isArray(values)) return values.map(literal).join(' | ');
  if (Array.isArray(anyOf)) return [...new Set(anyOf.filter(isJson).map((each) => typeOf(each, nameOf)))].join(' | ');
  if (type === 'array') return `readonly ${inBrackets(typeOf(itemsOf(schema), nameOf))}[]`;
  if (type === 'object') return objectType(schema, nameOf);
  if (type === undefined && Object.keys(schema).every((key) => key === 'description')) return 'unknown';
  const primitive = typeof type === 'string' ? PRIMITIVES[type] : undefined;
  if (primitive === undefined) throw new Error(`no type for the schema ${JSON.stringify(schema)}`);
  return primitive;
}

const itemsOf = ({ items }: Json): Json => (isJson(items) ? items : {});
const inBrackets = (type: string): string => (/[ |]/.test(type) ? `(${type})` : type);

function objectType(schema: Json, nameOf: NameOf): string {
  const { properties, required, patternProperties, additionalProperties } = schema;
  if (!isJson(properties)) {
    const [pattern] = isJson(patternProperties) ? Object.values(patternProperties) : [];
    const values = isJson(pattern) ? pattern : isJson(additionalProperties) ? additionalProperties : undefined;
    return `Readonly<Record<string, ${values === undefined ? 'unknown' : typeOf(values, nameOf)}>>`;
  }
  const needed = new Set(Array.isArray(required) ? required : []);
  const fields = Object.entries(properties).map(([name, value]) => {
    const field = isJson(value) ? value : {};
    const text = describedBy(field);
    const comment = text === undefined ? '' : `  /** ${text.replaceAll('*/', '* /').replaceAll(/\s*\n\s*/g, ' ')} */\n`;
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name);
    return `${comment}  readonly ${key}${needed.has(name) ? '' : '?'}: ${typeOf(field, nameOf)};\n`;
  });
  return `{\n${fields.join('')}}`;
}

/** Its description, or that of the one type that is not null. */
function describedBy({ description, anyOf }: Json): string | undefined {
  if (typeof description === 'string') return description;
  const [first] = Array.isArray(anyOf) ? anyOf.filter(isJson) : [];
  return typeof first?.['description'] === 'string' ? first['description'] : undefined;
}
