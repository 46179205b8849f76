import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { at, textAt } from '#test/support/api-world.ts';
import { assertAccessible } from '#test/support/browser.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { type ReaderWorld, readerWorld } from './reader-world.ts';

let world: ReaderWorld;

before(async () => {
  world = await readerWorld();
});
after(() => world.close());

/** The 401 of the first look at the session. */
const SIGNED_OUT = [401];
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGP8z8DAwMDAxMDAwMDAAAANHQEDasKb6QAAAABJRU5ErkJggg==';

interface Mail {
  readonly subject: string;
  readonly from?: string;
  readonly html?: string;
  readonly text?: string;
  readonly headers?: string;
  readonly attachment?: { readonly name: string; readonly type: string; readonly base64: string; readonly id?: string };
}

function mailOf({
  subject,
  from = 'Ann Example <ann@example.com>',
  html,
  text,
  headers = '',
  attachment,
}: Mail): string {
  const body =
    html === undefined
      ? `Content-Type: text/plain; charset=utf-8\n\n${text ?? 'Hello.'}\n`
      : `Content-Type: text/html; charset=utf-8\n\n${html}\n`;
  const head = `From: ${from}\nTo: ${world.api.organization.mailbox.address}\nSubject: ${subject}\nDate: ${new Date().toUTCString()}\nMessage-ID: <${crypto.randomUUID()}@example.com>\nMIME-Version: 1.0\n${headers}`;
  if (attachment === undefined) return head + body;
  const { name, type, base64, id } = attachment;
  const cid = id === undefined ? '' : `Content-ID: <${id}>\n`;
  return `${head}Content-Type: multipart/mixed; boundary=b\n\n--b\n${body}--b\nContent-Type: ${type}; name="${name}"\n${cid}Content-Disposition: attachment; filename="${name}"\nContent-Transfer-Encoding: base64\n\n${base64}\n--b--\n`;
}

async function deliver(mail: Mail): Promise<void> {
  const reply = await world.deliver(mailOf(mail));
  assert.match(reply, /^250/, reply);
}

const list = (page: Page) => page.getByRole('list', { name: 'Messages' });
const row = (page: Page, subject: string) => list(page).getByRole('listitem').filter({ hasText: subject });
const openRow = async (page: Page, subject: string) => {
  await row(page, subject).getByRole('button').click();
  await page.getByRole('article').getByRole('heading', { name: subject }).waitFor();
};
const stored = async (subject: string) => {
  const found = await world.api.call(
    'GET',
    `/api/mailboxes/${world.api.organization.mailbox.id}/messages?subject=${encodeURIComponent(subject)}&folder=INBOX`,
    {
      as: world.api.organization.key,
    },
  );
  return textAt(found.body, 'data', 0, 'id');
};
const messageOf = async (id: string) =>
  (
    await world.api.call('GET', `/api/mailboxes/${world.api.organization.mailbox.id}/messages/${id}`, {
      as: world.api.organization.key,
    })
  ).body;

test('a mailbox without mail says what will be here, and shows mail as it comes in', async () => {
  const { page, assertNoFaults } = await world.openReader();
  await page.getByText('No mail yet').waitFor();
  await assertAccessible(page, 'empty reader');
  await deliver({ subject: 'Order 4711', text: 'Please send two more of the blue ones.' });
  await row(page, 'Order 4711').waitFor();
  await page.getByRole('heading', { name: 'INBOX (1)' }).waitFor();
  await deliver({ subject: 'Order 4712', text: 'And one red.' });
  await page.getByRole('button', { name: '1 new' }).click();
  await row(page, 'Order 4712').waitFor();
  assert.equal(await list(page).getByRole('listitem').count(), 2);
  assertNoFaults(SIGNED_OUT);
});

test('a message is read, flagged, labelled, moved, brought back and deleted', async () => {
  await deliver({ subject: 'Read me', text: 'Your code is 482913.\nhttps://shop.example/confirm?t=1' });
  const { page, assertNoFaults } = await world.openReader();
  await openRow(page, 'Read me');
  await page.getByRole('article').getByText('Your code is 482913.').waitFor();
  const id = await stored('Read me');
  assert.equal(new URL(page.url()).searchParams.get('open'), id);
  await waitUntil('the message to be read', async () => at(await messageOf(id), 'seen') === true);
  await page.getByRole('button', { name: 'Mark as unread' }).click();
  await waitUntil('the message to be unread', async () => at(await messageOf(id), 'seen') === false);
  await page.getByRole('button', { name: 'Flag', exact: true }).click();
  await row(page, 'Read me').getByLabel('Flagged').waitFor();

  await page.getByRole('button', { name: 'Label', exact: true }).click();
  await page.getByLabel('New label').fill('urgent');
  await page.keyboard.press('Enter');
  await page.getByRole('article').getByRole('button', { name: 'urgent' }).waitFor();
  await page.getByRole('button', { name: 'What the agent saw' }).click();
  const agent = page.getByRole('region', { name: 'What the agent saw' });
  await agent.getByText('482913', { exact: true }).first().waitFor();
  await agent.getByText('https://shop.example/confirm?t=1').first().waitFor();
  await agent.getByText('urgent').waitFor();
  await assertAccessible(page, 'open message');

  await page.getByRole('toolbar').getByRole('button', { name: 'Archive' }).click();
  await page.getByText('Moved to Archive.').waitFor();
  await row(page, 'Read me').waitFor({ state: 'detached' });
  assert.deepEqual(at(await messageOf(id), 'folders'), ['Archive']);
  await page.getByRole('button', { name: 'Undo' }).click();
  await row(page, 'Read me').waitFor();
  assert.deepEqual(at(await messageOf(id), 'folders'), ['INBOX']);

  await page.getByRole('toolbar').getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('Moved to Trash.').waitFor();
  await page.getByRole('navigation', { name: 'Folders' }).getByRole('button', { name: 'Trash' }).click();
  await openRow(page, 'Read me');
  await page.getByRole('button', { name: 'Delete for good' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete for good' }).click();
  await page.getByText('Deleted for good.').waitFor();
  assertNoFaults(SIGNED_OUT);
});

test('a reply is kept as a draft, sent, and explained when it is held', async () => {
  await deliver({ subject: 'Question', text: 'When will it arrive?', headers: 'Cc: carl@example.org\n' });
  const { page, assertNoFaults } = await world.openReader();
  await openRow(page, 'Question');
  await page.keyboard.press('a');
  await page.getByRole('heading', { name: 'Reply' }).waitFor();
  assert.match(await page.getByLabel('To', { exact: true }).inputValue(), /ann@example\.com/);
  assert.match(await page.getByLabel('Cc', { exact: true }).inputValue(), /carl@example\.org/);
  const text = page.getByLabel('Text');
  assert.match(await text.inputValue(), /> When will it arrive\?/);
  await text.fill('Tomorrow.');
  await page.getByText(/^Saved/).waitFor();
  await page
    .getByLabel('Attach files')
    .setInputFiles({ name: 'plan.txt', mimeType: 'text/plain', buffer: Buffer.from('Plan') });
  await page.getByRole('list', { name: 'Attached files' }).getByText('plan.txt').waitFor();
  await assertAccessible(page, 'draft');
  const draft = new URL(page.url()).searchParams.get('compose') ?? '';
  const { mailbox, key } = world.api.organization;
  const kept = await world.api.call('GET', `/api/mailboxes/${mailbox.id}/drafts/${draft}`, { as: key });
  assert.equal(textAt(kept.body, 'text').trim(), 'Tomorrow.');
  // The form is filled from what was kept.
  await page.reload();
  await waitUntil('the kept text', async () => (await text.inputValue()).trim() === 'Tomorrow.');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('Held for approval.').waitFor();
  await page.getByRole('link', { name: 'Decide now' }).click();
  await page.getByRole('heading', { name: 'Re: Question' }).waitFor();
  assertNoFaults(SIGNED_OUT);
});

test('a message is written and forwarded, and what is wrong with it is said', async () => {
  await deliver({ subject: 'Pass this on', text: 'News.' });
  const { page, assertNoFaults } = await world.openReader();
  await page.keyboard.press('c');
  await page.getByLabel('To', { exact: true }).fill('nobody');
  await page.getByLabel('Subject').fill('Hello');
  await page.getByLabel('Text').fill('Words');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByRole('alert').waitFor();
  const other = await world.api.newMailbox(world.api.organization);
  await page.getByLabel('To', { exact: true }).fill(other.address);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText(`Sent to ${other.address}.`).waitFor();

  await openRow(page, 'Pass this on');
  await page.getByRole('toolbar').getByRole('button', { name: 'Forward' }).click();
  assert.equal(await page.getByLabel('Subject').inputValue(), 'Fwd: Pass this on');
  await page.getByText('forwarded.eml').waitFor();
  await page.getByLabel('To', { exact: true }).fill(other.address);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText(`Sent to ${other.address}.`).waitFor();
  const got = await waitUntil('both messages', async () => {
    const found = await world.api.call('GET', '/api/mailbox/messages', { as: other.token });
    const data = at(found.body, 'data');
    return Array.isArray(data) && data.length === 2 && found;
  });
  assert.equal(textAt(got.body, 'data', 0, 'attachments', 0, 'contentType'), 'message/rfc822');
  assertNoFaults([401, 400]);
});

test('search finds words, marks them, and says when there are none', async () => {
  await deliver({ subject: 'Report', text: 'The quarterly figures of the lighthouse are in.' });
  const { page, assertNoFaults } = await world.openReader();
  await row(page, 'Report').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('lighthouse');
  await page.keyboard.press('Enter');
  await list(page).locator('mark').getByText('lighthouse').waitFor();
  assert.equal(new URL(page.url()).searchParams.get('q'), 'lighthouse');
  await page.getByLabel('Search mail').fill('no such word anywhere');
  await page.keyboard.press('Enter');
  await page.getByText('No message contains all of these words').waitFor();
  assertNoFaults(SIGNED_OUT);
});

test('a PDF is shown by the viewer of the browser', async () => {
  const pdf =
    '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>';
  await deliver({
    subject: 'An invoice',
    html: '<p>Attached.</p>',
    attachment: {
      name: 'invoice.pdf',
      type: 'application/pdf',
      base64: Buffer.from(pdf).toString('base64'),
      id: 'pdf@example.com',
    },
  });
  const { page, assertNoFaults } = await world.openReader('', { viewers: true });
  await openRow(page, 'An invoice');
  await page.getByRole('button', { name: 'Preview invoice.pdf' }).click();
  await page.getByTitle('Preview of invoice.pdf').waitFor();
  await waitUntil('the viewer', () => page.frames().some((frame) => frame.url().startsWith('chrome-extension://')));
  const hide = page.getByRole('button', { name: 'Hide invoice.pdf' });
  // A viewer that is just being put in its place may take a click beside it.
  await waitUntil('the end of the preview', async () => {
    if ((await hide.count()) > 0) await hide.click();
    return (await page.getByTitle('Preview of invoice.pdf').count()) === 0;
  });
  // Files of the viewer are the browser's own.
  assertNoFaults(SIGNED_OUT, /request to chrome/);
});

test('attachments are previewed and downloaded, and the source is shown', async () => {
  await deliver({
    subject: 'A picture',
    html: '<p>See <img src="cid:pic@example.com" alt="the picture"></p>',
    attachment: { name: 'pixel.png', type: 'image/png', base64: PNG, id: 'pic@example.com' },
  });
  const { page, assertNoFaults } = await world.openReader();
  await openRow(page, 'A picture');
  const frame = page.frameLocator('iframe[title="Content of the message"]');
  await waitUntil('the inline picture', async () =>
    (await frame.locator('img').getAttribute('src'))?.startsWith('blob:'),
  );
  await page.getByRole('button', { name: 'Preview pixel.png' }).click();
  await page.getByAltText('Preview of pixel.png').waitFor();
  await page.getByRole('button', { name: 'Hide pixel.png' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download pixel.png' }).click(),
  ]);
  assert.equal(download.suggestedFilename(), 'pixel.png');
  await page.getByRole('button', { name: 'Source' }).click();
  await page.getByLabel('Source of the message').getByText('Content-Disposition').waitFor();
  assertNoFaults(SIGNED_OUT);
});
