/** What a message says otherwise than it seems: in its two forms, in its files and in its links. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import { type ApiWorld, apiWorld, at, TEST_PASSWORD, textAt } from '#test/support/api-world.ts';
import { assertAccessible, assertFitsWindow, openAs, type TestBrowser, testBrowser } from '#test/support/browser.ts';

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

const file = (filename: string, contentType: string, content: string) => ({
  filename,
  contentType,
  contentBase64: Buffer.from(content, 'latin1').toString('base64'),
});
const FILES = [
  file('invoice.pdf', 'application/pdf', '%PDF-1.7'),
  file('offer.pdf.exe', 'application/octet-stream', 'MZ\x90\0\x03\0\0\0'),
  file('page.pdf', 'application/pdf', '<html><form action="https://evil.example">'),
];
const RISKS = [[], ['program', 'double_extension'], ['html', 'type_mismatch']];

const link = (target: string, words: string) => `<p><a href="https://${target}/">${words}</a></p>`;
/** Links whose words name somebody's domain, and whether a warning belongs to them. */
const LINKS: readonly (readonly [target: string, words: string, warned: boolean])[] = [
  ['evil.co.uk', 'www.barclays.co.uk', true],
  ['mallory.github.io', 'alice.github.io', true],
  ['login.barclays.co.uk', 'barclays.co.uk', false],
  ['www.example.com', 'help.example.com', false],
  ['evil.example', 'bank.example', true],
];

async function assertLabelled(page: Page): Promise<void> {
  const files = page.getByRole('list', { name: 'Attachments' }).getByRole('listitem');
  const offer = files.filter({ hasText: 'offer.pdf.exe' });
  await offer.getByText('Program').waitFor();
  await offer.getByText('Double ending').waitFor();
  await files.filter({ hasText: 'page.pdf' }).getByText('Not what it says').waitFor();
  await files.filter({ hasText: 'page.pdf' }).getByText('Web page').waitFor();
  assert.equal(await files.filter({ hasText: 'invoice.pdf' }).getByText('Not what it says').count(), 0);
}

for (const phone of [false, true])
  test(`a held message opens as it is sent, and says what its text and its files hide: ${phone ? 'a phone' : 'a desk'}`, async () => {
    const organization = await world.newOrganization('business');
    const answer = await world.call('POST', '/api/mailbox/messages', {
      as: organization.mailbox.token,
      body: {
        to: ['zed@acme.example'],
        subject: 'Your invoice',
        text: 'Please pay 10 EUR: https://acme.example/pay',
        html: '<p>Please pay <b>9,000</b> EUR <a href="https://evil.example/pay">here</a></p>',
        attachments: FILES,
      },
    });
    assert.equal(answer.status, 202, answer.text);
    const id = textAt(answer.body, 'consentId');
    const { body } = await world.call('GET', `/api/consents/${id}/message`, { as: organization.owner.session });
    assert.deepEqual(at(body, 'textAndHtml', 'onlyInHtml'), ['9,000', 'here']);
    assert.deepEqual(at(body, 'textAndHtml', 'linksOnlyInHtml'), ['https://evil.example/pay']);
    assert.deepEqual(at(body, 'textAndHtml', 'linksOnlyInText'), ['https://acme.example/pay']);
    assert.deepEqual(
      [0, 1, 2].map((i) => at(body, 'attachments', i, 'risks')),
      RISKS,
    );
    const opened = await browser.open(world.api.url, { phone });
    await openAs(opened, { email: organization.owner.email, password: TEST_PASSWORD }, `/approvals?open=${id}`);
    const { page } = opened;
    await page.frameLocator('iframe').getByText('9,000').waitFor();
    const note = page.getByRole('note').filter({ hasText: 'The text says something else' });
    await note.getByText('9,000').waitFor();
    await note.getByText('https://evil.example/pay').waitFor();
    await assertLabelled(page);
    await assertAccessible(page, 'misleading content');
    await assertFitsWindow(page, 'misleading content');
    opened.assertNoFaults([401]);
  });

test('the reader labels files, by REST as well', async () => {
  const organization = await world.newOrganization('business');
  const { mailbox } = organization;
  const sent = await world.call('POST', '/api/mailbox/messages', {
    as: mailbox.token,
    body: { to: [mailbox.address], subject: 'Files', text: 'See the files.', attachments: FILES },
  });
  assert.equal(sent.status, 201, sent.text);
  const { body } = await world.call('GET', '/api/mailbox/messages', { as: mailbox.token });
  assert.deepEqual(
    [0, 1, 2].map((i) => at(body, 'data', 0, 'attachments', i, 'risks')),
    RISKS,
  );
  const opened = await browser.open(world.api.url);
  const { email } = organization.owner;
  await openAs(
    opened,
    { email, password: TEST_PASSWORD },
    `/mailboxes/${mailbox.id}/mail?open=${textAt(body, 'data', 0, 'id')}`,
  );
  await assertLabelled(opened.page);
  await assertAccessible(opened.page, 'labelled files');
  opened.assertNoFaults([401]);
});

test('a link that names the domain of somebody else says where it leads, by the public suffix list', async () => {
  const organization = await world.newOrganization('business');
  const answer = await world.call('POST', '/api/mailbox/messages', {
    as: organization.mailbox.token,
    body: {
      to: ['zed@acme.example'],
      subject: 'Links',
      html: LINKS.map(([target, words]) => link(target, words)).join(''),
    },
  });
  assert.equal(answer.status, 202, answer.text);
  const opened = await browser.open(world.api.url);
  await openAs(opened, { email: organization.owner.email, password: TEST_PASSWORD }, '/approvals');
  const frame = opened.page.frameLocator('iframe');
  await frame.locator('a').first().waitFor();
  assert.deepEqual(
    await frame.locator('a').allTextContents(),
    LINKS.map(([target, words, warned]) => (warned ? `${words} (opens ${target})` : words)),
  );
  opened.assertNoFaults([401]);
});
