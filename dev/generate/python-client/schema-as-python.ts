/**
 * A JSON schema of the OpenAPI document as a Python type, the operations that a client has methods for, and which route
 * each method of the Python package asks, read from its files; a test runs the methods and compares.
 */

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OpenApiDocument } from '#api/documents/openapi.ts';

export type Json = Readonly<Record<string, unknown>>;

const REFERENCE = '#/components/schemas/';
export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What a type is for: what the service answers, or what the caller gives. */
export type Use = 'answer' | 'argument';

const PRIMITIVES: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
};
/** Names that Python, or the base class of the models, has already. */
const TAKEN = new Set(
  [
    'and as assert async await break class continue def del elif else except finally for from global if import in is',
    'lambda nonlocal not or pass raise return try while with yield',
    'construct copy dict json schema validate',
  ].flatMap((line) => line.split(' ')),
);

/** `sizeBytes` as `size_bytes`, `from` as `from_`. @throws {Error} if the name could not be made back from it */
export function pythonName(name: string): string {
  const snake = name.replaceAll(/(?<=[a-z0-9])([A-Z])/g, '_$1').toLowerCase();
  const back = snake.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  if (back !== name) throw new Error(`${name} has no name in Python that it could be made from again`);
  return TAKEN.has(snake) ? `${snake}_` : snake;
}

/** `Error` would hide the one of Python's readers. */
export const modelName = (schema: string): string => (schema === 'Error' ? 'ErrorAnswer' : schema);

export const pythonText = (value: string): string => JSON.stringify(value);

export const referred = (reference: string): string => reference.slice(REFERENCE.length);

function literals(values: readonly unknown[], use: Use): string {
  const text = `Literal[${values.map((value) => (typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value))).join(', ')}]`;
  // A newer service may answer a value that is not known yet; one value alone tells the members of a union apart.
  return use === 'answer' && values.length > 1 ? `Annotated[${text}, OPEN]` : text;
}

/** @throws {Error} for a schema that it does not understand, so that nothing becomes `Any` unnoticed */
export function pythonType(schema: Json, use: Use, models = ''): string {
  const { $ref: reference, const: constant, enum: values, anyOf, type } = schema;
  const inner = (each: Json): string => pythonType(each, use, models);
  if (typeof reference === 'string') return models + modelName(referred(reference));
  if (constant !== undefined) return literals([constant], use);
  if (Array.isArray(values)) return literals(values, use);
  if (Array.isArray(anyOf)) return [...new Set(anyOf.filter(isJson).map(inner))].join(' | ');
  if (type === 'array') {
    const item = isJson(schema['items']) ? inner(schema['items']) : 'Any';
    return use === 'argument' ? `Sequence[${item}]` : `list[${item}]`;
  }
  if (type === 'object') return objectType(schema, inner, use);
  if (type === undefined && Object.keys(schema).every((key) => key === 'description')) return 'Any';
  if (type === 'string' && schema['format'] === 'date-time') return use === 'argument' ? 'datetime | str' : 'datetime';
  const primitive = typeof type === 'string' ? PRIMITIVES[type] : undefined;
  if (primitive === undefined) throw new Error(`no Python type for the schema ${JSON.stringify(schema)}`);
  return primitive;
}

function objectType(schema: Json, inner: (each: Json) => string, use: Use): string {
  const { properties, patternProperties, additionalProperties } = schema;
  if (isJson(properties) && Object.keys(properties).length > 0) throw new Error('an object with fields needs a name');
  const [pattern] = isJson(patternProperties) ? Object.values(patternProperties) : [];
  const values = isJson(pattern) ? pattern : isJson(additionalProperties) ? additionalProperties : undefined;
  return `${use === 'argument' ? 'Mapping' : 'dict'}[str, ${values === undefined ? 'Any' : inner(values)}]`;
}

/** Its description, or that of the one type that is not null. */
export function describedBy({ description, anyOf }: Json): string | undefined {
  if (typeof description === 'string') return description;
  const [first] = Array.isArray(anyOf) ? anyOf.filter(isJson) : [];
  return typeof first?.['description'] === 'string' ? first['description'] : undefined;
}

/** A text as a comment or within a docstring. */
export const onOneLine = (text: string): string =>
  text
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll('\\', '\\\\')
    .replaceAll('"""', "'''");

export interface ApiOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Json;
}

/**
 * Without those of `/api/mailboxes/{id}` that are there for the own mailbox too: the client asks both by the same method.
 */
export function operationsOf(document: OpenApiDocument): ApiOperation[] {
  const found: ApiOperation[] = [];
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const own = path.replace(/^\/api\/mailboxes\/\{id\}/, '/api/mailbox');
      const isTwin = own !== path && own !== '/api/mailbox' && document.paths[own]?.[method] !== undefined;
      if (!isTwin) found.push({ id: String(operation['operationId']), method: method.toUpperCase(), path, operation });
    }
  return found;
}

/** The schema of a JSON body or answer. */
export function jsonSchemaOf(content: unknown): Json | undefined {
  const types = isJson(content) ? content['content'] : undefined;
  const json = isJson(types) ? types['application/json'] : undefined;
  return isJson(json) && isJson(json['schema']) ? json['schema'] : undefined;
}

const ASYNC = fileURLToPath(new URL('../../../python/src/agent_mailbox/_async', import.meta.url));
const OWN_MAILBOX = '/api/mailbox';
/** The classes that are not `service.<name>.`. */
const PREFIXES: Readonly<Record<string, string>> = {
  Mailbox: 'mailbox.',
  MailboxClient: 'mailbox.',
  Files: 'mailbox.files.',
  FilesClient: 'mailbox.files.',
  Device: 'device.',
  OrganizationClient: 'service.',
};

interface PythonMethod {
  /** `service.mailboxes.create`. */
  readonly name: string;
  /** `POST /api/mailboxes/{id}/rotate-token`. */
  readonly asks: string;
}

const STEP =
  /^class Async(?<owner>\w+)|^ {4}(?:async )?def (?<method>\w+)|request(?:_of)?\(\s*"(?<verb>[A-Z]+)",\s*"(?<path>\/[^"]*)"/gm;

function* methodsIn(text: string): Generator<PythonMethod> {
  let [prefix, method] = ['', ''];
  for (const { groups = {} } of text.matchAll(STEP)) {
    const { owner, verb } = groups;
    if (owner !== undefined)
      prefix = PREFIXES[owner] ?? `service.${pythonName(owner.charAt(0).toLowerCase() + owner.slice(1))}.`;
    else if (verb === undefined) method = groups['method'] ?? '';
    else yield { name: prefix + method, asks: `${verb} ${groups['path']}` };
  }
}

/** Method names by what they ask, `GET /api/mailboxes/{id}`; of a mailbox both by its token and by a key. */
export function pythonMethods(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const add = (asks: string, name: string): void => void found.set(asks, [...(found.get(asks) ?? []), name].toSorted());
  for (const file of readdirSync(ASYNC).filter((name) => name.endsWith('.py')))
    for (const { name, asks } of methodsIn(readFileSync(path.join(ASYNC, file), 'utf8'))) {
      add(asks, name);
      const own = new RegExp(` ${OWN_MAILBOX}(?=/|$)`);
      if (own.test(asks))
        add(asks.replace(own, ` ${OWN_MAILBOX}es/{id}`), name.replace(/^mailbox\./, 'service.mailbox(id).'));
    }
  return found;
}
