/** The pages of the documentation: complete, without dead links, and without anything of another host. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import MiniSearch from 'minisearch';
import { RESOURCES } from '#api/http/resources.ts';
import { routes } from '#api/routes.ts';
import { documentPages } from '#dev/documentation/document-pages.ts';
import { renderMarkdown } from '#dev/documentation/markdown.ts';
import type { Page } from '#dev/documentation/page.ts';
import { searchIndex } from '#dev/documentation/search-index.ts';
import { SEARCH_OPTIONS, type SearchEntry } from '#dev/documentation/search-options.ts';
import { allPages } from '#dev/documentation/write-documentation.ts';
import { ERROR_CATALOGUE } from '#domain/errors.ts';
import { EVENT_TYPES } from '#domain/webhooks/event-types.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
let pages: Page[];
before(async () => {
  pages = await allPages(root);
});

const textAt = (path: string): string => pages.find((page) => page.path === path)?.content.text ?? '';

test('each page has one address and a title', () => {
  assert.equal(new Set(pages.map(({ path }) => path)).size, pages.length);
  for (const { path, title } of pages) assert.notEqual(title, '', path);
});

test('every document, operation, error and event is on a page', () => {
  const documents = readdirSync(`${root}/docs`, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.md'),
  );
  for (const name of documents)
    assert.ok(
      pages.some(({ path }) => path === `/docs/${name.replace(/\.md$/, '').toLowerCase()}`),
      name,
    );
  const resources = pages.filter(({ path }) => path.startsWith('/docs/api/')).map(({ content }) => content.text);
  for (const { operationId } of routes)
    assert.equal(resources.filter((text) => text.includes(`id="${operationId}"`)).length, 1, operationId);
  for (const code of Object.keys(ERROR_CATALOGUE)) assert.ok(textAt('/docs/errors').includes(`id="${code}"`), code);
  for (const type of EVENT_TYPES) assert.ok(textAt('/docs/events').includes(`id="${type}"`), type);
});

test('every resource has a description', () => {
  const tags = new Set([...routes.map(({ tag }) => tag), 'Events']);
  assert.deepEqual([...tags].toSorted(), Object.keys(RESOURCES).toSorted());
});

test('every link leads to an existing page and anchor', () => {
  const ids = new Map(
    pages.map(({ path, content }) => [path, new Set([...content.text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
  );
  const others = new Set(['/', '/openapi.json', '/asyncapi.json']);
  const dead = pages.flatMap(({ path, content }) =>
    [...content.text.matchAll(/ href="([^"]+)"/g)].flatMap(([, href = '']) => {
      const { origin, pathname, hash } = new URL(href, `http://service.invalid${path}`);
      if (origin !== 'http://service.invalid' || others.has(pathname)) return [];
      const there = ids.get(pathname);
      const isThere = there !== undefined && (hash === '' || there.has(decodeURIComponent(hash.slice(1))));
      return isThere ? [] : [`${href} on ${path}`];
    }),
  );
  assert.deepEqual(dead, []);
});

test('no id occurs twice on a page', () => {
  for (const { path, content } of pages) {
    const ids = [...content.text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    assert.deepEqual(
      ids.filter((id, index) => ids.indexOf(id) !== index),
      [],
      path,
    );
  }
});

test('nothing is loaded from another host', () => {
  for (const { path, content } of pages)
    assert.doesNotMatch(content.text, /<(?:img|script|link|iframe)[^>]*(?:src|href)="(?:https?:)?\/\//, path);
});

test('the search finds operations, guides, errors, and parts of names', () => {
  const index = MiniSearch.loadJSON<SearchEntry>(searchIndex(pages), SEARCH_OPTIONS);
  const found = (words: string) =>
    index
      .search(words)
      .slice(0, 5)
      .map(({ id }) => String(id));
  assert.ok(
    found('create a mailbox').some((id) => id.endsWith('#createMailbox')),
    found('create a mailbox').join(),
  );
  assert.ok(found('rate_limited').includes('/docs/errors#rate_limited'));
  assert.ok(found('consent denied').some((id) => id.startsWith('/docs/events#outbound_consent_denied')));
  assert.ok(found('support inbox')[0]?.startsWith('/docs/recipes/support-inbox'));
  assert.ok(found('webhok').length > 0, 'a typing error');
});

test('HTML in a document is shown as text', () => {
  const { content } = renderMarkdown('# A\n\n<script>x</script> and <b>y</b>\n', 'docs/a.md', () => undefined);
  assert.doesNotMatch(content.text, /<script|<b>/);
  assert.match(content.text, /&lt;script&gt;/);
});

test('a link to a file without a page becomes plain text', () => {
  assert.ok(documentPages(root).length > 20);
  const { content } = renderMarkdown('See [the test](../test/a.ts).', 'docs/a.md', () => undefined);
  assert.match(content.text, /See the test\./);
});
