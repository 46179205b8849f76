/**
 * `client/api-types.ts`: the types of the published client and its table of operations, made from the OpenAPI
 * document: a JSON schema becomes a type that is read-only throughout. The file is committed, because the client has no
 * build step of its own; a test compares the two.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { OpenApiDocument } from '#api/documents/openapi.ts';
import { currentOpenApi } from '#api/documents/serve-documents.ts';
import { routes } from '#api/routes.ts';
import { webhookEvents } from '#api/webhooks/event-schemas.ts';

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

export const CLIENT_TYPES = fileURLToPath(new URL('../../client/api-types.ts', import.meta.url));

const HEADER = `/**
 * Types of requests, answers and events, and the table of operations. Made from the OpenAPI document by
 * \`npm run generate\`; do not edit.
 */
`;

const child = (value: unknown, ...names: string[]): unknown =>
  names.reduce<unknown>((inner, name) => (isJson(inner) ? inner[name] : undefined), value);
const textAt = (value: unknown, ...names: string[]): string => {
  const found = child(value, ...names);
  return typeof found === 'string' ? found : '';
};

/** `Error` would hide the one of JavaScript. */
const nameOf = (schema: string): string => (schema === 'Error' ? 'ErrorAnswer' : schema);
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const comment = (text: string, indent = ''): string =>
  text === '' ? '' : `${indent}/** ${text.replaceAll('*/', '* /').replaceAll(/\s*\n\s*/g, ' ')} */\n`;

function named(name: string, schema: Json): string {
  const heading = comment(textAt(schema, 'description'));
  if (schema['type'] === 'object' && isJson(schema['properties']))
    return `${heading}export interface ${nameOf(name)} ${typeOf(schema, nameOf)}\n`;
  return `${heading}export type ${nameOf(name)} = ${typeOf(schema, nameOf)};\n`;
}

interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Json;
}

/**
 * Without those of `/api/mailboxes/{id}` that are there for the own mailbox too: the client asks both by the same method.
 */
function* operationsOf(document: OpenApiDocument): Generator<Operation> {
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const own = path.replace(/^\/api\/mailboxes\/\{id\}/, '/api/mailbox');
      const isTwin = own !== path && own !== '/api/mailbox' && document.paths[own]?.[method] !== undefined;
      if (isTwin) continue;
      yield { id: textAt(operation, 'operationId'), method: method.toUpperCase(), path, operation };
    }
}

/** The fields of the query as one interface. */
function queryOf({ id, operation }: Operation): string | undefined {
  const all = Array.isArray(operation['parameters']) ? operation['parameters'].filter(isJson) : [];
  const fields = all.filter((each) => each['in'] === 'query');
  if (fields.length === 0) return undefined;
  const lines = fields.map((each) => {
    const schema = child(each, 'schema');
    const optional = each['required'] === true ? '' : '?';
    const type = typeOf(isJson(schema) ? schema : {}, nameOf);
    return `${comment(textAt(each, 'description'), '  ')}  readonly ${textAt(each, 'name')}${optional}: ${type};\n`;
  });
  return `export interface ${capital(id)}Query {\n${lines.join('')}}\n`;
}

const jsonSchemaOf = (content: unknown): Json | undefined => {
  const schema = child(content, 'content', 'application/json', 'schema');
  return isJson(schema) ? schema : undefined;
};

function answerOf(operation: Json): string {
  const responses = Object.entries(isJson(operation['responses']) ? operation['responses'] : {});
  const types = responses
    .filter(([status]) => status.startsWith('2'))
    .map(([, response]) => jsonSchemaOf(response))
    .map((schema) => (schema === undefined ? 'undefined' : typeOf(schema, nameOf)));
  return [...new Set(types)].join(' | ');
}

/** The events of a stream as a union by name. */
function streamOf({ id, operation }: Operation): string | undefined {
  const events = child(operation, 'responses', '200', 'content', 'text/event-stream', 'x-stream-events');
  if (!isJson(events)) return undefined;
  const lines = Object.entries(events).map(
    ([name, schema]) =>
      `  | { readonly name: '${name}'; readonly id: string | null; readonly data: ${typeOf(isJson(schema) ? schema : {}, nameOf)} }`,
  );
  return `export type ${capital(id)}Event =\n${lines.join('\n')};\n`;
}

function operationType(each: Operation): string {
  const { id, path, operation } = each;
  const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => `${name}: string`).join(', ');
  const body = jsonSchemaOf(operation['requestBody']);
  const required = child(operation, 'requestBody', 'required') === true ? '' : ' | undefined';
  return [
    comment(textAt(operation, 'summary'), '  '),
    `  readonly ${id}: {\n`,
    `    readonly params: readonly [${params}];\n`,
    `    readonly query: ${queryOf(each) === undefined ? 'undefined' : `${capital(id)}Query`};\n`,
    `    readonly body: ${body === undefined ? 'undefined' : typeOf(body, nameOf) + required};\n`,
    `    readonly answer: ${answerOf(operation)};\n`,
    '  };\n',
  ].join('');
}

/** The text of `client/api-types.ts` as the routes have it now. */
export function clientTypes(): string {
  const document = currentOpenApi(routes, webhookEvents, 'http://localhost');
  const operations = [...operationsOf(document)];
  const schemas = Object.entries(document.components.schemas).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const events = Object.values(document.webhooks).map((event) => {
    const schema = jsonSchemaOf(child(event, 'post', 'requestBody'));
    return schema === undefined ? 'never' : typeOf(schema, nameOf);
  });
  return [
    HEADER,
    ...schemas.map(([name, schema]) => named(name, isJson(schema) ? schema : {})),
    ...operations.flatMap((each) => [queryOf(each), streamOf(each)]).filter((text) => text !== undefined),
    `/** The body of a webhook; \`type\` says which. */\nexport type WebhookEvent = ${events.join(' | ')};\n`,
    `/** What each operation takes and answers, by its operationId. */\nexport interface Operations {\n${operations.map(operationType).join('')}}\n`,
    `/** Method and path of each operation. */\nexport const OPERATIONS: Readonly<Record<keyof Operations, string>> = {\n${operations
      .map(({ id, method, path }) => `  ${id}: '${method} ${path}',\n`)
      .join('')}};\n`,
  ].join('\n');
}

/** Whether the committed file is that of the routes. */
export const clientTypesAreCurrent = (): boolean => readFileSync(CLIENT_TYPES, 'utf8') === clientTypes();
