/** What waits to leave a mailbox, seen and taken back by a person. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import { type ApiWorld, apiWorld, type TestOrganization, textAt } from '#test/support/api-world.ts';
import {
  assertAccessible,
  assertFitsWindow,
  requestsEnded,
  type TestBrowser,
  testBrowser,
} from '#test/support/browser.ts';
import { SIGNED_OUT, signedInPage } from '#test/support/dashboard-sign-in.ts';

const DAY_MS = 86_400_000;

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

const pathOf = ({ mailbox }: TestOrganization) => `/mailboxes/${mailbox.id}/outbox`;

async function submit({ mailbox }: TestOrganization, path: string, body: object): Promise<unknown> {
  const answer = await world.call('POST', `/api/mailbox/${path}`, { as: mailbox.token, body });
  assert.ok(answer.status === 201 || answer.status === 202, answer.text);
  return answer.body;
}

const held = (organization: TestOrganization, subject: string) =>
  submit(organization, 'messages', { to: ['stranger@outside.example'], subject, text: 'Some words.' });

test('held and scheduled mail is seen with its reason, and withdrawn; a draft comes back', async () => {
  const organization = await world.newOrganization('team');
  const draft = await submit(organization, 'drafts', {
    to: ['stranger@outside.example'],
    subject: 'Made from a draft',
    text: 'Words that are kept.',
  });
  await submit(organization, `drafts/${textAt(draft, 'id')}/send`, {});
  await submit(organization, 'messages', {
    to: [organization.mailbox.address],
    subject: 'For tomorrow',
    text: 'Later.',
    sendAt: new Date(world.services.now() + DAY_MS).toISOString(),
  });
  const { page, assertNoFaults } = await signedInPage(
    browser,
    world.api.url,
    organization.owner.email,
    pathOf(organization),
  );
  const rows = page.getByRole('list', { name: 'Outbox' }).getByRole('listitem');
  const fromDraft = rows.filter({ hasText: 'Made from a draft' });
  await fromDraft.getByText('Held').waitFor();
  await fromDraft.getByText('First contact').waitFor();
  await fromDraft.getByText('denied automatically').waitFor();
  const scheduled = rows.filter({ hasText: 'For tomorrow' });
  await scheduled.getByText('Scheduled').waitFor();
  await scheduled.getByText('at the earliest').waitFor();
  await assertAccessible(page, 'outbox');

  // By keyboard alone.
  await fromDraft.getByRole('button', { name: 'Withdraw' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: /^Withdraw “/ });
  await dialog.getByText('the draft it was made from comes back').waitFor();
  await assertAccessible(page, 'withdraw');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await fromDraft.getByText('Held').waitFor();
  await fromDraft.getByRole('button', { name: 'Withdraw' }).press('Enter');
  await dialog.getByRole('button', { name: 'Withdraw' }).press('Enter');
  await page.getByText('Nobody got it, and its draft is back.').waitFor();
  await fromDraft.getByText('Withdrawn', { exact: true }).waitFor();
  assert.equal(await fromDraft.getByRole('button', { name: 'Withdraw' }).count(), 0);

  await scheduled.getByRole('button', { name: 'Withdraw' }).click();
  await dialog.getByText('made from no draft').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();

  await page.getByRole('link', { name: 'Open the draft' }).click();
  const form = page.getByRole('region', { name: 'Draft', exact: true });
  await form.waitFor();
  assert.equal(await form.getByLabel('Subject').inputValue(), 'Made from a draft');
  assert.equal((await form.getByLabel('Text').inputValue()).trim(), 'Words that are kept.');
  // The way back: the reader names what waits.
  await page.getByRole('navigation', { name: 'Folders' }).getByRole('button', { name: 'Outbox' }).click();
  await scheduled.getByText('Scheduled').waitFor();
  assertNoFaults(SIGNED_OUT);
});

test('a decision of somebody else appears without a reload, and withdrawing too late says why', async () => {
  const organization = await world.newOrganization('team');
  const opened = await signedInPage(browser, world.api.url, organization.owner.email, pathOf(organization));
  const { page } = opened;
  await page.getByText('Nothing waits here').waitFor();
  await requestsEnded(page);
  const message = await held(organization, 'Decided elsewhere');
  const row = page.getByRole('list', { name: 'Outbox' }).getByRole('listitem');
  await row.getByText('Held').waitFor();
  await row.getByRole('button', { name: 'Withdraw' }).click();
  const denied = await world.call('POST', `/api/consents/${textAt(message, 'consentId')}/deny`, {
    as: organization.admin.session,
    body: { reason: 'Not today.' },
  });
  assert.equal(denied.status, 200, denied.text);
  // Behind the open dialog nothing has a role.
  await page.locator('main').getByText('Denied', { exact: true }).waitFor();
  const dialog = page.getByRole('dialog', { name: /^Withdraw “/ });
  await dialog.getByRole('button', { name: 'Withdraw' }).click();
  await dialog.getByRole('alert').getByText('cannot be withdrawn').waitFor();
  await page.keyboard.press('Escape');
  await row.getByText('Not today.').waitFor();
  opened.assertNoFaults([...SIGNED_OUT, 409]);
});

test('the outbox fits a phone in the dark, and leads to the decision', async () => {
  const organization = await world.newOrganization('team');
  await held(organization, 'A-subject-that-has-no-space-and-is-longer-than-the-screen-of-any-phone-'.repeat(3));
  const { page, assertNoFaults } = await signedInPage(
    browser,
    world.api.url,
    organization.owner.email,
    pathOf(organization),
    { phone: true, dark: true },
  );
  await page.getByText('Held', { exact: true }).waitFor();
  await assertFitsWindow(page, 'the outbox');
  await assertAccessible(page, 'outbox on a phone, dark');
  await page.getByRole('link', { name: 'Decide' }).click();
  await page.getByRole('article', { name: 'Held message' }).waitFor();
  assertNoFaults(SIGNED_OUT);
});

test('the outbox of a mailbox of another organization does not exist', async () => {
  const { owner } = await world.newOrganization('team');
  const { page } = await signedInPage(browser, world.api.url, owner.email, pathOf(world.other));
  await page.getByRole('alert').first().waitFor();
  assert.equal(await page.getByRole('list', { name: 'Outbox' }).count(), 0);
});
