/**
 * Names and words that strangers and agents choose, wherever the dashboard shows them: they never turn the direction of
 * what is around them, hide characters, run, or push the page wide. What cannot be seen is named.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createFolder } from '#mailstore/folders/change-folders.ts';
import { at, textAt } from '#test/support/api-world.ts';
import { assertAccessible, assertFitsWindow, requestsEnded } from '#test/support/browser.ts';
import { type ReaderWorld, readerWorld } from './reader-world.ts';

const SIGNED_OUT = [401];
const TURNED = 'Invoice \u202egpj.exe';
const HIDDEN = 'pay\u200bpal \u2066sup\u00adport\u2069 \u{e0041}';
const MARKUP = '<img src=x onerror="globalThis.hacked=1">';
const ENDLESS = 'W'.repeat(180);
const NAMES = [TURNED, HIDDEN, MARKUP, ENDLESS, '?', '-1', 'Аdmin (Cyrillic)'] as const;
/** Characters of the samples that must not be in the page. */
const UNSEEN = String.raw`/[\u202a-\u202e\u2066-\u2069\u200b\u00ad\u{e0000}-\u{e007f}]/u`;

let world: ReaderWorld;
let mailboxId: string;

const call = (method: string, path: string, body: object, as = world.api.organization.key) =>
  world.api.call(method, path, { as, body });
const encodedWord = (text: string) => `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`;

before(async () => {
  world = await readerWorld();
  const { mailbox } = world.api.organization;
  mailboxId = mailbox.id;
  const { db } = world.api.services;
  for (const name of NAMES) await db.transaction((sql) => createFolder(sql, mailboxId, name, null));
  for (const name of [TURNED, HIDDEN])
    assert.equal((await call('POST', '/api/mailboxes', { name })).status, 400, 'the API takes no such name');
  for (const name of [MARKUP, ENDLESS])
    assert.equal((await call('POST', '/api/mailboxes', { name, purpose: name })).status, 201, name);
  // As an older version may have stored it.
  await world.api.sql(`update mailboxes set name = $2, purpose = $3 where id = $1`, [mailboxId, TURNED, HIDDEN]);
  for (const [number, subject] of [
    TURNED,
    HIDDEN,
    `${'long '.repeat(2_000)}end`,
    'first line\nsecond line',
  ].entries()) {
    const file = encodedWord(TURNED);
    const reply = await world.deliver(
      `From: ${encodedWord(`Bank ${TURNED}`)} <mallory@evil.example>\nTo: ${encodedWord(HIDDEN)} <x@agents.test>\nSubject: ${encodedWord(subject)}\nMessage-ID: <hostile-${number}@evil.example>\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain; charset=utf-8\n\nHello ${TURNED}\n--b\nContent-Type: application/pdf; name="${file}"\nContent-Disposition: attachment; filename="${file}"\n\nx\n--b--\n`,
      'mallory@evil.example',
    );
    assert.match(reply, /^250/, reply);
  }
  const to = [`zed@${'a'.repeat(60)}.example`, 'pay@xn--pypal-4ve.example'];
  for (const subject of [TURNED, HIDDEN, MARKUP, ENDLESS.repeat(4)]) {
    const file = encodedWord(TURNED);
    const reply = await world.submit(
      `From: ${mailbox.address}\nTo: ${encodedWord(HIDDEN)} <${to[0]}>, ${to[1]}\nSubject: ${encodedWord(subject)}\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain; charset=utf-8\n\nHello ${TURNED}\n--b\nContent-Type: text/plain; name="${file}"\nContent-Disposition: attachment; filename="${file}"\n\nx\n--b--\n`,
      to,
    );
    assert.match(reply, /held for consent/, reply);
  }
});
after(() => world?.close());

/** Fails when something that a person cannot see, or that runs, is in the page or in its title. */
async function assertHonest(page: Page, what: string): Promise<void> {
  const found = await page.evaluate(`(() => {
    const texts = [document.title, document.body.innerText, ...[...document.querySelectorAll('option')].map((each) => each.textContent)];
    for (const each of document.querySelectorAll('[aria-label], [title], [placeholder]'))
      texts.push(each.getAttribute('aria-label') ?? '', each.getAttribute('title') ?? '');
    return texts.filter((text) => ${UNSEEN}.test(text)).map((text) => text.slice(0, 200));
  })()`);
  assert.deepEqual(found, [], `${what} shows what cannot be seen`);
  assert.equal(await page.evaluate('globalThis.hacked'), undefined, what);
  assert.equal(await page.locator('main img').count(), 0, what);
  await assertFitsWindow(page, what);
}

for (const [device, options] of [
  ['a desk', {}],
  ['a phone', { phone: true, dark: true }],
] as const)
  test(`names of strangers and agents are shown as what they are: ${device}`, async () => {
    const { page, assertNoFaults } = await world.openReader('', options);
    const listed = await world.api.call('GET', `/api/mailboxes/${mailboxId}/messages?limit=10`, {
      as: world.api.organization.key,
    });
    const messages = at(listed.body, 'data');
    assert.ok(Array.isArray(messages) && messages.length === 4);
    const consents = await world.api.call('GET', '/api/consents', { as: world.api.organization.owner.session });
    const held = at(consents.body, 'data');
    assert.ok(Array.isArray(held) && held.length === 4);
    const places: Readonly<Record<string, string>> = {
      reader: `/mailboxes/${mailboxId}/mail`,
      ...Object.fromEntries(
        NAMES.map((name) => [
          `folder ${name}`,
          `/mailboxes/${mailboxId}/mail?folder=${encodeURIComponent(JSON.stringify(name))}`,
        ]),
      ),
      [`label`]: `/mailboxes/${mailboxId}/mail?label=${encodeURIComponent(TURNED)}`,
      conversations: `/mailboxes/${mailboxId}/mail?by=conversation`,
      search: `/mailboxes/${mailboxId}/mail?q=Hello`,
      ...Object.fromEntries(
        messages.map((each, number) => [
          `message ${number}`,
          `/mailboxes/${mailboxId}/mail?open=${textAt(each, 'id')}`,
        ]),
      ),
      'list of mailboxes': '/mailboxes',
      mailbox: `/mailboxes/${mailboxId}`,
      'settings of the mailbox': `/mailboxes/${mailboxId}?tab=connect`,
      approvals: '/approvals',
      ...Object.fromEntries(
        held.map((each, number) => [`held message ${number}`, `/approvals?open=${textAt(each, 'id')}`]),
      ),
      'activity of an address': '/activity?q=mallory%40evil.example',
      'activity of words': '/activity?q=Hello',
      ...Object.fromEntries(
        messages.slice(1, 3).map((each, number) => [`timeline ${number}`, `/activity?q=${textAt(each, 'id')}`]),
      ),
      'timeline of a held message': `/activity?q=${textAt(held[0], 'id')}`,
      notices: '/settings/notices',
    };
    for (const [what, place] of Object.entries(places)) {
      await page.goto(place);
      await page.locator('main h1').first().waitFor({ state: 'attached' });
      await requestsEnded(page);
      await assertHonest(page, what);
    }
    await page.goto(places['approvals'] ?? '');
    await page.getByText('U+202E').first().waitFor();
    await assertAccessible(page, 'approvals');
    await page.goto('/mailboxes');
    await page.getByText('U+202E').first().waitFor();
    await assertAccessible(page, 'mailboxes');
    assertNoFaults(SIGNED_OUT);
  });

test('a folder of any name opens from the list of folders on a phone', async () => {
  const { page, assertNoFaults } = await world.openReader('', { phone: true });
  const folders = page.getByLabel('Folder', { exact: true });
  for (const name of ['?', '-1', MARKUP, 'INBOX']) {
    await folders.selectOption({
      label: (await folders.locator('option').allTextContents()).find((each) => each.startsWith(name)) ?? name,
    });
    await page.getByRole('heading', { level: 1 }).filter({ hasText: name }).waitFor();
  }
  await folders.selectOption({ label: 'Conversations' });
  await page.getByRole('heading', { level: 1, name: 'Conversations' }).waitFor();
  assertNoFaults(SIGNED_OUT);
});

test('a domain that looks like another one is shown as DNS writes it', async () => {
  const consents = await world.api.call('GET', '/api/consents', { as: world.api.organization.owner.session });
  const { page } = await world.openReader();
  await page.goto(`/approvals?open=${textAt(consents.body, 'data', 0, 'id')}`);
  await page.getByRole('article', { name: 'Held message' }).getByText('pay@xn--pypal-4ve.example').first().waitFor();
  const lookalike = await call(
    'POST',
    '/api/mailbox/messages',
    { to: ['pay@p\u0430ypal.example'], subject: 'Look-alike', text: 'x' },
    world.api.organization.mailbox.token,
  );
  assert.equal(lookalike.status, 202, lookalike.text);
  await page.goto(`/approvals?open=${textAt(lookalike.body, 'consentId')}`);
  await page.getByRole('article', { name: 'Held message' }).getByText('xn--').first().waitFor();
});
