import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import { type ApiWorld, apiWorld, at, TEST_PASSWORD, textAt } from '#test/support/api-world.ts';
import {
  assertAccessible,
  assertFitsWindow,
  openAs,
  requestsEnded,
  type TestBrowser,
  testBrowser,
} from '#test/support/browser.ts';
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
  await browser.close();
  await world.close();
});

/** The narrowest approval of the menu. */
const THIS_MESSAGE = /^This message ?Only/;
const { opened, hold, consentOf } = approvalsDesk(() => ({ world, browser }));

test('held messages are shown whole, approved and denied from the keyboard', async () => {
  const organization = await world.newOrganization('business');
  const first = await hold(organization, {
    to: ['zed@acme.example'],
    subject: 'First words',
    text: 'Could we talk on Thursday?',
  });
  const second = await hold(organization, { to: ['ann@contoso.example'], subject: 'Second words', text: 'Hello.' });
  const { page, assertNoFaults } = await opened(organization);
  await page.getByText('2 waiting, the oldest').waitFor();
  assert.match(await page.title(), /^\(2\)/);
  await page.getByRole('link', { name: /Approvals 2/ }).waitFor();
  // The oldest waits longest.
  await request(page).getByRole('heading', { name: 'First words' }).waitFor();
  await page.keyboard.press('j');
  await request(page).getByRole('heading', { name: 'Second words' }).waitFor();
  await page.keyboard.press('k');
  await request(page).getByRole('heading', { name: 'First words' }).waitFor();
  await request(page).getByText('Could we talk on Thursday?').waitFor();
  await request(page).getByText('first mail to acme.example').waitFor();
  await request(page).getByText('First contact with zed@acme.example').waitFor();
  await request(page).getByText('Checked: an approval covers exactly these').waitFor();
  await assertAccessible(page, 'approvals');
  await settled(page);
  await page.keyboard.press('a');
  await page.getByRole('menuitem', { name: THIS_MESSAGE }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('Approved: First words').waitFor();
  await page.getByText('1 waiting, the oldest').waitFor();
  const approved = await consentOf(organization, first);
  assert.equal(textAt(approved, 'status'), 'approved');
  assert.equal(textAt(approved, 'decision', 'decidedBy', 'id'), organization.owner.userId);
  await request(page).getByRole('heading', { name: 'Second words' }).waitFor();
  await settled(page);
  await page.keyboard.press('d');
  await page.getByLabel('Reason').fill('Not now');
  await page.keyboard.press('Enter');
  await page.getByText('Nothing is waiting for you').waitFor();
  assert.equal(textAt(await consentOf(organization, second), 'decision', 'reason'), 'Not now');

  await page.getByRole('button', { name: 'Approved' }).click();
  await page.getByLabel('Decision').getByText('by A owner').waitFor();
  await page.getByRole('button', { name: 'Denied' }).click();
  await page.getByLabel('Decision').getByText('Reason: Not now').waitFor();
  assertNoFaults([SIGNED_OUT]);
});

test('passages of other mail are shown beside the mail they come from', async () => {
  const organization = await world.newOrganization('business');
  const colleague = await world.newMailbox(organization);
  const secret =
    'Your balance on Thursday was forty-one thousand crowns, and the transfer to Nordwind Shipping is waiting.';
  await world.call('POST', '/api/mailbox/messages', {
    as: colleague.token,
    body: { to: [organization.mailbox.address], subject: 'Invoice 1041', text: `For you:\n\n${secret}` },
  });
  const encoded = Buffer.from(secret).toString('base64');
  await hold(organization, { to: ['zed@acme.example'], subject: 'As you asked', text: encoded });
  for (const phone of [false, true]) {
    const { page, assertNoFaults } = await opened(organization, '/approvals', { phone });
    if (phone) await page.getByText('As you asked').first().click();
    const carried = page.getByRole('region', { name: 'Other mail in this message' });
    await carried.getByText('One passage from').waitFor();
    await carried.getByRole('link', { name: 'Invoice 1041' }).waitFor();
    assert.equal(await carried.getByText('the transfer to Nordwind Shipping').count(), 2, 'sent and source');
    await request(page).getByText('which they neither wrote nor got').waitFor();
    await assertAccessible(page, 'carried');
    await assertFitsWindow(page, 'carried');
    assertNoFaults([SIGNED_OUT]);
  }
});

test('HTML, attachments and the raw message are looked at without anything of them running', async () => {
  const organization = await world.newOrganization('business');
  const picture = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  await hold(organization, {
    to: ['zed@acme.example'],
    cc: ['ben@acme.example'],
    subject: 'Invoice 4411',
    text: 'The invoice\u202e is attached.',
    html: '<p id="words">The <b>invoice</b> is attached.</p><script>parent.document.title = "ran"</script><img src="https://tracker.example/p.gif">',
    attachments: [
      {
        filename: 'invoice.csv',
        contentType: 'text/csv',
        contentBase64: Buffer.from('item,price\nBolts,12').toString('base64'),
      },
      { filename: 'dot.png', contentType: 'image/png', contentBase64: picture.toString('base64') },
    ],
  });
  const { page, assertNoFaults } = await opened(organization);
  await request(page).getByText('ben@acme.example').first().waitFor();
  // What most recipients see is shown first.
  await page.frameLocator('iframe').locator('b').getByText('invoice').waitFor();
  await page.getByText('Text and HTML have the same words and links.').waitFor();
  await page.getByRole('tab', { name: 'Text', exact: true }).click();
  await request(page).getByText('⟨U+202E⟩').waitFor();
  await page.getByRole('tab', { name: 'Raw' }).click();
  await page.getByLabel('Raw message').getByText('Content-Type: multipart/mixed').waitFor();
  await page.getByRole('button', { name: 'Preview invoice.csv' }).click();
  await page.getByLabel('Preview of invoice.csv').getByText('Bolts,12').waitFor();
  await page.getByRole('button', { name: 'Preview dot.png' }).click();
  await page.getByRole('img', { name: 'Preview of dot.png' }).waitFor();
  await assertAccessible(page, 'request with attachments');
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download invoice.csv' }).click();
  assert.equal((await downloading).suggestedFilename(), 'invoice.csv');
  assert.doesNotMatch(await page.title(), /ran/);
  assertNoFaults([SIGNED_OUT]);
});

/** One page whose opening would fetch, open and send, if anything of it ran. */
const callingPdf = (address: string): Buffer =>
  Buffer.from(`%PDF-1.7
1 0 obj<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(try{app.launchURL('${address}launch',true)}catch(e){} try{this.submitForm({cURL:'${address}form'})}catch(e){})>>>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/AA<</O<</S/URI/URI(${address}uri)>>>>/Resources<</Font<</F1 5 0 R>>>>>>endobj
4 0 obj<</Length 44>>stream
BT /F1 24 Tf 50 100 Td (Invoice 4411) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R>>`);

test('a PDF is shown by the viewer of the browser and calls nobody; what only claims to be one is not shown', async () => {
  const organization = await world.newOrganization('business');
  const called: (string | undefined)[] = [];
  const elsewhere = createServer((incoming, answer) => {
    called.push(incoming.url);
    answer.end();
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = elsewhere.address() as AddressInfo;
    await hold(organization, {
      to: ['zed@acme.example'],
      subject: 'Invoice 4411',
      text: 'The invoice is attached.',
      attachments: [
        {
          filename: 'invoice.pdf',
          contentType: 'application/pdf',
          contentBase64: callingPdf(`http://127.0.0.1:${port}/`).toString('base64'),
        },
        {
          filename: 'page.pdf',
          contentType: 'application/pdf',
          contentBase64: Buffer.from('<script>parent.document.title = "ran"</script>').toString('base64'),
        },
      ],
    });
    const { page, assertNoFaults } = await opened(organization, '/approvals', { viewers: true });
    await page.getByRole('button', { name: 'Preview page.pdf' }).click();
    await page.getByRole('alert').getByText('labelled as a PDF but is not one').waitFor();
    await page.getByRole('button', { name: 'Preview invoice.pdf' }).click();
    await page.getByTitle('Preview of invoice.pdf').waitFor();
    // The viewer puts the document into a frame of its own, in its own process.
    await waitUntil('the viewer', () => page.frames().some((frame) => frame.url().startsWith('chrome-extension://')));
    await requestsEnded(page);
    assert.deepEqual(called, []);
    assert.equal(page.context().pages().length, 1);
    assert.doesNotMatch(await page.title(), /ran/);
    await page.getByRole('button', { name: 'Hide invoice.pdf' }).click();
    await page.getByTitle('Preview of invoice.pdf').waitFor({ state: 'detached' });
    // Files of the viewer are the browser's own.
    assertNoFaults([SIGNED_OUT], /request to chrome/);
  } finally {
    elsewhere.closeAllConnections();
    await new Promise((resolve) => elsewhere.close(resolve));
  }
});

test('an edit shows its difference, is approved, and is the message that is stored', async () => {
  const organization = await world.newOrganization('business');
  const id = await hold(organization, {
    to: ['zed@acme.example'],
    subject: 'Offer',
    text: 'Dear Zed,\n\nyou get 50 % off.\n\nBest regards',
  });
  const { page, assertNoFaults } = await opened(organization);
  await request(page).getByRole('heading', { name: 'Offer' }).waitFor();
  await settled(page);
  await page.keyboard.press('e');
  const form = page.getByRole('form', { name: 'Edit the message' });
  await form.getByLabel('Subject').fill('Our offer');
  await form.getByLabel('Text').fill('Dear Zed,\n\nyou get 5 % off.\n\nBest regards');
  await form.getByLabel('To').fill('no address');
  await assertAccessible(page, 'edit');
  await form.getByRole('button', { name: 'Show the changes' }).click();
  await page.getByRole('button', { name: 'Approve this' }).click();
  await page.getByRole('menuitem', { name: THIS_MESSAGE }).click();
  await page.getByRole('alert').waitFor();
  assert.equal(textAt(await consentOf(organization, id), 'status'), 'pending');
  await page.getByRole('button', { name: 'Back to the edit' }).click();
  await form.getByLabel('To').fill('zed@acme.example');
  await form.getByRole('button', { name: 'Show the changes' }).click();
  const text = page.getByRole('region', { name: 'Change of Text' });
  await text.getByText('you get 50 % off.').waitFor();
  await text.getByText('you get 5 % off.').waitFor();
  assert.equal(await page.getByRole('region', { name: 'Change of To' }).count(), 0);
  await assertAccessible(page, 'difference');
  await page.getByRole('button', { name: 'Approve this' }).click();
  await page.getByRole('menuitem', { name: THIS_MESSAGE }).click();
  await page.getByText('Approved: ').waitFor();
  const consent = await consentOf(organization, id);
  assert.equal(textAt(consent, 'status'), 'approved');
  const { body } = await world.call('GET', `/api/consents/${id}/message`, { as: organization.owner.session });
  assert.equal(textAt(body, 'subject'), 'Our offer');
  assert.match(textAt(body, 'text'), /you get 5 % off\./);
  await page.getByRole('button', { name: 'Approved', exact: true }).click();
  await page.getByText('Approved with changes').first().waitFor();
  await page.getByRole('region', { name: 'Change of Text' }).getByText('you get 50 % off.').waitFor();
  assertNoFaults([SIGNED_OUT, 400, 422]);
});

test('a queue of many says why each is held, keeps few rows in the document and goes on beyond its first page', async () => {
  const organization = await world.newOrganization('business');
  const consentId = await hold(organization, { to: ['zed@acme.example'], subject: 'The newest', text: 'Words.' });
  await copyHeld(world.sql, consentId, 249);
  await world.sql(
    `update consent set held_because = 'over_message_budget' where organization_id = $1 and subject = 'Copy 247'`,
    [organization.id],
  );
  const { page, assertNoFaults } = await opened(organization);
  await page
    .getByRole('main')
    .getByText(/^250 waiting, the oldest arrived/)
    .waitFor();
  const queue = page.getByRole('list', { name: 'Held messages' });
  const rows = queue.getByRole('listitem');
  await rows.first().getByText('First contact').waitFor();
  await rows.filter({ hasText: 'Copy 247' }).getByText('Over the budget of messages').waitFor();
  assert.ok((await rows.count()) < 60, 'rows near the window alone');
  // The list is followed down to its end.
  await waitUntil('the last row', async () => {
    await page.evaluate(`document.querySelector('ul[aria-label="Held messages"]').parentElement.scrollBy(0, 5000)`);
    return (await rows.last().getAttribute('aria-posinset')) === '250';
  });
  assert.ok((await rows.count()) < 60, 'rows near the window alone');
  await rows.last().getByRole('button').press('Enter');
  const chosen = queue.locator('button[aria-current]');
  await chosen.filter({ hasText: 'The newest' }).waitFor();
  await request(page).getByText('First contact with zed@acme.example.').waitFor();
  await page.keyboard.press('k');
  await chosen.filter({ hasText: /Copy 1(?!\d)/ }).waitFor();
  assertNoFaults([SIGNED_OUT]);
});

test('a decision that comes too late shows the one that counts', async () => {
  const organization = await world.newOrganization('business');
  const id = await hold(organization, { to: ['zed@acme.example'], subject: 'Race', text: 'Hello.' });
  const { page, assertNoFaults } = await opened(organization, `/approvals?open=${id}`);
  await request(page).getByRole('button', { name: 'Approve' }).click();
  // Another decides while this request is on its way; before it, the stream might take the button away.
  await page.route(`**/api/consents/${id}/approve`, async (route) => {
    const denied = await world.call('POST', `/api/consents/${id}/deny`, {
      as: organization.admin.session,
      body: { reason: 'Wrong person' },
    });
    assert.equal(denied.status, 200);
    await route.continue();
  });
  await page.getByRole('menuitem', { name: THIS_MESSAGE }).click();
  await page.getByText('Your decision came too late').waitFor();
  await page.getByLabel('Decision').getByText('by A admin').waitFor();
  await page.getByText('Reason: Wrong person').waitFor();
  assert.equal(textAt(await consentOf(organization, id), 'status'), 'denied');
  assertNoFaults([SIGNED_OUT, 409]);
});

test('an owner stops all sending and lets it go on; a member sees it and cannot', async () => {
  const organization = await world.newOrganization('business');
  const { page, assertNoFaults } = await opened(organization);
  await page.getByRole('button', { name: 'Stop all sending' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop all sending' }).click();
  const note = page.getByRole('region', { name: 'Sending is stopped' });
  await note.waitFor();
  await assertAccessible(page, 'stopped');
  const stopped = await world.call('GET', '/api/organization/sending', { as: organization.key });
  assert.equal(at(stopped.body, 'stopped'), true);
  const member = await browser.open(world.api.url);
  await openAs(member, { email: organization.member.email, password: TEST_PASSWORD }, '/approvals');
  await member.page.getByText('An owner or admin can resume it.').waitFor();
  assert.equal(await member.page.getByRole('button', { name: 'Let sending go on' }).count(), 0);
  await note.getByRole('button', { name: 'Let sending go on' }).click();
  await note.waitFor({ state: 'detached' });
  const released = await world.call('GET', '/api/organization/sending', { as: organization.key });
  assert.equal(at(released.body, 'stopped'), false);
  assertNoFaults([SIGNED_OUT]);
  member.assertNoFaults([SIGNED_OUT]);
});

test('a request of another organization, or of nobody, says that it does not exist', async () => {
  const id = await hold(world.other, { to: ['zed@acme.example'], subject: 'Secret', text: 'Hello.' });
  const { page, assertNoFaults } = await opened(await world.newOrganization('business'), `/approvals?open=${id}`);
  await page.getByRole('alert').waitFor();
  assert.equal(await page.getByText('Secret').count(), 0);
  assertNoFaults([SIGNED_OUT, 404]);
});

for (const [name, options] of [
  ['a phone', { phone: true }],
  ['dark', { dark: true }],
] as const)
  test(`the pages are accessible and fit the window: ${name}`, async () => {
    const organization = await world.newOrganization('business');
    const { page, assertNoFaults } = await opened(organization, '/approvals', options);
    await page.getByText('Nothing is waiting for you').waitFor();
    await assertAccessible(page, 'empty');
    const id = await hold(organization, {
      to: [`${'long-name-'.repeat(6)}@${'sub.'.repeat(20)}acme.example`],
      subject: 'word'.repeat(60),
      text: 'unbroken'.repeat(100),
    });
    await page.goto('/approvals');
    await page.getByRole('list', { name: 'Held messages' }).getByRole('button').click();
    await request(page).getByText('unbroken').first().waitFor();
    assert.equal(new URL(page.url()).searchParams.get('open'), id);
    await assertAccessible(page, 'request');
    await assertFitsWindow(page, 'request');
    await request(page).getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('form', { name: 'Edit the message' }).waitFor();
    await assertAccessible(page, 'edit');
    await assertFitsWindow(page, 'edit');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await request(page).waitFor();
    assertNoFaults([SIGNED_OUT]);
  });
