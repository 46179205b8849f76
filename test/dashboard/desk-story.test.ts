/**
 * A day at the desk: 200 held messages of two agents are worked off by keyboard. Each message has its right decision in the
 * data of the test; the person of the story sees only the card, and decides by what it shows.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import {
  type ApiWorld,
  apiWorld,
  at,
  type Credential,
  TEST_PASSWORD,
  type TestOrganization,
  textAt,
} from '#test/support/api-world.ts';
import { openAs, type TestBrowser, testBrowser } from '#test/support/browser.ts';
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

/** The 401 of the first look at the session. */
const SIGNED_OUT = 401;
const OF_EACH_AGENT = 100;
const LIMIT_MS = 600_000;

type Outcome = 'approved' | 'denied' | 'returned';

interface Letter {
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly right: Outcome;
}

const CUSTOMERS = ['acme', 'contoso', 'fabrikam', 'initech', 'umbrella'] as const;

/** Every fifth is for somebody else than its customer, some in Cc only; every seventh says a password, at its end. */
function letter(n: number, mayReturn: boolean): Letter {
  const customer = CUSTOMERS[n % CUSTOMERS.length] ?? 'acme';
  const own = `person-${n}@${customer}.example`;
  const stray = `person-${n}@${customer}-mail.example`;
  const subject = `Order ${1_000 + n} of ${customer}`;
  const greeting = `Dear customer,\n\nyour order ${1_000 + n} is on its way.\n`;
  const filler = Array.from({ length: 30 }, (_, i) => `Item ${i + 1}: ${(n * 7 + i) % 90} pieces.\n`).join('');
  if (n % 5 === 3)
    return { to: n % 2 === 0 ? [stray] : [own, stray], subject, text: greeting + filler, right: 'denied' };
  if (n % 7 === 2)
    return { to: [own], subject, text: `${greeting}${filler}The password is pear-${n}.\n`, right: 'denied' };
  if (mayReturn && n % 9 === 4)
    return { to: [own], subject, text: `${greeting}It leaves on DATE MISSING.\n`, right: 'returned' };
  return { to: [own], subject, text: greeting + filler, right: 'approved' };
}

/** What the person decides, by what the card shows and nothing else. */
async function decisionOf(card: Locator): Promise<Outcome> {
  const subject = await card.getByRole('heading', { level: 2 }).innerText();
  const recipients = await card.locator('dd bdi').allInnerTexts();
  const text = await card.getByRole('group', { name: 'Text of the message' }).innerText();
  const customer = /^Order \d+ of (\w+)$/.exec(subject)?.[1];
  assert.ok(customer !== undefined && recipients.length > 0, `the card shows no order: ${subject}`);
  if (!recipients.every((address) => address.endsWith(`@${customer}.example`))) return 'denied';
  if (/password/i.test(text)) return 'denied';
  return text.includes('DATE MISSING') ? 'returned' : 'approved';
}

async function hold(as: Credential, { to, subject, text }: Letter): Promise<string> {
  const answer = await world.call('POST', '/api/mailbox/messages', { as, body: { to, subject, text } });
  assert.equal(answer.status, 202, answer.text);
  return textAt(answer.body, 'consentId');
}

const held = (page: Page) => page.getByRole('article', { name: 'Held message' });
const subjectOf = (page: Page) => held(page).getByRole('heading', { level: 2 });

/** Presses a key until it shows something: right after a message was shown the page takes none. */
async function pressFor(page: Page, key: string, shown: Locator): Promise<void> {
  await waitUntil(`what ${key} shows`, async () => {
    await page.keyboard.press(key);
    return shown.waitFor({ timeout: 2_000 }).then(
      () => true,
      () => false,
    );
  });
}

/** Decides about the open message with keys alone. */
async function press(page: Page, outcome: Outcome): Promise<void> {
  // The first moment after another message was shown takes no decision.
  await held(page).getByRole('button', { name: 'Approve' }).click({ trial: true });
  if (outcome === 'approved') {
    const narrowest = page.getByRole('menuitem', { name: /^This message ?Only/ });
    await pressFor(page, 'a', narrowest);
    await waitUntil('the narrowest approval is chosen', async () => {
      if ((await narrowest.and(page.locator('[data-highlighted]')).count()) > 0) return true;
      await page.keyboard.press('ArrowDown');
      return false;
    });
  } else {
    const [key, label] = outcome === 'denied' ? ['d', 'Reason'] : ['r', 'Comment'];
    const field = page.getByRole('dialog').getByLabel(label);
    await pressFor(page, key, field);
    if (outcome === 'returned') await field.pressSequentially('Add the date.');
    await field.press('Enter');
    return;
  }
  await page.keyboard.press('Enter');
}

/** Works off the open queue one by one. @returns how many were decided */
async function oneByOne(page: Page, onHalf: () => Promise<void>): Promise<number> {
  for (let done = 0; ; done++) {
    if (done === OF_EACH_AGENT / 2) await onHalf();
    const subject = await subjectOf(page).innerText();
    await press(page, await decisionOf(held(page)));
    const next = held(page).filter({ hasNot: page.getByRole('heading', { name: subject, exact: true }) });
    await next.or(page.getByText('Nothing is waiting for you')).first().waitFor();
    if ((await next.count()) === 0) return done + 1;
  }
}

/** As many as one card shows. */
const TOGETHER_MAX = 20;

/** Works off a mailbox with so many held messages on cards of several. */
async function onCards(page: Page, total: number): Promise<void> {
  const card = page.getByRole('region', { name: 'Several together' });
  const items = card.getByRole('listitem').filter({ has: page.getByRole('checkbox') });
  for (let done = 0; done < total; ) {
    const shown = Math.min(TOGETHER_MAX, total - done);
    await waitUntil(`${shown} messages on the card`, async () => (await items.count()) === shown);
    for (const [outcome, key, word] of [
      ['approved', 'a', 'Approve'],
      ['denied', 'd', 'Deny'],
    ] as const) {
      const left = await items.count();
      let chosen = 0;
      for (let i = 0; i < left; i++) await page.keyboard.press('k');
      for (let i = 0; i < left; i++) {
        if (i > 0) await page.keyboard.press('j');
        if ((await decisionOf(items.nth(i))) !== outcome) continue;
        await page.keyboard.press('x');
        chosen++;
      }
      if (chosen === 0) continue;
      await card.getByText(`${chosen} of ${left} chosen`).waitFor();
      await page.keyboard.press(key);
      const sure = page.getByRole('dialog', { name: new RegExp(`^${word} `) });
      await sure.waitFor();
      assert.equal(await sure.getByRole('listitem').count(), chosen);
      await sure.getByRole('button', { name: word }).press('Enter');
      await sure.waitFor({ state: 'detached' });
      await waitUntil('what was decided has left the card', async () => (await items.count()) === left - chosen);
      done += chosen;
    }
    await card.getByRole('button', { name: 'Show what waits now' }).press('Enter');
  }
}

async function twoAgents(): Promise<{
  organization: TestOrganization;
  /** Id of the other mailbox. */
  second: string;
  letters: Map<string, Letter>;
}> {
  const organization = await world.newOrganization('unlimited');
  const second = await world.newMailbox(organization);
  const letters = new Map<string, Letter>();
  for (let n = 0; n < OF_EACH_AGENT; n++) {
    const one = letter(n, true);
    letters.set(await hold(organization.mailbox.token, one), one);
    const other = letter(OF_EACH_AGENT + n, false);
    letters.set(await hold(second.token, other), other);
  }
  return { organization, second: second.id, letters };
}

test('200 held messages are worked off by keyboard without one wrong decision, and the position is kept', async (t) => {
  const { organization, second, letters } = await twoAgents();
  const rights = [...letters.values()].map(({ right }) => right);
  for (const each of ['approved', 'denied', 'returned'] as const)
    assert.ok(rights.filter((right) => right === each).length >= 5, `too few to be ${each}`);
  const { page, assertNoFaults } = await browser.open(world.api.url);
  const cards = `/approvals?show=several&from=${second}`;
  await openAs({ page }, { email: organization.owner.email, password: TEST_PASSWORD }, cards);
  const startedAt = performance.now();
  await onCards(page, OF_EACH_AGENT);
  await page.getByText('0 of 0 chosen').waitFor();
  await page.goto('/approvals');
  await subjectOf(page).waitFor();
  const single = await oneByOne(page, async () => {
    // Half way: the page is loaded again, and something new comes in. Both leave the person where they were.
    const [subject, open] = [await subjectOf(page).innerText(), new URL(page.url()).searchParams.get('open')];
    await page.reload();
    await held(page).getByRole('heading', { name: subject, exact: true }).waitFor();
    assert.equal(new URL(page.url()).searchParams.get('open'), open);
    const late = letter(OF_EACH_AGENT * 2, true);
    letters.set(await hold(organization.mailbox.token, late), late);
    await page
      .getByText('51 wait')
      .or(page.getByRole('button', { name: '1 new' }))
      .first()
      .waitFor();
    assert.equal(await subjectOf(page).innerText(), subject);
  });
  const tookMs = performance.now() - startedAt;
  assert.equal(single + OF_EACH_AGENT, letters.size);
  const wrong: string[] = [];
  for (const [id, { subject, right }] of letters) {
    const { body } = await world.call('GET', `/api/consents/${id}`, { as: organization.owner.session });
    const outcome = at(body, 'decision', 'returned') === true ? 'returned' : at(body, 'status');
    if (outcome !== right) wrong.push(`${subject}: ${String(outcome)} instead of ${right}`);
  }
  assert.deepEqual(wrong, []);
  t.diagnostic(`${letters.size} messages in ${Math.round(tookMs / 1_000)} s, ${wrong.length} wrong`);
  assert.ok(tookMs < LIMIT_MS, `it took ${Math.round(tookMs / 1_000)} s`);
  assertNoFaults([SIGNED_OUT]);
});
