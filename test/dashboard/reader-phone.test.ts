/** The reader on a phone, in dark, by keyboard alone, and while things fail or are slow; pictures from elsewhere. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { at, textAt } from '#test/support/api-world.ts';
import { assertAccessible, assertFitsWindow } from '#test/support/browser.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { testTls } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { type ReaderWorld, readerWorld } from './reader-world.ts';

const SIGNED_OUT = [401];
const FRAME = 'iframe[title="Content of the message"]';
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

let world: ReaderWorld;
/** Where mail has its pictures. */
let host: Receiver;

before(async () => {
  host = await startReceiver();
  world = await readerWorld({
    WEBHOOK_ALLOW_DESTINATIONS: '127.0.0.0/8,::1/128',
    WEBHOOK_EXTRA_CA: testTls().caFile,
  });
});
after(async () => {
  await world?.close();
  await host?.close();
});

async function deliver(subject: string, body: string, type = 'text/plain'): Promise<void> {
  const reply = await world.deliver(
    `From: Ann Example <ann@example.com>\nTo: x@agents.test\nSubject: ${subject}\nMessage-ID: <${crypto.randomUUID()}@example.com>\nMIME-Version: 1.0\nContent-Type: ${type}; charset=utf-8\n\n${body}\n`,
  );
  assert.match(reply, /^250/, reply);
}

const list = (page: Page) => page.getByRole('list', { name: 'Messages' });
const row = (page: Page, subject: string) => list(page).getByRole('listitem').filter({ hasText: subject });
const messages = async (query: string): Promise<unknown> => {
  const { mailbox, key } = world.api.organization;
  return at((await world.api.call('GET', `/api/mailboxes/${mailbox.id}/messages?${query}`, { as: key })).body, 'data');
};

for (const dark of [false, true])
  test(`on a phone${dark ? ' in dark' : ''} one thing is shown at a time, and the way back is there`, async () => {
    const subject = dark ? 'In the dark' : 'In the light';
    await deliver(subject, 'Shall we meet on Thursday?');
    const { page, assertNoFaults } = await world.openReader('', { phone: true, dark });
    await row(page, subject).waitFor();
    await assertFitsWindow(page, 'list');
    await assertAccessible(page, 'list');
    await row(page, subject).getByRole('button').click();
    const article = page.getByRole('article');
    await article.getByText('Shall we meet on Thursday?').waitFor();
    assert.equal(await list(page).isVisible(), false, 'the list makes room');
    assert.equal(await page.getByRole('search').isVisible(), false, 'the search makes room');
    const text = await article.getByText('Shall we meet on Thursday?').boundingBox();
    const bar = await page.getByRole('navigation', { name: 'Pages' }).last().boundingBox();
    assert.ok(text !== null && bar !== null && text.y + text.height < bar.y, 'the text is seen without scrolling');
    await assertFitsWindow(page, 'message');
    await assertAccessible(page, 'message');

    await page.getByRole('toolbar').getByRole('button', { name: 'Reply', exact: true }).click();
    await page.getByLabel('Text').fill('Yes, at ten.');
    await page.getByText(/^Saved/).waitFor();
    await assertFitsWindow(page, 'reply');
    await assertAccessible(page, 'reply');
    await page.getByRole('button', { name: 'Close' }).click();
    // The draft may be shown as well; it quotes the message.
    await article.getByText('Shall we meet on Thursday?').first().waitFor();
    await page.getByRole('button', { name: 'Back to the list' }).click();
    await row(page, subject).waitFor();
    await page.getByLabel('Folder', { exact: true }).selectOption('Drafts');
    await row(page, `Re: ${subject}`).waitFor();
    await page.getByLabel('Search mail').fill('Thursday');
    await page.keyboard.press('Enter');
    await list(page).locator('mark').first().waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Drafts' }).waitFor();
    assertNoFaults(SIGNED_OUT);
  });

test('by keyboard alone a message is found, opened, labelled, answered and archived', async () => {
  await deliver('By keys', 'Which colour shall it be?');
  const { page, assertNoFaults } = await world.openReader();
  await row(page, 'By keys').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('colour');
  await page.keyboard.press('Enter');
  await list(page).locator('mark').getByText('colour').waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('j');
  const article = page.getByRole('article');
  await article.getByText('Which colour shall it be?').waitFor();
  await page.keyboard.press('Enter');
  await waitUntil('the head to have the focus', () =>
    page.evaluate(`document.activeElement?.textContent === 'By keys'`),
  );
  await tabTo(page, 'Label');
  await page.keyboard.press('Enter');
  await page.keyboard.type('colours');
  await page.keyboard.press('Enter');
  await article.getByRole('button', { name: 'colours' }).waitFor();
  // The field stays open for another one.
  await page.keyboard.press('Escape');
  await page.getByLabel('New label').waitFor({ state: 'detached' });
  await waitUntil('it to be read', async () => at(await messages('subject=By+keys'), 0, 'seen') === true);
  await page.keyboard.press('s');
  await page.getByRole('button', { name: 'Remove the flag' }).waitFor();
  await page.keyboard.press('r');
  await page.getByLabel('Text').waitFor();
  await waitUntil('the text to have the focus', () => page.evaluate(`document.activeElement?.tagName === 'TEXTAREA'`));
  await page.keyboard.type('Blue.');
  await page.keyboard.press('Control+Enter');
  await page.getByText('Held for approval.').waitFor();
  await page.keyboard.press('e');
  await page.getByText('Moved to Archive.').waitFor();
  await page.keyboard.press('z');
  await page.getByText('Moved to Archive.').waitFor({ state: 'detached' });
  const [found] = (await messages('subject=By+keys&folder=INBOX')) as [unknown];
  assert.deepEqual([at(found, 'labels'), at(found, 'flagged')], [['colours'], true]);
  assertNoFaults(SIGNED_OUT);
});

/** Goes on with the tabulator until a control of this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  await waitUntil(`the focus on ${name}`, async () => {
    await page.keyboard.press('Tab');
    return page.evaluate(
      `(document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent)?.trim() === ${JSON.stringify(name)}`,
    );
  });
}

test('pictures elsewhere are fetched when a person asks, by the service alone; what fails is said', async () => {
  const [good, gone] = [new URL('/good.png', host.url).href, new URL('/gone.png', host.url).href];
  host.answer((response, { path }) =>
    path.startsWith('/good')
      ? response.writeHead(200, { 'content-type': 'image/png' }).end(PNG)
      : response.writeHead(404).end(),
  );
  await deliver(
    'With pictures',
    `<p>Look:</p><img src="${good}" alt="good"><img src="${gone}" alt="gone">`,
    'text/html',
  );
  const { page, assertNoFaults } = await world.openReader();
  await row(page, 'With pictures').getByRole('button').click();
  const frame = page.frameLocator(FRAME);
  await frame.getByText('Look:').waitFor();
  await page.getByText('2 pictures from elsewhere not loaded').waitFor();
  await assertAccessible(page, 'pictures not loaded');
  assert.deepEqual(host.requests.length, 0, 'nothing is fetched before');
  await page.getByRole('button', { name: 'Load pictures' }).click();
  await page.getByText('1 of 2 pictures could not be loaded.').waitFor();
  assert.match((await frame.getByAltText('good').getAttribute('src')) ?? '', /^blob:/);
  assert.equal(await frame.getByAltText('gone').getAttribute('src'), null);
  assert.deepEqual(host.requests.map(({ path }) => path).toSorted(), ['/gone.png', '/good.png']);
  for (const { headers } of host.requests)
    assert.deepEqual([headers.cookie, headers.referer, headers.origin], [undefined, undefined, undefined]);
  // The browser itself asked nobody else: that is what this finds.
  assertNoFaults([401, 404, 422, 502]);
});

test('a message that is gone, a folder that is gone and a service that fails say so, and are tried again', async () => {
  await deliver('Still here', 'Yes.');
  const { page, assertNoFaults } = await world.openReader('?open=msg_01k8e8f2c0e4x9w2v7a3r5t6y8');
  await page.getByRole('article').getByRole('alert').waitFor();
  await assertAccessible(page, 'message that is gone');
  await row(page, 'Still here').getByRole('button').click();
  await page.getByRole('article').getByText('Yes.').waitFor();
  await page.goto(`/mailboxes/${world.api.organization.mailbox.id}/mail?folder=Nowhere`);
  await page.getByRole('alert').waitFor();
  await assertAccessible(page, 'folder that is gone');
  await page.getByRole('navigation', { name: 'Folders' }).getByRole('button', { name: 'INBOX' }).click();
  await row(page, 'Still here').waitFor();

  // A network that is away, and one that is slow.
  let away = true;
  await page.route('**/messages?**', (route) => (away ? route.abort() : route.continue()));
  await page.reload();
  const retry = page.getByRole('button', { name: /again|Retry/i });
  await retry.first().waitFor();
  away = false;
  await retry.first().click();
  await row(page, 'Still here').waitFor();
  await page.unroute('**/messages?**');
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/messages?**', async (route) => {
    await held;
    await route.continue();
  });
  await page.reload();
  const section = page.getByRole('region', { name: 'INBOX' });
  await section.waitFor();
  assert.equal(await section.getAttribute('aria-busy'), 'true');
  await assertAccessible(page, 'loading');
  release();
  await row(page, 'Still here').waitFor();
  await page.unroute('**/messages?**');
  await page.getByRole('navigation', { name: 'Folders' }).getByRole('button', { name: 'Trash' }).click();
  await page.getByText('Nothing here.').waitFor();
  await assertAccessible(page, 'empty folder');
  assertNoFaults([401, 404, 400], /ERR_FAILED/);
});

test('a suspended mailbox is still read by people', async () => {
  await deliver('Before the stop', 'Kept.');
  const { mailbox, member } = world.api.organization;
  const set = (status: string) =>
    world.api.call('PATCH', `/api/mailboxes/${mailbox.id}`, { as: member.session, body: { status } });
  assert.equal(textAt((await set('suspended')).body, 'status'), 'suspended');
  const { page, assertNoFaults } = await world.openReader();
  await row(page, 'Before the stop').getByRole('button').click();
  await page.getByRole('article').getByText('Kept.').waitFor();
  assert.equal(textAt((await set('active')).body, 'status'), 'active');
  assertNoFaults(SIGNED_OUT);
});
