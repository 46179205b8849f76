/** The documentation in a browser, as the service serves it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { buildDocumentation } from '#dev/build/build-documentation.ts';
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
    /default-src 'none'.*script-src 'self';.*style-src 'self';.*require-trusted-types-for 'script'/,
  );
  const unchanged = await get('/docs/cli', { 'if-none-match': page.headers.get('etag') ?? '' });
  assert.equal(unchanged.status, 304);
  const [, style = ''] = /href="(\/docs\/assets\/[^"]+\.css)"/.exec(await page.text()) ?? [];
  assert.match((await get(style)).headers.get('cache-control') ?? '', /immutable/);
  assert.equal((await get('/docs/no-such-page', { accept: 'application/json' })).status, 404);
  for (const hidden of ['/docs/.source-hash', '/docs/../package.json'])
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

/** Of the search dialog of VitePress: it has the role of a button, and names of its results differ from their text by the marks between titles. */
const OF_THE_DIALOG = ['label-content-name-mismatch', 'nested-interactive'];

test('the search is opened, used and left by keyboard', async () => {
  const { page, assertNoFaults } = await browser.open(world.api.url);
  await page.goto('/docs');
  await page.getByRole('button', { name: 'Search' }).waitFor();
  const field = page.getByRole('searchbox');
  const results = page.getByRole('option');
  const find = async (words: string, address: RegExp) => {
    await field.fill(words);
    await waitUntil(`${address.source} among the first results of "${words}"`, async () => {
      const links = await page.locator('.results a').all();
      const found = await Promise.all(links.slice(0, 5).map((link) => link.getAttribute('href')));
      return found.some((href) => href !== null && address.test(href));
    });
  };
  await waitUntil('the page to answer keys', async () => {
    await page.keyboard.press('/');
    return field.isVisible();
  });
  await find('rotate token', /mailboxes#rotateMailboxToken$/);
  await assertAccessible(page, 'search', OF_THE_DIALOG);
  await find('create a mailbox', /mailboxes#createMailbox$/);
  await find('rate_limited', /errors#rate_limited$/);
  await find('consent denied', /events#outbound_consent_denied$/);
  await find('support inbox', /recipes\/support-inbox/);
  await find('webhok', /webhook/);
  await field.fill('qqxyzzyqq');
  await page.getByText('No results').waitFor();
  await page.keyboard.press('Escape');
  await field.waitFor({ state: 'hidden' });
  await page.keyboard.press('Control+k');
  await find('idempotency_conflict', /errors#idempotency_conflict$/);
  await results.first().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/docs/errors#idempotency_conflict');
  await page.getByRole('heading', { name: 'idempotency_conflict' }).waitFor();
  assertNoFaults();
});

test('the chosen language is shown for every operation, on every page; code has the address of the service', async () => {
  const { page, assertNoFaults } = await browser.open(world.api.url);
  await page.goto('/docs/api/mailboxes#createMailbox');
  const shown = page.locator('.vp-code-group pre >> visible=true');
  await shown
    .filter({ hasText: `${world.api.url}/api/mailboxes` })
    .first()
    .waitFor();
  await page.locator('.vp-code-group input').first().focus();
  await page.keyboard.press('ArrowRight');
  await shown.filter({ hasText: 'await service.mailboxes.create(' }).waitFor();
  assert.equal((await page.getByRole('radio', { name: 'TypeScript', checked: true }).count()) > 5, true);
  assert.equal(await page.getByRole('radio', { name: 'cURL', checked: true }).count(), 0);
  // By a link, and after loading again.
  await page.getByRole('link', { name: 'Webhooks', exact: true }).last().click();
  await page.waitForURL('**/docs/api/webhooks');
  const call = shown.filter({ hasText: 'service.webhooks.' }).first();
  await call.waitFor();
  await page.reload();
  await call.waitFor();
  await call.hover();
  await page.locator('.vp-code-group .active button.copy').first().click();
  await page.locator('button.copied').waitFor();
  await waitUntil('the call to be copied', async () =>
    (await page.evaluate<string>('navigator.clipboard.readText()')).includes('service.webhooks.'),
  );
  await page.locator('header').getByRole('link', { name: 'Dashboard', exact: true }).click();
  await page.waitForURL((url) => !url.pathname.startsWith('/docs'));
  // The dashboard need not be built.
  assertNoFaults([401, 503]);
});

test('a phone has the navigation in a menu', async () => {
  const { page, assertNoFaults } = await browser.open(world.api.url, { phone: true });
  await page.goto('/docs');
  await page.locator('.VPLocalNav').getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('link', { name: 'Support inbox' }).and(page.locator('.VPSidebar *')).click();
  await page.getByRole('heading', { name: 'Support inbox', level: 1 }).waitFor();
  await assertFitsWindow(page, 'a recipe');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('searchbox').fill('dmarc');
  await page.getByRole('option').first().waitFor();
  await assertFitsWindow(page, 'search');
  assertNoFaults();
});

test('without scripts a page shows every language and no search', async () => {
  const { page } = await browser.open(world.api.url, { scripts: false });
  await page.goto('/docs/api/mailboxes');
  await page.getByText('await service.mailboxes.create(').first().waitFor();
  await page.getByText('agent-mailbox mailboxes create').first().waitFor();
  assert.equal(await page.getByRole('button', { name: 'Search' }).isVisible(), false);
});
