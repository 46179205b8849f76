import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule, { type FormatsPlugin } from 'ajv-formats';
import { currentAsyncApi } from '#api/documents/serve-documents.ts';
import { webhookEvents } from '#api/webhooks/event-schemas.ts';
import { asyncApiFile } from '#dev/generate/generated-documents.ts';
import { type ApiWorld, apiWorld, at } from '#test/support/api-world.ts';

// The package is CommonJS with an ES default: under nodenext the namespace is typed, the function is what runs.
const addFormats = addFormatsModule as unknown as FormatsPlugin;
const document: unknown = JSON.parse(JSON.stringify(currentAsyncApi(webhookEvents, 'https://mail.example.com')));
const OFFICIAL = new URL('../../node_modules/@asyncapi/specs/schemas/3.0.0.json', import.meta.url);

let world: ApiWorld;
before(async () => {
  world = await apiWorld();
});
after(() => world?.close());

test('it is valid by the schema of AsyncAPI 3', () => {
  // It contains the schema of draft 07 itself.
  const ajv = new Ajv({ strict: false, allErrors: true, meta: false, validateSchema: false });
  addFormats(ajv);
  const validate = ajv.compile(JSON.parse(readFileSync(OFFICIAL, 'utf8')) as object);
  assert.ok(validate(document), ajv.errorsText(validate.errors));
  assert.ok(
    !validate({ ...(document as object), operations: { deliver: { action: 'sends' } } }),
    'it refuses something',
  );
});

/** Every reference in it. */
function* references(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value))
    if (key === '$ref' && typeof child === 'string') yield child;
    else yield* references(child);
}

test('every reference resolves, and every event type is a message with a valid example', () => {
  const all = [...references(document)];
  assert.ok(all.length > webhookEvents.length * 2);
  for (const reference of all) {
    assert.match(reference, /^#\//);
    assert.ok(at(document, ...reference.slice(2).split('/')) !== undefined, reference);
  }
  const ajv = new Ajv2020({ allErrors: true, strict: false });
  addFormats(ajv);
  ajv.addSchema(document as object, 'document');
  for (const { type } of webhookEvents) {
    const message = at(document, 'components', 'messages', type);
    const validate = ajv.getSchema(`document${String(at(message, 'payload', '$ref'))}`);
    assert.ok(validate);
    assert.ok(validate(at(message, 'examples', 0, 'payload')), `${type}: ${ajv.errorsText(validate.errors)}`);
    assert.ok(!validate({ type: 'other' }));
  }
  assert.deepEqual(
    Object.keys(at(document, 'components', 'messages') as object),
    webhookEvents.map(({ type }) => type),
  );
});

test('it is served beside the OpenAPI document, and docs/asyncapi.json is the same (npm run generate)', async () => {
  const written = readFileSync(new URL('../../docs/asyncapi.json', import.meta.url), 'utf8');
  assert.equal(written, asyncApiFile());
  const served = await fetch(`${world.api.url}/asyncapi.json`);
  assert.equal(served.status, 200);
  assert.match(served.headers.get('content-type') ?? '', /^application\/json/);
  const { info: _, ...rest } = (await served.json()) as Record<string, unknown>;
  const { info: __, ...expected } = JSON.parse(written) as Record<string, unknown>;
  assert.deepEqual(rest, expected);
});
