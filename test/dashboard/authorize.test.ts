/**
 * A program connects by OAuth as an MCP host does it, with the client of the protocol: the person sees who asks, picks a
 * mailbox and the access, and ends the access later.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Page } from 'playwright-core';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import { type ApiWorld, apiWorld } from '#test/support/api-world.ts';
import { assertAccessible, assertFitsWindow, type TestBrowser, testBrowser } from '#test/support/browser.ts';
import { SIGNED_OUT, signedInPage } from '#test/support/dashboard-sign-in.ts';
import { BACK, type McpHost, NAME_OF_REGISTERED, startMcpHost } from '#test/support/mcp-host.ts';
import { asking, oauthHost } from '#test/support/oauth-host.ts';

let world: ApiWorld;
let browser: TestBrowser;
let host: McpHost;

before(async () => {
  await buildDashboard();
  [world, browser] = await Promise.all([apiWorld(), testBrowser()]);
  host = await startMcpHost();
});
after(async () => {
  await browser?.close();
  host?.close();
  await world?.close();
});

const address = (parameters: Readonly<Record<string, string>>) => `/oauth/authorize?${new URLSearchParams(parameters)}`;
/** The browser leaves for the program. */
const LEAVES = /request to http:\/\/127\.0\.0\.1:\d+\/(?:callback|favicon)/;

async function open(
  as: { readonly email: string },
  options: { readonly phone?: boolean; readonly dark?: boolean } = {},
) {
  return signedInPage(browser, world.api.url, as.email, '/mailboxes', options);
}

const chooseAccess = (page: Page, name: string) => page.getByRole('radio', { name }).check();

test('a host connects with the client of the protocol; the person ends it on the page of the mailbox', async () => {
  const { member, mailbox } = world.organization;
  await oauthHost();
  const mcpUrl = new URL('/mcp', world.api.url);
  const transport = new StreamableHTTPClientTransport(mcpUrl, { authProvider: host.provider });
  await assert.rejects(new Client({ name: 'test', version: '1' }).connect(transport), /[Uu]nauthorized/);
  const { page, assertNoFaults } = await open(member);
  await page.goto(host.page());
  await page.getByText('Test Host').waitFor();
  await page.getByText('a program on this computer').waitFor();
  await assertAccessible(page, 'the question');
  await assertFitsWindow(page, 'the question');
  await page.getByLabel('Mailbox', { exact: true }).selectOption({ label: mailbox.address });
  await chooseAccess(page, 'Only read');
  await page.getByRole('button', { name: 'Connect it' }).click();
  await page.getByText(BACK).waitFor();
  assert.equal(host.brought().get('state'), '1e5');
  await transport.finishAuth(host.brought());
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(mcpUrl, { authProvider: host.provider }));
  const { structuredContent } = await client.callTool({ name: 'get_mailbox', arguments: {} });
  assert.equal(Reflect.get(Object(structuredContent), 'address'), mailbox.address);
  const { tools } = await client.listTools();
  assert.ok(!tools.some(({ name }) => name === 'send_message'));

  await page.goto(`/mailboxes/${mailbox.id}?tab=connect`);
  const row = page.getByRole('list', { name: 'Connected programs' }).getByRole('listitem');
  await row.getByText('only reads').waitFor();
  await assertAccessible(page, 'connected programs');
  await row.getByRole('button', { name: 'End the access of Test Host' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End the access' }).click();
  await page.getByRole('region', { name: 'Connected programs' }).getByText('None.').waitFor();
  await assert.rejects(client.callTool({ name: 'get_mailbox', arguments: {} }));
  await client.close();
  assertNoFaults(SIGNED_OUT, LEAVES);
});

test('a refused program gets no code; a hostile name is shown as text, without its hidden characters; the page fits a phone', async () => {
  const hostile = '<img src=x onerror="globalThis.hacked=1">\u202eknaB\u200b';
  const program = await oauthHost({ client_name: hostile });
  const options = { phone: true, dark: true };
  const { page, assertNoFaults } = await open(world.organization.admin, options);
  await page.goto(
    address(asking(program, world.api.url, { redirect_uri: host.callbackUrl, scope: 'mailbox:read' }).parameters),
  );
  await page.getByText('<img src=x onerror="globalThis.hacked=1">knaB', { exact: true }).waitFor();
  assert.equal(await page.evaluate('globalThis.hacked'), undefined);
  assert.equal(await page.getByRole('radio').count(), 1, 'only what it asked for');
  await assertFitsWindow(page, 'the question');
  await assertAccessible(page, 'the question in dark');
  await page.getByRole('button', { name: 'Refuse' }).click();
  await page.getByText(BACK).waitFor();
  assert.deepEqual([host.brought().get('error'), host.brought().get('code')], ['access_denied', null]);
  assertNoFaults(SIGNED_OUT, LEAVES);
});

test('a host without a document registers itself; its name is shown as text that nobody has confirmed', async () => {
  const { admin, mailbox } = world.organization;
  const registering = await startMcpHost('registers');
  const mcpUrl = new URL('/mcp', world.api.url);
  const transport = new StreamableHTTPClientTransport(mcpUrl, { authProvider: registering.provider });
  await assert.rejects(new Client({ name: 'test', version: '1' }).connect(transport), /[Uu]nauthorized/);
  const { page, assertNoFaults } = await open(admin);
  await page.goto(registering.page());
  await page.getByText(NAME_OF_REGISTERED, { exact: true }).waitFor();
  await page.getByText('the program itself; nobody has confirmed it').waitFor();
  await page.getByText('a program on this computer').waitFor();
  await assertAccessible(page, 'the question of a registered program');
  await page.getByLabel('Mailbox', { exact: true }).selectOption({ label: mailbox.address });
  await page.getByRole('button', { name: 'Connect it' }).click();
  await page.getByText(BACK).waitFor();
  await transport.finishAuth(registering.brought());
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(mcpUrl, { authProvider: registering.provider }));
  const { structuredContent } = await client.callTool({ name: 'get_mailbox', arguments: {} });
  assert.equal(Reflect.get(Object(structuredContent), 'address'), mailbox.address);
  await client.close();
  await page.goto(`/mailboxes/${mailbox.id}?tab=connect`);
  await page.getByRole('list', { name: 'Connected programs' }).getByText('(name not confirmed)').waitFor();
  registering.close();
  assertNoFaults(SIGNED_OUT, LEAVES);
});

test('an invalid request shows the reason and cannot be approved', async () => {
  const program = await oauthHost();
  const { page, assertNoFaults } = await open(world.organization.owner);
  const evil = asking(program, world.api.url, { redirect_uri: 'https://evil.example/' });
  await page.goto(address(evil.parameters));
  await page.getByRole('alert').getByText('is not one of the program').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Connect it' }).count(), 0);
  await assertAccessible(page, 'a wrong request');
  await page.goto('/authorize');
  await page.getByText('This address is incomplete.').waitFor();
  assertNoFaults([...SIGNED_OUT, 400]);
});
