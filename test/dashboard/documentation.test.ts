/** The documentation in a browser, as the service serves it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { buildDocumentation } from '#dev/build-documentation.ts';
import { type ApiWorld, apiWorld } from '#test/support/api-world.ts';
import { assertAccessible, assertFitsWindow, type TestBrowser, testBrowser } from '#test/support/browser.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: ApiWorld;
let browser: TestBrowser;
before(async () => {
  await buildDocumentation();
  [world, browser] = await Promise.all([apiWorld(), testBrowser()]);
});
after(async () => {
  await browser?.close();
  await world?.close();
});

/** One of each kind. */
const PAGES = [
  '/docs',
  '/docs/sending',
  '/docs/recipes/receive-webhooks',
  '/docs/api/mailboxes',
  '/docs/errors',
  '/docs/events',
  '/docs/adr',
];

test('pages are compressed, cached by their content, and allow nothing of other hosts', async () => {
  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${world.api.url}${path}`, { headers });
  const page = await get('/docs/cli', { 'accept-encoding': 'br' });
  assert.equal(page.status, 200);
  assert.equal(page.headers.get('content-encoding'), 'br');
  assert.match(
    page.headers.get('content-security-policy') ?? '',
    /default-src 'none'.*require-trusted-types-for 'script'/,
  );
  const unchanged = await get('/docs/cli', { 'if-none-match': page.headers.get('etag') ?? '' });
  assert.equal(unchanged.status, 304);
  const [, style = ''] = /href="(\/docs\/assets\/[^"]+\.css)"/.exec(await page.text()) ?? [];
  assert.match((await get(style)).headers.get('cache-control') ?? '', /immutable/);
  assert.equal((await get('/docs/no-such-page', { accept: 'application/json' })).status, 404);
  for (const hidden of ['/docs/.source-hash', '/docs/.vite/manifest.json', '/docs/../package.json'])
    assert.equal((await get(hidden, { accept: 'application/json' })).status, 404, hidden);
});

for (const { name, ...options } of [
  { name: 'light, desktop', phone: false, dark: false },
  { name: 'dark, phone', phone: true, dark: true },
])
  test(`every kind of page is accessible and fits the window: ${name}`, async () => {
    const { page, assertNoFaults } = await browser.open(world.api.url, options);
    for (const path of PAGES) {
      await page.goto(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await assertFitsWindow(page, path);
      await assertAccessible(page, path);
    }
    assertNoFaults();
  });

test('the search is opened, used and left by keyboard', async () => {
  const { page, assertNoFaults } = await browser.open(world.api.url);
  await page.goto('/docs');
  await page.keyboard.press('/');
  const field = page.getByRole('searchbox', { name: 'Search the documentation' });
  await field.waitFor();
  await page.keyboard.type('rotate token');
  const results = page.getByRole('dialog').getByRole('listitem');
  await results.filter({ hasText: 'Rotate' }).first().waitFor();
  await assertAccessible(page, 'search');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  await field.fill('qqxyzzyqq');
  await page.getByText('Nothing found').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await page.keyboard.press('Control+k');
  await field.fill('idempotency_conflict');
  await results.filter({ hasText: 'idempotency_conflict' }).first().waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/docs/errors#idempotency_conflict');
  await page.getByRole('heading', { name: 'idempotency_conflict' }).waitFor();
  assertNoFaults();
});

test('a search that cannot be loaded says so, and works at the next try', async () => {
  const { page } = await browser.open(world.api.url);
  await page.goto('/docs');
  await page.route('**/search-*.json', (route) => route.abort());
  await page.getByRole('button', { name: 'Search' }).click();
  const field = page.getByRole('searchbox');
  await field.fill('mailbox');
  await page.getByText('could not be loaded').waitFor();
  await page.unroute('**/search-*.json');
  await field.fill('mailboxes');
  await page.getByRole('dialog').getByRole('listitem').first().waitFor();
});

test('the chosen language is shown for every operation, on every page; code has the address of the service', async () => {
  const { page, assertNoFaults } = await browser.open(world.api.url);
  await page.goto('/docs/api/mailboxes');
  const curl = page.getByRole('tabpanel', { name: 'cURL' });
  await curl.first().waitFor();
  assert.match((await curl.first().textContent()) ?? '', new RegExp(`${world.api.url}/api/mailboxes`));
  await page.getByRole('tab', { name: 'cURL' }).first().focus();
  await page.keyboard.press('ArrowRight');
  await page.getByRole('tabpanel', { name: 'TypeScript' }).nth(1).waitFor();
  assert.equal((await page.getByRole('tab', { name: 'TypeScript', selected: true }).count()) > 5, true);
  await page.goto('/docs/api/webhooks');
  await page.getByRole('tabpanel', { name: 'TypeScript' }).first().waitFor();
  const first = page.locator('.code-frame >> visible=true').first();
  await first.hover();
  await first.getByRole('button', { name: 'Copy' }).click();
  await first.getByRole('button', { name: 'Copied' }).waitFor();
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  assert.match(copied, /service\.webhooks\./);
  assertNoFaults();
});

test('a phone has the navigation in a menu', async () => {
  const { page, assertNoFaults } = await browser.open(world.api.url, { phone: true });
  await page.goto('/docs');
  await page.getByText('Menu', { exact: true }).click();
  await page
    .getByRole('navigation', { name: 'Documentation, menu' })
    .getByRole('link', { name: 'Support inbox' })
    .click();
  await page.getByRole('heading', { name: 'Support inbox', level: 1 }).waitFor();
  await assertFitsWindow(page, 'a recipe');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('searchbox').fill('dmarc');
  await page.getByRole('dialog').getByRole('listitem').first().waitFor();
  await assertFitsWindow(page, 'search');
  assertNoFaults();
});

test('without scripts a page shows every language and no search', async () => {
  const { page } = await browser.open(world.api.url);
  await page.route('**/*.js', (route) => route.abort());
  await page.goto('/docs/api/mailboxes');
  await page.getByRole('heading', { name: 'cURL' }).first().waitFor();
  await page.getByRole('heading', { name: 'TypeScript' }).first().waitFor();
  await waitUntil('no search', async () => !(await page.getByRole('button', { name: 'Search' }).isVisible()));
});
