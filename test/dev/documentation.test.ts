/** The pages of the documentation: complete, without dead links, and without anything of another host. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createMarkdownRenderer } from 'vitepress';
import { RESOURCES } from '#api/http/route.ts';
import { routes } from '#api/routes.ts';
import { buildDocumentation } from '#dev/build/build-documentation.ts';
import { type Page, withPageLinks } from '#dev/documentation/documents.ts';
import { allPages, MARKDOWN } from '#dev/documentation/write-documentation.ts';
import { ERROR_CATALOGUE } from '#domain/errors.ts';
import { EVENT_TYPES } from '#domain/webhooks/event-types.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const built = `${root}/docs/dist`;
let pages: Page[];
/** What the service sends, by address. */
let documents: Map<string, string>;
before(async () => {
  await buildDocumentation();
  pages = await allPages(root);
  documents = new Map(
    globSync('**/*.html', { cwd: built }).map((name) => [
      `/docs/${name.replace('.html', '')}`.replace('/docs/index', '/docs'),
      readFileSync(`${built}/${name}`, 'utf8'),
    ]),
  );
});

const textAt = (path: string): string => documents.get(path) ?? '';
const idsIn = (text: string): string[] => [...text.matchAll(/<[^>]* id="([^"]+)"/g)].map(([, id = '']) => id);

test('each page has one address and a title', () => {
  assert.equal(new Set(pages.map(({ path }) => path)).size, pages.length);
  for (const { path, title } of pages) assert.notEqual(title, '', path);
  assert.deepEqual([...documents.keys()].toSorted(), pages.map(({ path }) => path).toSorted());
});

test('every document, operation, error and event is on a page', () => {
  // Another process may be building `dist`.
  const names = globSync('**/*.md', {
    cwd: `${root}/docs`,
    exclude: (name) => /^dist(?:-\d+)?$/.test(path.basename(name)),
  });
  for (const name of names)
    assert.ok(
      pages.some(({ path }) => path === `/docs/${name.replace(/\.md$/, '').toLowerCase()}`.replace('/index', '')),
      name,
    );
  const resources = [...documents].flatMap(([path, text]) => (path.startsWith('/docs/api/') ? [text] : []));
  for (const { operationId } of routes)
    assert.equal(resources.filter((text) => text.includes(`id="${operationId}"`)).length, 1, operationId);
  for (const code of Object.keys(ERROR_CATALOGUE)) assert.ok(textAt('/docs/errors').includes(`id="${code}"`), code);
  for (const type of EVENT_TYPES) assert.ok(textAt('/docs/events').includes(`id="${type}"`), type);
});

test('every resource has a description', () => {
  const tags = new Set([...routes.map(({ tag }) => tag), 'Events']);
  assert.deepEqual([...tags].toSorted(), Object.keys(RESOURCES).toSorted());
});

test('every link leads to an existing page, anchor or file', () => {
  const ids = new Map([...documents].map(([path, text]) => [path, new Set(idsIn(text))]));
  const others = new Set(['/', '/openapi.json', '/asyncapi.json']);
  const dead = [...documents].flatMap(([path, text]) =>
    [...text.matchAll(/ (?:href|src)="([^"]+)"/g)].flatMap(([, href = '']) => {
      const { origin, pathname, hash } = new URL(href.replaceAll('&amp;', '&'), `http://service.invalid${path}`);
      if (origin !== 'http://service.invalid' || others.has(pathname)) return [];
      const there = ids.get(pathname);
      const isThere = there !== undefined && (hash === '' || there.has(decodeURIComponent(hash.slice(1))));
      const isFile = existsSync(pathname.replace('/docs', built));
      return isThere || (there === undefined && isFile) ? [] : [`${href} on ${path}`];
    }),
  );
  assert.deepEqual(dead, []);
});

test('no id occurs twice on a page', () => {
  for (const [path, text] of documents) {
    // Groups of tabs number their own.
    const ids = idsIn(text).filter((id) => !id.startsWith('tab-'));
    assert.deepEqual(
      ids.filter((id, index) => ids.indexOf(id) !== index),
      [],
      path,
    );
  }
});

test('nothing is loaded from another host, and nothing is inline', () => {
  for (const [path, text] of documents) {
    assert.doesNotMatch(text, /<(?:img|script|link|iframe)[^>]*(?:src|href)="(?:https?:)?\/\//, path);
    assert.doesNotMatch(text, /<script(?![^>]* src=)|<style|<[^>]+ (?:style|on\w+)="/, path);
  }
});

test('the navigation has every guide and resource', () => {
  const links = new Set([...textAt('/docs').matchAll(/ href="([^"#]+)"/g)].map(([, href]) => href));
  const reachedOtherwise = /^\/docs\/(?:adr|packages|examples)\//;
  assert.deepEqual(
    pages.map(({ path }) => path).filter((path) => !links.has(path) && !reachedOtherwise.test(path)),
    [],
  );
});

test('HTML and braces in a document are shown as text', async () => {
  const markdown = await createMarkdownRenderer(root, MARKDOWN);
  const shown = await markdown.renderAsync('<script>x</script> and <b>y</b> {{ z }}\n\n```\n</code>{{ z }}\n```\n');
  assert.doesNotMatch(shown, /<script|<b>/);
  assert.match(shown, /&lt;script&gt;.* &#123;&#123; z }}/);
  assert.match(shown, /<pre v-pre[^>]*><code>&lt;\/code>{{ z }}/);
});

test('a link to a file without a page becomes plain text, and code stays as it is', () => {
  const shown = withPageLinks('[the test](../test/a.ts), [CLI](cli.md#x), `[a](b.md)`', 'docs/a.md', ['docs/cli.md']);
  assert.equal(shown, 'the test, [CLI](/docs/cli#x), `[a](b.md)`');
});
