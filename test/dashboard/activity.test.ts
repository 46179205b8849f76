import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import { at, type TestOrganization, textAt } from '#test/support/api-world.ts';
import { assertAccessible, type OpenedPage, type TestBrowser, testBrowser } from '#test/support/browser.ts';
import { signedInPage } from '#test/support/dashboard-sign-in.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { type WholeService, wholeService } from '#test/support/whole-service.ts';

/** Of the first look at the session. */
const SIGNED_OUT = 401;

let world: WholeService;
let browser: TestBrowser;

before(async () => {
  await buildDashboard();
  [world, browser] = await Promise.all([
    wholeService({
      WEBHOOK_RETRY_DELAYS_MS: '600000,600000,600000,600000',
      TEMPORAL_UI_URL: 'https://temporal.example.com',
    }),
    testBrowser(),
  ]);
});
after(async () => {
  await browser?.close();
  await world?.close();
});

const signedIn = (
  organization: TestOrganization,
  to: string,
  options: { phone?: boolean; dark?: boolean } = {},
): Promise<OpenedPage> => signedInPage(browser, world.api.url, organization.owner.email, to, options);

/** Brings a mail to the organization's mailbox. @returns the id of the message, once its words can be found */
async function receive(organization: TestOrganization, subject: string): Promise<string> {
  const { id: mailboxId, address } = organization.mailbox;
  const message = `From: Bob <bob@example.com>\r\nTo: ${address}\r\nSubject: ${subject}\r\n\r\nWords.\r\n`;
  assert.match(await world.deliver(address, message), /^250/);
  return waitUntil(`the words of ${subject}`, async () => {
    const [row] = await world.sql(
      `select m.id from message m join message_text t on t.message_id = m.id where m.mailbox_id = $1 and m.subject = $2`,
      [mailboxId, subject],
    );
    return row === undefined ? undefined : String(row['id']);
  });
}

async function subscribe(organization: TestOrganization): Promise<void> {
  const answer = await world.call('POST', '/api/webhooks', {
    as: organization.key,
    body: { url: world.receiver.url, eventTypes: ['email_received'] },
  });
  assert.equal(answer.status, 201, answer.text);
}

test('words lead to a list, a message to its timeline, and that to the delivery that failed and recovers', async () => {
  const organization = await world.newOrganization('business');
  await subscribe(organization);
  world.receiver.answer(503);
  const id = await receive(organization, 'Teapot order');
  await receive(organization, 'Teapot invoice');
  const { page, assertNoFaults } = await signedIn(organization, '/activity');
  await page.getByText('Find out what happened').waitFor();
  // It can be typed at once.
  await waitUntil('the focus', () => page.evaluate<boolean>('document.activeElement?.type === "search"'));
  await assertAccessible(page, 'empty activity');
  await page.keyboard.type('teapot');
  await page.keyboard.press('Enter');
  const hits = page.getByRole('list', { name: 'Messages' });
  await hits.getByRole('listitem').nth(1).waitFor();
  assert.equal(new URL(page.url()).searchParams.get('q'), 'teapot');
  await assertAccessible(page, 'hits');
  await hits.getByRole('link', { name: /Teapot order/ }).click();
  const happened = page.getByRole('list', { name: 'What happened' });
  await happened.getByText(/^Accepted by SMTP from /).waitFor();
  await happened.getByText(/^SPF \w+ · DKIM \w+ · DMARC \w+/).waitFor();
  await happened.getByText(/^Stored in /).waitFor();
  await happened.getByText('Event email_received').waitFor();
  await happened.getByText(/→ localhost:\d+ 503 in/).waitFor();
  assert.match((await happened.getByRole('timer').textContent()) ?? '', /^in \d+ min/);
  assert.equal(new URL(page.url()).searchParams.get('q'), id);
  assert.match(
    (await happened
      .getByRole('link', { name: /Workflow/ })
      .first()
      .getAttribute('href')) ?? '',
    /^https:\/\/temporal\.example\.com\/namespaces\/default\/workflows\/delivery/,
  );
  await assertAccessible(page, 'timeline');
  await page.goBack();
  await hits.waitFor();
  await page.goForward();
  await happened.getByRole('link', { name: 'Delivery' }).first().click();
  await page.getByRole('list', { name: 'Life of the delivery' }).waitFor();
  world.receiver.answer(200);
  await page.getByRole('button', { name: 'Attempt now' }).click();
  await page.getByText(/→ localhost:\d+ 200 in/).waitFor();
  await page.getByRole('link', { name: 'All that happened around it' }).click();
  await happened.getByText(/→ localhost:\d+ 200 in/).waitFor();
  await happened.getByText(/→ localhost:\d+ 503 in/).waitFor();
  // What was searched for is marked: the two attempts of this delivery.
  assert.equal(await happened.locator('[aria-current]').count(), 2);
  assertNoFaults([SIGNED_OUT]);
});

test('a held message shows its request, its approval and its SMTP attempts as they come', async () => {
  const organization = await world.newOrganization('business');
  const sent = await world.call('POST', '/api/mailbox/messages', {
    as: organization.mailbox.token,
    body: { to: ['zed@stranger.example'], subject: 'First words', text: 'Hello' },
  });
  const consentId = textAt(sent.body, 'consentId');
  const { page, assertNoFaults } = await signedIn(organization, `/activity?q=${consentId}`);
  const happened = page.getByRole('list', { name: 'What happened' });
  await happened.getByText('Held for approval: zed@stranger.example').waitFor();
  await happened.getByText('Expires without a decision').waitFor();
  assert.match(
    (await happened.getByRole('link', { name: 'Request' }).getAttribute('href')) ?? '',
    new RegExp(`^/approvals\\?open=${consentId}`),
  );
  const approved = await world.call('POST', `/api/consents/${consentId}/approve`, {
    as: organization.owner.session,
    body: { scope: 'message' },
  });
  assert.equal(at(approved.body, 'status'), 'approved');
  // Without a reload: something was still to come.
  await happened.getByText('Approved by A owner').waitFor();
  await happened.getByText(/→ \S+ sent in/).waitFor();
  await page.getByText('Sent', { exact: true }).waitFor();
  await assertAccessible(page, 'timeline of a sent message');
  assertNoFaults([SIGNED_OUT]);
});

test('mail that was refused is shown with the answer that its sender got', async () => {
  const organization = await world.newOrganization('business');
  const { id, address } = organization.mailbox;
  await world.sql(`update mailboxes set status = 'suspended' where id = $1`, [id]);
  const message = `From: <ada@refused.example>\r\nTo: ${address}\r\nSubject: Hello\r\n\r\nWords.\r\n`;
  assert.match(await world.deliver(address, message, 'ada@refused.example'), /^550 5\.2\.1/);
  await waitUntil('the refusal is stored', async () => {
    const rows = await world.sql('select 1 from mail_refusal where organization_id = $1', [organization.id]);
    return rows.length === 1;
  });
  const { page, assertNoFaults } = await signedIn(organization, '/activity?q=ada%40refused.example');
  const mails = page.getByRole('list', { name: 'Mail that did not arrive' });
  await mails.getByText('Refused: ada@refused.example').waitFor();
  await mails.getByText('550 5.2.1 The mailbox is suspended').waitFor();
  await mails.getByText(/at RCPT · from 127\.0\.0\.1/).waitFor();
  await assertAccessible(page, 'mail that did not arrive');
  assertNoFaults([SIGNED_OUT]);
});

test('what is not found says what can be searched, and a fault can be tried again', async () => {
  const organization = await world.newOrganization('business');
  const { page, assertNoFaults } = await signedIn(organization, '/activity?q=12345');
  await page.getByText('Nothing found for “12345”').waitFor();
  await page.getByText('a delivery: the webhook-id of a request').waitFor();
  const limit = [`api:${organization.id}`, Date.now() + 3_600_000];
  await world.sql(
    `insert into rate_limits (key, used, resets_at_ms) values ($1, 1000000, $2)
     on conflict (key) do update set used = 1000000, resets_at_ms = $2`,
    limit,
  );
  await page.getByRole('searchbox').fill('something else');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  await world.sql(`delete from rate_limits where key = $1`, limit.slice(0, 1));
  await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click();
  await page.getByText('Nothing found for “something else”').waitFor();
  assertNoFaults([SIGNED_OUT, 429]);
});

for (const [name, options] of [
  ['on a phone', { phone: true }],
  ['dark', { dark: true }],
] as const)
  test(`the page of activity is accessible: ${name}`, async () => {
    const organization = await world.newOrganization('business');
    await subscribe(organization);
    world.receiver.answer(503);
    const id = await receive(organization, `A subject ${'without an end '.repeat(12)}${'x'.repeat(120)}`);
    await receive(organization, 'Another subject');
    const { page, assertNoFaults } = await signedIn(organization, '/activity', options);
    for (const [q, shown] of [
      ['', 'main'],
      ['subject', 'Messages'],
      [id, 'What happened'],
      ['nothing of the kind', 'main'],
    ] as const) {
      await page.goto(`/activity?q=${encodeURIComponent(q)}`);
      if (shown === 'main') await page.getByText('Search for one of these.').waitFor();
      else await page.getByRole('list', { name: shown }).waitFor();
      await assertAccessible(page, `activity ${q}`);
      const wider = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
      assert.equal(wider, 0, `activity ${q} scrolls sideways`);
    }
    assertNoFaults([SIGNED_OUT]);
  });
