/** The desk of the approvals page: sending back, and a queue of many. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import { approvalLink } from '#test/api/approval-link-world.ts';
import { type ApiWorld, apiWorld, at, TEST_PASSWORD, textAt } from '#test/support/api-world.ts';
import { assertAccessible, assertFitsWindow, openAs, type TestBrowser, testBrowser } from '#test/support/browser.ts';
import { copyHeld } from '#test/support/many-rows.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { approvalsDesk, request, SIGNED_OUT, settled } from './approvals-desk.ts';

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

const { opened, hold, consentOf } = approvalsDesk(() => ({ world, browser }));

test('a message is sent back with a comment from the keyboard, and its changed version shows what changed', async () => {
  const organization = await world.newOrganization('business');
  const first = { to: ['zed@acme.example'], subject: 'Offer', text: 'Dear Zed,\n\nit costs 5 EUR.\n' };
  const id = await hold(organization, first);
  const { page, assertNoFaults } = await opened(organization);
  await request(page).getByRole('heading', { name: 'Offer' }).waitFor();
  await settled(page);
  await page.keyboard.press('r');
  const dialog = page.getByRole('dialog', { name: 'Send the message back?' });
  await dialog.waitFor();
  // Without a comment nothing is decided.
  await dialog.getByLabel('Comment').press('Enter');
  await dialog.getByLabel('Comment').fill('Leave out the price.');
  await assertAccessible(page, 'send back');
  await page.keyboard.press('Enter');
  await page.getByText('Sent back: Offer').waitFor();
  assert.equal(textAt(await consentOf(organization, id), 'decision', 'reason'), 'Leave out the price.');

  await hold(organization, { ...first, text: 'Dear Zed,\n\nplease ask us.\n', resubmits: id });
  await page.goto('/approvals');
  const versions = page.getByRole('region', { name: 'Earlier versions' });
  await versions.getByText('Leave out the price.').waitFor();
  const change = versions.getByRole('region', { name: 'Change of Text' });
  await change.getByText('it costs 5 EUR.').waitFor();
  await change.getByText('please ask us.').waitFor();
  assert.equal(await versions.getByRole('region', { name: 'Change of Subject' }).count(), 0);
  await assertAccessible(page, 'earlier versions');
  await page.getByRole('button', { name: 'Denied' }).click();
  await page.getByLabel('Decision').getByText('Comment: Leave out the price.').waitFor();
  await page.getByLabel('Decision').getByText('Sent back').waitFor();
  assertNoFaults([SIGNED_OUT]);
});

test('the page of a link sends back on a phone', async () => {
  const organization = await world.newOrganization('business');
  const consentId = await hold(organization, { to: ['zed@acme.example'], subject: 'Offer', text: 'Hello.' });
  const link = await approvalLink(world, organization, { consentId });
  const token = (link['authorization'] ?? '').replace('Bearer ', '');
  const { page, assertNoFaults } = await browser.open(world.api.url, { phone: true });
  await page.goto(`/approve#${token}`);
  await settled(page);
  await assertFitsWindow(page, 'four decisions');
  await request(page).getByRole('button', { name: 'Send back' }).click();
  await page.getByLabel('Comment').fill('Shorter.');
  await page.getByRole('dialog').getByRole('button', { name: 'Send back' }).click();
  await page.getByRole('heading', { name: 'Sent back' }).waitFor();
  assert.equal(at(await consentOf(organization, consentId), 'decision', 'returned'), true);
  assertNoFaults();
});

const MANY = 2_000;

test(`of ${MANY} held messages the page loads a part, counts all, filters and groups, and keeps what it shows`, async () => {
  const organization = await world.newOrganization('business');
  const newest = await hold(organization, { to: ['zed@acme.example'], subject: 'The newest', text: 'Words.' });
  await copyHeld(world.sql, newest, MANY - 1);
  await world.sql(
    `update consent set recipients = array['rare@contoso.example'] where organization_id = $1 and subject like 'Copy 100_'`,
    [organization.id],
  );
  const asked: string[] = [];
  const rows: number[] = [];
  const { page, assertNoFaults } = await browser.open(world.api.url);
  page.on('response', async (response) => {
    const { pathname, search } = new URL(response.url());
    if (pathname !== '/api/consents' && pathname !== '/api/consents/summary') return;
    asked.push(pathname + search);
    if (pathname !== '/api/consents') return;
    const body: unknown = await response.json().catch(() => ({}));
    rows.push(Object.values(Object(at(body, 'data'))).length);
  });
  await openAs({ page }, { email: organization.owner.email, password: TEST_PASSWORD }, '/approvals');
  await page.getByText(/^2,000 waiting, the oldest arrived/).waitFor();
  const queue = page.getByRole('list', { name: 'Held messages' });
  await queue.getByText('Copy 1999').waitFor();
  const loaded = () => rows.reduce((sum, each) => sum + each, 0);
  assert.ok(loaded() <= 200, `${loaded()} rows of ${MANY} were loaded`);
  assert.ok(asked.length <= 6, asked.join('\n'));
  assert.equal(await queue.getByRole('listitem').first().getAttribute('aria-setsize'), String(MANY));
  assert.ok((await queue.getByRole('listitem').count()) < 60, 'rows near the window alone');

  await page.keyboard.press('f');
  const filter = page.getByRole('region', { name: 'Filter' });
  await filter.getByLabel('Search').waitFor();
  await filter.getByRole('button', { name: 'By recipient' }).click();
  const groups = filter.getByRole('list', { name: 'Waiting by recipient' });
  await groups.getByRole('button', { name: 'zed@acme.example (1,990)' }).waitFor();
  await assertAccessible(page, 'filters');
  await groups.getByRole('button', { name: 'rare@contoso.example (10)' }).click();
  await page.getByText(/^10 waiting, the oldest arrived/).waitFor();
  await waitUntil(
    'the filter in the address',
    () => new URL(page.url()).searchParams.get('to') === 'rare@contoso.example',
  );
  assert.equal(await queue.getByRole('listitem').count(), 10);
  await filter.getByLabel('Search').fill('1003');
  await page.getByText(/^1 waiting/).waitFor();
  await request(page).getByRole('heading', { name: 'The newest' }).waitFor();
  // The address is the position: a reload shows the same part and the same request.
  const open = new URL(page.url()).searchParams.get('open');
  await page.reload();
  await page.getByText(/^1 waiting/).waitFor();
  assert.equal(new URL(page.url()).searchParams.get('open'), open);
  await filter.getByLabel('Search').fill('nowhere');
  await page.getByText('Nothing of this is waiting').or(page.getByText('0 wait')).first().waitFor();
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.getByText(/^2,000 waiting/).waitFor();
  assertNoFaults([SIGNED_OUT]);
});

test('a decision of the queue is about the message on view alone, and what comes in moves nothing', async () => {
  const organization = await world.newOrganization('business');
  const ids: string[] = [];
  for (const subject of ['One', 'Two', 'Three'])
    ids.push(await hold(organization, { to: [`${subject.toLowerCase()}@acme.example`], subject, text: 'Hello.' }));
  const { page, assertNoFaults } = await opened(organization);
  const heading = (name: string) => request(page).getByRole('heading', { name }).waitFor();
  await heading('One');
  await settled(page);
  await page.keyboard.press('j');
  await heading('Two');
  // The next key comes too soon to be about it.
  await page.keyboard.press('d');
  await settled(page);
  assert.equal(await page.getByRole('dialog').count(), 0);
  await hold(organization, { to: ['four@acme.example'], subject: 'Four', text: 'Hello.' });
  await page.getByRole('button', { name: '1 new' }).waitFor();
  await heading('Two');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await page.keyboard.press('a');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal(await page.getByRole('menu').count(), 0, 'keys of a dialog decide nothing');
  await page.keyboard.press('d');
  await page.getByRole('dialog', { name: 'Deny the message?' }).getByLabel('Reason').press('Enter');
  await page.getByText('Denied: Two').waitFor();
  const statuses = await Promise.all(ids.map(async (id) => at(await consentOf(organization, id), 'status')));
  assert.deepEqual(statuses, ['pending', 'denied', 'pending']);
  await heading('Three');
  assertNoFaults([SIGNED_OUT]);
});

test('several of one agent are read whole on one card; what was chosen is decided, what changed meanwhile stays', async () => {
  const organization = await world.newOrganization('business');
  const long = Array.from({ length: 200 }, (_, i) => `Line ${i + 1} of a long letter.`).join('\n');
  const ids = new Map<string, string>();
  for (const subject of ['One', 'Two', 'Three', 'Four']) {
    const to = [`${subject.toLowerCase()}@acme.example`, `copy-${subject.toLowerCase()}@acme.example`];
    ids.set(subject, await hold(organization, { to, subject, text: subject === 'One' ? long : `Hello ${subject}.` }));
  }
  const idOf = (subject: string) => ids.get(subject) ?? '';
  // The riskiest is first.
  await world.sql(`update consent set risk = 3 where id = $1`, [idOf('Three')]);
  const { page, assertNoFaults } = await opened(organization);
  await settled(page);
  await page.keyboard.press('s');
  const card = page.getByRole('region', { name: 'Several together' });
  const items = card.getByRole('article', { name: 'Held message' });
  await items.nth(3).waitFor();
  assert.deepEqual(await items.getByRole('heading', { level: 2 }).allTextContents(), ['Three', 'One', 'Two', 'Four']);
  for (const subject of ['one', 'two', 'three', 'four'])
    for (const address of [`${subject}@acme.example`, `copy-${subject}@acme.example`])
      await card.getByText(address, { exact: true }).waitFor();
  const text = items.nth(1).getByRole('group', { name: 'Text of the message' });
  await text.getByText('Line 200 of a long letter.').waitFor();
  const hidden = await page.evaluate(
    `[...document.querySelectorAll('[aria-label="Text of the message"]')].map((e) => e.scrollHeight - e.clientHeight)`,
  );
  assert.deepEqual(hidden, [0, 0, 0, 0], 'pixels of each text that are not shown');
  await assertAccessible(page, 'several together');
  assert.ok(await card.getByRole('button', { name: 'Approve 0' }).isDisabled(), 'nothing is chosen at first');
  // By keyboard: the second and the third, and by hand the fourth.
  for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key);
  await items.nth(3).getByRole('checkbox').check();
  await card.getByText('3 of 4 chosen').waitFor();
  // Somebody else decides one of them; another one is changed behind the page.
  await world.call('POST', `/api/consents/${idOf('Four')}/deny`, { as: organization.member.session, body: {} });
  await card.getByText('It was decided by somebody else.').waitFor();
  await page.keyboard.press('a');
  const sure = page.getByRole('dialog');
  await sure.getByRole('list', { name: 'Chosen messages' }).getByText('two@acme.example').first().waitFor();
  await world.sql(`update consent set content_hash = sha256('changed') where id = $1`, [idOf('Two')]);
  await sure.getByRole('button', { name: 'Approve' }).click();
  await card
    .getByText(/has changed since it was shown/)
    .first()
    .waitFor();
  const statuses = await Promise.all(
    ['One', 'Two', 'Three', 'Four'].map(async (subject) => at(await consentOf(organization, idOf(subject)), 'status')),
  );
  assert.deepEqual(statuses, ['approved', 'pending', 'pending', 'denied']);
  await items.getByRole('heading', { name: 'One' }).waitFor({ state: 'detached' });
  await items.getByRole('heading', { name: 'Three' }).waitFor();
  await card.getByText('0 of 3 chosen').waitFor();
  // What is left is denied together, with a reason.
  await items.first().getByRole('checkbox').check();
  await card.getByRole('button', { name: 'Deny 1' }).click();
  await sure.getByLabel('Reason').fill('Not now.');
  await sure.getByRole('button', { name: 'Deny' }).click();
  await card.getByText('1 denied.').waitFor();
  assert.equal(textAt(await consentOf(organization, idOf('Three')), 'decision', 'reason'), 'Not now.');
  assertNoFaults([SIGNED_OUT]);
});

test('all messages of a mailbox are denied in two steps: those that were listed, and the mailbox is stopped', async () => {
  const organization = await world.newOrganization('business');
  const listed: string[] = [];
  for (const subject of ['One', 'Two'])
    listed.push(await hold(organization, { to: [`${subject.toLowerCase()}@acme.example`], subject, text: 'Hello.' }));
  const { page, assertNoFaults } = await opened(organization, `/approvals?from=${organization.mailbox.id}`);
  await page.getByRole('button', { name: 'Deny all of this mailbox' }).click();
  const list = page.getByRole('dialog').getByRole('list', { name: 'Would be denied' });
  await list.getByText('One', { exact: false }).first().waitFor();
  assert.equal(await list.getByRole('listitem').count(), 2);
  await assertAccessible(page, 'deny all');
  // It comes after the list was read.
  const later = await hold(organization, { to: ['three@acme.example'], subject: 'Three', text: 'Hello.' });
  await page.getByRole('button', { name: 'Continue' }).click();
  const sure = page.getByRole('dialog', { name: 'Stop the mailbox and deny 2 messages?' });
  await sure.waitFor();
  for (const id of listed) assert.equal(at(await consentOf(organization, id), 'status'), 'pending');
  await sure.getByLabel('Reason').fill('It repeats itself.');
  await sure.getByRole('button', { name: 'Stop and deny 2 messages' }).click();
  await page.getByText('2 of 2 messages denied').waitFor();
  for (const id of listed) {
    const consent = await consentOf(organization, id);
    assert.deepEqual([at(consent, 'status'), at(consent, 'decision', 'reason')], ['denied', 'It repeats itself.']);
  }
  assert.equal(at(await consentOf(organization, later), 'status'), 'pending');
  const mailbox = await world.call('GET', `/api/mailboxes/${organization.mailbox.id}`, {
    as: organization.owner.session,
  });
  assert.equal(at(mailbox.body, 'sendingMode'), 'stopped');
  assertNoFaults([SIGNED_OUT]);
});

test('recipients are approved in advance until a time, and the approval is revoked', async () => {
  const organization = await world.newOrganization('business');
  const { page, assertNoFaults } = await opened(organization, '/approvals?show=standing');
  await page.getByText('Nothing is approved in advance').waitFor();
  await page.getByRole('button', { name: 'Approve in advance' }).click();
  const dialog = page.getByRole('dialog', { name: 'Approve in advance' });
  await dialog.getByLabel('Recipients').fill('zed@acme.example\ncontoso.example');
  await dialog.getByLabel('Messages').fill('2');
  await assertAccessible(page, 'approve in advance');
  await dialog.getByRole('button', { name: 'Approve' }).click();
  const list = page.getByRole('list', { name: 'Standing approvals' });
  await list.getByText('contoso.example, zed@acme.example').waitFor();
  const body = { to: ['anybody@contoso.example'], subject: 'Hello', text: 'Hello.' };
  const sent = await world.call('POST', '/api/mailbox/messages', { as: organization.mailbox.token, body });
  assert.equal(sent.status, 201, sent.text);
  await page.reload();
  await list.getByText('1 of 2 used').waitFor();
  await list.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await list.getByText('Revoked').waitFor();
  await hold(organization, body);
  assertNoFaults([SIGNED_OUT]);
});

test('an approval is taken back on the desk and on the page of a link', async () => {
  const organization = await world.newOrganization('business');
  await world.call('PATCH', '/api/organization', {
    as: organization.owner.session,
    body: { settings: { undoSeconds: 60 } },
  });
  const id = await hold(organization, { to: ['zed@acme.example'], subject: 'Hasty', text: 'Hello.' });
  const { page, assertNoFaults } = await opened(organization);
  await settled(page);
  await page.keyboard.press('a');
  await page.getByRole('menuitem', { name: /^This message ?Only/ }).click();
  await page.getByText('Approved: Hasty').waitFor();
  await assertAccessible(page, 'take back');
  await page.getByRole('button', { name: 'Take back' }).click();
  await request(page).getByRole('heading', { name: 'Hasty' }).waitFor();
  await settled(page);
  assert.equal(at(await consentOf(organization, id), 'status'), 'pending');
  assertNoFaults([SIGNED_OUT]);

  const link = await approvalLink(world, organization, { consentId: id });
  const phone = await browser.open(world.api.url, { phone: true });
  await phone.page.goto(`/approve#${(link['authorization'] ?? '').replace('Bearer ', '')}`);
  await settled(phone.page);
  await request(phone.page).getByRole('button', { name: 'Approve' }).click();
  await phone.page.getByRole('menuitem', { name: /^This message ?Only/ }).click();
  await phone.page.getByRole('heading', { name: 'Approved' }).waitFor();
  await assertFitsWindow(phone.page, 'take back');
  await phone.page.getByRole('button', { name: 'Take back' }).click();
  await settled(phone.page);
  assert.equal(at(await consentOf(organization, id), 'status'), 'pending');
  phone.assertNoFaults();
});
