/**
 * Hostile mail, delivered by SMTP and opened in the reader as a person opens it: nothing runs, nothing calls out, and the
 * page around it stays usable. The samples are also shown without the sanitiser, where the frame's own policy must hold,
 * and some of them without any protection, where the canary must notice them.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { at, textAt } from '#test/support/api-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { hostileSamples } from './hostile-samples.ts';
import { type ReaderWorld, readerWorld } from './reader-world.ts';

let world: ReaderWorld;
let canary: Server;
let canaryUrl: string;
/** Paths that were requested of the canary. */
let calls: string[] = [];
/** Those of samples that are shown without any protection, which may come late. */
const unprotectedCalls: string[] = [];
const UNPROTECTED = '/unprotected/';
/** What the canary answers with at /page: HTML without any protection. */
let unprotected = '';

before(async () => {
  world = await readerWorld();
  canary = createServer((request, response) => {
    if (request.url === '/page') {
      response.setHeader('content-type', 'text/html').end(`<!doctype html><body>${unprotected}`);
      return;
    }
    const url = request.url ?? '';
    if (url.startsWith(UNPROTECTED)) unprotectedCalls.push(url);
    else if (url !== '/favicon.ico') calls.push(url);
    response.setHeader('access-control-allow-origin', '*').end('');
  });
  canary.listen(0, '127.0.0.1');
  await once(canary, 'listening');
  canaryUrl = `http://127.0.0.1:${(canary.address() as AddressInfo).port}`;
});
after(async () => {
  canary.closeAllConnections();
  canary.close();
  await world.close();
});

/** The 401 of the first look at the session. */
const SIGNED_OUT = [401];

const encodedWord = (text: string) => `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`;

async function deliverHtml(subject: string, html: string, head = ''): Promise<void> {
  const body = (
    Buffer.from(html)
      .toString('base64')
      .match(/.{1,76}/g) ?? []
  ).join('\n');
  const reply = await world.deliver(
    `From: Mallory <mallory@evil.example>\nTo: x@agents.test\nSubject: ${subject}\nMessage-ID: <${crypto.randomUUID()}@evil.example>\n${head}MIME-Version: 1.0\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: base64\n\n${body}\n`,
    'mallory@evil.example',
  );
  assert.match(reply, /^250/, `${subject}: ${reply}`);
}

const FRAME = 'iframe[title="Content of the message"]';
const filled = (page: Page) =>
  waitUntil('the mail to be shown', async () => {
    if ((await page.getByText('This is its text.').count()) > 0) return true;
    // It may be taken away at this moment, for the text, and a document that is being read has no head yet.
    const [body] = await page.locator(FRAME).elementHandles();
    const inner = await body?.contentFrame();
    return ((await inner?.evaluate('document.head?.querySelectorAll("style").length')) ?? 0) === 1;
  });

const rowsAreShown = (page: Page) =>
  page.getByRole('list', { name: 'Messages' }).getByRole('listitem').first().waitFor();

/** What stands in the frame and should not. */
const FIND_FAULTS = `(() => {
  const faults = [];
  const forbidden = 'script,iframe,frame,frameset,object,embed,applet,form,input,button,select,textarea,meta,base,link,svg,math,template,video,audio,source,track,map,area,portal,dialog,marquee,picture,style,noscript';
  for (const element of document.body.querySelectorAll(forbidden)) faults.push('element ' + element.localName);
  for (const element of document.body.querySelectorAll('*')) {
    for (const { name, value } of element.attributes) {
      if (/^on/i.test(name)) faults.push('handler ' + name);
      if (['srcset', 'background', 'poster', 'ping', 'action', 'formaction', 'data', 'id', 'name', 'xlink:href', 'usemap', 'autofocus', 'download'].includes(name)) faults.push('attribute ' + name);
      if (name === 'src' && !/^(?:blob:|data:image\\/(?:png|jpe?g|gif|webp|avif|bmp);base64,)/.test(value)) faults.push('src ' + value);
      if (name === 'href' && !/^(?:https?|mailto|tel):/.test(value)) faults.push('href ' + value);
      if (name === 'style' && /url|image-set|expression|position|@import|var\\(|\\dvh|\\dvw/i.test(value)) faults.push('style ' + value);
    }
    if (element.localName === 'a' && element.hasAttribute('href') && (element.target !== '_blank' || element.rel !== 'noopener noreferrer')) faults.push('link without ' + element.outerHTML.slice(0, 80));
  }
  const [own] = document.head.querySelectorAll('style');
  if (/url\\(|@import|@font-face|position\\s*:|--|image-set/i.test(own.textContent)) faults.push('sheet ' + own.textContent.slice(-200));
  return faults;
})()`;

async function assertUsable(page: Page, what: string): Promise<void> {
  const wider = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  assert.equal(wider, 0, `${what} scrolls the page sideways`);
  for (const name of ['Pages', 'Folders'])
    assert.equal(await page.getByRole('navigation', { name }).isVisible(), true, `${what} hides ${name}`);
  const over = await page.evaluate<string>(
    `document.elementFromPoint(60, 120)?.closest('nav, header') === null ? 'covered' : 'free'`,
  );
  assert.equal(over, 'free', `${what} covers the navigation`);
}

/** What the browser notes when the policy of the frame stops something while the sanitiser reads it. */
const BLOCKED =
  /^console: (?:Blocked script execution in '[^']*\/mail-frame'|.* violates the following Content Security Policy directive|@import rules are not allowed here)/;

test('no sample of hostile HTML runs, calls out or breaks the page', async () => {
  const samples = hostileSamples(canaryUrl);
  assert.ok(samples.length >= 60, `${samples.length} samples`);
  for (const [index, { name, html }] of samples.entries()) await deliverHtml(`${index + 1}: ${name}`, html);
  const { page, assertNoFaults } = await world.openReader();
  await rowsAreShown(page);
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  // Newest first.
  for (const [at0, { name, refused }] of samples.toReversed().entries()) {
    await page.keyboard.press('j');
    await page
      .getByRole('article')
      .getByRole('heading', { name: `${samples.length - at0}: ${name}`, exact: true })
      .waitFor();
    await filled(page);
    assert.equal((await page.getByText('This is its text.').count()) > 0, refused === true, `${name}: shown as text`);
    if (refused !== true) {
      assert.equal(await page.locator(FRAME).count(), 1, `${name}: not shown as HTML`);
      const inner = await (await page.locator(FRAME).elementHandle())?.contentFrame();
      assert.deepEqual(await inner?.evaluate(FIND_FAULTS), [], name);
      assert.equal(await inner?.evaluate('window.hacked'), undefined, name);
    }
    await assertUsable(page, name);
    assert.deepEqual(calls, [], name);
  }
  assert.equal(await page.evaluate('window.hacked'), undefined);
  assert.deepEqual(dialogs, []);
  assert.equal(page.context().pages().length, 1, 'no window was opened');
  assert.match(page.url(), /\/mail\?/);
  assertNoFaults(SIGNED_OUT, BLOCKED);
});

test('what the sanitiser would overlook has no effect in the frame either', async () => {
  calls = [];
  await deliverHtml('An empty one', '<p>x</p>');
  const { page } = await world.openReader();
  await rowsAreShown(page);
  await page.keyboard.press('j');
  await page.getByRole('article').getByRole('heading', { name: 'An empty one' }).waitFor();
  await filled(page);
  for (const { name, html, refused } of hostileSamples(canaryUrl)) {
    if (refused === true) continue;
    // Straight into the document of the frame, as no code of the page does it.
    await page.evaluate(`(() => {
      const view = document.querySelector(${JSON.stringify(FRAME)}).contentWindow;
      view.document.body.replaceChildren(view.document.createRange().createContextualFragment(${JSON.stringify(html)}));
    })()`);
    assert.deepEqual(calls, [], name);
  }
  const inner = await (await page.locator(FRAME).elementHandle())?.contentFrame();
  assert.equal(await inner?.evaluate('window.hacked'), undefined);
  assert.equal(await page.evaluate('window.hacked'), undefined);
});

test('the canary notices samples that are shown without protection', async () => {
  const controls = (place: string) => hostileSamples(`${canaryUrl}${place}`).filter(({ control }) => control === true);
  assert.ok(controls('').length >= 12);
  for (const at of controls('').keys()) {
    const place = `${UNPROTECTED}${at}`;
    const { name, html } = controls(place)[at] ?? assert.fail();
    unprotected = html;
    // A page each: what one sample does later must not interrupt the next one. They stay open until the end: Chromium
    // now and then never closes a page that is still loading.
    const { page } = await world.browser.open(canaryUrl);
    await page.goto(`${canaryUrl}/page`, { waitUntil: 'commit' });
    await waitUntil(`${name} to call the canary`, () => unprotectedCalls.some((url) => url.startsWith(`${place}/`)));
  }
});

const OTHER: readonly (readonly [name: string, subject: string, head?: string])[] = [
  ['HTML', '<img src=x onerror=alert(1)><script>alert(1)</script>'],
  ['a turned direction', encodedWord('Invoice \u202egpj.exe paid')],
  ['control characters', encodedWord('Bell \u0007\u001b[31m red \u200b\u2066')],
  ['one endless word', 'W'.repeat(900)],
  ['stacked marks', encodedWord(`Z${'\u0300\u0301\u0302\u0316'.repeat(60)}algo`)],
  ['a template', '{{constructor.constructor("alert(1)")()}} ${alert(1)}'],
];

test('hostile subjects, names, file names, labels and folders stay text, in lists and beside the message', async () => {
  calls = [];
  const { mailbox, key } = world.api.organization;
  for (const [name, subject] of OTHER) {
    const fileName = encodedWord('fdp.\u202eexe.<img src=x onerror=alert(1)>');
    const reply = await world.deliver(
      `From: ${encodedWord('Bank \u202e<b>support</b>" <boss@bank.example>')} <mallory@evil.example>\nTo: ${encodedWord('\u202ennA')} <x@agents.test>\nSubject: ${subject}\nMessage-ID: <${crypto.randomUUID()}@evil.example>\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain; charset=utf-8\n\n<script>alert(1)</script> \u202eabc\n--b\nContent-Type: application/octet-stream; name="${fileName}"\nContent-Disposition: attachment; filename="${fileName}"\n\nx\n--b--\n`,
      'mallory@evil.example',
    );
    assert.match(reply, /^250/, name);
  }
  const { page, assertNoFaults } = await world.openReader();
  await rowsAreShown(page);
  const listed = await world.api.call('GET', `/api/mailboxes/${mailbox.id}/messages?limit=1`, { as: key });
  const labelled = await world.api.call(
    'PATCH',
    `/api/mailboxes/${mailbox.id}/messages/${textAt(listed.body, 'data', 0, 'id')}`,
    {
      as: key,
      body: { labels: ['<svg/onload=alert`1`>', '<img/src=x>'] },
    },
  );
  assert.equal(labelled.status, 200, labelled.text);
  assert.ok(Array.isArray(at(labelled.body, 'labels')));
  for (const [index, [name]] of OTHER.toReversed().entries()) {
    await page.keyboard.press('j');
    await waitUntil(
      `${name} to be open`,
      async () =>
        (await page
          .locator(
            '[role=list][aria-label="Messages"] [aria-current], ul[aria-label="Messages"] li:nth-child(n) [aria-current]',
          )
          .count()) === 1,
    );
    await page.getByRole('article').getByText('U+202E').first().waitFor();
    assert.equal(await page.locator('main img, main script:not([src]), main b').count(), 0, name);
    await assertUsable(page, name);
    if (index === 0) await page.getByRole('article').getByRole('button', { name: '<img/src=x>' }).waitFor();
  }
  const download = page.waitForEvent('download');
  await page
    .getByRole('button', { name: /^Download / })
    .first()
    .click();
  assert.doesNotMatch((await download).suggestedFilename(), /[\u202e<>:"/\\|?*]/);
  await page.goto('/mailboxes');
  await page.getByRole('heading', { name: 'Mailboxes' }).waitFor();
  assert.deepEqual(calls, []);
  assertNoFaults(SIGNED_OUT);
});
