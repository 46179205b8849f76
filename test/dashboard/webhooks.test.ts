import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { verifyWebhook } from '#client/index.ts';
import { recordEvents } from '#core/events/record-event.ts';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { at, type TestOrganization, textAt } from '#test/support/api-world.ts';
import { assertAccessible, type OpenedPage, type TestBrowser, testBrowser } from '#test/support/browser.ts';
import { signedInPage } from '#test/support/dashboard-sign-in.ts';
import { verified } from '#test/support/receiver.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { type WholeService, wholeService } from '#test/support/whole-service.ts';

/** Long enough that no automatic retry happens within a test. */
const LONG_LADDER_MS = '600000,600000,600000,600000';
/** Of the first look at the session. */
const SIGNED_OUT = 401;

let world: WholeService;
let browser: TestBrowser;

before(async () => {
  await buildDashboard();
  [world, browser] = await Promise.all([
    wholeService({ WEBHOOK_RETRY_DELAYS_MS: LONG_LADDER_MS, TEMPORAL_UI_URL: 'https://temporal.example.com' }),
    testBrowser(),
  ]);
});
after(async () => {
  await browser?.close();
  await world?.close();
});

const signedIn = (
  organization: TestOrganization,
  to: string,
  options: { phone?: boolean; dark?: boolean } = {},
): Promise<OpenedPage> => signedInPage(browser, world.api.url, organization.owner.email, to, options);

interface Endpoint {
  readonly id: string;
  readonly secret: string;
}

async function newEndpoint(organization: TestOrganization, more: object = {}): Promise<Endpoint> {
  const answer = await world.call('POST', '/api/webhooks', {
    as: organization.key,
    body: { url: world.receiver.url, eventTypes: ['email_received', 'email_sent'], ...more },
  });
  assert.equal(answer.status, 201, answer.text);
  return { id: textAt(answer.body, 'id'), secret: textAt(answer.body, 'secret') };
}

async function happen(organization: TestOrganization, count = 1): Promise<void> {
  const { id, name, slug } = organization;
  await world.services.db.transaction((sql) =>
    recordEvents(
      sql,
      Array.from({ length: count }, (_, number) => ({
        type: 'email_received' as const,
        organization: { id, name, slug },
        mailbox: null,
        actor: SYSTEM_ACTOR,
        data: { number },
      })),
    ),
  );
  world.services.deliveriesDue.wake();
}

const dialog = (page: Page) => page.getByRole('dialog');

/** Waits until an endpoint has so many deliveries of a status. @returns their ids */
const deliveriesBecome = (organization: TestOrganization, { id }: Endpoint, status: string, count: number) =>
  waitUntil(`${count} deliveries to be ${status}`, async () => {
    const { body } = await world.call('GET', `/api/webhooks/${id}/deliveries?status=${status}&limit=200`, {
      as: organization.key,
    });
    const data = at(body, 'data');
    return Array.isArray(data) && data.length === count && data.map((each) => textAt(each, 'id'));
  });

test('an endpoint is made: its URL is checked while it is typed, its secret shown once, a test event arrives', async () => {
  const organization = await world.newOrganization('business');
  world.receiver.answer((response) => response.writeHead(200, { 'x-seen': 'yes' }).end('thank you'));
  const { page, assertNoFaults } = await signedIn(organization, '/webhooks');
  await page.getByText('No webhooks yet').waitFor();
  await page.getByRole('button', { name: 'Add the first webhook' }).click();
  const url = page.getByRole('textbox', { name: 'URL' });
  await url.fill('http://localhost/hook');
  await page.getByText('the scheme is http, but must be https').waitFor();
  await url.fill('https://10.0.0.1/hook');
  await page.getByText('10.0.0.1 is not publicly routable').waitFor();
  assert.equal(await url.getAttribute('aria-invalid'), 'true');
  await url.fill(world.receiver.url);
  await page.getByText('It resolves to public addresses').waitFor();
  await dialog(page)
    .getByRole('checkbox', { name: /email_sent/ })
    .check();
  await page.getByLabel('About').selectOption('One mailbox');
  assert.equal(await page.getByRole('checkbox', { name: /mailbox_created/ }).isDisabled(), true);
  await page.getByLabel('Mailbox', { exact: true }).fill('nobody@agents.test');
  await dialog(page).getByRole('button', { name: 'Add webhook' }).click();
  await page.getByText('There is no mailbox with this address.').waitFor();
  await page.getByLabel('About').selectOption('The whole organization');
  assert.equal(await page.getByRole('checkbox', { name: /mailbox_created/ }).isEnabled(), true);
  await page.getByLabel('Header name').fill('webhook-id');
  await page.getByLabel('Header value').fill('abc');
  await assertAccessible(page, 'add webhook');
  await dialog(page).getByRole('button', { name: 'Add webhook' }).click();
  await waitUntil('the header to be refused', async () => (await page.locator('[aria-invalid]').count()) === 1);
  await page.getByLabel('Header name').fill('X-Hook-Token');
  await dialog(page).getByRole('button', { name: 'Add webhook' }).click();
  const secret = (await page.getByLabel('Signing secret', { exact: true }).textContent()) ?? '';
  assert.match(secret, /^whsec_/);
  await page.keyboard.press('Escape');
  assert.equal(await page.getByLabel('Signing secret', { exact: true }).isVisible(), true, 'Escape does not lose it');
  await page.getByRole('button', { name: 'Copy Signing secret' }).click();
  await page.getByText('Copied').waitFor();
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), secret);
  page.once('dialog', (asked) => void asked.accept());
  await page.getByRole('link', { name: 'Open the webhook' }).click();
  await page.getByText('No deliveries yet').waitFor();

  await page.getByRole('button', { name: 'Send test event' }).click();
  await dialog(page).getByRole('button', { name: 'Send' }).click();
  const life = page.getByRole('list', { name: 'Life of the delivery' });
  await life.getByText(/→ localhost:\d+ 200 in/).waitFor();
  await page.getByText('Success').waitFor();
  const [request] = world.receiver.requests.slice(-1);
  assert.ok(request);
  verified(request, secret);
  assert.equal(request.headers['x-hook-token'], 'abc');
  await life.getByText('Response', { exact: true }).click();
  await page.getByLabel('Response headers of attempt 1').getByText('x-seen: yes').waitFor();
  await page.getByLabel('Response body of attempt 1').getByText('thank you').waitFor();
  await life.getByText('Payload', { exact: true }).click();
  await page.getByLabel('Payload', { exact: true }).getByText('"test": true').waitFor();
  assert.match(
    (await page.getByRole('link', { name: /Open in Temporal/ }).getAttribute('href')) ?? '',
    /^https:\/\/temporal\.example\.com\/namespaces\/default\/workflows\//,
  );
  await assertAccessible(page, 'delivery');
  assertNoFaults([SIGNED_OUT, 400, 422]);
});

test('a failed delivery counts down, is attempted by hand, and shows its success without a reload', async () => {
  const organization = await world.newOrganization('business');
  const endpoint = await newEndpoint(organization);
  world.receiver.answer((response) => response.writeHead(503).end('busy'));
  await happen(organization);
  await deliveriesBecome(organization, endpoint, 'failed', 1);
  const { page, assertNoFaults } = await signedIn(organization, '/webhooks');
  const row = page.getByRole('list', { name: 'Webhooks' }).getByRole('listitem');
  await row.getByText('1 failed').waitFor();
  await row.getByText(/waits since/).waitFor();
  await row.getByRole('link').click();
  await page
    .getByRole('list', { name: 'Deliveries' })
    .getByText(/503 · attempt 1 of 5/)
    .click();
  const life = page.getByRole('list', { name: 'Life of the delivery' });
  await life.getByText(/503 in/).waitFor();
  const timer = page.getByRole('timer');
  assert.match((await timer.textContent()) ?? '', /^in \d+ min \d+ s$/);
  const shown = await timer.textContent();
  await waitUntil('the countdown to move', async () => (await timer.textContent()) !== shown);
  world.receiver.answer(200);
  await page.getByRole('button', { name: 'Attempt now' }).click();
  await life.getByText(/→ localhost:\d+ 200 in/).waitFor();
  await page.getByRole('button', { name: 'Resend' }).waitFor();
  assert.equal(await page.getByRole('timer').count(), 0);
  await page.getByRole('button', { name: 'Resend' }).click();
  await life.getByText('attempt 3, by hand').waitFor();
  assertNoFaults([SIGNED_OUT]);
});

test('deliveries are narrowed by what stands in the address of the page', async () => {
  const organization = await world.newOrganization('business');
  const endpoint = await newEndpoint(organization);
  world.receiver.answer(200, 503);
  await happen(organization);
  await deliveriesBecome(organization, endpoint, 'success', 1);
  await happen(organization, 2);
  const [failed] = await deliveriesBecome(organization, endpoint, 'failed', 2);
  const { page, assertNoFaults } = await signedIn(organization, `/webhooks/${endpoint.id}?status=nonsense`);
  const rows = page.getByRole('list', { name: 'Deliveries' }).getByRole('listitem');
  const become = (count: number) => waitUntil(`${count} rows`, async () => (await rows.count()) === count);
  await become(3);
  await page.getByLabel('Status').selectOption('Failed');
  await become(2);
  await page.getByText('2 match').waitFor();
  assert.equal(new URL(page.url()).searchParams.get('status'), 'failed');
  await page.reload();
  await become(2);
  await page.getByLabel('Response code').fill('2xx');
  await page.getByText('No delivery matches').waitFor();
  await page.getByLabel('Status').selectOption('Any status');
  await become(1);
  await page.getByLabel('Response code').fill('50');
  await become(1);
  await page.getByLabel('Response code').fill('503');
  await become(2);
  await page.getByLabel('Event type').selectOption('email_sent');
  await page.getByRole('button', { name: 'Show all' }).click();
  await become(3);
  await page.getByLabel('From').fill('2030-01-01T00:00');
  await page.getByText('No delivery matches').waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await become(3);
  await page.getByRole('heading', { name: 'Last 24 hours' }).waitFor();
  const table = page.getByRole('table');
  assert.match((await table.textContent()) ?? '', /Deliveries of the last 24 hours/);
  const last = table.getByRole('row').last();
  assert.deepEqual(await last.getByRole('cell').allTextContents(), ['1', '2', '0', '0']);
  await page.goto(`/webhooks/${endpoint.id}/deliveries/${failed}`);
  await page.getByRole('list', { name: 'Life of the delivery' }).waitFor();
  assertNoFaults([SIGNED_OUT]);
});

test('a secret is rotated with an overlap, and both sign until it ends', async () => {
  const organization = await world.newOrganization('business');
  const endpoint = await newEndpoint(organization);
  world.receiver.answer(200);
  const { page, assertNoFaults } = await signedIn(organization, `/webhooks/${endpoint.id}`);
  await page.getByRole('button', { name: 'Rotate secret' }).click();
  await dialog(page).getByLabel('The old secret signs too').selectOption('for a day');
  await dialog(page).getByRole('button', { name: 'Rotate secret' }).click();
  const secret = (await page.getByLabel('Signing secret', { exact: true }).textContent()) ?? '';
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('heading', { name: 'Two secrets sign' }).waitFor();
  await page.getByText(secret.slice(0, 10)).first().waitFor();
  await happen(organization);
  const [id = ''] = await deliveriesBecome(organization, endpoint, 'success', 1);
  const [request] = world.receiver.of(id);
  assert.ok(request);
  verified(request, secret);
  verified(request, endpoint.secret);
  assertNoFaults([SIGNED_OUT]);
});

test('an endpoint asks for signatures by public key, and for codes and links, and shows the key', async () => {
  const organization = await world.newOrganization('business');
  const endpoint = await newEndpoint(organization);
  world.receiver.answer(200);
  const { page, assertNoFaults } = await signedIn(organization, `/webhooks/${endpoint.id}`);
  await page.getByText('not sent', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Edit' }).click();
  await dialog(page)
    .getByRole('checkbox', { name: /Add a public key signature/ })
    .check();
  await dialog(page)
    .getByRole('checkbox', { name: /Send codes and links of received mail/ })
    .press('Space');
  await assertAccessible(page, 'edit webhook');
  await dialog(page).getByRole('button', { name: 'Save' }).click();
  await page.getByText('v1 and v1a', { exact: true }).waitFor();
  await page.getByText('sent with received mail', { exact: true }).waitFor();
  const key = (await page.getByText(/^whpk_/).textContent()) ?? '';
  await assertAccessible(page, 'webhook with a public key');
  await page.getByRole('button', { name: 'Copy public key' }).click();
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), key);
  const keySet = (await page.getByRole('link', { name: 'Key set (JWKS)' }).getAttribute('href')) ?? '';
  assert.match(keySet, new RegExp(`/\\.well-known/jwks\\.json\\?organization=${organization.id}$`));

  await page.getByRole('button', { name: 'Send test event' }).click();
  await dialog(page).getByRole('button', { name: 'Send' }).click();
  await page
    .getByRole('list', { name: 'Life of the delivery' })
    .getByText(/200 in/)
    .waitFor();
  const [id = ''] = await deliveriesBecome(organization, endpoint, 'success', 1);
  const [request] = world.receiver.of(id);
  assert.ok(request);
  verified(request, endpoint.secret);
  const event = await verifyWebhook(request.headers, request.body, key);
  assert.ok(event.type === 'email_received' && event.data.extracts?.otp === '482913');
  assertNoFaults([SIGNED_OUT]);
});

test('an inactive endpoint says why; set active, what was given up is sent again, with pause and progress', async () => {
  const organization = await world.newOrganization('business');
  const endpoint = await newEndpoint(organization);
  world.receiver.answer(500);
  await happen(organization, 12);
  await deliveriesBecome(organization, endpoint, 'failed', 12);
  const { page, assertNoFaults } = await signedIn(organization, `/webhooks/${endpoint.id}`);
  await page.getByRole('button', { name: 'Set inactive' }).click();
  await dialog(page).getByText('12 waiting deliveries are given up.').waitFor();
  await dialog(page).getByRole('button', { name: 'Set inactive' }).click();
  await page.getByRole('heading', { name: 'Inactive: nothing is sent' }).waitFor();
  await deliveriesBecome(organization, endpoint, 'exhausted', 12);
  await world.sql(`update webhook_endpoints set disabled_reason = 'gone' where id = $1`, [endpoint.id]);
  await page.reload();
  await page.getByText('answered with 410 Gone').waitFor();
  await assertAccessible(page, 'inactive webhook');

  const held: ServerResponse[] = [];
  world.receiver.answer((response) => void held.push(response));
  await page.getByRole('button', { name: 'Set active' }).click();
  await dialog(page).getByText('Send deliveries again').waitFor();
  await dialog(page).getByRole('button', { name: 'Send again' }).click();
  const card = page.getByRole('region', { name: 'Recovery' });
  await card.getByText('Running').waitFor();
  await waitUntil('the first requests', () => held.length > 0);
  await card.getByRole('button', { name: 'Pause' }).click();
  await card.getByText('Paused').waitFor();
  world.receiver.answer(200);
  for (const response of held) response.writeHead(200).end();
  await card.getByRole('button', { name: 'Resume' }).click();
  await card.getByText('12 of 12 · 12 acknowledged · 0 failed').waitFor();
  await card.getByText('Completed').waitFor();
  await deliveriesBecome(organization, endpoint, 'success', 12);
  await assertAccessible(page, 'webhook with recovery');
  assertNoFaults([SIGNED_OUT]);
});

test('a recovery is cancelled, and nothing is sent after', async () => {
  const organization = await world.newOrganization('business');
  const endpoint = await newEndpoint(organization);
  world.receiver.answer(500);
  await happen(organization, 12);
  await deliveriesBecome(organization, endpoint, 'failed', 12);
  const patch = (active: boolean) =>
    world.call('PATCH', `/api/webhooks/${endpoint.id}`, { as: organization.key, body: { active } });
  await patch(false);
  await deliveriesBecome(organization, endpoint, 'exhausted', 12);
  await patch(true);
  const held: ServerResponse[] = [];
  world.receiver.answer((response) => void held.push(response));
  const { page, assertNoFaults } = await signedIn(organization, `/webhooks/${endpoint.id}`);
  await page.getByRole('button', { name: 'Recover', exact: true }).click();
  await dialog(page).getByRole('button', { name: 'Send again' }).click();
  const card = page.getByRole('region', { name: 'Recovery' });
  await waitUntil('the first requests', () => held.length > 0);
  await card.getByRole('button', { name: 'Cancel' }).click();
  await card.getByText('Cancelled').waitFor();
  world.receiver.answer(200);
  for (const response of held) response.writeHead(200).end();
  await deliveriesBecome(organization, endpoint, 'success', held.length);
  await page.getByRole('button', { name: 'Recover', exact: true }).click();
  await page.keyboard.press('Escape');
  await dialog(page).waitFor({ state: 'detached' });
  assert.ok(held.length < 12);
  assertNoFaults([SIGNED_OUT]);
});

test('an endpoint is edited from the keyboard and deleted with its consequence named', async () => {
  const organization = await world.newOrganization('business');
  const endpoint = await newEndpoint(organization, { authHeader: { name: 'X-One', value: 'first' } });
  const { page, assertNoFaults } = await signedIn(organization, `/webhooks/${endpoint.id}`);
  await page.getByRole('button', { name: 'Edit' }).focus();
  await page.keyboard.press('Enter');
  const url = page.getByRole('textbox', { name: 'URL' });
  await url.fill('https://nowhere.invalid/');
  await page.getByText(/nowhere\.invalid does not resolve/).waitFor();
  await url.fill(`${world.receiver.url}?edited`);
  await page.getByRole('checkbox', { name: /email_sent/ }).uncheck();
  await dialog(page).getByLabel('Description').fill('Order intake');
  await dialog(page).getByLabel('Header', { exact: true }).selectOption('Remove it');
  await dialog(page).getByRole('button', { name: 'Save' }).press('Enter');
  await dialog(page).waitFor({ state: 'detached' });
  const { body } = await world.call('GET', `/api/webhooks/${endpoint.id}`, { as: organization.key });
  assert.deepEqual(
    [at(body, 'url'), at(body, 'eventTypes'), at(body, 'description'), at(body, 'authHeaderName')],
    [`${world.receiver.url}?edited`, ['email_received'], 'Order intake', null],
  );
  await page.getByLabel('Facts').getByText('Order intake').waitFor();
  await page.getByRole('button', { name: 'Delete' }).click();
  await dialog(page)
    .getByText(/gets nothing any more\. Nothing waits at the moment\./)
    .waitFor();
  await dialog(page).getByRole('button', { name: 'Delete the webhook' }).click();
  await page.getByText('No webhooks yet').waitFor();
  await page.goto(`/webhooks/${endpoint.id}`);
  await page.getByRole('alert').waitFor();
  assertNoFaults([SIGNED_OUT, 404, 422]);
});

test('a plan without webhooks says so, and what there is instead', async () => {
  const organization = await world.newOrganization('free');
  const { page, assertNoFaults } = await signedIn(organization, '/webhooks');
  await page.getByText('Your plan has no webhooks').waitFor();
  assert.equal(await page.getByRole('button', { name: /Add/ }).count(), 0);
  await assertAccessible(page, 'plan without webhooks');
  assertNoFaults([SIGNED_OUT]);
});

for (const [name, options] of [
  ['on a phone', { phone: true }],
  ['dark', { dark: true }],
] as const)
  test(`every page of webhooks is accessible: ${name}`, async () => {
    const organization = await world.newOrganization('business');
    const endpoint = await newEndpoint(organization, { description: 'Order intake' });
    world.receiver.answer(200, 503);
    await happen(organization);
    await deliveriesBecome(organization, endpoint, 'success', 1);
    await happen(organization);
    const [failed = ''] = await deliveriesBecome(organization, endpoint, 'failed', 1);
    const { page, assertNoFaults } = await signedIn(organization, '/webhooks', options);
    for (const [path, list] of [
      ['/webhooks', 'Webhooks'],
      [`/webhooks/${endpoint.id}`, 'Deliveries'],
      [`/webhooks/${endpoint.id}/deliveries/${failed}`, 'Life of the delivery'],
    ] as const) {
      await page.goto(path);
      await page.getByRole('list', { name: list }).waitFor();
      await assertAccessible(page, path);
      const wider = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
      assert.equal(wider, 0, `${path} scrolls sideways`);
    }
    assertNoFaults([SIGNED_OUT]);
  });
