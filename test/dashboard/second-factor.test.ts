/** The second factor in the browser: set up with the picture, sign in in two steps, recovery codes, removal and reset. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import { holdMessage } from '#test/api/approval-link-world.ts';
import { type ApiWorld, apiWorld, TEST_PASSWORD } from '#test/support/api-world.ts';
import { assertAccessible, type TestBrowser, testBrowser } from '#test/support/browser.ts';
import { SIGNED_OUT, signedInPage } from '#test/support/dashboard-sign-in.ts';
import { addTotp, personWithTotp, totpCode } from '#test/support/second-factor.ts';

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

test('a person adds an app, signs in with a code, then with a recovery code, and removes the app', async () => {
  const person = await world.newPerson(world.organization.id, 'member');
  const { page, assertNoFaults } = await signedInPage(browser, world.api.url, person.email, '/settings/account');
  await page.getByRole('button', { name: 'Add an authenticator app' }).click();
  await page.getByLabel('Your password').fill(TEST_PASSWORD);
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
  await assertAccessible(page, 'set-up of an app');
  const secret = (await page.getByLabel('Secret', { exact: true }).textContent()) ?? '';
  await page.getByLabel('Code of the app').fill('000000');
  await page.getByRole('button', { name: 'Add the app' }).click();
  await page.getByRole('alert').getByText('The code is wrong').waitFor();
  await page.getByLabel('Code of the app').fill(totpCode(secret, Date.now()));
  await page.getByRole('button', { name: 'Add the app' }).click();
  await page.getByRole('dialog', { name: 'The second factor is on' }).waitFor();
  const codes = ((await page.getByLabel('Recovery codes', { exact: true }).textContent()) ?? '').split(' ');
  assert.equal(codes.length, 10);
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByText('10 recovery codes left').waitFor();

  const signOut = async () => {
    await page.getByRole('button', { name: /^Account of/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('Email').fill(person.email);
    await page.getByLabel('Password').fill(TEST_PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Enter a code' }).waitFor();
  };
  await signOut();
  await assertAccessible(page, 'second step');
  await page.getByLabel('Code', { exact: true }).fill('00 00 00');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').getByText('The code is wrong').waitFor();
  await world.sql(`update totp_factor set last_step = null where user_id = $1`, [person.userId]);
  await page.getByLabel('Code', { exact: true }).fill(totpCode(secret, Date.now()));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Pages' }).first().waitFor();

  await signOut();
  await page.getByLabel('Code', { exact: true }).fill(codes[0] ?? '');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Pages' }).first().waitFor();
  await page.goto('/settings/account');
  await page.getByText('9 recovery codes left').waitFor();

  await page.getByRole('button', { name: 'New recovery codes' }).click();
  await page.getByLabel('Code of the app, or a recovery code').fill(codes[1] ?? '');
  await page.getByRole('button', { name: 'Make new codes' }).click();
  await page.getByRole('dialog', { name: 'Your new recovery codes' }).waitFor();
  const renewed = ((await page.getByLabel('Recovery codes', { exact: true }).textContent()) ?? '').split(' ');
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByText('10 recovery codes left').waitFor();

  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByLabel('Code of the app, or a recovery code').fill(renewed[0] ?? '');
  await page.getByRole('button', { name: 'Remove the app' }).click();
  await page.getByText('No authenticator app.').waitFor();
  assertNoFaults(SIGNED_OUT);
});

test('an owner sees who has a second factor, and resets it', async () => {
  const person = await personWithTotp(world);
  const { owner } = world.organization;
  const { page, assertNoFaults } = await signedInPage(browser, world.api.url, owner.email, '/settings/people');
  const row = page.getByRole('listitem').filter({ hasText: person.email });
  await row.getByText('second factor').waitFor();
  await row.getByRole('button', { name: /^Reset the second factor of/ }).click();
  await assertAccessible(page, 'reset of a second factor');
  await page.getByRole('dialog').getByRole('button', { name: 'Reset the second factor' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await row.getByText('second factor').waitFor({ state: 'detached' });
  assertNoFaults(SIGNED_OUT);
});

test('an owner requires a second factor; a member without one is led to the set-up, and can decide after it', async () => {
  const of = await world.newOrganization('business');
  await addTotp(world, of.owner);
  const turnedOn = await world.call('PATCH', '/api/organization', {
    as: of.owner.session,
    body: { settings: { secondFactor: 'approvers' } },
  });
  assert.equal(turnedOn.status, 200, turnedOn.text);
  await holdMessage(world, of);
  const { page, assertNoFaults } = await signedInPage(browser, world.api.url, of.member.email, '/approvals');
  await page.getByRole('status').getByText('requires a second factor').waitFor();
  await assertAccessible(page, 'approvals without a second factor');
  await page.getByRole('link', { name: 'Add one to your account' }).click();
  await page.getByRole('button', { name: 'Add an authenticator app' }).click();
  await page.getByLabel('Your password').fill(TEST_PASSWORD);
  await page.getByRole('button', { name: 'Go on' }).click();
  const secret = (await page.getByLabel('Secret', { exact: true }).textContent()) ?? '';
  await page.getByLabel('Code of the app').fill(totpCode(secret, Date.now()));
  await page.getByRole('button', { name: 'Add the app' }).click();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByText('requires a second factor').waitFor({ state: 'detached' });
  await page.goto('/approvals');
  await page.getByRole('heading', { name: 'Linked' }).waitFor();
  assertNoFaults(SIGNED_OUT);
});

test('an owner without a second factor is told to add one before requiring it', async () => {
  const of = await world.newOrganization('business');
  const { page, assertNoFaults } = await signedInPage(browser, world.api.url, of.owner.email, '/settings/organization');
  await page.getByRole('radio', { name: /People who decide/ }).check();
  await page.getByRole('button', { name: 'Save the second factor rule' }).click();
  await page.getByRole('alert').getByText('Your own session has no second factor').waitFor();
  assertNoFaults([...SIGNED_OUT, 409]);
});
