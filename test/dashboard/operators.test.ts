/** The page of operators: signed in by the operator key, which stays in the memory of the page. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { NativeConnection } from '@temporalio/worker';
import { temporalConnectionOptions } from '#core/platform/engine/temporal-client.ts';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import { type ApiWorld, apiWorld, textAt } from '#test/support/api-world.ts';
import {
  assertAccessible,
  assertFitsWindow,
  requestsEnded,
  type TestBrowser,
  testBrowser,
} from '#test/support/browser.ts';
import { startTestWorker } from '#test/support/test-worker.ts';
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

const FOCUSED = 'document.activeElement?.textContent';
const SECRET = 'a subject nobody but the tenant reads';

async function open(options: { phone?: boolean; dark?: boolean } = {}) {
  const opened = await browser.open(world.api.url, options);
  const { page } = opened;
  await page.goto('/operators');
  await page.getByLabel('Operator key').fill(world.operator['x-operator-key'] ?? '');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'What waits' }).waitFor();
  return opened;
}

async function held(to: string): Promise<string> {
  const body = { to: [to], subject: SECRET, text: SECRET };
  const answer = await world.call('POST', '/api/mailbox/messages', { as: world.organization.mailbox.token, body });
  assert.equal(answer.status, 202, answer.text);
  return textAt(answer.body, 'id');
}

test('only the operator key opens the page, and it is nowhere after a reload', async () => {
  const { page, assertNoFaults } = await browser.open(world.api.url);
  await page.goto('/operators');
  await page.getByLabel('Operator key').fill('amo_wrong');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('alert').getByText('The operator key is not valid').waitFor();
  await assertAccessible(page, 'the form for the key');
  const key = world.operator['x-operator-key'] ?? '';
  await page.getByLabel('Operator key').fill(key);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'What waits' }).waitFor();
  const stored = await page.evaluate<string>(
    'JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])',
  );
  assert.ok(!stored.includes(key));
  assert.ok(!(await page.context().cookies()).some(({ value }) => value.includes(key)));
  await page.reload();
  await page.getByLabel('Operator key').waitFor();
  assert.equal(await page.getByText('What waits').count(), 0);
  assertNoFaults([401]);
});

test('every view can be reached by keys, is accessible, fits a phone, and shows no content of tenants', async () => {
  const id = await held('views@stranger.example');
  for (const options of [{}, { dark: true }, { phone: true }]) {
    const { page, assertNoFaults } = await open(options);
    await page.getByRole('tab', { name: 'Overview' }).focus();
    for (const view of [
      'Overview',
      'Incidents',
      'Tenants',
      'Queue',
      'Find a mail',
      'Export and import',
      'Erasures',
      'Log',
    ]) {
      await waitUntil(`the focus of ${view}`, async () => (await page.evaluate(FOCUSED)) === view);
      await page.keyboard.press('Enter');
      await page.locator('[role=tab][data-active]', { hasText: view }).waitFor();
      await requestsEnded(page);
      await assertAccessible(page, view);
      await assertFitsWindow(page, view);
      assert.ok(!(await page.content()).includes(SECRET), view);
      if (view === 'Queue') await page.getByText(id).waitFor();
      const shots = process.env['SCREENSHOTS_DIR'];
      if (shots !== undefined)
        await page.screenshot({
          path: `${shots}/operators-${view}-${JSON.stringify(options).replaceAll(/\W/g, '')}.png`,
        });
      await page.keyboard.press('ArrowRight');
    }
    assertNoFaults();
  }
});

test('an incident leads to its section of the guide', async () => {
  const { page } = await open();
  await page.getByRole('tab', { name: 'Incidents' }).click();
  const backup = page.getByRole('list', { name: 'Alerts' }).getByRole('link', { name: /No backup is known/ });
  assert.equal(await backup.getAttribute('href'), '/docs/operations/incidents#a-backup-fails');
});

test('outgoing mail is put on hold, released, and dropped after a question', async () => {
  const id = await held('desk@stranger.example');
  const { page, assertNoFaults } = await open();
  await page.getByRole('tab', { name: 'Queue' }).click();
  await page.getByLabel('Only to this domain or address').fill('desk@stranger.example');
  await page.keyboard.press('Enter');
  await page.getByText('1 wait.').waitFor();
  await page.getByRole('button', { name: `Hold ${id}` }).click();
  await page.getByRole('button', { name: `Release ${id}` }).click();
  await page.getByRole('button', { name: `Hold ${id}` }).waitFor();
  await page.getByRole('button', { name: `Drop ${id}` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Drop' }).click();
  await page.getByText('Nothing waits for desk@stranger.example.').waitFor();
  await page.getByRole('tab', { name: 'Find a mail' }).click();
  await page.getByLabel('Address, Message-ID or id').fill('desk@stranger.example');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Steps' }).getByText(id).first().waitFor();
  assertNoFaults();
});

test('a tenant is suspended, resumed, and deleted only after its name was typed', async () => {
  const organization = await world.newOrganization('team');
  const { page, assertNoFaults } = await open();
  await page.getByRole('tab', { name: 'Tenants' }).click();
  const ask = (action: string) => page.getByRole('button', { name: `${action} ${organization.slug}` }).click();
  const dialog = page.getByRole('dialog');
  await ask('Suspend');
  await dialog.getByRole('button', { name: 'Suspend' }).click();
  await ask('Resume');
  await dialog.getByRole('button', { name: 'Resume' }).click();
  await ask('Delete');
  const remove = dialog.getByRole('button', { name: 'Delete' });
  assert.ok(await remove.isDisabled());
  await dialog.getByLabel(`Type ${organization.slug} to confirm`).fill(organization.slug);
  await remove.click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('tab', { name: 'Erasures' }).click();
  await page.getByRole('region', { name: 'Erasures' }).getByText('organization').waitFor();
  await page.getByRole('tab', { name: 'Log' }).click();
  await page.getByRole('region', { name: 'Log' }).getByText('eraseContent').waitFor();
  assertNoFaults();
});

test('a mailbox is exported, downloaded and imported into another one', async () => {
  const { mailbox } = world.organization;
  const connection = await NativeConnection.connect(temporalConnectionOptions(world.services.settings));
  const worker = await startTestWorker(world.services, connection);
  try {
    const { page, assertNoFaults } = await open();
    await page.getByRole('tab', { name: 'Export and import' }).click();
    const form = page.getByRole('region', { name: 'Export', exact: true });
    await form.getByLabel('Mailbox').fill(mailbox.address);
    await form.getByRole('button', { name: 'Export' }).click();
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: /^Download mov_/ }).click();
    const file = await (await downloading).path();
    const other = await world.newMailbox(world.organization);
    const importing = page.getByRole('region', { name: 'Import a file' });
    await importing.getByLabel('Mailbox').fill(other.address);
    await importing.getByLabel('File').setInputFiles(file);
    await importing.getByRole('button', { name: 'Import file' }).click();
    const row = page.getByRole('row', { name: new RegExp(other.id) });
    await row.getByText('Finished').waitFor();
    await row.getByRole('button', { name: /^Delete mov_/ }).click();
    await row.waitFor({ state: 'detached' });
    assertNoFaults();
  } finally {
    await worker.close();
    await connection.close();
  }
});
