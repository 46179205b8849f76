import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { NativeConnection } from '@temporalio/worker';
import { newCredential } from '#core/platform/secrets/credentials.ts';
import { type Dispatcher, startDispatcher } from '#core/webhooks/dispatcher/dispatcher.ts';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import { type ApiWorld, apiWorld, asBearer } from '#test/support/api-world.ts';
import { assertAccessible, requestsEnded, type TestBrowser, testBrowser } from '#test/support/browser.ts';
import { SIGNED_OUT, signedInPage } from '#test/support/dashboard-sign-in.ts';
import { temporalConnection } from '#test/support/temporal-connection.ts';
import { startTestWorker } from '#test/support/test-worker.ts';
import type { RunningWorker } from '#worker/start.ts';

let world: ApiWorld;
let browser: TestBrowser;
let connection: NativeConnection;
let worker: RunningWorker;
let dispatcher: Dispatcher;

before(async () => {
  await buildDashboard();
  // Nothing of this machine counts as public: what arrives at the receiver came without a connection.
  [world, browser] = await Promise.all([apiWorld({ WEBHOOK_ALLOW_DESTINATIONS: '' }), testBrowser()]);
  connection = await temporalConnection();
  worker = await startTestWorker(world.services, connection);
  dispatcher = startDispatcher(world.services, worker.temporal);
});
after(async () => {
  await browser?.close();
  await dispatcher?.close();
  await worker?.close();
  await connection?.close();
  await world?.close();
});

/** An organization as it is after the sign-up: people, and nothing else. */
async function newcomers(plan: 'team' | 'free') {
  const organization = await world.newOrganization(plan);
  await world.sql(`update mailboxes set deleted_at = now(), status = 'deleting' where id = $1`, [
    organization.mailbox.id,
  ]);
  return organization;
}

test('the four first steps tick themselves, from nothing to a verified webhook', async () => {
  const organization = await newcomers('team');
  const { page, assertNoFaults } = await signedInPage(browser, world.api.url, organization.owner.email, '/mailboxes');
  const steps = page.getByRole('region', { name: 'First steps' });
  await assertAccessible(page, 'first steps');
  await steps.getByRole('button', { name: 'Make a mailbox', exact: true }).click();
  await steps.getByRole('button', { name: 'Make a mailbox (done)' }).waitFor();
  const token = (await steps.getByLabel('Mailbox token', { exact: true }).textContent()) ?? '';
  assert.match(token, /^amt_/);
  await steps.getByRole('tab', { name: 'cURL' }).click();
  const snippet = (await steps.getByLabel('cURL snippet', { exact: true }).textContent()) ?? '';
  assert.ok(snippet.includes(token));
  await assertAccessible(page, 'connect');

  const used = await world.call('GET', '/api/mailbox', { as: asBearer(token) });
  assert.equal(used.status, 200);
  await steps.getByRole('button', { name: 'Connect an agent (done)' }).waitFor();

  await steps.getByRole('button', { name: 'Send a test mail' }).click();
  await steps.getByRole('button', { name: 'Receive a mail (done)' }).waitFor();

  await steps.getByRole('button', { name: 'Try the built-in receiver' }).click();
  await steps.getByText('Requests appear here as they come.').waitFor();
  await steps.getByRole('button', { name: 'Send a test mail' }).click();
  const all = page.getByRole('region', { name: 'Everything is set up' });
  const request = all.getByRole('list', { name: 'Received requests' }).getByRole('listitem').first();
  await request.getByText('Signature verified').waitFor();
  await request.getByText('email_received').first().click();
  await request.getByText('webhook-signature: v1,').waitFor();
  await assertAccessible(page, 'received request');
  await all.getByRole('button', { name: 'Send a test event' }).click();
  await all.getByRole('list', { name: 'Received requests' }).getByRole('listitem').nth(1).waitFor();
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Mailboxes' }).waitFor();
  await requestsEnded(page);
  assert.equal(await page.getByRole('heading', { name: 'First steps' }).count(), 0, 'what is done needs no list');
  assertNoFaults(SIGNED_OUT);
});

test('the steps are put away, and stay so', async () => {
  const organization = await newcomers('team');
  const { page, assertNoFaults } = await signedInPage(browser, world.api.url, organization.owner.email, '/mailboxes', {
    phone: true,
    dark: true,
  });
  await page.getByRole('heading', { name: 'First steps' }).waitFor();
  await assertAccessible(page, 'first steps on a phone, dark');
  const wider = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  assert.equal(wider, 0);
  await page.getByRole('button', { name: 'Dismiss the first steps' }).click();
  await page.getByRole('heading', { name: 'First steps' }).waitFor({ state: 'detached' });
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Mailboxes' }).waitFor();
  await requestsEnded(page);
  assert.equal(await page.getByRole('heading', { name: 'First steps' }).count(), 0);
  assertNoFaults(SIGNED_OUT);
});

test('a plan without webhooks says so', async () => {
  const organization = await newcomers('free');
  const { page } = await signedInPage(browser, world.api.url, organization.owner.email, '/mailboxes');
  await page.getByRole('button', { name: 'Get notified by a webhook' }).click();
  await page.getByText('Webhooks are part of the paid plans.').waitFor();
});

test('a step whose action the service refuses says why', async () => {
  const { mailbox, owner } = await world.newOrganization('team');
  await world.sql(`insert into rate_limits (key, used, resets_at_ms) values ($1, 1000, $2)`, [
    `test-mail:${mailbox.id}`,
    Date.now() + 3_600_000,
  ]);
  const { page } = await signedInPage(browser, world.api.url, owner.email, '/mailboxes');
  await page.getByRole('button', { name: 'Receive a mail' }).click();
  await page.getByRole('button', { name: 'Send a test mail' }).click();
  await page.getByRole('alert').getByText('test mails an hour').waitFor();
  const unknown = await world.call('GET', '/api/mailbox', { as: asBearer(newCredential('mailboxToken')) });
  assert.equal(unknown.status, 401);
  assert.equal(await page.getByRole('button', { name: 'Connect an agent (done)' }).count(), 0);
});
