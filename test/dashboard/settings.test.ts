import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { newId } from '#core/platform/new-id.ts';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import { type ApiWorld, apiWorld, asKey, at, type TestOrganization, textAt } from '#test/support/api-world.ts';
import { assertAccessible, requestsEnded, type TestBrowser, testBrowser } from '#test/support/browser.ts';
import { SIGNED_OUT, signedInPage } from '#test/support/dashboard-sign-in.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { csvOf } from '../../dashboard/scenes/audit/csv.ts';

let world: ApiWorld;
let browser: TestBrowser;
let organization: TestOrganization;

before(async () => {
  await buildDashboard();
  [world, browser] = await Promise.all([apiWorld(), testBrowser()]);
  organization = await world.newOrganization('business');
});
after(async () => {
  await browser?.close();
  await world?.close();
});

const open = (to: string, options: { phone?: boolean; dark?: boolean } = {}) =>
  signedInPage(browser, world.api.url, organization.owner.email, to, options);

test('an API key is created with name, scopes and expiration, shown once, edited and revoked', async () => {
  for (const group of ['desk', 'lab'])
    await world.call('POST', '/api/mailboxes', { as: organization.key, body: { group } });
  const { page, assertNoFaults } = await open('/settings/keys');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByLabel('Name').fill('Order agent');
  const create = page.getByRole('dialog').getByRole('button', { name: 'Create key' });
  assert.equal(await create.isDisabled(), true, 'a key without scopes is none');
  assert.equal(await page.getByRole('checkbox').count(), 8);
  await page.getByRole('button', { name: 'Read only' }).click();
  await page.getByRole('checkbox', { name: 'webhook:read' }).uncheck();
  await page.getByRole('checkbox', { name: 'org:read' }).uncheck();
  await page.getByRole('checkbox', { name: 'mailbox:create' }).check();
  await page.getByRole('radio', { name: /^Groups/ }).check();
  assert.equal(await create.isDisabled(), true, 'a key for no group is none');
  await page.getByRole('checkbox', { name: 'desk', exact: true }).check();
  await page.getByLabel('Expiration').selectOption('30 days');
  await assertAccessible(page, 'create key');
  await create.click();
  const key = (await page.getByLabel('API key', { exact: true }).textContent()) ?? '';
  const listed = await world.call('GET', '/api/mailboxes', { as: asKey(key) });
  assert.equal(listed.status, 200);
  assert.equal(textAt(listed.body, 'data', 0, 'group'), 'desk');
  assert.equal(Object(at(listed.body, 'data')).length, 1);
  assert.equal((await world.call('GET', '/api/usage', { as: asKey(key) })).status, 403);
  await page.keyboard.press('Escape');
  assert.equal(await page.getByLabel('API key', { exact: true }).isVisible(), true, 'Escape does not lose the key');
  await page.getByRole('button', { name: 'Done' }).click();
  const row = page.getByRole('listitem').filter({ hasText: 'Order agent' });
  await row.getByText('mailbox:create, mailbox:read').waitFor();
  await row.getByText('in desk').waitFor();
  assert.match((await row.textContent()) ?? '', /expires in (?:29|30) days/);
  await row.getByText('used').waitFor();
  assert.equal(await page.getByText(key).count(), 0);

  await row.getByRole('button', { name: 'Edit Order agent' }).click();
  await page.getByRole('button', { name: 'Everything' }).click();
  await page.getByRole('radio', { name: /^All of the/ }).check();
  await page.getByLabel('Expiration').selectOption('Another date');
  await page.getByLabel('Last day').fill('2099-12-31');
  await page.getByRole('button', { name: 'Save' }).click();
  await row.getByText('every scope').waitFor();
  assert.match((await row.textContent()) ?? '', /expires in \d+ years/);
  assert.equal((await world.call('GET', '/api/usage', { as: asKey(key) })).status, 200);
  await row.getByRole('button', { name: 'Revoke Order agent' }).click();
  await page.getByRole('button', { name: 'Revoke key' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await row.waitFor({ state: 'detached' });
  assert.equal((await world.call('GET', '/api/mailboxes', { as: asKey(key) })).status, 401);
  assertNoFaults(SIGNED_OUT);
});

test('entries of the four lists are added, for one mailbox too, tested and removed', async () => {
  const { page, assertNoFaults } = await open('/settings/lists');
  const form = page.getByRole('form', { name: 'Add an entry' });
  await page.getByText('Recipients that agents may write to without an approval.').waitFor();
  await form.getByLabel('Address or domain').fill('customer.example');
  await form.getByRole('button', { name: 'Add' }).click();
  await page.getByRole('listitem').filter({ hasText: 'customer.example' }).getByText('all mailboxes').waitFor();
  await page.getByLabel('Address', { exact: true }).fill('ada@customer.example');
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await page.getByText('Allowed').waitFor();
  await assertAccessible(page, 'lists');

  await page.getByRole('button', { name: 'Incoming mail' }).click();
  await page.getByRole('button', { name: 'Block' }).click();
  await page.getByText('Senders whose mail is refused.').waitFor();
  assert.equal(new URL(page.url()).search, '?direction=inbound&action=block');
  await form.getByLabel('Address or domain').fill('spam.example');
  await form.getByLabel('Only for the mailbox').fill('nobody@agents.test');
  await form.getByRole('button', { name: 'Add' }).click();
  await page.getByText('No mailbox of this organization has this address.').waitFor();
  await form.getByLabel('Only for the mailbox').fill(organization.mailbox.address);
  await form.getByRole('button', { name: 'Add' }).click();
  const row = page.getByRole('listitem').filter({ hasText: 'spam.example' });
  await row.getByText(`only ${organization.mailbox.address}`).waitFor();
  await form.getByLabel('Address or domain').fill('not an address');
  await form.getByLabel('Only for the mailbox').fill('');
  await form.getByRole('button', { name: 'Add' }).click();
  await form.locator('[aria-invalid], [role=alert]').first().waitFor();
  await page.goBack();
  await page.getByRole('button', { name: 'Block' }).and(page.locator('[aria-pressed=false]')).waitFor();
  await page.goForward();
  await row.getByRole('button', { name: 'Remove spam.example' }).click();
  await row.waitFor({ state: 'detached' });
  assertNoFaults([...SIGNED_OUT, 400, 422]);
});

test('suppressions are found by address and reason, and removed with a warning', async () => {
  for (const [address, reason] of [
    ['gone@customer.example', 'hard_bounce'],
    ['angry@customer.example', 'complaint'],
  ])
    await world.sql(`insert into suppression (id, organization_id, address, reason) values ($1, $2, $3, $4)`, [
      newId('suppression'),
      organization.id,
      address,
      reason,
    ]);
  const { page, assertNoFaults } = await open('/settings/suppressions');
  const rows = page.getByRole('main').getByRole('listitem');
  await waitUntil('both', async () => (await rows.count()) === 2);
  await assertAccessible(page, 'suppressions');
  await page.getByRole('button', { name: 'Complaint' }).click();
  await waitUntil('one', async () => (await rows.count()) === 1);
  await page.getByLabel('Only this address').fill('gone@customer.example');
  await page.getByRole('heading', { name: 'No entry found' }).waitFor();
  await page.getByRole('button', { name: 'Any reason' }).click();
  await rows.filter({ hasText: 'gone@customer.example' }).getByRole('button', { name: 'Remove' }).click();
  await page.getByText('The address did not exist.').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('heading', { name: 'No entry found' }).waitFor();
  assertNoFaults(SIGNED_OUT);
});

test('plan and usage show the limits and the days', async () => {
  const { page, assertNoFaults } = await open('/settings/plan');
  await page.getByText('Plan business').waitFor();
  await page.getByText('3 of 1,000').waitFor();
  const days = page.getByRole('region', { name: 'Usage by day' }).getByRole('row');
  assert.equal(await days.count(), 31);
  await page.getByRole('button', { name: '7 days' }).click();
  await waitUntil('seven days and their head', async () => (await days.count()) === 8);
  assert.equal(new URL(page.url()).searchParams.get('days'), '7');
  await assertAccessible(page, 'plan');
  assertNoFaults(SIGNED_OUT);
});

test('a person chooses how to be notified, and sees what was sent', async () => {
  const { page, assertNoFaults } = await open('/settings/notices');
  await page.getByRole('radio', { name: 'Every hour' }).check();
  const settings = () => world.call('GET', '/api/sessions/current/notices', { as: organization.owner.session });
  await waitUntil('the choice', async () => at((await settings()).body, 'approvals') === 'hourly');
  const incoming = page.getByRole('group', { name: 'Mail to you about held incoming mail' });
  await incoming.getByRole('radio', { name: 'At once' }).check();
  const digest = page.getByRole('form', { name: 'Digest' });
  await digest.getByLabel('Days').selectOption('weekdays');
  await digest.getByLabel('Hour').selectOption('7');
  await digest.getByRole('button', { name: 'Save the digest' }).click();
  const quiet = page.getByRole('form', { name: 'Quiet hours' });
  await quiet.getByLabel('Days on which they begin').selectOption('daily');
  await quiet.getByLabel('From').fill('21:30');
  await quiet.getByRole('button', { name: 'Save the quiet hours' }).click();
  await waitUntil('the times', async () => {
    const { body } = await settings();
    return at(body, 'digest', 'hour') === 7 && at(body, 'quietHours', 'from') === '21:30';
  });
  assert.equal(at((await settings()).body, 'incoming'), 'at_once');
  await page.getByLabel('Address of the incoming webhook').fill('https://10.0.0.1/hook');
  await page.getByRole('button', { name: 'Add' }).click();
  await page.getByRole('form', { name: 'Message in a chat' }).locator('[aria-invalid], [role=alert]').first().waitFor();
  await page.getByLabel('Address of the incoming webhook').fill('https://127.0.0.1:9/hook/secret');
  await page.getByRole('button', { name: 'Add' }).click();
  await page.getByText('127.0.0.1').waitFor();
  assert.equal(await page.getByText('hook/secret').count(), 0, 'the address is not shown again');
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByLabel('Address of the incoming webhook').waitFor();
  await world.call('POST', '/api/members', { as: organization.owner.session, body: { email: 'grace@outside.test' } });
  await page.reload();
  const notice = page.getByRole('listitem').filter({ hasText: 'grace@outside.test' });
  await notice.getByText('grace@outside.test').first().click();
  await notice.getByText('attempt').first().waitFor();
  await assertAccessible(page, 'notices');
  assertNoFaults([...SIGNED_OUT, 422]);
});

test('the audit log is filtered in the address, and saved as a file that no spreadsheet runs', async () => {
  await world.call('POST', '/api/mailboxes', { as: organization.owner.session, body: { name: '=1+1' } });
  const { page, assertNoFaults } = await open('/settings/audit');
  const entries = page.getByRole('main').getByRole('listitem');
  await entries.first().waitFor();
  await page.getByLabel('Action').selectOption('mailbox: created');
  await waitUntil('the filter', async () => new URL(page.url()).searchParams.get('action') === 'mailbox.created');
  await page.getByLabel('Who').selectOption('A owner');
  await waitUntil('one entry', async () => (await entries.count()) === 1);
  await entries.first().click();
  await entries.first().getByText(organization.owner.email).waitFor();
  await assertAccessible(page, 'audit');
  const link = page.url();
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'CSV' }).click();
  const file = await saved;
  assert.equal(file.suggestedFilename(), 'audit.csv');
  const lines = (await readFile(await file.path(), 'utf8')).trimEnd().split('\r\n');
  assert.equal(lines.length, 2);
  assert.match(lines[0] ?? '', /^time,action,/);
  assert.match(lines[1] ?? '', /,mailbox\.created,user,A owner,/);
  await page.getByLabel('From').fill('2099-01-01');
  await page.getByRole('heading', { name: 'No entry found' }).waitFor();
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await entries.first().waitFor();
  assert.equal(new URL(page.url()).search, '');
  await page.goto(link);
  await waitUntil('the linked filter', async () => (await entries.count()) === 1);
  assertNoFaults(SIGNED_OUT);
});

test('a value that begins like a formula is no formula in the file', () => {
  assert.equal(
    csvOf([['=1+1', '+1', '-1', '@x', '\t=1', 'a,b', 'say "hi"', 'ok']]),
    `'=1+1,'+1,'-1,'@x,'\t=1,"a,b","say ""hi""",ok\r\n`,
  );
});

test('name and rules of the organization change, and what loosens them is asked about', async () => {
  const { page, assertNoFaults } = await open('/settings/organization');
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Harbour');
  await page.getByRole('button', { name: 'Save the name' }).click();
  await page.getByText('Saved').waitFor();
  await page.getByRole('banner').getByText('Harbour').waitFor();
  await page.getByLabel('Short name').fill('Not A Slug');
  await page.getByRole('button', { name: 'Save the name' }).click();
  await page.locator('[aria-invalid], [role=alert]').first().waitFor();

  const rules = page.getByRole('form', { name: 'Approvals' });
  const settings = async () =>
    at((await world.call('GET', '/api/organization', { as: organization.key })).body, 'settings');
  await rules.getByRole('checkbox', { name: 'Replies need approval' }).check();
  await rules.getByRole('button', { name: 'Save the rules' }).click();
  await waitUntil('the rules', async () => at(await settings(), 'repliesNeedApproval') === true);
  await rules.getByRole('radio', { name: 'Every message' }).check();
  assert.equal(await rules.getByRole('checkbox', { name: 'Replies need approval' }).count(), 0, 'all of them do');
  await rules.getByLabel('Days until').fill('3');
  await rules.getByRole('button', { name: 'Save the rules' }).click();
  await waitUntil('the rules', async () => at(await settings(), 'outboundConsent') === 'always');
  await rules.getByRole('checkbox', { name: 'API keys may approve' }).check();
  await rules.getByRole('button', { name: 'Save the rules' }).click();
  await page.getByText('no person has to see them').waitFor();
  await assertAccessible(page, 'warning');
  assert.equal(at(await settings(), 'consentByApiKey'), false);
  await page.getByRole('button', { name: 'Yes, change the rules' }).click();
  await waitUntil('the rules', async () => at(await settings(), 'consentByApiKey') === true);
  assert.equal(at(await settings(), 'consentExpiresInDays'), 3);
  await rules.getByRole('radio', { name: 'Is refused' }).check();
  await rules.getByRole('button', { name: 'Save the rules' }).click();
  await waitUntil('the rules', async () => at(await settings(), 'carriedMail') === 'refuse');
  await rules.getByRole('radio', { name: 'Is sent' }).check();
  await rules.getByRole('button', { name: 'Save the rules' }).click();
  await page.getByText('What an agent read in any mailbox can then leave').waitFor();
  await page.getByRole('button', { name: 'Yes, change the rules' }).click();
  await waitUntil('the rules', async () => at(await settings(), 'carriedMail') === 'off');
  await rules.getByText('Saved').waitFor();
  assertNoFaults([...SIGNED_OUT, 400]);
});

test('budgets of the organization and the brakes of new mailboxes are set', async () => {
  const own = await world.newOrganization('business');
  const page = await signedInPage(browser, world.api.url, own.owner.email, '/settings/organization');
  const form = page.page.getByRole('form', { name: 'Sending limits' });
  const [all, fresh] = [form.getByRole('group').first(), form.getByRole('group').last()];
  await all.getByLabel('Messages a day').fill('many');
  await form.getByRole('button', { name: 'Save the limits' }).click();
  await all.getByText('Enter a whole number').waitFor();
  await all.getByLabel('Messages a day').fill('500');
  await fresh.getByLabel('Sending').selectOption('drafts_only');
  await fresh.getByLabel('New recipients a day').fill('3');
  // Meanwhile somebody else sets what is not touched here.
  await world.call('PATCH', '/api/organization', {
    as: own.admin.session,
    body: { settings: { dailyNewRecipients: 40 } },
  });
  await form.getByRole('button', { name: 'Save the limits' }).click();
  await form.getByText('Saved').waitFor();
  const { body } = await world.call('GET', '/api/organization', { as: own.key });
  assert.deepEqual(
    ['dailyMessages', 'dailyNewRecipients', 'newMailboxSendingMode', 'newMailboxDailyNewRecipients'].map((name) =>
      at(body, 'settings', name),
    ),
    [500, 40, 'drafts_only', 3],
  );
  const made = await world.call('POST', '/api/mailboxes', { as: own.key, body: {} });
  assert.equal(at(made.body, 'sendingMode'), 'drafts_only');
  await assertAccessible(page.page, 'sending limits');
  page.assertNoFaults(SIGNED_OUT);
});

for (const [name, options] of [
  ['a phone', { phone: true }],
  ['dark', { dark: true }],
] as const)
  test(`every page of the settings fits and is accessible: ${name}`, async () => {
    const { page, assertNoFaults } = await open('/settings/people', options);
    for (const path of [
      'organization',
      'people',
      'keys',
      'lists',
      'suppressions',
      'plan',
      'notices',
      'audit',
      'account',
    ]) {
      await page.goto(`/settings/${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await requestsEnded(page);
      await assertAccessible(page, path);
      const wider = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
      assert.equal(wider, 0, `${path} scrolls sideways`);
    }
    assertNoFaults(SIGNED_OUT);
  });

test('an owner sets how long mail is kept, puts all mailboxes on legal hold, and lifts it', async () => {
  const { page, assertNoFaults } = await open('/settings/organization');
  const days = page.getByRole('form', { name: 'Retention' });
  await days.getByLabel('Trash, days').fill('soon');
  await days.getByRole('button', { name: 'Save the days' }).click();
  await days.getByText('Enter a number of days').waitFor();
  await days.getByLabel('Trash, days').fill('30');
  await days.getByRole('button', { name: 'Save the days' }).click();
  await days.getByText('Saved').waitFor();
  const as = organization.owner.session;
  const read = await world.call('GET', '/api/organization', { as });
  assert.deepEqual(at(read.body, 'settings', 'retention'), { allMailDays: null, trashDays: 30, spamDays: null });
  await page.getByLabel('Reason of a hold').fill('Case 11');
  await page.getByRole('button', { name: 'Set the hold' }).click();
  const hold = page.getByRole('listitem').filter({ hasText: 'Case 11' });
  await hold.getByRole('button', { name: 'Lift' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Lift the hold' }).click();
  // While it is open, what is behind it has no role.
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await hold.waitFor({ state: 'detached' });
  assert.deepEqual((await world.call('GET', '/api/legal-holds', { as })).body, { data: [] });

  await page.goto(`${world.api.url}/mailboxes/${organization.mailbox.id}?tab=settings`);
  const times = page.getByRole('form', { name: 'Expiry and retention' });
  await times.getByLabel('Expiration').selectOption('30 days');
  await times.getByLabel('Mail is kept').selectOption('Its own days');
  await times.getByLabel('All mail, days').fill('90');
  await times.getByRole('button', { name: 'Save the times' }).click();
  await times.getByText('Saved').waitFor();
  const { body } = await world.call('GET', `/api/mailboxes/${organization.mailbox.id}`, { as });
  assert.deepEqual(at(body, 'retention'), { allMailDays: 90, trashDays: null, spamDays: null });
  assert.ok(Date.parse(textAt(body, 'expiresAt')) > Date.now());
  assertNoFaults();
});
