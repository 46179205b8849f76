/** Single sign-on in the browser, with a real OpenID provider: to it and back, linked once, and errors that are shown. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import { type ApiWorld, apiWorld, TEST_PASSWORD } from '#test/support/api-world.ts';
import { assertAccessible, type TestBrowser, testBrowser } from '#test/support/browser.ts';
import { SIGNED_OUT } from '#test/support/dashboard-sign-in.ts';
import { useProvider } from '#test/support/oidc.ts';

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

test('a person links the account once, signs in by the provider, and separates it', async () => {
  const person = await world.newPerson(world.organization.id, 'member');
  const provider = await useProvider(world, { OIDC_NAME: 'Example Staff' });
  provider.signInAs({ subject: `of ${person.userId}`, email: person.email });
  const { page, assertNoFaults } = await browser.open(world.api.url);
  await page.goto('/settings/account');
  await page.getByRole('button', { name: 'Continue with Example Staff' }).waitFor();
  await assertAccessible(page, 'sign-in with a provider');
  await page.getByRole('button', { name: 'Continue with Example Staff' }).click();
  await page.getByRole('heading', { name: 'Link your account' }).waitFor();
  assert.equal(new URL(page.url()).search, '', 'the answer of the provider is out of the address');
  await assertAccessible(page, 'linking an account');
  await page.getByLabel('Password').fill('not the password');
  await page.getByRole('button', { name: 'Link and sign in' }).click();
  await page.getByRole('alert').getByText('password is wrong').waitFor();
  await page.getByLabel('Password').fill(TEST_PASSWORD);
  await page.getByRole('button', { name: 'Link and sign in' }).click();
  const row = page.getByRole('list', { name: 'Linked accounts' }).getByText(provider.issuer);
  await row.waitFor();

  await page.getByRole('button', { name: /^Account of/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Continue with Example Staff' }).click();
  await page.getByRole('navigation', { name: 'Pages' }).first().waitFor();
  await page.goto('/settings/account');
  await page.getByRole('button', { name: 'Separate' }).click();
  await row.waitFor({ state: 'detached' });
  assertNoFaults(SIGNED_OUT, new RegExp(`request to ${provider.issuer}`));
});

test('who has no account, and an answer that this browser did not ask for, are told', async () => {
  const provider = await useProvider(world, { OIDC_NAME: 'Example Staff' });
  provider.signInAs({ subject: 'nobody', email: 'nobody@people.test' });
  const { page, assertNoFaults } = await browser.open(world.api.url);
  await page.goto('/sign-in');
  await page.getByRole('button', { name: 'Continue with Example Staff' }).click();
  await page.getByRole('alert').getByText('There is no account of nobody@people.test here.').waitFor();
  await assertAccessible(page, 'no account');
  await page.goto('/sign-in/oidc?code=stolen&state=unknown');
  await page.getByRole('alert').getByText('began in another browser').waitFor();
  await page.getByRole('link', { name: 'Back to sign-in' }).click();
  await page.getByLabel('Email').waitFor();
  assertNoFaults(SIGNED_OUT, new RegExp(`request to ${provider.issuer}`));
});
