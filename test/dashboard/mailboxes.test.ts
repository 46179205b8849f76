import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import {
  type ApiWorld,
  apiWorld,
  asBearer,
  at,
  type Credential,
  TEST_PASSWORD,
  type TestOrganization,
  textAt,
} from '#test/support/api-world.ts';
import {
  assertAccessible,
  assertFitsWindow,
  type OpenedPage,
  openAs,
  type TestBrowser,
  testBrowser,
} from '#test/support/browser.ts';
import { insertMailboxes } from '#test/support/many-rows.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: ApiWorld;
let browser: TestBrowser;

before(async () => {
  await buildDashboard();
  [world, browser] = await Promise.all([apiWorld(), testBrowser()]);
});
after(async () => {
  await browser.close();
  await world.close();
});

/** The 401 of the first look at the session. */
const SIGNED_OUT = 401;

async function opened(
  to: string,
  options: { phone?: boolean; dark?: boolean } = {},
  organization: TestOrganization = world.organization,
): Promise<OpenedPage> {
  const page = await browser.open(world.api.url, options);
  await openAs(page, { email: organization.owner.email, password: TEST_PASSWORD }, to);
  return page;
}

const rowCount = (page: Page) => page.getByRole('list', { name: 'Mailboxes' }).getByRole('listitem').count();

test('a mailbox is added, connected, changed, rotated, suspended, resumed and deleted', async () => {
  const { page, assertNoFaults } = await opened('/mailboxes');
  await page.getByRole('button', { name: 'Add mailbox' }).click();
  await page.getByRole('textbox', { name: 'Address', exact: true }).fill('not allowed');
  const add = page.getByRole('dialog').getByRole('button', { name: 'Add mailbox' });
  await add.click();
  await page.locator('[aria-invalid]').waitFor();
  await page.getByRole('textbox', { name: 'Address', exact: true }).fill('front-desk');
  await page.getByText('front-desk@agents.test').waitFor();
  await page.getByLabel('Display name').fill('Front desk');
  await assertAccessible(page, 'add mailbox');
  await add.click();
  const secret = page.getByLabel('Mailbox token', { exact: true });
  const token = (await secret.textContent()) ?? '';
  assert.equal((await world.call('GET', '/api/mailbox', { as: asBearer(token) })).status, 200);
  await page.getByRole('link', { name: 'Connect an agent' }).click();
  await page.getByRole('heading', { name: 'front-desk@agents.test' }).waitFor();
  for (const title of ['CLI', 'IMAP, POP3, SMTP', 'TypeScript', 'cURL', 'MCP']) {
    await page.getByRole('tab', { name: title, exact: true }).click();
    const shown = await page.getByLabel(`${title} snippet`, { exact: true }).textContent();
    assert.match(shown ?? '', /<MAILBOX_TOKEN>/, title);
  }
  await assertAccessible(page, 'connect');

  await page.getByRole('tab', { name: 'Overview' }).click();
  const facts = page.getByLabel('Facts');
  for (const words of ['Active', 'Synced', '0 B of']) await facts.getByText(words).first().waitFor();
  await assertAccessible(page, 'overview');

  await page.getByRole('tab', { name: 'Settings' }).click();
  await page.getByLabel('Display name').fill('Reception');
  await page.getByLabel('Purpose').fill('Answers guests who ask for a room.');
  await page.getByLabel('Metadata').fill('no value');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('is not of the form key = value').waitFor();
  await page.getByLabel('Metadata').fill('team = guests\nfloor = 1');
  await page.getByLabel('Group').fill('front');
  await assertAccessible(page, 'settings');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved').waitFor();
  const { body } = await world.call('GET', '/api/mailbox', { as: asBearer(token) });
  assert.equal(textAt(body, 'name'), 'Reception');
  assert.equal(textAt(body, 'group'), 'front');
  assert.equal(textAt(body, 'purpose'), 'Answers guests who ask for a room.');
  assert.deepEqual(at(body, 'metadata'), { team: 'guests', floor: '1' });

  await page.getByRole('button', { name: 'Rotate token' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate token' }).click();
  const rotated = (await secret.textContent()) ?? '';
  assert.equal((await world.call('GET', '/api/mailbox', { as: asBearer(token) })).status, 401);
  assert.equal((await world.call('GET', '/api/mailbox', { as: asBearer(rotated) })).status, 200);
  await page.getByRole('tab', { name: 'cURL' }).click();
  await page.getByRole('button', { name: 'Copy cURL snippet' }).click();
  await page.getByText('Copied').waitFor();
  assert.match(await page.evaluate('navigator.clipboard.readText()'), new RegExp(rotated));

  await page.getByRole('tab', { name: 'Settings' }).click();
  await page.getByRole('button', { name: 'Suspend' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click();
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  const stopped = await world.call('GET', '/api/mailbox', { as: asBearer(rotated) });
  assert.equal(stopped.status, 403);
  assert.match(textAt(stopped.body, 'error', 'message'), /suspended/);
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('button', { name: 'Suspend' }).waitFor();

  await page.getByRole('button', { name: 'Delete' }).click();
  const remove = page.getByRole('button', { name: 'Delete the mailbox and its mail' });
  assert.equal(await remove.isDisabled(), true);
  await page.getByLabel('Type front-desk@agents.test to confirm').fill('front-desk@agents.test');
  page.once('dialog', (dialog) => void dialog.accept());
  await remove.click();
  await page.getByRole('heading', { name: 'Mailboxes' }).waitFor();
  await page.getByText('front-desk@agents.test').waitFor({ state: 'detached' });
  assertNoFaults([SIGNED_OUT, 400, 422, 404]);
});

test('an alias of a mailbox is made with a list of senders, changed, and dropped', async () => {
  const { id, token } = await world.newMailbox(world.organization);
  const { page, assertNoFaults } = await opened(`/mailboxes/${id}?tab=settings`);
  await page.getByText('No aliases').waitFor();
  await page.getByRole('button', { name: 'Create alias' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('What it is for').fill('for shop.example');
  await dialog.getByLabel('Senders').fill('shop.example, ann@other.example');
  await assertAccessible(page, 'create alias');
  await dialog.getByRole('button', { name: 'Create alias' }).click();
  await dialog.waitFor({ state: 'detached' });
  const row = page.getByRole('listitem').filter({ hasText: 'for shop.example' });
  await row.getByText('shop.example, ann@other.example').waitFor();
  const list = await world.call('GET', '/api/mailbox/aliases', { as: token });
  const address = textAt(list.body, 'data', 0, 'address');
  await assertAccessible(page, 'aliases');
  await row.getByRole('button', { name: `Change ${address}` }).click();
  await dialog.getByLabel('Senders').fill('shop.example');
  await dialog.getByLabel('Takes mail').selectOption('no');
  await assertAccessible(page, 'change alias');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  await row.getByText('disabled').waitFor();
  const changed = await world.call('GET', '/api/mailbox/aliases', { as: token });
  assert.deepEqual(at(changed.body, 'data', 0, 'senders'), ['shop.example']);
  assert.equal(at(changed.body, 'data', 0, 'enabled'), false);
  await row.getByRole('button', { name: `Drop ${address}` }).click();
  await page.getByRole('button', { name: 'Drop the alias' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const left = await world.call('GET', '/api/mailbox/aliases', { as: token });
  assert.deepEqual(at(left.body, 'data'), []);
  assertNoFaults([SIGNED_OUT]);
});

test('tokens of a mailbox are made, used, revoked, and fit a phone', async () => {
  const { id, address } = await world.newMailbox(world.organization);
  const { page, assertNoFaults } = await opened(`/mailboxes/${id}`);
  await page.getByRole('tab', { name: 'Tokens' }).click();
  await page.getByText('First token').waitFor();
  await page.getByRole('button', { name: 'Create token' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Monitoring');
  await dialog.getByRole('radio', { name: /^Read only/ }).check();
  await dialog.getByLabel('Expiration').selectOption('Another date');
  await dialog.getByLabel('Last day').fill('2099-12-31');
  await assertAccessible(page, 'create token');
  await dialog.getByRole('button', { name: 'Create token' }).click();
  const token = asBearer((await page.getByLabel('Mailbox token', { exact: true }).textContent()) ?? '');
  const message = { to: [address], subject: 'Hello', text: 'x' };
  assert.equal((await world.call('GET', '/api/mailbox/messages', { as: token })).status, 200);
  assert.equal((await world.call('POST', '/api/mailbox/messages', { as: token, body: message })).status, 403);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Done' }).click();
  const row = page.getByRole('listitem').filter({ hasText: 'Monitoring' });
  await row.getByText('Read only').waitFor();
  assert.match((await row.textContent()) ?? '', /expires in \d+ years/);
  await assertAccessible(page, 'tokens');
  await row.getByRole('button', { name: 'Revoke Monitoring' }).click();
  await page.getByRole('button', { name: 'Revoke token' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await row.waitFor({ state: 'detached' });
  assert.equal((await world.call('GET', '/api/mailbox', { as: token })).status, 401);
  assertNoFaults([SIGNED_OUT]);
  const phone = await opened(`/mailboxes/${id}?tab=tokens`, { phone: true, dark: true });
  await phone.page.getByText('First token').waitFor();
  await assertFitsWindow(phone.page, 'tokens on a phone');
  await assertAccessible(phone.page, 'tokens on a phone');
  phone.assertNoFaults([SIGNED_OUT]);
});

test('the sending of a mailbox is braked and released, with budgets of a day', async () => {
  const organization = await world.newOrganization('business');
  const { id, token } = organization.mailbox;
  const { page, assertNoFaults } = await opened(`/mailboxes/${id}`, {}, organization);
  const read = async () => (await world.call('GET', `/api/mailboxes/${id}`, { as: organization.key })).body;
  await page.getByRole('radio', { name: /^Drafts only/ }).click();
  await page.getByLabel('Facts').getByText('Drafts only').waitFor();
  assert.equal(textAt(await read(), 'sendingMode'), 'drafts_only');
  const message = { to: ['zed@acme.example'], subject: 'Hello', text: 'Hello.' };
  const refused = await world.call('POST', '/api/mailbox/messages', { as: token, body: message });
  assert.equal(textAt(refused.body, 'error', 'code'), 'drafts_only');
  await page.getByRole('radio', { name: /^Stopped/ }).click();
  await page.getByLabel('Facts').getByText('Sending stopped').waitFor();
  await page.getByRole('radio', { name: /^Sends/ }).click();
  await page.getByLabel('Facts').getByText('Active').waitFor();
  assert.equal(textAt(await read(), 'sendingMode'), 'normal');
  const budgets = page.getByRole('form', { name: 'Budgets' });
  await budgets.getByLabel('Messages a day').fill('many');
  await budgets.getByRole('button', { name: 'Save budgets' }).click();
  await page.getByText('A budget is a whole number').waitFor();
  await budgets.getByLabel('Messages a day').fill('20');
  await budgets.getByRole('button', { name: 'Save budgets' }).click();
  await page.getByText('0 of 20').waitFor();
  assert.deepEqual(at(await read(), 'budgets'), { messagesPerDay: 20, newRecipientsPerDay: null });
  await assertAccessible(page, 'brakes');
  assertNoFaults([SIGNED_OUT]);
});

test('the connect page says which protocols the agent used', async () => {
  const organization = await world.newOrganization('business');
  const { page, assertNoFaults } = await opened(`/mailboxes/${organization.mailbox.id}?tab=connect`, {}, organization);
  const logins = page.getByRole('region', { name: 'Does it connect?' });
  await waitUntil('four protocols', async () => (await logins.getByText('not used yet').count()) === 4);
  assert.equal((await world.call('GET', '/api/mailbox', { as: organization.mailbox.token })).status, 200);
  await waitUntil('the use of the token to be shown', async () => {
    await logins.getByRole('button', { name: 'Check it' }).click();
    return (await logins.getByText('not used yet').count()) === 3;
  });
  assertNoFaults([SIGNED_OUT]);
});

test('the list is searched, filtered and paged by the service, and shows what waits', async () => {
  const organization = await world.newOrganization('business');
  const named = await world.call('POST', '/api/mailboxes', { as: organization.key, body: { name: 'Needle' } });
  const suspended = await world.newMailbox(organization);
  await world.call('PATCH', `/api/mailboxes/${suspended.id}`, { as: organization.key, body: { status: 'suspended' } });
  const held = await world.call('POST', '/api/mailbox/messages', {
    as: organization.mailbox.token,
    body: { to: ['stranger@elsewhere.example'], subject: 'First contact', text: 'Hello.' },
  });
  assert.equal(held.status, 202);
  const { page, assertNoFaults } = await opened('/mailboxes', {}, organization);
  await page.getByText('3 mailboxes').waitFor();
  await page.getByRole('link', { name: '1 held' }).waitFor();
  await page.getByLabel('State').selectOption('Suspended');
  await page.getByText(suspended.address).waitFor();
  await page.getByText('One mailbox').waitFor();
  assert.equal(new URL(page.url()).searchParams.get('status'), 'suspended');
  await page.reload();
  await page.getByText(suspended.address).waitFor();
  assert.equal(await page.getByLabel('State').inputValue(), 'suspended');
  await page.getByLabel('State').selectOption('All states');
  await page.getByLabel('Search by address or name').fill('Needle');
  await page.getByText(textAt(named.body, 'address')).waitFor();
  await waitUntil('one row', async () => (await rowCount(page)) === 1);
  assert.equal(new URL(page.url()).searchParams.get('q'), 'Needle');
  await page.getByLabel('Search by address or name').fill('no such mailbox');
  await page.getByText('No mailbox found').waitFor();
  assertNoFaults([SIGNED_OUT]);
});

/** Median of seven requests, in ms. */
async function answerTime(as: Credential, query: string): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 7; i++) {
    const startedAt = performance.now();
    assert.equal((await world.call('GET', `/api/mailboxes?limit=100&${query}`, { as })).status, 200);
    times.push(performance.now() - startedAt);
  }
  return times.toSorted((a, b) => a - b)[3] ?? Number.NaN;
}

test('10,000 mailboxes: rows in the document stay few, and the last one is reached', async (t) => {
  const organization = await world.newOrganization('business');
  // Ids are older than the first mailbox's, so that this comes last.
  await insertMailboxes(world.sql, organization.id, 9_999);
  const { page, assertNoFaults } = await opened('/mailboxes', {}, organization);
  await page.getByText('More load as you scroll.').waitFor();
  let most = 0;
  const startedAt = performance.now();
  await waitUntil(
    'the last mailbox',
    async () => {
      await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
      most = Math.max(most, await rowCount(page));
      const rows = page.getByRole('list', { name: 'Mailboxes' });
      return await rows.getByText('many-1@agents.test', { exact: true }).isVisible();
    },
    120_000,
  );
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  assert.ok(most < 60, `${most} rows at once`);
  const times = await Promise.all(
    ['', 'q=many-77', 'status=suspended'].map(async (query) => (await answerTime(organization.key, query)).toFixed(0)),
  );
  t.diagnostic(`${most} rows at most, ${seconds} s to the end; page, search, filter: ${times.join(', ')} ms`);
  await page.getByText('10,000 mailboxes').waitFor();
  assertNoFaults([SIGNED_OUT]);
});

test('a mailbox that does not exist says so', async () => {
  const { page, assertNoFaults } = await opened('/mailboxes/mbx_01k8e8f2c0e4x9w2v7a3r5t6y8');
  await page.getByRole('alert').waitFor();
  assertNoFaults([SIGNED_OUT, 404]);
});

for (const [name, options] of [
  ['a phone', { phone: true }],
  ['dark', { dark: true }],
] as const)
  test(`the pages are accessible and fit the window: ${name}`, async () => {
    const { id, address } = world.organization.mailbox;
    const { page, assertNoFaults } = await opened('/mailboxes', options);
    for (const [path, heading] of [
      ['/mailboxes', 'Mailboxes'],
      [`/mailboxes/${id}`, address],
      [`/mailboxes/${id}?tab=connect`, address],
      [`/mailboxes/${id}?tab=settings`, address],
    ] as const) {
      await page.goto(path);
      await page.getByRole('heading', { name: heading }).waitFor();
      await page
        .getByRole('tabpanel')
        .or(page.getByRole('list', { name: 'Mailboxes' }))
        .first()
        .waitFor();
      await assertAccessible(page, path);
      await assertFitsWindow(page, path);
    }
    assertNoFaults([SIGNED_OUT]);
  });
