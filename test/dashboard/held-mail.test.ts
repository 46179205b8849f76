/** The page of held mail in a browser, and the settings that say what is held. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import { type ApiWorld, apiWorld, at, textAt } from '#test/support/api-world.ts';
import { assertAccessible, assertFitsWindow, type TestBrowser, testBrowser } from '#test/support/browser.ts';
import { signedInPage } from '#test/support/dashboard-sign-in.ts';
import { holdMail } from '#test/support/held-mail.ts';
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

const open = (to: string, options: { phone?: boolean } = {}) =>
  signedInPage(browser, world.api.url, world.organization.owner.email, to, options);

async function stateOf(id: string): Promise<string> {
  const answer = await world.call('GET', `/api/held-mail/${id}`, { as: world.organization.owner.session });
  return textAt(answer.body, 'state');
}

test('held mail is read as text and released; its sender is blocked after a question', async () => {
  const [released, blocked] = [await holdMail(world), await holdMail(world)];
  await world.sql(
    `update held_arrival set subject = 'Invoice', reasons = '{hidden_commands}',
       signals = '[{"kind":"commands_assistant","place":"hidden","count":1,"details":["ignore_instructions"]}]' where id = $1`,
    [released],
  );
  await world.sql(`update held_arrival set subject = 'Offer' where id = $1`, [blocked]);
  const { page, assertNoFaults } = await open('/held-mail');
  const row = page.getByRole('listitem').filter({ hasText: 'Invoice' });
  await row.getByText('hidden commands').waitFor();
  await assertAccessible(page, 'held mail');
  await row.getByRole('button', { name: 'Open Invoice' }).click();
  await row.getByText('Words.').waitFor();
  await row.getByText('Sentences that command an assistant in hidden text').waitFor();
  await assertAccessible(page, 'opened held mail');
  await row.getByRole('button', { name: 'Release', exact: true }).click();
  await waitUntil('the release', async () => (await stateOf(released)) === 'released');

  const other = page.getByRole('listitem').filter({ hasText: 'Offer' });
  await other.getByRole('button', { name: 'Open Offer' }).click();
  await other.getByRole('button', { name: 'Block the sender' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Block', exact: true }).click();
  await waitUntil('the block', async () => (await stateOf(blocked)) === 'blocked');
  assertNoFaults();
});

test('it fits a phone', async () => {
  await holdMail(world);
  const { page, assertNoFaults } = await open('/held-mail', { phone: true });
  await page
    .getByRole('button', { name: /^Open / })
    .first()
    .click();
  await page.getByText('Words.').first().waitFor();
  await assertFitsWindow(page, 'held mail');
  assertNoFaults();
});

test('the organization and a mailbox say what is held', async () => {
  const { page, assertNoFaults } = await open('/settings/organization');
  const form = page.getByRole('form', { name: 'Arriving mail' });
  await form.getByRole('radio', { name: /^Mail of unknown senders/ }).check();
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText('Saved').waitFor();
  const as = world.organization.owner.session;
  const organization = await world.call('GET', '/api/organization', { as });
  assert.equal(at(organization.body, 'settings', 'screening'), 'first_senders');
  assertNoFaults();
  const { id } = world.organization.mailbox;
  const box = await open(`/mailboxes/${id}?tab=settings`);
  await box.page.getByLabel('Arriving mail that is held').selectOption('Nothing');
  await box.page.getByRole('form', { name: 'Settings' }).getByRole('button', { name: 'Save' }).click();
  await waitUntil('the mailbox to change', async () => {
    const answer = await world.call('GET', `/api/mailboxes/${id}`, { as });
    return at(answer.body, 'screening') === 'off';
  });
  box.assertNoFaults();
});
