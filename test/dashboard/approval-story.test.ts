/** The whole way of an approval: from an agent's message to a person's phone, and to the recipient. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Page } from 'playwright-core';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import { at, TEST_PASSWORD, type TestMailbox, type TestOrganization, textAt } from '#test/support/api-world.ts';
import { assertAccessible, assertFitsWindow, openAs, type TestBrowser, testBrowser } from '#test/support/browser.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { type ApprovalWorld, approvalWorld, linkIn } from './approval-world.ts';

/** The narrowest approval of the menu. */
const THIS_MESSAGE = /^This message ?Only/;

let world: ApprovalWorld;
let browser: TestBrowser;
let url: string;

before(async () => {
  await buildDashboard();
  [world, browser] = await Promise.all([approvalWorld(), testBrowser()]);
  ({ url } = world.api.api);
});
after(async () => {
  await browser?.close();
  await world?.close();
});

/** An agent that has nothing but the token of its mailbox. */
async function agentOf(mailbox: TestMailbox): Promise<Client> {
  const agent = new Client({ name: 'an agent', version: '1' });
  const headers = { ...mailbox.token };
  await agent.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } }));
  return agent;
}

const wordsOf = async (agent: Client, name: string, input: Record<string, unknown> = {}): Promise<string> => {
  const result = await agent.callTool({ name, arguments: input });
  assert.notEqual(result.isError, true, JSON.stringify(result.content));
  return JSON.stringify(result.content) + JSON.stringify(result.structuredContent ?? {});
};

/** An organization with one member, who gets all notices. */
async function ownedAlone(): Promise<TestOrganization> {
  const organization = await world.api.newOrganization('business');
  await world.api.sql(`delete from members where organization_id = $1 and id <> $2`, [
    organization.id,
    organization.owner.memberId,
  ]);
  return organization;
}

async function held(organization: TestOrganization, subject: string): Promise<{ id: string; link: string }> {
  const answer = await world.api.call('POST', '/api/mailbox/messages', {
    as: organization.mailbox.token,
    body: { to: [`someone@${organization.slug}.example`], subject, text: 'Hello.' },
  });
  assert.equal(answer.status, 202, answer.text);
  const link = linkIn(await world.mailTo(organization.owner.email));
  return { id: textAt(answer.body, 'consentId'), link };
}

const statusOf = async (organization: TestOrganization, id: string): Promise<string> =>
  textAt((await world.api.call('GET', `/api/consents/${id}`, { as: organization.owner.session })).body, 'status');

const actions = (page: Page) => page.getByRole('button', { name: 'Approve' });

test('an agent writes to a stranger; the owner changes it on a phone and approves; the stranger gets that', async () => {
  const organization = await ownedAlone();
  const agent = await agentOf(organization.mailbox);
  const stranger = 'zed@acme.example';
  const sent = await wordsOf(agent, 'send_message', {
    to: [stranger],
    subject: 'Your invoice 4411',
    text: 'Dear Zed,\n\nyou owe us 1,240.50 EUR. Pay at once.\n',
    attachments: [
      {
        filename: 'invoice.csv',
        contentType: 'text/csv',
        contentBase64: Buffer.from('item,price\nBolts,1240.50').toString('base64'),
      },
    ],
  });
  assert.match(sent, /Held for approval/);

  const notice = await world.mailTo(organization.owner.email);
  assert.match(notice, /Your invoice 4411/);
  const { page, assertNoFaults } = await browser.open(url, { phone: true });
  await page.goto(linkIn(notice));
  const message = page.getByRole('article', { name: 'Held message' });
  await message.getByText('Pay at once').waitFor();
  assert.equal(new URL(page.url()).hash, '', 'the credential does not stay in the address');
  await message.getByText(`first mail to acme.example`).waitFor();
  await page.getByText('You decide as A owner').waitFor();
  assert.equal(await page.getByRole('navigation').count(), 0, 'this card alone');
  await page.getByRole('button', { name: 'Preview invoice.csv' }).click();
  await page.getByText('Bolts,1240.50').waitFor();
  await assertAccessible(page, 'the page of a link');
  await assertFitsWindow(page, 'the page of a link');
  await page.reload();
  await message.getByText('Pay at once').waitFor();

  await page.getByRole('button', { name: 'Edit' }).click();
  const form = page.getByRole('form', { name: 'Edit the message' });
  await form.getByLabel('Text').fill('Dear Zed,\n\nyou owe us 1,240.50 EUR. Please pay within 30 days.\n');
  await form.getByRole('button', { name: 'Show the changes' }).click();
  const change = page.getByRole('region', { name: 'Change of Text' });
  await change.getByText('Please pay within 30 days.').waitFor();
  await change.getByText('Pay at once.').waitFor();
  await assertAccessible(page, 'the difference');
  await assertFitsWindow(page, 'the difference');
  await page.getByRole('button', { name: 'Approve this' }).click();
  await page.getByRole('menuitem', { name: THIS_MESSAGE }).click();
  await page.getByRole('heading', { name: 'Approved' }).waitFor();
  assertNoFaults();

  const arrived = await world.mailTo(stranger);
  assert.match(arrived, /Please pay within 30 days\./);
  assert.doesNotMatch(arrived, /Pay at once/);
  assert.match(arrived, /invoice\.csv/);

  await waitUntil('the agent to learn what was sent', async () => {
    const outbox = await wordsOf(agent, 'list_outbox');
    return outbox.includes('Your invoice 4411') && outbox.includes('within 30 days') && /approved/i.test(outbox);
  });
  await agent.close();
});

test('a forwarded link opens nothing after its use', async () => {
  const organization = await ownedAlone();
  const { id, link } = await held(organization, 'Used once');
  const owner = await browser.open(url, { phone: true });
  await owner.page.goto(link);
  await owner.page.getByRole('button', { name: 'Deny' }).click();
  await owner.page.getByLabel('Reason').fill('No');
  await owner.page.getByRole('dialog').getByRole('button', { name: 'Deny' }).click();
  await owner.page.getByRole('heading', { name: 'Denied' }).waitFor();
  assert.equal(await statusOf(organization, id), 'denied');
  owner.assertNoFaults();

  const stranger = await browser.open(url, { phone: true });
  await stranger.page.goto(link);
  await stranger.page.getByText('This link is no longer valid').waitFor();
  await stranger.page.getByText('The link was used: the message was denied.').waitFor();
  assert.equal(await stranger.page.getByText('decided nothing').count(), 0);
  assert.equal(await actions(stranger.page).count(), 0);
  assert.equal(await stranger.page.getByText('Used once').count(), 0);
  await assertAccessible(stranger.page, 'a link that was used');
  await assertFitsWindow(stranger.page, 'a link that was used');
  stranger.assertNoFaults([401]);
});

test('a forwarded link opens nothing after its time', async () => {
  const organization = await ownedAlone();
  const { id, link } = await held(organization, 'Too late');
  await world.api.sql(`update approval_links set expires_at = now() - interval '1 second' where consent_id = $1`, [id]);
  const { page, assertNoFaults } = await browser.open(url, { phone: true });
  await page.goto(link);
  await page.getByText('This link is no longer valid').waitFor();
  await page.getByText('The link has expired.').waitFor();
  assert.equal(await page.getByText('Too late').count(), 0);
  assert.equal(await statusOf(organization, id), 'pending');
  assertNoFaults([401]);
});

test('a decision that was made while the page was open is not made again', async () => {
  const organization = await ownedAlone();
  const { id, link } = await held(organization, 'Decided meanwhile');
  const { page, assertNoFaults } = await browser.open(url, { phone: true });
  await page.goto(link);
  await actions(page).click();
  await page.getByRole('menuitem', { name: THIS_MESSAGE }).waitFor();
  await world.api.call('POST', `/api/consents/${id}/deny`, { as: organization.owner.session, body: {} });
  await page.getByRole('menuitem', { name: THIS_MESSAGE }).click();
  await page.getByText('This link is no longer valid').waitFor();
  assert.equal(await statusOf(organization, id), 'denied');
  assertNoFaults([401, 409]);
});

test('scanners that open the link, by GET and by HEAD, decide nothing and see nothing', async () => {
  const organization = await ownedAlone();
  const { id, link } = await held(organization, 'Scanned');
  for (const method of ['GET', 'HEAD']) {
    const answer = await fetch(link, { method });
    assert.equal(answer.status, 200);
    assert.doesNotMatch(await answer.text(), /Scanned/);
  }
  // A scanner that runs the page as a browser does sees the message, as the reader of the mail would; it presses nothing.
  const scanner = await browser.open(url);
  await scanner.page.goto(link);
  await actions(scanner.page).waitFor();
  assert.equal(await statusOf(organization, id), 'pending');
  scanner.assertNoFaults();
});

test('the session of another member or organization adds nothing to a link, and a link nothing to a session', async () => {
  const organization = await ownedAlone();
  const { id, link } = await held(organization, 'Of the owner');
  const other = await world.api.newOrganization('business');
  const stranger = await browser.open(url);
  await openAs(stranger, { email: other.owner.email, password: TEST_PASSWORD }, '/approvals');
  // Without the link, the request is not there for them.
  await stranger.page.goto(`/approvals?open=${id}`);
  await stranger.page.getByRole('alert').waitFor();
  assert.equal(await stranger.page.getByText('Of the owner').count(), 0);
  // A link that is dead stays dead beside a session, also of a member of this organization.
  await world.api.sql(`update approval_links set expires_at = now() - interval '1 second' where consent_id = $1`, [id]);
  await stranger.page.goto(link);
  await stranger.page.getByText('This link is no longer valid').waitFor();
  const colleague = await world.api.newPerson(organization.id, 'member');
  const member = await browser.open(url);
  await openAs(member, { email: colleague.email, password: TEST_PASSWORD }, '/approvals');
  await member.page.goto(link);
  await member.page.getByText('This link is no longer valid').waitFor();
  assert.equal(await statusOf(organization, id), 'pending');
  // What a link gives is that of its member: the session of another one cannot use its routes at all.
  const bySession = await world.api.call('GET', '/api/approval', { as: colleague.session });
  assert.ok([401, 403].includes(bySession.status), bySession.text);
  assert.equal(at(bySession.body, 'error') === undefined, false);
});

test('a link that was not copied whole says so', async () => {
  const { page, assertNoFaults } = await browser.open(url, { phone: true });
  for (const address of ['/approve', '/approve#', '/approve#aml_short', '/approve#<b>x</b>']) {
    await page.goto('about:blank');
    await page.goto(address);
    await page.getByText('The link is not whole').waitFor();
    await assertFitsWindow(page, address);
  }
  assertNoFaults();
});
