/** The page on which a person signs a terminal in, and the command in that terminal. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import { type ApiWorld, apiWorld } from '#test/support/api-world.ts';
import { assertAccessible, assertFitsWindow, type TestBrowser, testBrowser } from '#test/support/browser.ts';
import { type CommandLine, commandLine } from '#test/support/command-line.ts';
import { SIGNED_OUT, signedInPage } from '#test/support/dashboard-sign-in.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const PROGRAM = fileURLToPath(new URL('../../cli/agent-mailbox.mjs', import.meta.url));
let world: ApiWorld;
let browser: TestBrowser;
let cli: CommandLine;

before(async () => {
  await buildDashboard();
  [world, browser] = await Promise.all([apiWorld(), testBrowser()]);
  cli = commandLine(world.api.url);
});
after(async () => {
  cli?.close();
  await browser?.close();
  await world?.close();
});

/** `login --browser`, until it shows its code. */
async function login() {
  const child = spawn(process.execPath, [PROGRAM, 'login', '--browser'], {
    env: cli.environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const ended = once(child, 'close').then(([code]: unknown[]) => ({ code, output }));
  const codeOf = (): string => /[B-Z]{4}-[B-Z]{4}/.exec(output)?.[0] ?? '';
  await waitUntil('the code', () => codeOf() !== '');
  assert.match(output, /\/device/);
  return { code: codeOf(), ended };
}

test('a person enters the code, sees who asks, and signs the terminal in; the session stands in the account', async () => {
  const { owner } = world.organization;
  const { page, assertNoFaults } = await signedInPage(browser, world.api.url, owner.email, '/device');
  const { code, ended } = await login();
  await page.getByLabel('Code').fill(code.toLowerCase());
  await assertAccessible(page, 'device code');
  await page.keyboard.press('Enter');
  await page.getByText('agent-mailbox on').waitFor();
  await page.getByText('If somebody sent you the code, refuse.').waitFor();
  await assertAccessible(page, 'device');
  await page.getByRole('button', { name: 'Sign it in' }).click();
  await page.getByRole('status').getByText('The device is signed in').waitFor();
  const signedIn = await ended;
  assert.equal(signedIn.code, 0, signedIn.output);
  assert.match(signedIn.output, /Logged in to/);
  const listed = await cli.run(['mailboxes', 'list']);
  assert.equal(listed.code, 0, listed.stderr);
  await page.goto('/settings/account');
  await page.getByText('agent-mailbox on').waitFor();
  assertNoFaults(SIGNED_OUT);
});

test('an unknown code is said so; a refused terminal is not signed in; the page fits a phone', async () => {
  const { member } = world.organization;
  const options = { phone: true, dark: true };
  const { page } = await signedInPage(browser, world.api.url, member.email, '/device', options);
  const { code, ended } = await login();
  await page.getByLabel('Code').fill('BBBB-BBBB');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('alert').waitFor();
  await assertFitsWindow(page, 'device code');
  await page.getByLabel('Code').fill(code);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('button', { name: 'Refuse' }).waitFor();
  await assertFitsWindow(page, 'device');
  await assertAccessible(page, 'device in dark');
  await page.getByRole('button', { name: 'Refuse' }).click();
  await page.getByText('It is not signed in.').waitFor();
  const { code: exitCode, output } = await ended;
  assert.equal(exitCode, 3);
  assert.match(output, /refused in the browser/);
});
