/** Pages that follow what changes, without being asked to. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import { type ApiWorld, apiWorld, TEST_PASSWORD, type TestOrganization, textAt } from '#test/support/api-world.ts';
import { openAs, requestsEnded, type TestBrowser, testBrowser } from '#test/support/browser.ts';

const STREAM = '/api/organization/events/stream';
const dashboard = fileURLToPath(new URL('../../dashboard', import.meta.url));

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

/** A page that follows the stream and has all its answers: what it shows from now on came by the stream. */
async function followingPage(to: string, { owner }: TestOrganization) {
  const opened = await browser.open(world.api.url);
  const { page } = opened;
  const opensStream = page.waitForResponse((response) => response.url().endsWith(STREAM));
  await openAs(opened, { email: owner.email, password: TEST_PASSWORD }, to);
  assert.equal((await opensStream).status(), 200);
  await requestsEnded(page);
  return opened;
}

async function hold({ mailbox }: TestOrganization, subject: string): Promise<string> {
  const sent = await world.call('POST', '/api/mailbox/messages', {
    as: mailbox.token,
    body: { to: ['stranger@outside.example'], subject, text: 'Some words.' },
  });
  assert.equal(sent.status, 202, sent.text);
  return textAt(sent.body, 'consentId');
}

test('no query asks again by time: the stream says when', () => {
  const code = globSync('**/*.{ts,tsx}', { cwd: dashboard, exclude: ['node_modules/**', 'dist/**'] });
  assert.ok(code.length > 100);
  const asking = code.filter((file) =>
    /refetchInterval|setInterval\(/.test(readFileSync(path.join(dashboard, file), 'utf8')),
  );
  // A clock, what has DNS looked at again, what takes the place of a stream that is away, and operators, who have none.
  assert.deepEqual(asking.sort(), [
    'api/live.ts',
    'components/shown/countdown.tsx',
    'scenes/domains/domain-page.tsx',
    'scenes/operators/queries.ts',
  ]);
});

test('a message that is held appears in the open queue without a reload, and leaves it when somebody else decides', async () => {
  const { member } = world.organization;
  const opened = await followingPage('/approvals', world.organization);
  const { page } = opened;
  const consentId = await hold(world.organization, 'Appears without a reload');
  await page.getByText('Appears without a reload').first().waitFor();
  const denied = await world.call('POST', `/api/consents/${consentId}/deny`, { as: member.session, body: {} });
  assert.equal(denied.status, 200, denied.text);
  // What is read stays and says so; its row leaves the list when the person asks for it.
  await page.getByText('This request was decided while you were reading it').waitFor();
  await page.getByRole('button', { name: '1 gone' }).click();
  await page
    .getByRole('list', { name: 'Held messages' })
    .getByText('Appears without a reload')
    .waitFor({ state: 'detached' });
  opened.assertNoFaults([401]);
});

test('notices appear on their page as they are written', async () => {
  const organization = await world.newOrganization('team');
  const opened = await followingPage('/settings/notices', organization);
  await hold(organization, 'A person is notified');
  const notices = opened.page.getByRole('list', { name: 'Notices' });
  await notices.getByText(organization.owner.email).waitFor();
  opened.assertNoFaults([401]);
});

test('while the stream is away a page polls, and follows the stream again when it is back', async () => {
  const organization = await world.newOrganization('team');
  const opened = await browser.open(world.api.url);
  const { page } = opened;
  await page.route(`**${STREAM}`, (route) => route.abort());
  await openAs(opened, { email: organization.owner.email, password: TEST_PASSWORD }, '/approvals');
  await page.getByText('Nothing is waiting for you').waitFor();
  await hold(organization, 'Found without a stream');
  await page.getByText('Found without a stream').first().waitFor();
  const opensStream = page.waitForResponse((response) => response.url().endsWith(STREAM));
  await page.unroute(`**${STREAM}`);
  assert.equal((await opensStream).status(), 200);
  await requestsEnded(page);
  await hold(organization, 'Came by the stream');
  await page.getByRole('button', { name: '1 new' }).click();
  await page.getByText('Came by the stream').first().waitFor();
});

test('a change between the first answers and the beginning of the stream is not missed', async () => {
  const organization = await world.newOrganization('team');
  const opened = await browser.open(world.api.url);
  const { page } = opened;
  const mayOpen = Promise.withResolvers<void>();
  await page.route(`**${STREAM}`, async (route) => {
    await mayOpen.promise;
    await route.continue();
  });
  await openAs(opened, { email: organization.owner.email, password: TEST_PASSWORD }, '/approvals');
  await page.getByText('Nothing is waiting for you').waitFor();
  await hold(organization, 'Came in between');
  // From now on the page does not poll: only the stream can report it.
  mayOpen.resolve();
  await page.getByText('Came in between').first().waitFor();
  opened.assertNoFaults([401]);
});
