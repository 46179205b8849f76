import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { templatePath } from '#api/documents/openapi.ts';
import { routes } from '#api/routes.ts';
import { EVENT_TYPES } from '#domain/webhooks/event-types.ts';
import { type ApiWorld, apiWorld, at } from '#test/support/api-world.ts';

let world: ApiWorld;
let document: unknown;
before(async () => {
  world = await apiWorld();
  document = (await world.call('GET', '/openapi.json')).body;
});
after(() => world.close());

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const result = await validator.validate(structuredClone(document) as Record<string, unknown>);
  assert.deepEqual([result.valid, validator.version], [true, '3.1'], JSON.stringify(result));
});

test('it holds every route and nothing else, with a unique operation each', () => {
  const described = Object.entries(at(document, 'paths') as Record<string, Record<string, unknown>>).flatMap(
    ([path, operations]) => Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const table = routes.map(({ method, path }) => `${method} ${templatePath(path)}`);
  assert.deepEqual(described.toSorted(), table.toSorted());
  assert.equal(new Set(routes.map(({ operationId }) => operationId)).size, routes.length);
});

test('it holds every event type as a webhook', () => {
  assert.deepEqual(Object.keys(at(document, 'webhooks') as object).toSorted(), [...EVENT_TYPES].toSorted());
});

/** Places below a schema where an object with fields is described without a name. */
function inlineObjects(schema: unknown, place: string): string[] {
  if (Array.isArray(schema)) return schema.flatMap((item, index) => inlineObjects(item, `${place}/${index}`));
  if (typeof schema !== 'object' || schema === null) return [];
  const here = 'properties' in schema && 'type' in schema && schema.type === 'object' ? [place] : [];
  return here.concat(Object.entries(schema).flatMap(([name, value]) => inlineObjects(value, `${place}/${name}`)));
}

type Body = { readonly content?: Readonly<Record<string, { readonly schema?: unknown }>> } | undefined;

const schemasOf = (body: Body): unknown[] => Object.values(body?.content ?? {}).map(({ schema }) => schema);

test('every object of a request or an answer has a name, which generated clients use', () => {
  const { paths, webhooks, components } = document as {
    paths: Record<string, Record<string, { operationId: string; requestBody?: Body; responses: Record<string, Body> }>>;
    webhooks: Record<string, { post: { operationId: string; requestBody: Body } }>;
    components: { schemas: Record<string, object>; responses: Record<string, Body> };
  };
  const bodies: [string, Body][] = [
    ...Object.values(paths).flatMap((operations) =>
      Object.values(operations).flatMap(({ operationId, requestBody, responses }) =>
        [requestBody, ...Object.values(responses)].map((body): [string, Body] => [operationId, body]),
      ),
    ),
    ...Object.entries(components.responses),
    ...Object.values(webhooks).map(({ post }): [string, Body] => [post.operationId, post.requestBody]),
  ];
  assert.ok(bodies.filter(([, body]) => schemasOf(body).length > 0).length > routes.length);
  const inline = [
    ...bodies.flatMap(([name, body]) => schemasOf(body).flatMap((schema) => inlineObjects(schema, name))),
    // A component is an object itself; what it contains is named as well.
    ...Object.entries(components.schemas).flatMap(([name, schema]) => inlineObjects(Object.values(schema), name)),
  ];
  assert.deepEqual(inline, []);
  for (const name of [
    'Mailbox',
    'NewMailbox',
    'MailboxList',
    'Message',
    'NewMessage',
    'Reply',
    'Folder',
    'Thread',
    'Error',
  ])
    assert.ok(name in components.schemas, name);
  for (const name of Object.keys(components.schemas)) assert.match(name, /^[A-Z][A-Za-z0-9]+$/);
});

test('the root is a page of the dashboard', async () => {
  const answer = await world.call('GET', '/');
  assert.match(answer.headers.get('content-security-policy') ?? '', /require-trusted-types-for 'script'/);
});
