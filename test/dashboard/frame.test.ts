import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newId } from '#core/platform/new-id.ts';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import { type ApiWorld, apiWorld, at } from '#test/support/api-world.ts';
import { assertAccessible, type TestBrowser, testBrowser } from '#test/support/browser.ts';
import { SIGNED_OUT, signedInPage } from '#test/support/dashboard-sign-in.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: ApiWorld;
let browser: TestBrowser;

before(async () => {
  await buildDashboard();
  [world, browser] = await Promise.all([apiWorld(), testBrowser()]);
});
after(async () => {
  await browser?.close();
  await world?.close();
});

const open = (to: string, options: { phone?: boolean; dark?: boolean } = {}) =>
  signedInPage(browser, world.api.url, world.organization.owner.email, to, options);

const focusedText = 'document.activeElement?.textContent ?? ""';
const theme = 'document.documentElement.dataset.theme';

test('the palette goes to pages, mailboxes and actions by the keyboard alone', async () => {
  const { page, assertNoFaults } = await open('/settings/people');
  const field = page.getByRole('combobox', { name: 'Search pages, mailboxes and actions' });
  await page.keyboard.press('Control+k');
  await field.waitFor();
  await assertAccessible(page, 'palette');
  await page.keyboard.type('supp');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Suppressions' }).waitFor();

  await page.keyboard.press('Meta+k');
  await field.waitFor();
  await page.keyboard.type(world.organization.mailbox.address);
  await page.getByRole('option', { name: world.organization.mailbox.address }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: world.organization.mailbox.address }).waitFor();

  for (const [typed, dialog] of [
    ['add mailbox', 'Add a mailbox'],
    ['create api', 'Create an API key'],
    ['add domain', 'Add a domain'],
    ['invite', 'Invite a person'],
  ] as const) {
    await page.keyboard.press('Control+k');
    await field.waitFor();
    await page.keyboard.type(typed);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: dialog }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  await page.keyboard.press('Control+k');
  await field.fill('no such thing');
  await page.getByText('Nothing found.').waitFor();
  await page.keyboard.press('Escape');
  await field.waitFor({ state: 'detached' });
  assertNoFaults(SIGNED_OUT);
});

test('a page asks for its scripts and its session beside the first script, and gets each once and compressed', async () => {
  const { page } = await open('/approvals');
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Approvals' }).waitFor();
  const asked = await page.evaluate<{ name: string; initiatorType: string }[]>(
    `performance.getEntriesByType('resource').map(({ name, initiatorType }) => ({ name, initiatorType }))`,
  );
  assert.equal(asked.filter(({ name }) => name.endsWith('/api/sessions/current')).length, 1);
  const scripts = asked.filter(({ name }) => name.endsWith('.js'));
  assert.equal(new Set(scripts.map(({ name }) => name)).size, scripts.length);
  // What a script asks for later has another initiator than what the document names.
  const late = scripts.filter(({ initiatorType }) => !['link', 'script', 'other'].includes(initiatorType));
  assert.deepEqual(late, []);
  for (const [accepted, encoding] of [
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['identity', null],
  ] as const) {
    const response = await fetch(scripts[0]?.name ?? '', { headers: { 'accept-encoding': accepted } });
    assert.equal(response.headers.get('content-encoding'), encoding);
    assert.equal(response.headers.get('vary'), 'Accept-Encoding');
    assert.match(await response.text(), /import|export/);
  }
});

test('the keys are shown by a question mark, but not while somebody types', async () => {
  const { page } = await open('/settings/suppressions');
  await page.getByLabel('Only this address').fill('');
  await page.keyboard.type('?');
  assert.equal(await page.getByRole('dialog').count(), 0);
  await page.getByRole('heading', { level: 1 }).click();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await assertAccessible(page, 'keys');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

test('the first key leads past the navigation to the content', async () => {
  const { page } = await open('/settings/people');
  await page.reload();
  await page.getByRole('heading', { name: 'People' }).waitFor();
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(focusedText), 'Skip to the content');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate('document.activeElement?.id'), 'content');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(focusedText), ' Invite');
});

test('what waits for a decision is counted in the navigation and in the title of every page', async () => {
  const organization = await world.newOrganization('team');
  const { page } = await signedInPage(browser, world.api.url, organization.owner.email, '/domains');
  await waitUntil('the title', async () => (await page.title()) === 'Domains · Agent Mailbox');
  for (const to of ['zed@acme.example', 'ann@contoso.example']) {
    const body = { to: [to], subject: 'First words', text: 'Hello' };
    const held = await world.call('POST', '/api/mailbox/messages', { as: organization.mailbox.token, body });
    assert.equal(held.status, 202, held.text);
  }
  await page.reload();
  await page.getByRole('link', { name: 'Approvals 2 waiting' }).waitFor();
  await waitUntil('the count in the title', async () => (await page.title()) === '(2) Domains · Agent Mailbox');
});

test('the theme is that of the system until one is chosen', async () => {
  const { page, assertNoFaults } = await open('/domains', { dark: true });
  assert.equal(await page.evaluate(theme), 'dark');
  const choose = async (name: string) => {
    await page.getByRole('button', { name: 'Account of' }).click();
    await page.getByRole('menuitemradio', { name }).click();
    await page.getByRole('menu').waitFor({ state: 'detached' });
  };
  await choose('Light');
  assert.equal(await page.evaluate(theme), 'light');
  await page.reload();
  await page.getByRole('heading', { name: 'Domains', exact: true }).waitFor();
  assert.equal(await page.evaluate(theme), 'light');
  await choose('As the system');
  assert.equal(await page.evaluate(theme), 'dark');
  await page.emulateMedia({ colorScheme: 'light' });
  await waitUntil('the theme of the system', async () => (await page.evaluate(theme)) === 'light');
  assertNoFaults(SIGNED_OUT);
});

test('a menu is loaded when somebody is about to open it, opens when it is there, and gives the focus back', async () => {
  const { page, assertNoFaults } = await open('/domains');
  let asked = 0;
  const loaded = Promise.withResolvers<void>();
  await page.route(/\/assets\/menus-[^/]+\.js$/, async (route) => {
    asked += 1;
    await loaded.promise;
    await route.continue();
  });
  const button = page.getByRole('button', { name: 'Account of' });
  await button.waitFor();
  assert.equal(asked, 0);
  await button.focus();
  await page.keyboard.press('Enter');
  await waitUntil('the request for the menu', () => asked === 1);
  loaded.resolve();
  const first = page.getByRole('menuitem', { name: 'My account and sessions' });
  await first.waitFor();
  await assertAccessible(page, 'menu of the account');
  await page.keyboard.press('Escape');
  await page.getByRole('menu').waitFor({ state: 'detached' });
  await waitUntil('the focus', async () => (await page.evaluate<string>(focusedText)).startsWith('Account of'));
  await page.keyboard.press('ArrowDown');
  await first.waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'My account', exact: true }).waitFor();
  assertNoFaults(SIGNED_OUT);
});

test('a member of two organizations switches between them, and sees nothing of the other', async () => {
  const { userId, email } = world.organization.member;
  const second = await world.newOrganization('team');
  await world.sql(`update organizations set name = 'Second' where id = $1`, [second.id]);
  await world.sql(`insert into members (id, organization_id, user_id, role) values ($1, $2, $3, 'member')`, [
    newId('member'),
    second.id,
    userId,
  ]);
  const { page, assertNoFaults } = await signedInPage(browser, world.api.url, email, '/mailboxes');
  const rows = page.getByRole('list', { name: 'Mailboxes' });
  await rows.getByText(world.organization.mailbox.address).waitFor();
  await page.getByRole('button', { name: 'Organization: Test' }).click();
  await assertAccessible(page, 'organizations');
  await page.getByRole('menuitemradio', { name: 'Second' }).click();
  await page.getByRole('button', { name: 'Organization: Second' }).waitFor();
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Mailboxes' }).click();
  await rows.getByText(second.mailbox.address).waitFor();
  assert.equal(await page.getByText(world.organization.mailbox.address).count(), 0);
  await page.reload();
  await rows.getByText(second.mailbox.address).waitFor();
  // What was being asked about the first organization is not found in the second.
  assertNoFaults([...SIGNED_OUT, 404]);
});

test('a phone has a bar below with the pages used most, and the others under More', async () => {
  const { page, assertNoFaults } = await open('/approvals', { phone: true });
  const bar = page.getByRole('navigation', { name: 'Pages' });
  for (const name of ['Approvals', 'Mailboxes', 'Activity']) await bar.getByRole('link', { name }).waitFor();
  await bar.getByRole('button', { name: 'More' }).click();
  await assertAccessible(page, 'More');
  await page.getByRole('dialog', { name: 'More' }).getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('heading', { name: 'API keys' }).waitFor();
  assert.equal(await page.getByRole('dialog').count(), 0);
  assertNoFaults(SIGNED_OUT);
});

test('a page that fails shows what the service says and tries again, with the frame around it', async () => {
  const { page } = await open('/settings/people');
  const { id } = world.organization.mailbox;
  await page.goto(`/domains/${id.replace('mbx_', 'dom_')}`);
  await page.getByRole('alert').waitFor();
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  await page.goto('/settings/no-such-page');
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
});

test('an address that does not exist is a page that says so, and an error to programs', async () => {
  const { page, assertNoFaults } = await browser.open(world.api.url);
  const answer = await page.goto('/no/such-page');
  assert.equal(answer?.status(), 404);
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
  assertNoFaults([404]);
  for (const [path, accept] of [
    ['/no/such-page', '*/*'],
    ['/api/no-such-path', 'text/html'],
  ] as const) {
    const { status, body } = await world.call('GET', path, { headers: { accept } });
    assert.deepEqual([status, at(body, 'error', 'code')], [404, 'not_found'], path);
  }
});

test('a page that is slow shows that it loads', async () => {
  const { page } = await open('/approvals');
  let answer = () => {};
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route('**/api/members**', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto('/settings/people');
  await page.getByRole('status').getByText('Loading…').first().waitFor();
  answer();
  await page.getByText(world.organization.owner.email).waitFor();
  assert.equal(await page.getByText('Loading…').count(), 0);
});
