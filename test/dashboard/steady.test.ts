/** Nothing moves under the reader between looking and acting. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import { type ApiWorld, apiWorld, TEST_PASSWORD, type TestOrganization, textAt } from '#test/support/api-world.ts';
import { assertAccessible, type OpenedPage, openAs, type TestBrowser, testBrowser } from '#test/support/browser.ts';
import { waitUntil } from '#test/support/wait-until.ts';

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

/** The narrowest approval of the menu. */
const THIS_MESSAGE = /^This message ?Only/;
const SIGNED_OUT = 401;
const CONFLICT = 409;

async function opened(organization: TestOrganization, to: string): Promise<OpenedPage> {
  const page = await browser.open(world.api.url);
  await openAs(page, { email: organization.owner.email, password: TEST_PASSWORD }, to);
  return page;
}

interface Held {
  readonly id: string;
  readonly consentId: string;
}

async function hold(organization: TestOrganization, subject: string, to = 'zed@acme.example'): Promise<Held> {
  const answer = await world.call('POST', '/api/mailbox/messages', {
    as: organization.mailbox.token,
    body: { to: [to], subject, text: `The text of ${subject}.` },
  });
  assert.equal(answer.status, 202, answer.text);
  return { id: textAt(answer.body, 'id'), consentId: textAt(answer.body, 'consentId') };
}

const statusOf = async (organization: TestOrganization, { consentId }: Held): Promise<string> =>
  textAt((await world.call('GET', `/api/consents/${consentId}`, { as: organization.owner.session })).body, 'status');

const request = (page: Page) => page.getByRole('article', { name: 'Held message' });
const approve = (page: Page) => request(page).getByRole('button', { name: 'Approve' });
const openId = (page: Page): string | null => new URL(page.url()).searchParams.get('open');

async function place(locator: Locator): Promise<number> {
  const box = await locator.boundingBox();
  assert.ok(box !== null);
  return Math.round(box.y);
}

test('a message that comes in does not replace the one that is read, and is not the one that is approved', async () => {
  const organization = await world.newOrganization('business');
  const first = await hold(organization, 'Read this');
  const { page, assertNoFaults } = await opened(organization, '/approvals');
  await request(page).getByRole('heading', { name: 'Read this' }).waitFor();
  await waitUntil('the address to say what is shown', () => openId(page) === first.consentId);
  const second = await hold(organization, 'Came later', 'ann@contoso.example');
  await page.getByRole('status').getByRole('button', { name: '1 new' }).waitFor();
  await assertAccessible(page, 'with news');
  assert.equal(await request(page).getByRole('heading').first().textContent(), 'Read this');
  assert.equal(await page.getByRole('list', { name: 'Held messages' }).getByRole('listitem').count(), 1);
  await approve(page).click({ trial: true });
  await page.keyboard.press('a');
  await page.getByRole('menuitem', { name: THIS_MESSAGE }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('Approved: Read this').waitFor();
  assert.equal(await statusOf(organization, first), 'approved');
  assert.equal(await statusOf(organization, second), 'pending');
  await request(page).getByRole('heading', { name: 'Came later' }).waitFor();
  await waitUntil('the address of the next', () => openId(page) === second.consentId);

  // What is new is shown when it is asked for, and what is open stays open.
  await hold(organization, 'Came last', 'bob@contoso.example');
  await page.getByRole('button', { name: '1 new' }).click();
  await page.getByRole('list', { name: 'Held messages' }).getByText('Came last').waitFor();
  assert.equal(openId(page), second.consentId);
  assertNoFaults([SIGNED_OUT]);
});

test('for a moment after the next message is shown, keys and clicks decide nothing', async () => {
  const organization = await world.newOrganization('business');
  await hold(organization, 'Shown first', 'ann@contoso.example');
  const second = await hold(organization, 'Shown second');
  const { page, assertNoFaults } = await opened(organization, '/approvals');
  await request(page).getByRole('heading', { name: 'Shown first' }).waitFor();
  // In the moment that the next message is in the document, the hands of the reader are still about the one before.
  await page.evaluate(`
    globalThis.pressed = 0;
    new MutationObserver(() => {
      const article = document.querySelector('article[aria-label="Held message"]');
      if (pressed > 0 || article?.querySelector('h2')?.textContent !== 'Shown second') return;
      const button = [...article.querySelectorAll('button')].find((each) => each.textContent.startsWith('Approve'));
      if (button === undefined) return;
      pressed++;
      for (const key of ['a', 'd', 'e', 'r']) dispatchEvent(new KeyboardEvent('keydown', { key }));
      for (const each of article.querySelectorAll('button')) if (/^(Approve|Deny|Edit|Send back)/.test(each.textContent)) each.click();
    }).observe(document.body, { childList: true, subtree: true })`);
  await approve(page).click();
  await page.getByRole('menuitem', { name: THIS_MESSAGE }).click();
  await request(page).getByRole('heading', { name: 'Shown second' }).waitFor();
  await waitUntil('the keys to be pressed', async () => (await page.evaluate('pressed')) === 1);
  await approve(page).click({ trial: true });
  assert.equal(await page.getByRole('menu').count(), 0);
  assert.equal(await page.getByRole('dialog').count(), 0);
  assert.equal(await page.getByRole('form', { name: 'Edit the message' }).count(), 0);
  assert.equal(await statusOf(organization, second), 'pending');
  assertNoFaults([SIGNED_OUT]);
});

test('an unfinished edit and a typed reason are kept for their request, over other pages and a reload', async () => {
  const organization = await world.newOrganization('business');
  const other = await hold(organization, 'Another');
  const edited = await hold(organization, 'To be changed', 'ann@contoso.example');
  const { page, assertNoFaults } = await opened(organization, `/approvals?open=${edited.consentId}`);
  await request(page).getByRole('heading', { name: 'To be changed' }).waitFor();
  await request(page).getByRole('button', { name: 'Edit' }).click();
  const form = page.getByRole('form', { name: 'Edit the message' });
  await form.getByLabel('Text').fill('Half a sentence');
  await hold(organization, 'Interrupts', 'bob@contoso.example');
  await page.getByRole('button', { name: '1 new' }).waitFor();
  assert.equal(await form.getByLabel('Text').inputValue(), 'Half a sentence');

  await page.getByRole('list', { name: 'Held messages' }).getByText('Another').click();
  await request(page).getByRole('button', { name: 'Deny' }).click();
  await page.getByLabel('Reason').fill('Because of');
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Mailboxes' }).first().click();
  await page.getByRole('heading', { name: 'Mailboxes' }).waitFor();
  for (const come of [() => page.goBack(), () => page.reload()]) {
    await come();
    await request(page).getByRole('heading', { name: 'Another' }).waitFor();
    await request(page).getByRole('button', { name: 'Deny' }).click();
    assert.equal(await page.getByLabel('Reason').inputValue(), 'Because of');
    await page.keyboard.press('Escape');
    await page.getByRole('list', { name: 'Held messages' }).getByText('To be changed').click();
    assert.equal(await form.getByLabel('Text').inputValue(), 'Half a sentence');
    await page.getByRole('list', { name: 'Held messages' }).getByText('Another').click();
    await request(page).getByRole('heading', { name: 'Another' }).waitFor();
  }
  // Somebody else decides about the message that is being changed: the words are still there.
  await page.getByRole('list', { name: 'Held messages' }).getByText('To be changed').click();
  await form.waitFor();
  await world.call('POST', `/api/consents/${edited.consentId}/deny`, { as: organization.admin.session, body: {} });
  await page.getByText('your changes were not sent').click();
  await page.getByRole('region', { name: 'Change of Text' }).getByText('Half a sentence').waitFor();
  assert.equal(await statusOf(organization, other), 'pending');
  assertNoFaults([SIGNED_OUT]);
});

test('a request that somebody else decides, or that its agent takes back, stays and says so', async () => {
  const organization = await world.newOrganization('business');
  await hold(organization, 'Waits');
  const denied = await hold(organization, 'Is denied', 'ann@contoso.example');
  const { page, assertNoFaults } = await opened(organization, `/approvals?open=${denied.consentId}`);
  await approve(page).click();
  await page.getByRole('menuitem', { name: THIS_MESSAGE }).waitFor();
  await world.call('POST', `/api/consents/${denied.consentId}/deny`, { as: organization.admin.session, body: {} });
  await request(page).getByText('This request was decided while you were reading it').waitFor();
  assert.equal(await page.getByRole('menuitem').count(), 0);
  assert.equal(await request(page).getByRole('heading').first().textContent(), 'Is denied');
  assert.equal(openId(page), denied.consentId);
  await page.getByRole('button', { name: '1 gone' }).waitFor();

  const taken = await hold(organization, 'Is taken back', 'bob@contoso.example');
  await page.goto(`/approvals?open=${taken.consentId}`);
  await approve(page).waitFor();
  const { status } = await world.call('DELETE', `/api/mailbox/outbox/${taken.id}`, { as: organization.mailbox.token });
  assert.equal(status, 200);
  await request(page).getByText('while you were reading it').waitFor();
  assert.equal(openId(page), taken.consentId);
  assertNoFaults([SIGNED_OUT]);
});

test('an approval is for the message that was shown: another content is refused, and the page shows it', async () => {
  const organization = await world.newOrganization('business');
  const held = await hold(organization, 'As shown');
  const { page, assertNoFaults } = await opened(organization, `/approvals?open=${held.consentId}`);
  await approve(page).click({ trial: true });
  await world.sql(`update consent set content_hash = sha256('another') where id = $1`, [held.consentId]);
  await approve(page).click();
  await page.getByRole('menuitem', { name: THIS_MESSAGE }).click();
  await page.getByText('The message has changed since it was shown').waitFor();
  await page.getByText('The stored message is not the one that was submitted').waitFor();
  assert.equal(await statusOf(organization, held), 'pending');
  assertNoFaults([SIGNED_OUT, CONFLICT]);
});

test('rows of the outbox keep their places while others come and go, also for a click that is on its way', async () => {
  const organization = await world.newOrganization('business');
  const first = await hold(organization, 'First in the outbox');
  const second = await hold(organization, 'Second in the outbox', 'ann@contoso.example');
  const { page, assertNoFaults } = await opened(organization, `/mailboxes/${organization.mailbox.id}/outbox`);
  const list = page.getByRole('list', { name: 'Outbox' });
  const rows = list.getByRole('listitem');
  const withdraw = (subject: string) => rows.filter({ hasText: subject }).getByRole('button', { name: 'Withdraw' });
  await withdraw('Second in the outbox').waitFor();
  const at = await place(withdraw('Second in the outbox'));
  await hold(organization, 'Third in the outbox', 'bob@contoso.example');
  await page.getByRole('button', { name: '1 new' }).waitFor();
  assert.equal(await place(withdraw('Second in the outbox')), at);
  await assertAccessible(page, 'the outbox with news');
  await withdraw('Second in the outbox').click();
  await page.getByRole('dialog').getByText('Second in the outbox').waitFor();
  await page.keyboard.press('Escape');

  // A row that leaves the list keeps its place, and cannot be used.
  await page.getByRole('button', { name: '1 new' }).click();
  await rows.filter({ hasText: 'Third in the outbox' }).waitFor();
  const below = await place(withdraw('First in the outbox'));
  await world.sql(
    `update outbound_message set finished_at = now() - interval '2 days', state = 'denied' where id = $1`,
    [second.id],
  );
  await hold(organization, 'Fourth in the outbox', 'eve@contoso.example');
  await page.getByRole('button', { name: '1 new, 1 gone' }).waitFor();
  assert.equal(await place(withdraw('First in the outbox')), below);
  assert.equal(await rows.filter({ hasText: 'Second in the outbox' }).locator('[inert]').count(), 1);
  assert.equal(await statusOf(organization, first), 'pending');
  assertNoFaults([SIGNED_OUT]);
});

test('mail that comes in does not move the list of the reader', async () => {
  const organization = await world.newOrganization('business');
  const put = async (subject: string) => {
    const answer = await world.call('POST', '/api/mailbox/messages', {
      as: organization.mailbox.token,
      body: { to: [organization.mailbox.address], subject, text: 'To itself.' },
    });
    assert.equal(answer.status, 201, answer.text);
  };
  await put('Here before');
  const { page, assertNoFaults } = await opened(organization, `/mailboxes/${organization.mailbox.id}/mail`);
  const list = page.getByRole('list', { name: 'Messages' });
  const before = list.getByRole('button', { name: /Here before/ });
  await before.waitFor();
  const at = await place(before);
  await put('Just arrived');
  await page.getByRole('button', { name: '1 new' }).waitFor();
  assert.equal(await place(before), at);
  await page.getByRole('button', { name: '1 new' }).click();
  await list.getByRole('button', { name: /Just arrived/ }).waitFor();
  assertNoFaults([SIGNED_OUT]);
});

/** Keeps what a click at the middle of the button would have met when the note came. */
const RECORD_CLICK_AT_NOTE = `(() => {
  const note = () => document.querySelector('[aria-label="Sending is stopped"]');
  new MutationObserver((_, observer) => {
    if (note() === null) return;
    observer.disconnect();
    const button = [...document.querySelectorAll('nav[aria-label="Requests by state"] button')].at(-1);
    const { x, y, width, height } = button.getBoundingClientRect();
    const met = document.elementFromPoint(x + width / 2, y + height / 2)?.closest('button') ?? null;
    window.clickMet = met === null ? 'nothing' : met.textContent;
  }).observe(document.body, { childList: true, subtree: true });
})()`;

test('a note that comes above a page takes the clicks from what it has moved, for a moment', async () => {
  const organization = await world.newOrganization('business');
  await hold(organization, 'Read this');
  const { page, assertNoFaults } = await opened(organization, '/approvals');
  await request(page).getByRole('heading', { name: 'Read this' }).waitFor();
  const denied = page.getByRole('button', { name: 'Denied' });
  const before = await place(denied);
  await page.evaluate(RECORD_CLICK_AT_NOTE);
  const stopped = await world.call('PATCH', '/api/organization', {
    as: organization.owner.session,
    body: { settings: { sendingStopped: true } },
  });
  assert.equal(stopped.status, 200, stopped.text);
  await page.getByRole('region', { name: 'Sending is stopped' }).waitFor();
  assert.ok((await place(denied)) > before, 'the note moves the buttons');
  assert.equal(await page.evaluate('window.clickMet'), 'nothing');
  await denied.click();
  await waitUntil('the click to be taken', () => new URL(page.url()).searchParams.get('show') === 'denied');
  assertNoFaults([SIGNED_OUT]);
});
