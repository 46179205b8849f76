/** Passkeys in the browser, with Chromium's virtual authenticator: added, both ways of signing in, wrong address, removed. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { CDPSession, Page } from 'playwright-core';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import { type ApiWorld, apiWorld, TEST_PASSWORD } from '#test/support/api-world.ts';
import { addPasskey } from '#test/support/authenticator.ts';
import { assertAccessible, type TestBrowser, testBrowser } from '#test/support/browser.ts';
import { SIGNED_OUT, signedInPage } from '#test/support/dashboard-sign-in.ts';

let world: ApiWorld;
let browser: TestBrowser;
/** Browsers have passkeys at `localhost`, and at no address of a host. */
let origin: string;

before(async () => {
  await buildDashboard();
  [world, browser] = await Promise.all([apiWorld(), testBrowser()]);
  origin = world.api.url.replace('127.0.0.1', 'localhost');
});
after(async () => {
  await browser?.close();
  await world?.close();
});

interface VirtualDevice {
  readonly cdp: CDPSession;
  readonly authenticatorId: string;
}

async function virtualDevice(page: Page): Promise<VirtualDevice> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { cdp, authenticatorId };
}

async function addInPage(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Your password').fill(TEST_PASSWORD);
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.getByRole('dialog', { name: 'The passkey is added' }).waitFor();
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Account of/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByLabel('Email').waitFor();
}

const isSignedIn = (page: Page) => page.getByRole('navigation', { name: 'Pages' }).first().waitFor();

test('a person adds a passkey, signs in with it alone and after the password, and removes it', async () => {
  const person = await world.newPerson(world.organization.id, 'member');
  const { page, assertNoFaults } = await signedInPage(browser, origin, person.email, '/settings/account');
  const { cdp, authenticatorId } = await virtualDevice(page);
  await page.getByText('No passkeys.').waitFor();
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await assertAccessible(page, 'a new passkey');
  await page.keyboard.press('Escape');
  await addInPage(page, 'Laptop');
  const codes = ((await page.getByLabel('Recovery codes', { exact: true }).textContent()) ?? '').split(' ');
  assert.equal(codes.length, 10);
  await page.getByRole('button', { name: 'Done' }).click();
  const row = page.getByRole('list', { name: 'Passkeys' }).getByRole('listitem').filter({ hasText: 'Laptop' });
  await row.getByText('not used yet').waitFor();
  await assertAccessible(page, 'account with a passkey');

  await signOut(page);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await isSignedIn(page);

  await signOut(page);
  await page.getByLabel('Email').fill(person.email);
  await page.getByLabel('Password').fill(TEST_PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor();
  await assertAccessible(page, 'second step by passkey');
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await isSignedIn(page);
  const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId });
  assert.equal(credentials.length, 1);

  await page.goto('/settings/account');
  await row.getByText(/^added .*, used /).waitFor();
  await row.getByRole('button', { name: 'Remove the passkey Laptop' }).click();
  await page.getByRole('button', { name: 'Confirm by passkey' }).click();
  await page.getByText('No passkeys.').waitFor();

  await signOut(page);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('alert').getByText('The passkey was not accepted.').waitFor();
  assertNoFaults(SIGNED_OUT);
});

test('a person who does not confirm on the device is not signed in, and told so', async () => {
  const person = await world.newPerson(world.organization.id, 'member');
  const { page, assertNoFaults } = await signedInPage(browser, origin, person.email, '/settings/account');
  const { cdp, authenticatorId } = await virtualDevice(page);
  await addInPage(page, 'Laptop');
  await page.getByRole('button', { name: 'Done' }).click();
  await signOut(page);
  await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('alert').getByText('No passkey was used.').waitFor();
  assertNoFaults(SIGNED_OUT);
});

test('a copy of a passkey, whose counter is behind, is refused', async () => {
  const person = await world.newPerson(world.organization.id, 'member');
  const { page, assertNoFaults } = await signedInPage(browser, origin, person.email, '/settings/account');
  const { cdp, authenticatorId } = await virtualDevice(page);
  await addInPage(page, 'Laptop');
  await page.getByRole('button', { name: 'Done' }).click();
  const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId });
  const [copy] = credentials;
  assert.ok(copy !== undefined);
  await signOut(page);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await isSignedIn(page);
  await signOut(page);
  await cdp.send('WebAuthn.clearCredentials', { authenticatorId });
  await cdp.send('WebAuthn.addCredential', { authenticatorId, credential: { ...copy, signCount: 0 } });
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('alert').getByText('it may have been copied').waitFor();
  assertNoFaults(SIGNED_OUT);
});

test('at another address of the service, the page leads to the one where passkeys work', async () => {
  const person = await addPasskey(world, await world.newPerson(world.organization.id, 'member'));
  const { page, assertNoFaults } = await browser.open(world.api.url);
  await page.goto('/sign-in');
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('alert').getByText('Passkeys do not work at this address.').waitFor();
  await page.getByLabel('Email').fill(person.email);
  await page.getByLabel('Password').fill(TEST_PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('Code', { exact: true }).fill(person.recoveryCodes[0] ?? '');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await isSignedIn(page);
  await page.goto('/settings/account');
  await page.getByRole('link', { name: origin }).waitFor();
  assertNoFaults(SIGNED_OUT);
});
