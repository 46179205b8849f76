/** The types of the client are those of the routes, and every schema of the document has a name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { currentOpenApi } from '#api/documents/serve-documents.ts';
import { routes } from '#api/routes.ts';
import { webhookEvents } from '#api/webhooks/event-schemas.ts';
import { clientTypesAreCurrent, typeOf } from '#dev/generate/client-types.ts';

const document = currentOpenApi(routes, webhookEvents, 'http://localhost');

/** Places of objects with fields that are described where they are used. */
function* inlineObjects(value: unknown, place: string, isNamed: boolean): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  if (!isNamed && 'properties' in value && 'type' in value && value.type === 'object') yield place;
  for (const [key, inner] of Object.entries(value))
    if (key !== 'example' && key !== 'examples') yield* inlineObjects(inner, `${place}/${key}`, false);
}

test('no schema is inline: generators find a name for each', () => {
  const { schemas } = document.components;
  const inNamed = Object.entries(schemas).flatMap(([name, schema]) => [...inlineObjects(schema, name, true)]);
  const rest = { paths: document.paths, webhooks: document.webhooks, responses: document.components.responses };
  assert.deepEqual([...inNamed, ...inlineObjects(rest, '', false)], []);
  assert.deepEqual([...inlineObjects({ a: { type: 'object', properties: {} } }, '', false)], ['/a']);
  for (const name of [
    'Message',
    'Thread',
    'Folder',
    'NewMessage',
    'Mailbox',
    'Draft',
    'OutboxMessage',
    'MessagesAdded',
  ])
    assert.ok(name in schemas, name);
});

test('client/api-types.ts is up to date: npm run generate', () => {
  assert.ok(clientTypesAreCurrent());
});

test('a schema that has no type in the client is an error, not `unknown`', () => {
  const name = (schema: string): string => schema;
  assert.throws(() => typeOf({ not: { type: 'string' } }, name), /no type for the schema/);
  assert.equal(
    typeOf({ type: 'array', items: { anyOf: [{ const: 'it’s' }, { type: 'null' }] } }, name),
    "readonly ('it’s' | null)[]",
  );
  assert.equal(
    typeOf({ type: 'object', patternProperties: { '.': { type: 'integer' } } }, name),
    'Readonly<Record<string, number>>',
  );
});
