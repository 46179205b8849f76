import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import { type ApiWorld, apiWorld, at, TEST_PASSWORD, textAt } from '#test/support/api-world.ts';
import { assertAccessible, type TestBrowser, testBrowser } from '#test/support/browser.ts';
import { SIGNED_OUT, signedInPage } from '#test/support/dashboard-sign-in.ts';

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

const rolesOf = async (): Promise<Record<string, string>> => {
  const { body } = await world.call('GET', '/api/members', { as: world.organization.key });
  const list = at(body, 'data');
  assert.ok(Array.isArray(list));
  return Object.fromEntries(list.map((each) => [textAt(each, 'email'), textAt(each, 'role')]));
};

test('an owner invites, changes roles, hands a password link over, and removes', async () => {
  const { organization } = world;
  const { page, assertNoFaults } = await signedInPage(
    browser,
    world.api.url,
    organization.owner.email,
    '/settings/people',
  );
  await page.getByRole('listitem').filter({ hasText: organization.owner.email }).getByText('seen').waitFor();
  await page.getByRole('button', { name: 'Invite' }).click();
  await page.getByLabel('Email').fill('grace@outside.test');
  await page.getByLabel('Role', { exact: true }).selectOption('Admin');
  await page.getByText('Also manages people, API keys and settings').waitFor();
  await assertAccessible(page, 'invite');
  await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
  await page.getByRole('dialog', { name: 'Invitation for grace@outside.test' }).waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  const invitation = page.getByRole('listitem').filter({ hasText: 'grace@outside.test' });
  await invitation.getByText('expires').waitFor();

  // Agents may read this address, so the link is handed over.
  await page.getByRole('button', { name: 'Invite' }).click();
  await page.getByLabel('Email').fill(organization.mailbox.address);
  await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
  const link = (await page.getByLabel('Invitation link', { exact: true }).textContent()) ?? '';
  assert.match(link, /\/accept-invitation#./);
  await page.keyboard.press('Escape');
  assert.equal(await page.getByLabel('Invitation link', { exact: true }).isVisible(), true, 'Escape does not lose it');
  await page.getByRole('button', { name: 'Done' }).click();

  await invitation.getByRole('button', { name: 'Withdraw' }).click();
  await invitation.waitFor({ state: 'detached' });

  const member = page.getByRole('listitem').filter({ hasText: organization.member.email });
  await member.getByLabel('Role of A member').selectOption('Admin');
  await member.getByLabel('Role of A member').and(page.locator('select:enabled')).waitFor();
  assert.equal((await rolesOf())[organization.member.email], 'admin');

  await member.getByRole('button', { name: 'New password for A member' }).click();
  await page.getByRole('button', { name: 'Make the link' }).click();
  const reset = (await page.getByLabel('Password link', { exact: true }).textContent()) ?? '';
  assert.match(reset, /\/reset-password#./);
  await page.getByRole('button', { name: 'Done' }).click();

  await member.getByRole('button', { name: 'Remove A member' }).click();
  await page.getByText('This person loses access at once').waitFor();
  await assertAccessible(page, 'remove');
  await page.getByRole('button', { name: 'Remove from the organization' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await member.waitFor({ state: 'detached' });
  assert.equal((await rolesOf())[organization.member.email], undefined);

  const self = page.getByRole('listitem').filter({ hasText: '(you)' });
  await self.getByLabel('Role of A owner').selectOption('Member');
  await page.getByRole('alert').waitFor();
  assert.equal((await rolesOf())[organization.owner.email], 'owner', 'the last owner stays');
  assertNoFaults([...SIGNED_OUT, 409]);
});

test('a member sees people and no way to manage them', async () => {
  const { page, assertNoFaults } = await signedInPage(
    browser,
    world.api.url,
    world.other.member.email,
    '/settings/people',
  );
  await page.getByText(world.other.owner.email).waitFor();
  // The deputy is the member's own.
  await page.getByRole('button', { name: 'Name' }).waitFor();
  assert.deepEqual(await page.getByRole('main').getByRole('button').allTextContents(), ['Name']);
  assert.equal(await page.getByRole('heading', { name: 'Open invitations' }).count(), 0);
  await page.goto('/settings/keys');
  await page.getByRole('heading', { name: 'Only for admins' }).waitFor();
  await page.goto('/settings/organization');
  await page.getByText('Admins and owners can change these settings.').waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Name', exact: true }).isDisabled(), true);
  assertNoFaults(SIGNED_OUT);
});

test('sessions are seen and ended, and a new password ends the others', async () => {
  const person = await world.newPerson(world.organization.id, 'member');
  const elsewhere = await world.call('POST', '/api/sessions', {
    headers: { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0) Firefox/150.0' },
    body: { email: person.email, password: TEST_PASSWORD },
  });
  const token = { authorization: `Bearer ${textAt(elsewhere.body, 'token')}` };
  const { page, assertNoFaults } = await signedInPage(browser, world.api.url, person.email, '/settings/account');
  const row = page.getByRole('listitem').filter({ hasText: 'Firefox on Windows' });
  await row.getByText('signed in').waitFor();
  await page.getByText('This browser').waitFor();
  await assertAccessible(page, 'account');
  await row.getByRole('button', { name: 'End' }).click();
  await row.waitFor({ state: 'detached' });
  assert.equal((await world.call('GET', '/api/sessions/current', { as: token })).status, 401);
  // The one the person was made with.
  assert.equal((await world.call('GET', '/api/sessions/current', { as: person.session })).status, 200);
  await page.getByRole('button', { name: 'Sign out everywhere else' }).click();
  await page.getByRole('button', { name: 'Sign out everywhere else' }).waitFor({ state: 'detached' });
  assert.equal((await world.call('GET', '/api/sessions/current', { as: person.session })).status, 401);

  await page.getByLabel('Current password').fill('wrong password, really');
  await page.getByLabel('New password').fill('another long pass phrase');
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText('This is not your current password.').waitFor();
  await page.getByLabel('Current password').fill(TEST_PASSWORD);
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText('Changed', { exact: true }).waitFor();
  const body = { email: person.email, password: 'another long pass phrase' };
  assert.equal((await world.call('POST', '/api/sessions', { body })).status, 201);
  assertNoFaults(SIGNED_OUT);
});

test('a rule says who decides, and a member names a deputy for a time', async () => {
  const organization = await world.newOrganization('business');
  await world.call('PATCH', `/api/mailboxes/${organization.mailbox.id}`, {
    as: organization.owner.session,
    body: { group: 'press' },
  });
  const { page, assertNoFaults } = await signedInPage(
    browser,
    world.api.url,
    organization.owner.email,
    '/settings/people',
  );
  const section = page.getByRole('region', { name: 'Who decides' });
  await section.getByRole('heading', { name: 'Every member decides' }).waitFor();
  await section.getByRole('button', { name: 'Add a rule' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add a rule' });
  await dialog.getByLabel('Messages of').selectOption('Group press');
  await dialog.getByLabel('Recipients').fill('board.example');
  await dialog.getByRole('checkbox').first().check();
  await dialog.getByLabel('Approvals needed').selectOption('Two persons');
  await dialog.getByLabel('On duty').selectOption('Monday to Friday');
  await dialog.getByLabel('Time zone').fill('Europe/Berlin');
  await assertAccessible(page, 'add a rule');
  await dialog.getByRole('button', { name: 'Add' }).click();
  const rules = section.getByRole('list', { name: 'Rules who decides' });
  await rules.getByText('Group press, to board.example').waitFor();
  await rules.getByText('Mon, Tue, Wed, Thu, Fri, 08:00 to 18:00, Europe/Berlin; every member after 8 h').waitFor();
  const { body } = await world.call('GET', '/api/decision-rules', { as: organization.owner.session });
  assert.deepEqual([at(body, 'data', 0, 'persons'), at(body, 'data', 0, 'mailboxGroup')], [2, 'press']);
  await section.getByRole('button', { name: 'Name' }).click();
  await section.getByText('decides wherever a rule names you').waitFor();
  await assertAccessible(page, 'rules and deputy');
  await section.getByRole('button', { name: 'End it' }).click();
  await section.getByRole('button', { name: 'Name' }).waitFor();
  await rules.getByRole('button', { name: 'Delete' }).click();
  await section.getByRole('heading', { name: 'Every member decides' }).waitFor();
  assertNoFaults(SIGNED_OUT);
});
