import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { templatePath } from '../../api/openapi.ts';
import { routes } from '../../api/routes.ts';
import { ERROR_CATALOGUE } from '../../domain/errors.ts';
import { EVENT_TYPES } from '../../domain/event-types.ts';
import { type ApiWorld, apiWorld, at } from '../support/api-world.ts';

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

test('the pages show every operation, error and event, and need no other host', async () => {
  const reference = await world.call('GET', '/docs');
  for (const { operationId } of routes) assert.ok(reference.text.includes(`id="${operationId}"`), operationId);
  const errors = await world.call('GET', '/docs/errors');
  for (const code of Object.keys(ERROR_CATALOGUE)) assert.ok(errors.text.includes(`id="${code}"`), code);
  const events = await world.call('GET', '/docs/events');
  for (const type of EVENT_TYPES) assert.ok(events.text.includes(`id="${type}"`), type);
  for (const { text, headers } of [reference, errors, events]) {
    assert.ok(!/(?:src|href)="https?:/.test(text));
    assert.match(headers.get('content-type') ?? '', /^text\/html/);
  }
  assert.equal((await world.call('GET', '/docs/style.css')).status, 200);
});

test('every link within the pages leads somewhere', async () => {
  const pages = new Map<string, string>();
  const load = async (path: string) => {
    const known = pages.get(path);
    if (known !== undefined) return known;
    const answer = await world.call('GET', path);
    assert.equal(answer.status, 200, path);
    pages.set(path, answer.text);
    return answer.text;
  };
  for (const path of ['/docs', '/docs/errors', '/docs/events'])
    for (const [, href = ''] of (await load(path)).matchAll(/href="([^"]+)"/g)) {
      const { pathname, hash } = new URL(href, `http://x${path}`);
      const target = await load(pathname);
      if (hash !== '') assert.ok(target.includes(`id="${hash.slice(1)}"`), `${href} on ${path}`);
    }
});

test('the root leads to the pages', async () => {
  const answer = await world.call('GET', '/');
  assert.deepEqual([answer.status, answer.headers.get('location')], [302, '/docs']);
});
